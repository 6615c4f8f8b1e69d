//! The boundaries of the steady phase: no burst of samples that belong to another phase.

use super::{Evidence, RuleFinding};
use crate::fold::Second;

/// Multiple of the median second's rate from which the first or last second is a burst.
const STORM: f64 = 2.0;

/// Standard deviations of a Poisson count by which it must also exceed the median.
const DEVIATIONS: f64 = 5.0;

/// The fewest seconds with a median to compare with.
const SECONDS_MIN: usize = 3;

/// Reports a first or last steady second with far more operations than the median one.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let seconds: Vec<&Second> = evidence.fold.seconds.steady().collect();
    if seconds.len() < SECONDS_MIN {
        return Vec::new();
    }
    let mut rates: Vec<f64> = seconds.iter().map(|second| rate(second)).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates[rates.len() / 2];
    let ends = [("first", seconds[0]), ("last", seconds[seconds.len() - 1])];
    ends.iter().filter_map(|(name, second)| storm(name, second, median)).collect()
}

fn storm(name: &str, second: &Second, median: f64) -> Option<RuleFinding> {
    let expected = median * second.length();
    let completed = second.completed();
    let excessive =
        STORM * expected < completed && expected + DEVIATIONS * expected.sqrt().max(1.0) < completed;
    excessive.then(|| {
        let text = format!(
            "{completed} operations completed in the {name} second of the steady phase, {expected:.0} in the median second; \
             they belong to another phase"
        );
        RuleFinding::invalid("phase-boundary", text).hint("use a longer settle phase to keep a start-up burst out of the steady phase")
    })
}

fn rate(second: &Second) -> f64 {
    second.completed() / second.length()
}
