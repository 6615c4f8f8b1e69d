//! The order-entry server on loopback, by a client that writes its frames itself.

#[path = "../frames/mod.rs"]
mod frames;

mod client;
mod data;
mod protocol;
mod transactions;
