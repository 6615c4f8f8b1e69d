//! Metrics of a run while it goes on, for who watches with tools of their own: an endpoint that Prometheus scrapes, and a
//! push to a collector of OpenTelemetry.
//!
//! [`Telemetry`] is told what happens, folds it into totals that only grow, and leaves each new state in a channel of
//! one place, where it replaces the one before: telling never waits, and a state that nobody took is part of the next.
//! Whatever goes wrong on the other side is one warning and never touches the run.
//!
//! - `totals`: what was counted in each run
//! - `response`: the response time in buckets that do not change
//! - `families`: the metrics, a line each
//! - `prometheus`, `otlp`: the two ways to write them
//! - `endpoint`: where a push goes
//! - `server`, `push`: the two ways to hand them over
//! - `service`: the thread on which both happen

mod endpoint;
mod families;
mod otlp;
mod prometheus;
mod push;
mod response;
mod server;
mod service;
mod totals;

pub use endpoint::{Endpoint, EndpointError};
pub use service::{Options, Telemetry, TelemetryError};
pub use totals::RunName;
