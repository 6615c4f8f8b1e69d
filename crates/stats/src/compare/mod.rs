//! Comparisons of servers: ratios with intervals, and decisions about many of them at once.
//!
//! - [`LogRatio`]: the ratio of two sides in one figure, from repetitions or from the seconds of single runs
//! - [`standard_error`]: the error of a figure of a single run, from the seconds of its steady phase
//! - [`decide_significance`]: which of many differences are significant, with few false alarms over all of them
//! - [`ComparisonFinding`]: higher, lower, alike, no evidence, too short, too noisy

mod finding;
mod log_ratio;
mod multiple_testing;
mod standard_error;
mod tail_factors;

pub use finding::{ComparisonFinding, EQUIVALENCE_MARGIN, NOISE_THRESHOLD, POWER, finding};
pub use log_ratio::{BetweenRuns, LogRatio, MeasuredFigure};
pub use multiple_testing::{
    Decision, HypothesisFamily, Significance, decide_after_first, decide_significance,
};
pub use standard_error::{StandardError, standard_error};
