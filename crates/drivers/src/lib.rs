//! Drivers: one module per protocol family performs operations over the network; the target policy limits
//! their targets.

mod policy;
pub mod web;

pub use policy::{TargetPolicy, TargetPolicyError};
