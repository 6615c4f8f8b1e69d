//! Built-in servers: the web origin with its allowance of CPU, and gateways to pages made by a program.
//!
//! They make every benchmark run with nothing installed, and they misbehave on demand, so that the
//! laboratory's own checks can be checked.

pub mod gateway;
mod listener;
pub mod web;
