//! The parts of messages that frontend, exchange and origin share: requests with their bodies, interim responses, and
//! how a request was handled.

mod handling;
mod interim;
mod reason;
mod request;

pub use handling::{RequestHandling, ResponsePath};
pub use interim::Interim;
pub use reason::{DisconnectReason, HandlingReason, ProxyReason};
pub use request::{BodyError, ClientRequest, ClientVersion, NoBody, RequestBody};
