//! The application server: requests of many clients in one queue, service threads that perform one at a time.
//!
//! ```text
//! connections → reactor (one thread, epoll) → bounded queue → service threads → replies
//! ```
//!
//! The reactor reads requests; a service thread performs one to its end, with file operations that block, and sends the
//! reply. While a request of a connection is in the queue or in service, the next one waits in its socket. Its protocol is
//! in [`frame::app`] and `docs/protocols/application-server.md`.
//!
//! - `options`: the settings of a server, and their bounds
//! - `server`: starting and stopping
//! - `reactor`: accepting and reading
//! - `session`: what belongs to a connection
//! - `queue`: the bounded queue
//! - `service`: service threads, and the operations that need no data
//! - `client_data`: the files of a client
//! - `data_directory`: the directory of all files, which is removed at the end
//! - `fault`: misbehavior on demand

mod client_data;
mod data_directory;
mod fault;
mod options;
mod queue;
mod reactor;
mod server;
mod service;
mod session;

pub use data_directory::DataDirectoryError;
pub use fault::{AppFault, AppFaultPlan, AppFaultPlanError};
pub use options::{AppOptions, AppServerError, SERVICE_THREADS_MAX, service_threads};
pub use server::AppServer;
