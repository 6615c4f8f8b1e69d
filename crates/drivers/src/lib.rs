//! Drivers: one module per protocol family performs operations over the network; the target policy limits
//! their targets.
//!
//! - `net`: what all of them need: the policy, TCP, failures of operations
//! - [`database`]: connections to databases that speak SQL
//! - [`web`]: the web family
//! - [`app`]: the application server family
//! - [`orders`]: the order-entry family
//! - [`mod@file`]: the file family
//! - [`mod@mail`]: sessions with mail servers
//! - [`sql`]: the family of a user's own SQL statements
//! - `echo`: a family for tests

pub mod app;
pub mod database;
#[cfg(feature = "echo")]
pub mod echo;
pub mod file;
pub mod mail;
mod net;
pub mod orders;
pub mod sql;
pub mod web;

pub use net::{
    Authorities, AuthoritiesError, CertificateProblem, ClientIdentity, ClientIdentityError, ClientTlsError,
    HandshakeProblem, SocketPathError, SourceAddressError, TargetEndpoint, TargetPolicy, TargetPolicyError,
    Trust,
};
