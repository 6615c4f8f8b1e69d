//! A merge of parts that were themselves invalid: the sum looks healthy.

use analysis::{Finding, VerdictState};
use model::{IntervalRecord, Load, LoadPoint, RunEnding};
use units::Nanos;

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, records, users};

/// Two agents with one load thread each; CPU time per second of either, in ms.
fn two_agents(cpu: [u64; 2]) -> RecordedRun {
    let plan = plan(Load::Users(10), 2, 20);
    let operations = users(&plan, 10, |_, _| ms(70), ms(0));
    let (one, other) = operations.split_at(operations.len() / 2);
    let mut all: Vec<IntervalRecord> =
        [(0, one), (1, other)].into_iter().flat_map(|(agent, part)| records(&plan, 0, agent, part)).collect();
    all.sort_by_key(|record| (record.index, record.agent));
    for record in &mut all {
        record.flow.thinking_ns = 0;
        record.health.threads = 1;
        record.sut = record.sut.filter(|_| record.agent == 0);
        record.health.cpu = Nanos::from_millis(cpu[record.agent as usize]);
    }
    RecordedRun { plan, records: all, ending: RunEnding::Complete }
}

/// One machine at 99 %, the other at 11 %: 55 % on average, and half of the load came from a saturated generator.
#[test]
fn a_saturated_agent_does_not_hide_behind_an_idle_one() {
    assert_valid(&two_agents([550, 550]).analyze());
    let analysis = two_agents([990, 110]).analyze();
    assert!((analysis.load_points[0].generator_busy - 0.55).abs() < 1e-9);
    let found = assert_caught(&analysis, "generator-busy");
    let Finding::GeneratorBusy { agent, busy, .. } = found else { panic!("{found:?}") };
    assert!(agent == 0 && (busy.0 - 0.99).abs() < 1e-9, "agent {agent}: {busy}");
}

/// The second of two load points is invalid: so is the run, and its faster figure is no headline.
#[test]
fn a_run_with_an_invalid_load_point_is_invalid() {
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.load_points.push(LoadPoint { index: 1, load: Load::Users(20) });
    let mut all = records(&plan, 0, 0, &users(&plan, 10, |_, _| ms(70), ms(0)));
    let mut second = records(&plan, 1, 0, &users(&plan, 20, |_, _| ms(70), ms(0)));
    all.extend(second.clone());
    let good = RecordedRun { plan, records: all.clone(), ending: RunEnding::Complete };
    let analysis = good.analyze();
    assert_valid(&analysis);
    assert_eq!((analysis.headline.unwrap().load_point, analysis.curve.peak), (1, Some(1)));
    second.iter_mut().for_each(|record| record.health.cpu = ms(1_990));
    all.truncate(all.len() - second.len());
    all.extend(second);
    let analysis = RecordedRun { records: all, ..good }.analyze();
    assert_caught(&analysis, "generator-busy");
    let states: Vec<VerdictState> = analysis.load_points.iter().map(|point| point.verdict.state).collect();
    assert_eq!(states, [VerdictState::Valid, VerdictState::Invalid]);
    assert_eq!(analysis.headline.unwrap().load_point, 0);
    assert_eq!(analysis.curve.peak, Some(0));
}
