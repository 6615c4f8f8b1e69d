//! A threshold that passes without data: nothing failed, because there was nothing.

use analysis::finding::EqualTotals;
use analysis::{Finding, VerdictState};
use model::RunEnding;
use stats::Histogram;

use crate::record::{RecordedRun, assert_caught, assert_valid, plan};

#[test]
fn a_run_without_operations_is_invalid() {
    let recorded = RecordedRun::of(plan(model::Load::Users(10), 2, 20), &[]);
    let analysis = recorded.analyze();
    assert_caught(&analysis, "operations");
    assert_eq!(analysis.headline, None);
    assert!(analysis.load_points[0].response.percentiles.is_empty());
}

#[test]
fn a_run_without_records_is_invalid() {
    let recorded = RecordedRun { records: Vec::new(), ..RecordedRun::closed() };
    let found = assert_caught(&recorded.analyze(), "load-points");
    assert_eq!(found, Finding::LoadPointsMissing { missing: vec![0], n_planned: 1 });
    let crashed = RecordedRun { ending: RunEnding::Missing, ..recorded }.analyze();
    assert_eq!((crashed.verdict.state, crashed.headline), (VerdictState::Incomplete, None));
}

#[test]
fn a_generator_that_was_not_monitored_is_not_called_healthy() {
    let mut recorded = RecordedRun::closed();
    recorded.records.iter_mut().for_each(|record| record.health = model::Health::default());
    let found = assert_caught(&recorded.analyze(), "generator-busy");
    assert_eq!(found, Finding::GeneratorUnmeasured { agent: 0 });
}

#[test]
fn lateness_that_was_not_recorded_is_not_called_small() {
    let mut recorded = RecordedRun::open(units::Nanos::ZERO);
    assert_valid(&recorded.analyze());
    recorded.records.iter_mut().for_each(|record| record.lateness = Histogram::new());
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Totals(found) = found else { panic!("{found:?}") };
    let unequal = found.first.fault;
    assert_eq!((unequal.totals, unequal.found, unequal.expected), (EqualTotals::Latenesses, 0, 200));
}
