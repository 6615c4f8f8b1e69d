//! Other programs on the machine of server and generator: a load point beside which they had a tenth of the CPU time or more
//! tells of them too.

use analysis::finding::UnseenPart;
use analysis::{Analysis, Analyzer, Finding};
use model::{
    AgentPlan, Counter, Load, MachineRole, MonitoredSource, Plan, ResourceRecord, RunEnding, Series, SutPlan,
};
use units::Nanos;

use crate::record::{assert_caught, assert_valid, ms, plan, records, remarks, s, users};

/// A series of a run: counter, instance, and its value per second; levels have it all the time.
type Shown = (Counter, &'static str, u64);

/// A server that was there already and whose processes are seen.
const SEEN: Shown = (Counter::SutProcesses, "port=80", 1);

const EXTERNAL: &str = "external";

fn of_server(name: &str) -> Plan {
    Plan { sut: SutPlan::of(name), agents: vec![AgentPlan::only(1)], ..plan(Load::Users(10), 2, 20) }
}

/// Analyzes a run on a machine whose CPUs are busy for these ms per second.
fn analyze(plan: &Plan, busy: &[u64], shown: &[Shown]) -> Analysis {
    let names: Vec<String> = (0..busy.len()).map(|cpu| cpu.to_string()).collect();
    let cpus = names.iter().zip(busy).flat_map(|(name, busy)| {
        let name = name.as_str();
        [(Counter::CpuUser, name, 1000 * busy), (Counter::CpuIdle, name, 1000 * (1000 - busy))]
    });
    let all: Vec<(Counter, &str, u64)> = cpus.chain(shown.iter().copied()).collect();
    let mut analyzer = Analyzer::new(plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    for (counter, instance, _) in &all {
        analyzer.series(Series { machine: 0, counter: *counter, instance: (*instance).to_owned() });
    }
    for mut record in records(plan, 0, 0, &users(plan, 10, |_, _| ms(50), Nanos::ZERO)) {
        record.health.cpu = ms(100);
        analyzer.interval(&record);
    }
    for second in 0..=24 {
        let value = |(counter, _, each): &(Counter, &str, u64)| match counter.kind() {
            model::CounterKind::Total => each * second,
            model::CounterKind::Level => *each,
        };
        let values = (0..).zip(all.iter().map(value)).collect();
        analyzer.resource(&ResourceRecord { load_point: 0, machine: 0, at: s(second), values });
    }
    analyzer.finish(RunEnding::Complete)
}

#[track_caller]
fn assert_share(found: &Finding, expected: f64, unseen: Option<UnseenPart>) {
    let Finding::OtherPrograms { share: Some(share), unseen: found, .. } = found else { panic!("{found:?}") };
    assert!((share.0 - expected).abs() < 1e-9, "{share:?}");
    assert_eq!(*found, unseen);
}

/// The reported case: three Plimsolls load one server beside a browser, on two full CPUs. By hand, as one of them sees it:
/// 2 · 0.3 + 0.58 = 1.18 CPUs of others, 59 %.
#[test]
fn each_of_three_runs_at_once_is_invalid() {
    let others = [(Counter::OtherCpu, "plimsoll", 600_000), (Counter::OtherCpu, "chromium", 580_000), SEEN];
    let analysis = analyze(&of_server(EXTERNAL), &[1000, 1000], &others);
    assert_share(&assert_caught(&analysis, "other-programs"), 0.59, None);
    assert!(analysis.headline.is_none());
}

/// By hand: 0.06 of 2 CPUs are 3 %, too little to report; 0.19 are 9.5 %, a remark; 0.2 are the limit.
#[test]
fn a_program_that_has_less_than_a_tenth_of_the_cpus_is_no_reason() {
    let beside =
        |used| analyze(&of_server(EXTERNAL), &[700, 700], &[(Counter::OtherCpu, "cron", used), SEEN]);
    let few = beside(60_000);
    assert_valid(&few);
    assert_eq!(remarks(&few, "other-programs"), []);
    let more = beside(190_000);
    assert_valid(&more);
    assert_share(&remarks(&more, "other-programs")[0], 0.095, None);
    assert_share(&assert_caught(&beside(200_000), "other-programs"), 0.1, None);
}

/// Nobody can tell the server, or a database behind it, from other programs where its processes are not seen.
#[test]
fn a_part_of_the_system_under_test_that_is_not_seen_is_no_other_program() {
    let postgres = (Counter::OtherCpu, "postgres", 800_000);
    let service = (Counter::SutServices, "", 1);
    let unseen = |shown: &[Shown]| {
        let analysis = analyze(&of_server(EXTERNAL), &[900, 900], shown);
        assert_valid(&analysis);
        remarks(&analysis, "other-programs").remove(0)
    };
    assert_share(&unseen(&[postgres]), 0.4, Some(UnseenPart::Server));
    assert_share(&unseen(&[postgres, SEEN, service]), 0.4, Some(UnseenPart::Service));
    // The database is watched: what is called so is another one.
    let both = [postgres, SEEN, service, (Counter::SutProcesses, "port=5432", 6)];
    assert_share(
        &assert_caught(&analyze(&of_server(EXTERNAL), &[900, 900], &both), "other-programs"),
        0.4,
        None,
    );
    // All of a server that the run started is known, but not a database that it found.
    assert_caught(&analyze(&of_server("nginx"), &[900, 900], &[postgres]), "other-programs");
    let own = (Counter::SutProcesses, "", 5);
    assert_caught(&analyze(&of_server("nginx"), &[900, 900], &[postgres, own]), "other-programs");
    assert_valid(&analyze(&of_server("nginx"), &[900, 900], &[postgres, own, service]));
}

/// By hand: server and generator have a CPU each, others used 1.5 of the CPUs beside them, which were busy for 1.5; with 1.3
/// there, they had at least 0.2 of the two CPUs.
#[test]
fn programs_on_cpus_beside_those_of_server_and_generator_do_not_count() {
    let mut plan = of_server("nginx");
    (plan.sut.cpus, plan.agents[0].cpus) = (vec![0], vec![1]);
    let others = [(Counter::OtherCpu, "rustc", 1_500_000)];
    let apart = analyze(&plan, &[500, 500, 700, 800], &others);
    assert_valid(&apart);
    assert_share(&remarks(&apart, "other-programs")[0], 0.0, None);
    let beside = analyze(&plan, &[700, 500, 600, 700], &others);
    assert_share(&assert_caught(&beside, "other-programs"), 0.1, None);
}

/// The reported case: `apache2 6345 % of one` on two CPUs, which were busy for 1.9. All programs are reduced alike.
#[test]
fn other_programs_use_no_more_than_the_machine_was_busy() {
    let others = [(Counter::OtherCpu, "apache2", 63_000_000), (Counter::OtherCpu, "sh", 7_000_000), SEEN];
    let found = assert_caught(&analyze(&of_server(EXTERNAL), &[950, 950], &others), "other-programs");
    let Finding::OtherPrograms { used, .. } = found else { panic!("{found:?}") };
    let cpus: Vec<f64> = used.programs.iter().map(|program| program.cpus).collect();
    assert!((used.total - 1.9).abs() < 1e-9 && (cpus[0] - 1.71).abs() < 1e-9, "{used:?}");
}

/// The reported case: two other runs load the server. By hand: the run made 10 users ÷ 50 ms = 200/s, the server counted 600.
#[test]
fn requests_and_connections_of_others_are_reported() {
    let beside = |shown: &[Shown]| {
        let analysis = analyze(&of_server("nginx"), &[900, 900], shown);
        assert_valid(&analysis);
        remarks(&analysis, "other-clients")
    };
    let served = Counter::ServiceRequests;
    let held = Counter::SutOtherConnections;
    let [Finding::OtherClients { connections: Some(n), requests: Some(share) }] =
        beside(&[(held, "80", 200), (served, "", 600)])[..]
    else {
        panic!()
    };
    assert!((n - 200.0).abs() < 1e-9 && (share.0 - 2.0 / 3.0).abs() < 0.01, "{n} {share:?}");
    // The monitor asks once a second, and counts begin and end a little beside the phase.
    assert_eq!(beside(&[(held, "80", 0), (served, "", 205)]), []);
}
