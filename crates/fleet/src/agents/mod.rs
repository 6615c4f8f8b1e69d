//! Load agents: processes, on this machine or on others, that perform parts of every load point, and the messages by which
//! the controller directs them.
//!
//! From below: `message` (the protocol), `link` (frames on two streams),
//! `clock` (offsets), `part_check` (records are checked before they are merged); `hello` and `serve` are the agent,
//! `connection` and `remote` the controller. Tests run agents in this process, over the same bytes.

mod clock;
mod connection;
mod hello;
mod link;
mod message;
mod part_check;
mod remote;
mod serve;
#[cfg(test)]
mod tests;

pub use connection::{AgentFleet, AgentOptions, AgentPlace, ConnectError, ConnectProblem, ConnectedAgent};
pub use message::{AgentFailureKind, AgentHello};
pub use part_check::AgentRecordError;
pub use remote::AgentError;
pub(crate) use remote::RemoteLoad;
pub use serve::{AgentEnd, serve_agent};
