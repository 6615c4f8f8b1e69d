//! The order-entry server: transactions on an SQLite file, behind a socket.
//!
//! It is a server of frames (`framed`); its protocol is in [`orders::wire`] and `docs/protocols/order-entry.md`. SQLite has
//! one writer at a time, so one service thread performs all transactions that write, in the order of their arrival, and the
//! others those that read; each has a connection to the file. The transactions are those of [`orderstore`].
//!
//! - `options`: the settings of a server, and their bounds
//! - `server`: starting and stopping
//! - `data`: the golden copy, and the copy that transactions change
//! - `action`: requests, read
//! - `service`: what it does
//! - `fault`: misbehavior on demand

mod action;
mod data;
mod fault;
mod options;
mod server;
mod service;

pub use data::OrderData;
pub use fault::FAULTS;
pub use options::{OrderOptions, OrderServerError, READERS_MAX};
pub use server::OrderServer;
