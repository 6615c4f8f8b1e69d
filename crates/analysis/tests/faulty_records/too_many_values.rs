//! A damaged file claims more operations than can be counted.

use analysis::finding::OverflowingPart;
use analysis::{Analysis, Finding};
use stats::Histogram;
use units::Nanos;

use super::tamper::steady;
use crate::record::{RecordedRun, assert_caught, assert_valid, ms};

/// A histogram of 2⁶³ values, two of which cannot be merged.
fn half_of_all_that_can_be_counted() -> Histogram {
    let mut histogram = Histogram::new();
    histogram.record(ms(1));
    (0..63).for_each(|_| histogram.merge(&histogram.clone()).unwrap());
    histogram
}

/// Returns the first part that could not be merged, by the findings of a run.
#[track_caller]
fn overflowing(analysis: &Analysis) -> OverflowingPart {
    assert_caught(analysis, "conservation");
    let found = analysis.verdict.reasons.iter().find_map(|reason| match &reason.finding {
        Finding::Overflow(found) => Some(found.first),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{:#?}", analysis.verdict.reasons))
}

#[test]
fn intervals_that_cannot_be_merged_are_caught() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    steady(&mut recorded).for_each(|record| record.lateness = half_of_all_that_can_be_counted());
    assert_eq!(overflowing(&recorded.analyze()), OverflowingPart::Interval { interval: 3, agent: 0 });
}

#[test]
fn details_that_cannot_be_merged_are_caught() {
    let recorded = RecordedRun::closed();
    let analysis = recorded.analyze_details(|detail| detail.spreads[0] = half_of_all_that_can_be_counted());
    assert_eq!(overflowing(&analysis), OverflowingPart::Detail { agent: 0, start: Nanos::from_secs(3) });
}
