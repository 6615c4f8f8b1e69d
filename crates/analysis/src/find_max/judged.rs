//! The verdict on a load point for a search.

use model::{Limit, LimitComparison, LimitMetric, LimitUnit, Rules};

use super::{Compliance, NoData, comply};
use crate::finding::Finding;
use crate::{LoadPointResult, VerdictState};

/// The judged result of a load point, as a search needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedPoint {
    /// Whether it is valid and meets the limits.
    pub passes: bool,
    /// The benchmark's score; zero if the load point has none, and then it does not pass.
    pub throughput: f64,
    /// Successful operations per second, in the unit of an open loop's levels.
    pub delivered: f64,
    /// Whether the generator or other programs limited it, so that a failure tells nothing about the server.
    pub is_generator_limited: bool,
    /// Whether the result is clear, not decided by noise; an unclear one is repeated where the search depends on it.
    pub is_clear: bool,
    /// Whether it fails only because of too few operations, for a percentile or for the rules; more load brings more.
    /// A low level with too few decides nothing; it never passes.
    pub has_too_few: bool,
}

/// Judges a load point for the search: it passes if its verdict is valid, it has a score, and it meets all limits.
///
/// Limits of the rate do not count here: every low level misses them, however good the server.
/// [`comply`] checks them for the load point that was found. The delivered part of an open loop's
/// rate and the errors that a benchmark allows are part of the verdict.
///
/// A pass is clear if all limits, those of `rules` included, are clearly met; a fail, if one is clearly missed.
pub fn judge(result: &LoadPointResult, limits: &[Limit], rules: &Rules) -> JudgedPoint {
    let steering = limits.iter().filter(|limit| limit.metric() != LimitMetric::Rate);
    let asked: Vec<Compliance> = steering.map(|limit| comply(*limit, result)).collect();
    let is_valid = result.verdict.state == VerdictState::Valid && result.score.is_some();
    let passes = is_valid && asked.iter().all(Compliance::is_met);
    let has_too_few = !passes && lacks_operations(result, &asked);
    let ruled = limits_of(rules, result.load.is_closed()).map(|limit| comply(limit, result));
    let all: Vec<Compliance> = asked.into_iter().chain(ruled).collect();
    let is_clear = if passes {
        all.iter().all(Compliance::is_clear)
    } else {
        all.iter().any(|one| !one.is_met() && one.is_clear())
    };
    let is_limit =
        |finding: &Finding| finding.is_generator_limit() || matches!(finding, Finding::OtherPrograms { .. });
    let of_generator = result.verdict.reasons.iter().any(|reason| is_limit(&reason.finding));
    let is_generator_limited = !passes && of_generator;
    let throughput = result.score.unwrap_or(0.0);
    JudgedPoint { passes, throughput, delivered: result.rate, is_generator_limited, is_clear, has_too_few }
}

fn lacks_operations(result: &LoadPointResult, asked: &[Compliance]) -> bool {
    let is_want = |one: &Compliance| matches!(one, Compliance::Undecided(NoData::TooFew { .. }));
    let is_few = |finding: &Finding| matches!(finding, Finding::TooFewOperations { .. });
    let only_few = result.verdict.reasons.iter().all(|reason| is_few(&reason.finding));
    0 < result.total.n && only_few && asked.iter().all(|one| one.is_met() || is_want(one))
}

/// Returns the rules that are limits of something measured.
fn limits_of(rules: &Rules, is_closed: bool) -> impl Iterator<Item = Limit> {
    let errors =
        Limit::new(LimitMetric::Errors, LimitComparison::AtMost, rules.error_ratio_max, LimitUnit::Plain);
    let delivered = Limit::new(
        LimitMetric::Delivered,
        LimitComparison::AtLeast,
        rules.delivered_ratio_min,
        LimitUnit::Plain,
    );
    [errors.ok(), delivered.ok().filter(|_| !is_closed)].into_iter().flatten()
}
