//! The search of a plan, during the run and replayed from its results.

use model::{LimitMetric, Load, Plan};

use super::{
    FIND_MAX_TOLERANCE, FindMax, FindMaxError, LevelKind, LevelRange, SearchGoal, SearchResult, SearchStep,
    judge,
};
use crate::LoadPointResult;

/// Begins the search of a plan; `None` if the plan has none.
///
/// # Errors
///
/// The range does not rise.
pub fn begin(plan: &Plan) -> Option<Result<FindMax, FindMaxError>> {
    let search = plan.search?;
    let is_closed = search.most.is_closed();
    let steers = plan.limits.iter().any(|limit| limit.metric() != LimitMetric::Rate);
    let kind = if is_closed { LevelKind::Users } else { LevelKind::Rate };
    let goal = if is_closed && !steers { SearchGoal::PeakThroughput } else { SearchGoal::HighestPass };
    let range = LevelRange { least: search.least.level(), most: search.most.level() };
    Some(FindMax::new(range, FIND_MAX_TOLERANCE, kind, goal))
}

/// Adds the result of a load point to a search.
pub fn observe(search: &mut FindMax, plan: &Plan, result: &LoadPointResult) {
    search.observe(result.load.level(), judge(result, &plan.limits, &plan.rules));
}

/// Returns the result of a plan's search from its load points, in the order in which they were run; `None` if the
/// plan has no search, or it did not finish.
pub(crate) fn replay(plan: &Plan, load_points: &[LoadPointResult]) -> Option<SearchResult> {
    let mut search = begin(plan)?.ok()?;
    load_points.iter().for_each(|result| observe(&mut search, plan, result));
    match search.next() {
        SearchStep::Done(found) => Some(found),
        SearchStep::Run(_) => None,
    }
}

/// Returns whether a load point counts for the result of its run: of a search, only those at the load that it found.
pub fn counts(plan: &Plan, found: Option<&SearchResult>, point: &LoadPointResult) -> bool {
    let level = found.and_then(|found| found.max).map(|max| max.level);
    plan.search.is_none() || level == Some(point.load.level())
}

/// Returns the next load of a search; `None` if it is finished.
pub fn next_load(search: &FindMax, plan: &Plan) -> Option<Load> {
    match search.next() {
        SearchStep::Run(level) => Some(plan.search?.most.at_level(level)),
        SearchStep::Done(_) => None,
    }
}
