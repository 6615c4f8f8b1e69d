//! Live metrics of a run for monitoring systems: an endpoint that Prometheus scrapes, and a push to an OpenTelemetry
//! collector.
//!
//! [`Telemetry`] receives the events of a run, folds them into totals that only grow, and leaves each new state in a
//! channel with room for one, where it replaces the one before: an update never waits, and a state that was not read is
//! part of the next. A failure of the receiver is one warning and never affects the run.
//!
//! - `totals`: the totals of each run, summed by `analysis`
//! - `response_histogram`: the response time in fixed buckets
//! - `families`: the metrics, a line each
//! - `prometheus`, `otlp`: the two export formats
//! - `endpoint`: the target of a push
//! - `server`, `push`: the two ways of export
//! - `service`: the thread of both

mod endpoint;
mod families;
mod otlp;
mod prometheus;
mod push;
mod response_histogram;
mod server;
mod service;
mod totals;

pub use endpoint::{Endpoint, EndpointError};
pub use service::{Telemetry, TelemetryError, TelemetryOptions};
pub use totals::MonitoredRun;
