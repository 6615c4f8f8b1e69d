//! Metrics: the numbers of a load point from its totals, and the curve over load points.

mod figures;
mod kinds;
mod load_point;
mod marks;
mod score;
mod score_summary;
mod stage;
mod steady;
mod table;
mod timeline;
mod times;
mod web;

pub(crate) use figures::PointFigures;
pub(crate) use load_point::measure;
pub(crate) use marks::{curve, headline};
pub use score_summary::ScoreSummary;
pub(crate) use stage::{measure_stage, without_merged_loads};
pub use table::{METRICS, Metric, MetricColumn, MetricFormat, MetricValue};
pub(crate) use timeline::rate_interval_so_far;

/// Divides; zero if the whole is.
fn ratio(part: f64, whole: f64) -> f64 {
    if 0.0 < whole { part / whole } else { 0.0 }
}
