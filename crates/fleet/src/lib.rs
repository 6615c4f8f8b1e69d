//! Controller and load agent: the one place where a run happens.
//!
//! [`run`] takes plans and leaves run files. For each, in order: bring the server up, check one of each
//! object, write down the testbed, run the load points one after another while machines are read, store the results,
//! end. Several plans take turns. It prints nothing: what goes on is told to an [`Observer`].

mod disclosed;
mod load;
mod record;
mod run;
mod session;
mod stop;
mod verify;
mod wait;
mod watch;

pub use load::LoadError;
pub use run::{Event, FleetError, INTERRUPTED, Monitoring, Observer, RunRequest, ServerChoice, run};
pub use session::transport;
pub use verify::{VerifyError, WrongObject};
