//! The order-entry server on loopback, by a client that writes its frames itself.

mod client;
mod data;
mod protocol;
mod transactions;
