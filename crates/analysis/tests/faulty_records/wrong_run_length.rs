//! Throughput from a wrong run length: divided by all of the run, or by a phase that lost a second.

use analysis::audit::{DifferenceKind, StatedRow, audit_results};
use units::Ratio;

use super::tamper::steady;
use crate::record::{RecordedRun, assert_caught, assert_valid, s};

/// The stated rate counts the 2 s of the settle phase as well: n ÷ 22 s instead of n ÷ 20 s.
#[test]
fn a_rate_over_all_phases_is_a_changed_cell() {
    let analysis = RecordedRun::closed().analyze();
    let mut stated = StatedRow::of(&analysis.load_points[0]);
    assert!(audit_results(std::slice::from_ref(&stated), &analysis, Ratio(1e-6)).is_empty());
    stated.cells.entry("rate_per_s".to_owned()).and_modify(|rate| *rate *= 20.0 / 22.0);
    let findings = audit_results(&[stated], &analysis, Ratio(1e-6));
    assert_eq!(findings.len(), 1);
    let DifferenceKind::ChangedCell { column, stated, .. } = &findings[0].kind else {
        panic!("{findings:?}")
    };
    assert!(column == "rate_per_s" && (stated - 120.95).abs() < 0.05, "{findings:?}");
}

#[test]
fn a_second_deleted_from_the_record_is_reported() {
    let whole = RecordedRun::closed();
    assert_valid(&whole.analyze());
    for second in [2, 11, 21] {
        let mut recorded = whole.clone();
        recorded.records.remove(second);
        let analysis = recorded.analyze();
        assert_caught(&analysis, "steady-length");
        assert_caught(&analysis, "time-axis");
    }
}

/// A last second that is twice as long keeps the chain, and divides by too much.
#[test]
fn a_stretched_second_is_found() {
    let mut recorded = RecordedRun::closed();
    let last = steady(&mut recorded).last().unwrap();
    last.end += s(1);
    let analysis = recorded.analyze();
    assert_caught(&analysis, "steady-length");
    assert_caught(&analysis, "time-axis");
}
