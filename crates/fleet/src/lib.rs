//! Controller and load agent: the one place where a run happens.
//!
//! [`run`] takes plans and leaves run files. For each, in order: bring the server up, write down the testbed, run the
//! load points one after another while machines are read, store the results, end. One of each object is checked before
//! the run, or before each load point, as the family states. Several plans take turns. It prints nothing: what goes on
//! is told to an [`Observer`].
//!
//! From top to bottom: `run` (runs in turns, whose order is in `turns`), `session` (one run), `order` (of its load points), `laboratory` (the seam to
//! machines), `local` (this machine), `load` (the load side, a `thread` for each load CPU), `agents` with `agent_link`
//! (the load side where load agents are processes of their own, and the links to them), `collect`, `seconds` and `watch`
//! (what comes of it), `family` (what differs between protocol families). `transcripts` holds the order of events against a
//! laboratory that only writes down what it is asked for.

mod addresses;
mod agent_error;
mod agent_link;
mod agents;
mod cache_state_error;
mod checked;
mod collect;
mod disk_use;
mod error;
mod event;
mod family;
mod family_counts;
mod form;
mod laboratory;
mod load;
mod local;
mod memory_limit;
mod order;
mod reading;
mod record;
mod reply_changes;
mod request;
mod run;
mod run_load;
mod seconds;
mod session;
mod setup_error;
mod stop;
mod testbed_disclosure;
mod thread;
mod turns;
mod verify;
mod wait;
mod watch;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod simulated_load;
#[cfg(test)]
mod transcripts;

pub use addresses::answers;
pub use agent_error::{AgentError, AgentFailureKind, AgentRecordError};
pub use agent_link::{
    AgentFleet, AgentHello, AgentOptions, AgentPlace, ConnectError, ConnectProblem, ConnectedAgent, untrusted,
};
pub use agents::{AgentEnd, serve_agent};
pub use cache_state_error::CacheStateError;
pub use error::{FleetError, INTERRUPTED, LoadError};
pub use event::{Event, Observer};
pub use family::web::survey::{SURVEY_ROUNDS, SurveyRequest, survey};
pub use family::{
    AccountList, AccountListError, ApplicationServer, DatabaseUrlError, ExternalDatabase, ExternalServer,
    FileDirectory, FileExport, FileShare, MailHost, OrderDatabase, TargetTextError, UrlEncryption,
    room_in_flight, variant,
};
pub use memory_limit::NoMemoryLimit;
pub use request::{LoadMachines, Monitoring, RunRequest, ServerChoice};
pub use run::run;
pub use seconds::CollectError;
pub use setup_error::SetupError;
pub use turns::TurnOrder;
pub use verify::{VerifyError, WrongObject};
