//! How an operation travels: one module per protocol family, and the policy that says where to.

mod policy;
pub mod web;

pub use policy::{Policy, PolicyError};
