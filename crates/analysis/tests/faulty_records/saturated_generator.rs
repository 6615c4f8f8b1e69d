//! A saturated generator called valid: its own limit is reported as the server's.

use model::SutUse;
use units::Nanos;

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

#[test]
fn a_busy_generator_beside_an_idle_server_is_invalid() {
    assert_valid(&recorded(1_790, 300).analyze());
    let text = assert_caught(&recorded(1_900, 300).analyze(), "generator-busy");
    assert_eq!(
        text,
        "load agent 0: its CPUs were 95.0 % busy, limit 90.0 %, while the server used 60.0 % of its allowance"
    );
}

#[test]
fn a_busy_generator_beside_a_saturated_server_is_a_remark() {
    let analysis = recorded(1_900, 490).analyze();
    assert_valid(&analysis);
    assert!(remarks(&analysis, "generator-busy")[0].contains("the server was saturated as well (98.0 %"));
}

/// The server used 600 of its 500 ms: its allowance is not enforced, so its capacity is not known.
#[test]
fn an_allowance_that_is_not_enforced_is_no_excuse() {
    let text = assert_caught(&recorded(1_900, 600).analyze(), "generator-busy");
    assert!(text.ends_with("the server's allowance was not enforced, of which it used 120.0 %"), "{text}");
}

#[test]
fn a_server_that_cannot_be_seen_is_no_excuse() {
    let mut blind = recorded(1_900, 490);
    blind.records.iter_mut().for_each(|record| record.sut = None);
    let text = assert_caught(&blind.analyze(), "generator-busy");
    assert!(text.ends_with("and the CPU use of the server is not known"), "{text}");
}

/// The threads were ready and had no CPU for 800 of 2,000 ms per second: something else ran there.
#[test]
fn a_generator_that_waits_for_a_cpu_is_invalid() {
    let mut crowded = recorded(1_000, 300);
    crowded.records.iter_mut().for_each(|record| record.health.run_queue = Nanos::from_millis(800));
    let text = assert_caught(&crowded.analyze(), "generator-run-queue");
    assert!(text.contains("waited 40.0 % of the time for a CPU, limit 30.0 %"), "{text}");
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
    let text = assert_caught(&RecordedRun::of(plan, &operations).analyze(), "generator-lateness");
    assert!(text.contains("the 99th percentile of its lateness was 8.0"), "{text}");
}
