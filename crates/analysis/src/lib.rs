//! Records to metrics, rules to verdict: pure functions of the run file.
//!
//! [`Analyzer`] takes the records of a run one by one and answers with an [`Analysis`]; what it
//! holds meanwhile does not grow with the length of the run, but for one small line per second.
//! [`audit`] holds numbers that somebody stated against what they must follow from.

mod analyzer;
pub mod audit;
mod fold;
mod judge;
mod metrics;
mod result;
mod rules;
mod tally;

pub use analyzer::Analyzer;
pub use metrics::values_needed;
pub use result::*;
