//! Records to metrics, rules to verdict: pure functions of the run file.
//!
//! [`Analyzer`] takes the records of a run one by one and answers with an [`Analysis`]; what it
//! holds meanwhile does not grow with the length of the run, but for one small line per second.
//! [`FindMax`] says which load points to run to find the highest load that is acceptable.
//! [`attribute`] names what held each load point back.
//! [`compare`] puts runs side by side, [`scaling`] those of one server on groups of CPUs.
//! [`price`] divides what a system costs by what it did.
//! [`audit`] holds numbers that somebody stated against what they must follow from; [`history`] has the results of
//! published reports.

mod analyzer;
pub mod attribute;
pub mod audit;
mod classes;
pub mod compare;
pub mod find_max;
mod fold;
pub mod history;
mod judge;
mod metrics;
pub mod price;
mod resources;
mod result;
mod rules;
pub mod scaling;
mod tally;

pub use analyzer::Analyzer;
pub use classes::{TimeClasses, class_start};
pub use find_max::{
    Compliance, End, FIND_MAX_TOLERANCE, FindMax, FindMaxError, Found, Goal, Judged, LevelKind, Maximum,
    Measured, NoData, Range, Step, comply, judge,
};
pub use metrics::values_needed;
pub use resources::{ResourceUse, SeriesUse};
pub use result::*;
