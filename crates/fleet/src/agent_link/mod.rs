//! The links to load agents: starting them as processes, the frames and messages that go between, and who they are.
//!
//! From below: `message` (the protocol), `hello` (what an agent tells of itself), `link` (frames on two streams), `connection`
//! (processes here or through `ssh`); `untrusted` has the readers of messages for tests.

mod connection;
mod hello;
mod link;
mod message;
pub mod untrusted;

pub use connection::{AgentFleet, AgentOptions, AgentPlace, ConnectError, ConnectProblem, ConnectedAgent};
pub(crate) use hello::{own_hello, program_text};
pub(crate) use link::{LinkError, read_frame, write_frame};
pub use message::AgentHello;
pub(crate) use message::{FromAgent, GREETING, TO_AGENT_BYTES_MAX, ToAgent};
