//! Built-in servers: the web origin, the application server, the order-entry server and the mail server with their CPU
//! allowance, and gateways to generated pages.
//!
//! They let every benchmark run with nothing installed, and they misbehave on demand, so that Plimsoll's own
//! checks can be tested.

mod allowance;
pub mod app;
mod fault_rules;
mod framed;
pub mod gateway;
mod listener;
pub mod mail;
pub mod orders;
pub mod web;

pub use fault_rules::FaultRuleError;
pub use framed::{DataDirectoryError, FrameFault, FrameFaultPlan};
