//! Controller and load agent: the one place where a run happens.
//!
//! [`run`] takes a plan and leaves a run file. In order: bring the server up, check one of each
//! object, write down the testbed, run the load points one after another, store the results, end.
//! It prints nothing: what goes on is told to an [`Observer`].

mod load;
mod mix;
mod run;
mod verify;

pub use load::{Aim, Collector, LoadError, run_load_point};
pub use run::{Event, FleetError, INTERRUPTED, Observer, RunRequest, ServerChoice, run};
pub use verify::{VerifyError, WrongObject, verify};
