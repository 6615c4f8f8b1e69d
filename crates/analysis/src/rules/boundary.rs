//! The boundaries of the steady phase: no storm of samples that belong to another phase.

use super::{Evidence, Finding};
use crate::fold::Second;

/// Times the median second's rate, from which the first or last second is a storm.
const STORM: f64 = 2.0;

/// Standard deviations of a Poisson count that it must lie above the median besides.
const DEVIATIONS: f64 = 5.0;

/// The fewest seconds with a median to compare with.
const SECONDS_MIN: usize = 3;

/// Reports a first or last steady second with far more operations than the median one.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
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

fn storm(name: &str, second: &Second, median: f64) -> Option<Finding> {
    let expected = median * second.length();
    let completed = second.completed();
    let excessive =
        STORM * expected < completed && expected + DEVIATIONS * expected.sqrt().max(1.0) < completed;
    excessive.then(|| {
        let text = format!(
            "{completed} operations completed in the {name} second of the steady phase, {expected:.0} in the median one; \
             they belong to another phase"
        );
        Finding::invalid("phase-boundary", text).hint("a longer settle phase keeps a start-up wave out of it")
    })
}

fn rate(second: &Second) -> f64 {
    second.completed() / second.length()
}
