//! Histograms, moments, laws and fits, every formula with its source.
//!
//! Only arithmetic: nothing here reads, writes or looks at a clock. Units are in the types
//! ([`units::Nanos`], [`units::Ratio`]) or, for plain numbers, in the comment: s and operations/s.

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

mod asymptote;
mod batches;
mod bootstrap;
mod buckets;
mod change_points;
mod codec;
mod compare;
mod curve;
mod drift;
mod estimate;
mod histogram;
mod law;
mod least_squares;
mod median;
mod moments;
mod octaves;
mod order;
mod regression;
mod scaling;
mod steady;
mod warm_up;

pub use asymptote::{Demand, saturation_users};
pub use batches::{Batches, batch_quantile_interval};
pub use change_points::{ChangePoint, N_SEGMENT_MIN, change_points};
pub use codec::HistogramError;
pub use compare::{
    BetweenRuns, ComparisonFinding, Decision, EQUIVALENCE_MARGIN, HypothesisFamily, LogRatio, MeasuredFigure,
    NOISE_THRESHOLD, POWER, Significance, StandardError, decide_after_first, decide_significance, finding,
    standard_error,
};
pub use curve::{CurvePoint, knee, least_peak, peak, saturation_point};
pub use drift::{batch_mean_interval, variance};
pub use estimate::{Estimate, normal_quantile, student_quantile};
pub use histogram::{Bucket, Histogram, HistogramOverflow, Quantile};
pub use law::{
    MBIT, decimal_megabits, harmonic_mean, interactive_bound, interactive_response, little_gap, load_factor,
    rate_of_clients, t1_lines, weighted_harmonic_mean,
};
pub use median::median;
pub use moments::Moments;
pub use scaling::{Amdahl, FitError, FitQuality, Prediction, Repeats, ScalingPoint, SpeedUp, Usl, speed_ups};
pub use steady::{Steadiness, SteadyLimit, steadiness};
pub use warm_up::{warm_up_cut, warm_up_errors};
