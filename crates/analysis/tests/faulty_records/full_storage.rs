//! A disk that fills, or turns read-only, while it is measured: what fails then is quick, and few operations may be enough to
//! end all writing.

use analysis::Finding;
use model::{Load, Outcome};

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, users};

/// One of 200 operations fails, fewer than the benchmark allows.
fn recorded(outcome: Outcome) -> RecordedRun {
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.rules.error_ratio_max = 0.01;
    let mut operations = users(&plan, 10, |_, _| ms(70), ms(0));
    operations.iter_mut().step_by(200).for_each(|operation| operation.outcome = outcome);
    RecordedRun::of(plan, &operations)
}

#[test]
fn storage_that_is_full_or_read_only_is_never_valid() {
    assert_valid(&recorded(Outcome::WrongStatus).analyze());
    let found = assert_caught(&recorded(Outcome::Full).analyze(), "storage");
    assert!(matches!(found, Finding::StorageFull { n: 1.. }), "{found:?}");
    let found = assert_caught(&recorded(Outcome::ReadOnly).analyze(), "storage");
    assert!(matches!(found, Finding::StorageReadOnly { n: 1.. }), "{found:?}");
}
