//! A search as a run makes it, and once more from its results.

use model::{Load, Metric, Plan};

use super::{FIND_MAX_TOLERANCE, FindMax, FindMaxError, Found, Goal, LevelKind, Range, Step, judge};
use crate::LoadPointResult;

/// Begins the search of a plan; `None` if the plan has none.
///
/// # Errors
///
/// If its range does not rise.
pub fn begin(plan: &Plan) -> Option<Result<FindMax, FindMaxError>> {
    let search = plan.search?;
    let is_closed = search.most.is_closed();
    let steers = plan.limits.iter().any(|limit| limit.metric() != Metric::Rate);
    let kind = if is_closed { LevelKind::Users } else { LevelKind::Rate };
    let goal = if is_closed && !steers { Goal::PeakThroughput } else { Goal::HighestPass };
    let range = Range { least: search.least.level(), most: search.most.level() };
    Some(FindMax::new(range, FIND_MAX_TOLERANCE, kind, goal))
}

/// Adds the result of a load point to a search.
pub fn observe(search: &mut FindMax, plan: &Plan, result: &LoadPointResult) {
    search.observe(result.load.level(), judge(result, &plan.limits, &plan.rules));
}

/// Returns what the search of a plan found by its load points, in the order in which they were run. `None` if the plan
/// has no search, or it did not come to its end.
pub(crate) fn replay(plan: &Plan, load_points: &[LoadPointResult]) -> Option<Found> {
    let mut search = begin(plan)?.ok()?;
    load_points.iter().for_each(|result| observe(&mut search, plan, result));
    match search.next() {
        Step::Done(found) => Some(found),
        Step::Run(_) => None,
    }
}

/// Returns whether a load point counts for the result of its run: of a search, those at the load that it found do.
pub fn counts(plan: &Plan, found: Option<&Found>, point: &LoadPointResult) -> bool {
    let level = found.and_then(|found| found.max).map(|max| max.level);
    plan.search.is_none() || level == Some(point.load.level())
}

/// Returns the load that a search asks for next; `None` if it is over.
pub fn next_load(search: &FindMax, plan: &Plan) -> Option<Load> {
    match search.next() {
        Step::Run(level) => Some(plan.search?.most.at_level(level)),
        Step::Done(_) => None,
    }
}
