//! Records to metrics, rules to verdict: pure functions of the run file.
//!
//! A [`Finding`] is a value with its numbers; the crate `disclosure` words it.
//!
//! [`Analyzer`] takes the records of a run one by one and returns an [`Analysis`]; its memory does
//! not grow with the length of the run, except for one small line per second. Asked in between, it returns the
//! [`LoadPointStatus`] of the load point that runs, by the same rules.
//! [`FindMax`] chooses the load points to run to find the highest acceptable load.
//! [`refinement`] adds some where the server saturates between two others.
//! [`attribute`] names the bottleneck of each load point.
//! [`compare`] compares runs, [`scaling`] those of one server on groups of CPUs.
//! [`price`] divides the price of a system by its performance.
//! [`audit`] compares stated numbers with their sources.

// A cast that can lose something is an error. Counts become `f64` by a cast nevertheless: below 2⁵³ they are exact, and
// beyond it no figure needs their last digits.
#![cfg_attr(
    not(test),
    deny(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss
    )
)]

mod analyzer;
pub mod attribute;
pub mod audit;
mod classes;
pub mod compare;
mod cpu_sharing;
pub mod find_max;
pub mod finding;
mod fold;
mod judge;
mod limits_in_force;
mod metrics;
mod other_programs;
mod overall;
mod percentiles;
pub mod price;
pub mod refinement;
mod resources;
mod result;
mod rules;
mod run_input;
pub mod scaling;
mod search_result;
mod server_cpus;
mod shared_cpus;
mod standing;
mod status;
pub mod trend;
mod until;
mod web;

pub use analyzer::Analyzer;
pub use classes::{TimeClasses, class_start};
pub use find_max::{
    Compliance, FIND_MAX_TOLERANCE, FindMax, FindMaxError, JudgedPoint, LevelKind, LevelRange,
    LimitMeasurement, NoData, SearchGoal, SearchStep, comply, comply_stage, judge,
};
pub use finding::Finding;
pub use limits_in_force::allowed_cpus_by_group;
pub use metrics::{METRICS, Metric, MetricColumn, MetricFormat, MetricValue, ScoreSummary};
pub use overall::{IntervalFigures, OverallTotals};
pub use percentiles::values_needed;
pub use resources::{ResourceUsage, SeriesUsage};
pub use result::*;
pub use rules::RuleGroup;
pub use search_result::{Maximum, SearchEnd, SearchResult};
pub use shared_cpus::SharedCpus;
pub use standing::{GroupStanding, StandingState};
pub use status::{LoadPointStatus, StageStatus};
pub use until::{BrokenLimit, LoadWindow, UntilResult};
pub use web::{WebFigures, WebKindFigures};
