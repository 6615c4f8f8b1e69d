//! A saturated generator called valid: its own limit is reported as the server's.

use analysis::Finding;
use analysis::finding::ServerUse;
use model::SutUse;
use units::{Nanos, Ratio};

use crate::record::{RecordedRun, assert_caught, assert_valid, remarks};

/// CPU time per second of the two load threads and of the server, in ms; the server may use 500.
fn recorded(generator: u64, server: u64) -> RecordedRun {
    let mut recorded = RecordedRun::closed();
    for record in &mut recorded.records {
        record.health.cpu = Nanos::from_millis(generator);
        record.sut = Some(SutUse { cpu: Nanos::from_millis(server), throttled: Nanos::ZERO });
    }
    recorded
}

/// The load threads use 1.9 of 2 s; nine tenths are allowed.
fn busy(server: ServerUse) -> Finding {
    Finding::GeneratorBusy { agent: 0, busy: Ratio(0.95), limit: Ratio(0.9), server: Some(server) }
}

#[test]
fn a_busy_generator_beside_an_idle_server_is_invalid() {
    assert_valid(&recorded(1_790, 300).analyze());
    let found = assert_caught(&recorded(1_900, 300).analyze(), "generator-busy");
    assert_eq!(found, busy(ServerUse::Part(Ratio(0.6))));
}

#[test]
fn a_busy_generator_beside_a_saturated_server_is_a_remark() {
    let analysis = recorded(1_900, 490).analyze();
    assert_valid(&analysis);
    let found = remarks(&analysis, "generator-busy");
    let [Finding::GeneratorBusy { server: Some(ServerUse::Saturated(used)), .. }] = found[..] else {
        panic!("{found:?}")
    };
    assert!((used.0 - 0.98).abs() < 1e-9, "{used}");
}

/// The server used 600 of its 500 ms: its allowance is not enforced, so its capacity is not known.
#[test]
fn an_allowance_that_is_not_enforced_is_no_excuse() {
    let found = assert_caught(&recorded(1_900, 600).analyze(), "generator-busy");
    assert_eq!(found, busy(ServerUse::Unenforced(Ratio(1.2))));
}

#[test]
fn a_server_that_cannot_be_seen_is_no_excuse() {
    let mut blind = recorded(1_900, 490);
    blind.records.iter_mut().for_each(|record| record.sut = None);
    assert_eq!(assert_caught(&blind.analyze(), "generator-busy"), busy(ServerUse::Unknown));
}

/// The threads were ready and had no CPU for 800 of 2,000 ms per second: something else ran there.
#[test]
fn a_generator_that_waits_for_a_cpu_is_invalid() {
    let mut crowded = recorded(1_000, 300);
    crowded.records.iter_mut().for_each(|record| record.health.run_queue = Nanos::from_millis(800));
    let found = assert_caught(&crowded.analyze(), "generator-run-queue");
    let Finding::GeneratorRunQueue { waited, limit, others, .. } = found else { panic!("{found:?}") };
    assert_eq!((waited, limit, others), (Ratio(0.4), Ratio(0.3), None));
}

/// Every operation of an open loop was sent 8 ms late although slots were free.
#[test]
fn a_late_generator_is_invalid() {
    let plan = RecordedRun::open(Nanos::ZERO).plan;
    let mut operations = crate::record::scheduled(&plan, 0, Nanos::from_millis(5), Nanos::ZERO);
    for operation in &mut operations {
        operation.sent += Nanos::from_millis(8);
        operation.done += Nanos::from_millis(8);
    }
    let found = assert_caught(&RecordedRun::of(plan, &operations).analyze(), "generator-lateness");
    let Finding::GeneratorLateness { p99, limit, .. } = found else { panic!("{found:?}") };
    assert!((p99.as_millis_f64() - 8.0).abs() < 0.05, "{p99}");
    assert_eq!(limit, Nanos::from_millis(5));
}
