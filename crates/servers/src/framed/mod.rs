//! Servers whose requests and replies are frames ([`frame`]): requests of many clients in one queue, service threads that
//! perform one at a time.
//!
//! ```text
//! connections → reactor (one thread, epoll) → bounded queue → service threads → replies
//! ```
//!
//! The reactor reads requests; a service thread performs one to its end, with calls that block, and sends the reply. While
//! a request of a connection is in the queue or in service, the next one waits in its socket. What a request does is the
//! part of a [`FrameService`].
//!
//! - `service`: the interface to a service
//! - `server`: starting and stopping
//! - `reactor`: accepting and reading
//! - `connection`: what has arrived on a connection, and its session
//! - `queue`: the bounded queue
//! - `requests`: requests of a service thread, and their replies
//! - `data_directory`: a directory of files, which is removed at the end
//! - `fault`: misbehavior on demand

mod connection;
mod data_directory;
mod fault;
mod queue;
mod reactor;
mod requests;
mod server;
mod service;

pub(crate) use data_directory::DataDirectory;
pub use data_directory::DataDirectoryError;
pub(crate) use fault::FrameFaultAction;
pub use fault::{FrameFault, FrameFaultPlan};
pub(crate) use requests::{FrameRequest, Requests};
pub(crate) use server::{FrameServer, FrameServerOptions};
pub(crate) use service::{FrameProtocol, FrameService, ServerLoad};
