//! The load side of a run whose load agents are processes of their own, and such a process.
//!
//! `clock` has offsets, `part_check` compares records before they are merged, `part` is what the controller knows of one
//! agent, `remote` is the controller; `serve` is the agent, and `controller` what it knows of the controller. Tests run agents
//! in this process, over the same bytes; those of `faults` are of what happens between the two.

mod clock;
mod controller;
#[cfg(test)]
mod faults;
mod part;
mod part_check;
mod remote;
mod serve;
#[cfg(test)]
mod tests;

pub(crate) use remote::RemoteLoad;
pub use serve::{AgentEnd, serve_agent};
