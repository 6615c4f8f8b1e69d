//! HTTP for pages that operators and their tools read: metrics, status and admin pages, of which one is fetched now and
//! then. Not for load: the drivers, the built-in server and the accelerator have connections of their own.
//!
//! A connection carries one request, and everything that a peer could make grow has a limit: concurrent connections,
//! bytes of heads and bodies, time. Addresses are checked by the callers, each by its own policy.
//!
//! - `server`: accepting connections, reading requests, sending responses
//! - `client`: sending a request and receiving its response, on a task or a thread of one's own
//! - `response_reader`: the client's side without sockets
//! - [`prometheus`]: the text format of metrics

mod client;
pub mod prometheus;
mod response_reader;
mod server;

pub use client::{exchange, fetch_blocking};
pub use response_reader::{ClientError, ResponseReader};
pub use server::{RequestRejection, ServerLimits, ServerRequest, ServerResponse, serve, serve_connection};
