//! The loop for drivers whose calls block, such as those of a mounted file system or of a database in this process: a
//! thread per user.
//!
//! Users, pacing, recorder and records are those of the other loop. What differs:
//!
//! | | other loop | this one |
//! |---|---|---|
//! | a user, or a slot for operations in flight | a task | a thread |
//! | the recorder | of one thread, at hand | shared by the users of a load thread, behind a lock |
//! | time limit | cuts an operation off | a blocked call cannot be cut off: it counts as timed out when it returns |
//! | CPU time within an operation | the generator's | the system's under test, which is part of this process; of operations of some microseconds as `cpu_meter` says |
//! | wait for a CPU | the load thread's | the same, without the users': theirs is part of response times, and of lateness after thinking |
//!
//! The load thread itself opens the sessions, hands over intervals and looks for a request to stop.

mod clock;
mod cpu_meter;
mod driver;
mod point;
mod user;

pub use clock::BlockingClock;
pub use driver::BlockingDriver;
pub use point::{BlockingRuntime, run_blocking_point};
