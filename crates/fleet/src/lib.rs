//! Controller and load agent: the one place where a run happens.
//!
//! [`run`] takes plans and leaves run files. For each, in order: bring the server up, check one of each
//! object, write down the testbed, run the load points one after another, store the results, end.
//! Several
//! plans take turns. It prints nothing: what goes on is told to an [`Observer`].

mod load;
mod record;
mod run;
mod session;
mod stop;
mod verify;

pub use load::{Aim, Collector, LoadError, run_load_point};
pub use run::{Event, FleetError, INTERRUPTED, Observer, RunRequest, ServerChoice, run};
pub use stop::StopSwitch;
pub use verify::{VerifyError, WrongObject, verify};
