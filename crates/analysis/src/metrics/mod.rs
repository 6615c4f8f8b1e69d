//! Metrics: the numbers of a load point from its totals, and the curve over load points.

mod kinds;
mod load_point;
mod marks;
mod steady;
mod timeline;
mod times;

pub(crate) use load_point::measure;
pub(crate) use marks::{curve, headline};
pub use times::values_needed;
pub(crate) use times::{CONFIDENCE, QUANTILES};
