//! A missing agent makes the result smaller instead of invalid.

use analysis::Finding;
use analysis::finding::MissingLoad;
use model::{Arrivals, IntervalRecord, Load};

use crate::record::{
    Operation, RecordedRun, assert_caught, assert_valid, ms, plan, records, rules_broken, scheduled, users,
};

/// Two agents with one load thread and half of the operations each.
fn two_agents(plan: &model::Plan, parts: [&[Operation]; 2]) -> Vec<IntervalRecord> {
    let mut all: Vec<IntervalRecord> =
        [0, 1].into_iter().flat_map(|agent| records(plan, 0, agent, parts[agent as usize])).collect();
    all.sort_by_key(|record| (record.index, record.agent));
    for record in &mut all {
        record.health.threads = 1;
        record.health.cpu.0 /= 2;
        // Each part was folded as if it had all users.
        record.flow.thinking_ns = 0;
        record.sut = record.sut.filter(|_| record.agent == 0);
    }
    all
}

fn closed() -> RecordedRun {
    let plan = plan(Load::Users(10), 2, 20);
    let operations = users(&plan, 10, |_, _| ms(70), ms(0));
    let (one, other) = operations.split_at(operations.len() / 2);
    let records = two_agents(&plan, [one, other]);
    RecordedRun { plan, records, ending: model::RunEnding::Complete }
}

fn open() -> RecordedRun {
    let load = Load::Rate { per_second: 200.0, arrivals: Arrivals::Poisson, in_flight_max: 50 };
    let plan = plan(load, 2, 20);
    let operations = scheduled(&plan, 0, ms(5), ms(0));
    let part = |agent| operations.iter().skip(agent).step_by(2).copied().collect::<Vec<_>>();
    let records = two_agents(&plan, [&part(0), &part(1)]);
    RecordedRun { plan, records, ending: model::RunEnding::Complete }
}

#[test]
fn two_agents_together_are_valid() {
    for recorded in [closed(), open()] {
        let analysis = recorded.analyze();
        assert_valid(&analysis);
        // The agents' drains end at different times.
        let last = recorded.records.last().expect("there are records").index;
        assert_eq!(analysis.load_points[0].timeline.len(), last as usize + 1);
    }
}

#[test]
fn a_missing_agent_is_reported() {
    let without = |recorded: RecordedRun| {
        let records = recorded.records.into_iter().filter(|record| record.agent == 0).collect();
        RecordedRun { records, ..recorded }.analyze()
    };
    assert_eq!(rules_broken(&without(closed())), ["load-agents", "user-time"]);
    assert_eq!(rules_broken(&without(open())), ["load-agents", "schedule"]);
}

/// Threads leave a drain when their last operation is done, each at its own time.
#[test]
fn an_agent_that_leaves_the_drain_first_is_not_reported() {
    let mut recorded = closed();
    let drained = |record: &IntervalRecord| record.phase == model::Phase::Drain && record.agent == 1;
    let place = recorded.records.iter().position(drained).expect("a drain");
    let last = &mut recorded.records[place - 2];
    assert_eq!(last.flow.in_flight_at_end, 5);
    (last.flow.abandoned, last.flow.in_flight_at_end) = (5, 0);
    last.kinds.iter_mut().for_each(|kind| kind.in_flight_at_end = 0);
    recorded.records.remove(place);
    assert_valid(&recorded.analyze());
}

#[test]
fn an_agent_that_stops_early_is_reported() {
    let mut recorded = closed();
    recorded.records.retain(|record| record.agent == 0 || record.index < 15);
    let analysis = recorded.analyze();
    let found = assert_caught(&analysis, "load-agents");
    let Finding::MissingLoad(found) = found else { panic!("{found:?}") };
    assert_eq!(found.first, MissingLoad::Agents { interval: 15, found: 1, expected: 2 });
    assert!(0 < found.n_more, "{found:?}");
    assert_caught(&analysis, "user-time");
    assert_caught(&analysis, "time-axis");
}
