//! Built-in servers: the web origin with its CPU allowance, and gateways to generated pages.
//!
//! They let every benchmark run with nothing installed, and they misbehave on demand, so that Plimsoll's own
//! checks can be tested.

pub mod gateway;
mod listener;
pub mod web;
