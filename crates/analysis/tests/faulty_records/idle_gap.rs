//! Merging runs with the idle gap counted: two periods of load with a pause between them as one.

use crate::record::{RecordedRun, assert_caught, assert_valid, s};

#[test]
fn a_pause_between_two_seconds_is_a_gap() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    for record in recorded.records.iter_mut().skip(12) {
        record.start += s(60);
        record.end += s(60);
    }
    let text = assert_caught(&recorded.analyze(), "time-axis");
    assert!(
        text.starts_with("interval 12 of agent 0 begins at 72.0 s, but the one before it ends at 12.0 s"),
        "{text}"
    );
}

#[test]
fn a_second_that_spans_the_pause_is_too_long() {
    let mut recorded = RecordedRun::closed();
    recorded.plan.phases.steady = s(80);
    recorded.records[12].end += s(60);
    for record in recorded.records.iter_mut().skip(13) {
        record.start += s(60);
        record.end += s(60);
    }
    let text = assert_caught(&recorded.analyze(), "time-axis");
    assert!(text.starts_with("interval 12 of agent 0 is 61.0 s long"), "{text}");
}
