//! Built-in servers: the web origin with its allowance of CPU.
//!
//! They make every benchmark run with nothing installed, and they misbehave on demand, so that the
//! laboratory's own checks can be checked.

pub mod web;
