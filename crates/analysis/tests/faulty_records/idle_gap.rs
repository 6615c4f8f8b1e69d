//! Merging runs with the idle gap counted: two periods of load with a pause between them as one.

use analysis::Finding;
use analysis::finding::{IntervalFault, LocatedFault};

use crate::record::{RecordedRun, assert_caught, assert_valid, s};

#[test]
fn a_pause_between_two_seconds_is_a_gap() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    for record in recorded.records.iter_mut().skip(12) {
        record.start += s(60);
        record.end += s(60);
    }
    let found = assert_caught(&recorded.analyze(), "time-axis");
    let Finding::TimeAxis(found) = found else { panic!("{found:?}") };
    let fault = IntervalFault::Start { start: s(72), end_before: s(12) };
    assert_eq!(found.first, LocatedFault { interval: 12, agent: 0, fault });
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
    let found = assert_caught(&recorded.analyze(), "time-axis");
    let Finding::TimeAxis(found) = found else { panic!("{found:?}") };
    let fault = IntervalFault::Length { length: s(61), limit: s(1) };
    assert_eq!(found.first, LocatedFault { interval: 12, agent: 0, fault });
}
