//! A run as comparisons, trends and scaling take it.

use model::{Plan, Testbed};
use units::WallTime;

use crate::{Analysis, LoadPointResult};

/// A run as the input of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct RunInput<'a> {
    /// The name of the run: `nginx #2`, or that of its file. Different for each.
    pub name: &'a str,
    /// The name of its server: `nginx`.
    pub server: &'a str,
    /// The load generator, with its version.
    pub program: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its numbers.
    pub analysis: &'a Analysis,
    /// The machines and the server as found.
    pub testbed: &'a Testbed,
    /// The start time of each load point, by its index; load points that are missing were not interleaved with others.
    pub began: &'a [(u32, WallTime)],
}

/// Returns the load point with the headline; `None` without one.
pub(crate) fn best_point(analysis: &Analysis) -> Option<&LoadPointResult> {
    analysis.load_points.get(analysis.headline.as_ref()?.load_point)
}
