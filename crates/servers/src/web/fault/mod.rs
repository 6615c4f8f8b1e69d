//! Faults that the server can inject: a corpus of hostile servers, each a row of a table.
//!
//! A row states the behavior and the outcome of an operation that meets it; the table provides the list that
//! users choose from, the test that tries each row, and the page `docs/design/hostile-servers.md`.
//!
//! - `script`: a fault, and the bytes it sends.
//! - `replies`: wrong replies to valid HTTP/1 requests.
//! - `tls`: faults for clients that speak TLS.
//! - `http2`: faults for clients that speak HTTP/2, without TLS and by prior knowledge.
//! - `plan`: the assignment of faults to requests.

mod http2;
mod plan;
mod replies;
mod script;
mod tls;

pub use plan::{FaultPlan, FaultPlanError, FaultRule, Freeze};
pub use script::{ClientProtocol, Fault};

pub(super) use http2::{GREETING, next_frame};
pub(super) use script::{ConnectionEnding, CorrectReply, FaultAction, Script};
