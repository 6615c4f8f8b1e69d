//! Short constructors of plans; differences are set in their fields.

use std::num::NonZeroU16;

use model::{
    AgentPlan, Arrivals, BenchmarkId, ConnectionLifetime, Load, LoadPoint, Overrides, PLAN_FORMAT, Page,
    Phases, Plan, Request, Rules, SutPlan, ThinkTime, WebProtocol, WebWorkload, Workload, make_plan,
};
use units::Nanos;

/// Returns phases without ramps, with a drain of up to 5 s. Lengths in s.
pub fn phases(settle: u64, steady: u64) -> Phases {
    Phases {
        quiet: Nanos::ZERO,
        ramp_up: Nanos::ZERO,
        settle: Nanos::from_secs(settle),
        steady: Nanos::from_secs(steady),
        ramp_down: Nanos::ZERO,
        drain: Nanos::from_secs(5),
    }
}

/// Returns the plan of a closed loop, one load point for each number of users, one object, one load thread.
pub fn closed_plan(seed: u64, users: &[u32], phases: Phases) -> Plan {
    plan(seed, users.iter().map(|users| Load::Users(*users)), phases)
}

/// Returns the plan of an open loop with one load point, one object, one load thread.
///
/// 10,000 operations may be in flight: more than any test reaches by accident.
pub fn open_plan(seed: u64, per_second: f64, arrivals: Arrivals, phases: Phases) -> Plan {
    plan(seed, [Load::Rate { per_second, arrivals, in_flight_max: 10_000 }], phases)
}

/// Returns a workload of one object of 500 bytes, which is a page.
pub fn one_object() -> WebWorkload {
    WebWorkload {
        content_seed: 1,
        requests: vec![Request::file("/object", 500)],
        pages: vec![Page { weight: 1, requests: vec![0] }],
        counts_pages: true,
        think: ThinkTime::None,
        cookies: model::Cookies::None,
        data: Vec::new(),
        protocol: WebProtocol::plain(ConnectionLifetime::PerRequest),
    }
}

/// Returns the plan with another workload.
pub fn with_workload(plan: Plan, workload: impl Into<Workload>) -> Plan {
    let workload = workload.into();
    Plan { catalog: workload.catalog(), workload, ..plan }
}

/// Returns the plan of a built-in benchmark with these settings, and otherwise with these overrides.
///
/// # Panics
/// There is no such benchmark, it has no such setting, or the plan is not valid.
pub fn benchmark_plan(id: &str, settings: &[(&str, &str)], overrides: Overrides) -> Plan {
    let benchmark = benchmarks::find(id).expect("a built-in benchmark").load();
    let family = benchmark.definition.family();
    let chosen = settings.iter().map(|(name, value)| family.choose_setting(name, value));
    let settings = chosen.collect::<Result<_, _>>().expect("settings of the family");
    let overrides = Overrides { settings, ..overrides };
    make_plan(&benchmark.definition, benchmark.workload, &overrides).expect("a valid plan")
}

fn plan(seed: u64, loads: impl IntoIterator<Item = Load>, phases: Phases) -> Plan {
    let load_points: Vec<LoadPoint> =
        (0..).zip(loads).map(|(index, load)| LoadPoint { index, load }).collect();
    let lanes = load_points.iter().map(|point| point.load.arrival_lanes(false));
    let workload = one_object();
    Plan {
        format: PLAN_FORMAT,
        arrival_lanes: lanes.max().unwrap_or(NonZeroU16::MIN),
        shape: None,
        benchmark: BenchmarkId { id: "simulation".to_owned(), version: 1, title: "Simulation".to_owned() },
        seed,
        catalog: workload.catalog(),
        workload: workload.into(),
        time_limit: Nanos::from_secs(60),
        load_points,
        phases,
        rules: Rules::default(),
        modifications: Vec::new(),
        sut: SutPlan::of("simulated"),
        agents: vec![AgentPlan::only(1)],
        source_addresses: Vec::new(),
        search: None,
        refinement: None,
        operations: None,
        limits: Vec::new(),
    }
}
