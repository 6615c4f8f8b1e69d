//! The application server: transactions of clients with data files of their own.
//!
//! It is a server of frames (`framed`); its protocol is in [`frame::app`] and `docs/protocols/application-server.md`.
//!
//! - `options`: the settings of a server, and their bounds
//! - `server`: starting and stopping
//! - `service`: what a request does
//! - `client_data`: the files of a client
//! - `fault`: misbehavior on demand

mod client_data;
mod fault;
mod options;
mod server;
mod service;

pub use fault::FAULTS;
pub use options::{AppOptions, AppServerError, SERVICE_THREADS_MAX, service_threads};
pub use server::AppServer;
