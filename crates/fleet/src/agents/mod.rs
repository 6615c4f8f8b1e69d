//! The load side of a run whose load agents are processes of their own, and such a process.
//!
//! `clock` has offsets, `part_check` compares records before they are merged, `part` is what the controller knows of one
//! agent, `remote` is the controller and `serve` the agent. Tests run agents in this process, over the same bytes.

mod clock;
mod part;
mod part_check;
mod remote;
mod serve;
#[cfg(test)]
mod tests;

pub(crate) use remote::RemoteLoad;
pub use serve::{AgentEnd, serve_agent};
