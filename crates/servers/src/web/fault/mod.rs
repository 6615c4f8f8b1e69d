//! What the server can do wrong: a corpus of hostile servers, each a row of a table.
//!
//! A row says what is done, and what an operation of ours comes to that meets it; the table makes the list that
//! users choose from, the test that tries each row, and the page `docs/design/hostile-servers.md`.
//!
//! - `script`: what a fault is, and what it sends.
//! - `replies`: wrong replies to right requests of HTTP/1.
//! - `tls`: what a client meets that speaks TLS.
//! - `http2`: what a client meets that speaks HTTP/2, plain and by prior knowledge.
//! - `plan`: which faults befall which requests.

mod http2;
mod plan;
mod replies;
mod script;
mod tls;

pub use plan::{FaultPlan, FaultPlanError, FaultRule, Freeze};
pub use script::{Fault, Speech};

pub(super) use http2::{GREETING, next_frame};
pub(super) use script::{Act, Ending, Right, Script};
