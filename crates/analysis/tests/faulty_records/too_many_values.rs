//! A damaged file claims more operations than can be counted.

use stats::Histogram;

use crate::record::{RecordedRun, assert_caught, assert_valid, ms};
use crate::tamper::steady;

/// A histogram of 2⁶³ values, two of which cannot be merged.
fn half_of_all_that_can_be_counted() -> Histogram {
    let mut histogram = Histogram::new();
    histogram.record(ms(1));
    (0..63).for_each(|_| histogram.merge(&histogram.clone()).unwrap());
    histogram
}

#[test]
fn intervals_that_cannot_be_merged_are_caught() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    steady(&mut recorded).for_each(|record| record.lateness = half_of_all_that_can_be_counted());
    let text = assert_caught(&recorded.analyze(), "conservation");
    assert!(text.contains("interval 3 of agent 0: histograms hold too many values to be merged"), "{text}");
}

#[test]
fn details_that_cannot_be_merged_are_caught() {
    let recorded = RecordedRun::closed();
    let analysis = recorded.analyze_details(|detail| detail.connect = half_of_all_that_can_be_counted());
    let text = assert_caught(&analysis, "conservation");
    assert!(text.contains("details of agent 0 from 3.00 s: histograms hold too many values"), "{text}");
}
