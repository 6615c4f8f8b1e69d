//! Drivers: one module per protocol family performs operations over the network; the target policy limits
//! their targets.
//!
//! - `net`: what all of them need: the policy, TCP, failures of operations
//! - [`web`]: the web family
//! - `echo`: a family for tests

#[cfg(feature = "echo")]
pub mod echo;
mod net;
pub mod web;

pub use net::{SourceAddressError, TargetEndpoint, TargetPolicy, TargetPolicyError};
