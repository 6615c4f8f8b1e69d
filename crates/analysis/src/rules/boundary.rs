//! The boundaries of the steady phase: no burst of samples that belong to another phase.

use units::saturating_u64;

use super::{Evidence, RuleFinding};
use crate::finding::{BoundarySecond, Finding};
use crate::fold::SecondTotals;

/// Multiple of the median second's rate from which the first or last second is a burst.
const STORM: f64 = 2.0;

/// Standard deviations of a Poisson count by which it must also exceed the median.
const DEVIATIONS: f64 = 5.0;

/// The fewest seconds with a median to compare with.
const SECONDS_MIN: usize = 3;

/// Reports a first or last steady second with far more operations than the median one.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let seconds: Vec<&SecondTotals> = evidence.fold.seconds.steady().collect();
    if seconds.len() < SECONDS_MIN {
        return Vec::new();
    }
    let mut rates: Vec<f64> = seconds.iter().map(|second| rate(second)).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let ends = [(BoundarySecond::First, seconds[0]), (BoundarySecond::Last, seconds[seconds.len() - 1])];
    ends.into_iter().filter_map(|(boundary, second)| storm(boundary, second, median)).collect()
}

fn storm(boundary: BoundarySecond, second: &SecondTotals, median: f64) -> Option<RuleFinding> {
    let expected = median * second.length();
    let completed = second.completed();
    let excessive =
        STORM * expected < completed && expected + DEVIATIONS * expected.sqrt().max(1.0) < completed;
    excessive.then(|| {
        let completed = saturating_u64(completed);
        RuleFinding::invalid(Finding::PhaseBoundary { second: boundary, completed, median: expected })
    })
}

fn rate(second: &SecondTotals) -> f64 {
    second.completed() / second.length()
}
