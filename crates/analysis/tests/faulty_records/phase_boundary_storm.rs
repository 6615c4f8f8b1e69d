//! A burst of samples at a phase boundary: samples of another phase are counted in the first second.

use analysis::Finding;
use analysis::finding::BoundarySecond;
use model::{Load, Outcome};

use crate::record::{Operation, RecordedRun, assert_caught, assert_valid, ms, plan, s, users};

/// The operations of the settle phase were buffered and counted when the steady phase began: the
/// first second completes more than was in flight and started.
#[test]
fn samples_counted_late_break_conservation() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    let (before, after) = recorded.records.split_at_mut(2);
    for (kind, early) in after[0].kinds.iter_mut().zip(&before[1].kinds) {
        kind.response.merge(&early.response);
        kind.measures.iter_mut().zip(&early.measures).for_each(|(measure, early)| measure.merge(early));
    }
    after[0].detail.as_mut().unwrap().merge(before[1].detail.as_ref().unwrap()).unwrap();
    let early = before[1].response.clone();
    after[0].response.merge(&early).unwrap();
    after[0].flow.ok += early.n();
    assert_caught(&recorded.analyze(), "conservation");
}

/// A start-up burst: 300 operations that were sent in the settle phase all complete as the steady phase begins.
#[test]
fn a_burst_after_the_settle_phase_is_caught() {
    let plan = plan(Load::Users(300), 2, 20);
    let mut operations = users(&plan, 10, |_, _| ms(100), ms(0));
    let wave = Operation {
        kind: 0,
        drawn: ms(0),
        free: ms(0),
        due_span: ms(0),
        due: s(0),
        sent: s(0),
        done: ms(2_500),
        connect: ms(1),
        outcome: Outcome::Ok,
    };
    operations.extend(std::iter::repeat_n(wave, 290));
    let found = assert_caught(&RecordedRun::of(plan, &operations).analyze(), "phase-boundary");
    let second = BoundarySecond::First;
    assert_eq!(found, Finding::PhaseBoundary { second, completed: 390, median: 100.0 });
}
