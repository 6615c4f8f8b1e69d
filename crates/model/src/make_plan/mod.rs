//! Planning: definition + workload + the overrides of the run → plan, or a list of problems.

mod modifications;
mod problems;

use std::num::NonZeroU16;

pub use problems::Problem;

use modifications::modifications;
use problems::{problems, quota_problem};

use crate::{
    AgentPlan, BenchmarkId, CpuQuota, DEFAULT_SEED, Definition, Load, LoadPoint, LoadUnit, Overrides,
    PLAN_FORMAT, Phase, Phases, Plan, Refinement, Search, Shape, ShapeDefinition, Workload,
};
use units::Nanos;

/// Makes the plan of a run. `workload` is the benchmark's own, or one made from the filelist that a setting names.
///
/// Everything in which the run differs from the definition becomes a [`Modification`](crate::Modification); seed,
/// server and load threads are no part of the definition.
///
/// # Errors
///
/// All reasons why there can be no such run.
pub fn make_plan(
    definition: &Definition,
    workload: Workload,
    overrides: &Overrides,
) -> Result<Plan, Vec<Problem>> {
    let standard = definition.configuration(workload);
    let of_quick = if overrides.quick { definition.quick.settings.as_slice() } else { &[] };
    let ours = standard.clone().with(of_quick).with(&overrides.settings);
    let search = if overrides.find_max { search(definition, &ours.workload, overrides) } else { None };
    let shape = shape(definition, overrides);
    let mut plan = Plan {
        format: PLAN_FORMAT,
        benchmark: BenchmarkId {
            id: definition.id.clone(),
            version: definition.version,
            title: definition.title.clone(),
        },
        seed: overrides.seed.unwrap_or(DEFAULT_SEED),
        workload: ours.workload.clone(),
        catalog: definition.catalog(&ours.workload),
        time_limit: ours.time_limit,
        load_points: if overrides.find_max {
            Vec::new()
        } else {
            load_points(definition, &ours.workload, overrides)
        },
        search,
        refinement: None,
        operations: overrides.operations,
        limits: overrides.limits.clone(),
        phases: phases(definition, overrides, ours.time_limit, shape.as_ref()),
        rules: definition.rules,
        modifications: Vec::new(),
        sut: overrides.sut.clone(),
        agents: agents(overrides),
        arrival_lanes: NonZeroU16::MIN,
        shape,
        source_addresses: overrides.source_addresses.clone(),
    };
    plan.refinement = refinement(&plan, overrides);
    let has_user_state = plan.workload.has_user_state();
    let lanes = plan.loads().map(|load| load.arrival_lanes(has_user_state));
    plan.arrival_lanes = lanes.max().unwrap_or(NonZeroU16::MIN);
    let n_points = plan.load_points.len();
    if let Some(divided) = overrides.total.and_then(|total| total.divided(plan.phases, n_points)) {
        plan.phases = divided;
    }
    if let Some(steady) = steady_of_schedule(&plan) {
        plan.phases.steady = steady;
    }
    plan.modifications = modifications(definition, (&standard, &ours), overrides, &plan);
    let problems = problems(definition, &plan, &ours, overrides);
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

/// Returns the load agents with their shares.
fn agents(overrides: &Overrides) -> Vec<AgentPlan> {
    match overrides.agents.as_slice() {
        [] => vec![only_agent(overrides)],
        agents => AgentPlan::in_sequence(agents.iter().cloned()),
    }
}

/// Returns the agent of this process, which performs all shares: a thread for each CPU where CPUs are given.
fn only_agent(overrides: &Overrides) -> AgentPlan {
    let threads = match overrides.load_cpus.len() {
        0 => overrides.load_threads,
        pinned => u32::try_from(pinned).unwrap_or(u32::MAX),
    };
    AgentPlan { cpus: overrides.load_cpus.clone(), ..AgentPlan::only(threads) }
}

impl Plan {
    /// Returns the plan with a CPU quota of its server, which may be known only after a calibration.
    ///
    /// # Errors
    ///
    /// [`Problem::Quota`] if the quota is not above zero.
    pub fn with_quota(mut self, quota: CpuQuota) -> Result<Plan, Problem> {
        self.sut.quota = quota.cpus;
        self.sut.quota_reason = quota.reason;
        quota_problem(&self.sut).map_or(Ok(self), Err)
    }
}

/// Returns the load over time: that of the run, or of the definition unless the run has load points of its own. The stages of
/// the short form are those of the full one, each for a few seconds.
fn shape(definition: &Definition, overrides: &Overrides) -> Option<Shape> {
    if overrides.find_max {
        return None;
    }
    if let Some(stages) = &overrides.stages {
        return Some(Shape::of(stages, overrides.until.clone()));
    }
    let has_load_points = overrides.load.is_some() || overrides.rates.is_some();
    let full = definition.shape.as_ref().filter(|_| !has_load_points)?;
    let ShapeDefinition { stages, until } = if overrides.quick { full.quick() } else { full.clone() };
    let until = if overrides.until.is_empty() { until } else { overrides.until.clone() };
    Some(Shape::of(&stages, until))
}

/// Returns which load points the run may add: none to loads that its user has chosen.
fn refinement(plan: &Plan, overrides: &Overrides) -> Option<Refinement> {
    let is_chosen = overrides.load.is_some()
        || overrides.rates.is_some()
        || overrides.max_load.is_some()
        || overrides.operations.is_some()
        || overrides.total.is_some();
    let is_open_to_more = plan.search.is_none() && plan.shape.is_none();
    let may_add = overrides.refine && !is_chosen && !overrides.quick && is_open_to_more;
    may_add.then(|| Refinement::of(plan.load_points.len())).flatten()
}

fn phases(
    definition: &Definition,
    overrides: &Overrides,
    time_limit: Nanos,
    shape: Option<&Shape>,
) -> Phases {
    let standard = if overrides.quick { definition.quick.phases } else { definition.phases };
    if let Some(shape) = shape {
        let zero = Nanos::ZERO;
        let drain = overrides.drain.unwrap_or(standard.drain);
        let steady = shape.length();
        return Phases { quiet: standard.quiet, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain };
    }
    overrides.phases(standard, time_limit)
}

/// Returns the length of the steady phase in which a schedule has the number of operations that the plan gives; `None` where
/// it gives none, or the schedule has no more than those; and with stages, which end by themselves.
///
/// With a rate λ without a ramp it is n ÷ λ of constant arrivals. Else it ends as soon after the last operation as one can tell
/// it from the next.
fn steady_of_schedule(plan: &Plan) -> Option<Nanos> {
    let n = usize::try_from(plan.operations?).ok()?;
    let ([point], None) = (plan.load_points.as_slice(), &plan.shape) else { return None };
    let mut due = plan.schedule(*point)?.whole().skip(n.checked_sub(1)?).map(|(_, due)| due);
    let (last, next) = (due.next()?, due.next()?);
    let begin = plan.phases.start_of(Phase::Steady);
    let even = Nanos::from_secs_f64(n as f64 / point.load.level());
    let end = even.clamp((last + Nanos(1)).min(next), next);
    // Those of the ramp-up are some of them.
    Some(end.saturating_sub(begin).max(Nanos(1))).filter(|steady| *steady < plan.phases.steady)
}

fn load_points(definition: &Definition, workload: &Workload, overrides: &Overrides) -> Vec<LoadPoint> {
    let levels = if overrides.quick { &definition.quick.levels } else { &definition.load.levels };
    let arrivals = overrides.arrivals.unwrap_or(definition.open_loop.arrivals);
    let in_flight_max = overrides.in_flight_max.or(definition.open_loop.in_flight_max);
    let in_flight_max = in_flight_max.unwrap_or_else(|| workload.in_flight_max());
    let rate = |per_second| Load::Rate { per_second, arrivals, in_flight_max };
    let users = |level: f64| Load::Users(level.round() as u32);
    if let Some(stages) = &overrides.stages {
        let highest = stages.level_max();
        let load = if stages.unit() == LoadUnit::Rate { rate(highest) } else { users(highest) };
        return vec![LoadPoint { index: 0, load }];
    }
    let loads: Vec<Load> = match (&overrides.rates, &overrides.load, definition.load.unit) {
        (Some(rates), _, _) => rates.iter().copied().map(rate).collect(),
        (None, Some(users), _) => users.iter().copied().map(Load::Users).collect(),
        (None, None, unit @ LoadUnit::Rate) => {
            levels.list(overrides.max_load, unit).into_iter().map(rate).collect()
        }
        // Levels of users in a definition are whole.
        (None, None, unit @ LoadUnit::Users) => {
            levels.list(overrides.max_load, unit).into_iter().map(users).collect()
        }
    };
    (0..).zip(loads).map(|(index, load)| LoadPoint { index, load }).collect()
}

/// The highest level of a search without a given maximum, as a multiple of the benchmark's own highest load.
const SEARCH_FACTOR: f64 = 10.0;

/// Returns the lowest and highest load of a search. The highest is the maximum given, else a multiple of the
/// benchmark's highest load, unless more load needs more data on the server. `None` if there are no levels.
fn search(definition: &Definition, workload: &Workload, overrides: &Overrides) -> Option<Search> {
    let standard = load_points(definition, workload, &Overrides { quick: false, ..overrides.clone() });
    let highest =
        standard.iter().map(|point| point.load).max_by(|one, other| one.level().total_cmp(&other.level()))?;
    let factor = if workload.grows_with_load() { 1.0 } else { SEARCH_FACTOR };
    let most = overrides.max_load.unwrap_or(highest.level() * factor);
    let least = if highest.is_closed() { 1.0 } else { (most / 1000.0).min(10.0) };
    Some(Search { least: highest.at_level(least), most: highest.at_level(most) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Arrivals, ChosenSetting, Family, OPERATIONS_STEADY_MAX, Page, Request, SutPlan, TotalTime,
        ValueDistribution, WorkloadSource,
    };
    use languages::USERS_MAX;

    const DEFINITION: &str = r#"
        format = 1
        id = "pages"
        version = 2
        title = "Pages"
        summary = "For tests."
        family = "web"
        headline = "connection-rate"
        workload = { filelist.text = "/a 1 #1", content-seed = 7, counts-pages = true }
        protocol = { http = "1.0", connection = "per-request", time-limit = "60 s" }
        load = { users = "10..200/10" }
        open-loop = { arrivals = "poisson", in-flight-max = 50 }
        phases = { steady = "600 s" }
        quick = { users = "1,5", steady = "5 s" }
    "#;

    fn definition() -> Definition {
        Definition::parse("pages.toml", DEFINITION).unwrap()
    }

    fn overrides() -> Overrides {
        let sut = SutPlan::of("built-in");
        Overrides::new(sut)
    }

    fn plan(overrides: &Overrides) -> Result<Plan, Vec<Problem>> {
        make_plan(&definition(), workload_of(&definition(), vec![Request::file("/a", 1)]), overrides)
    }

    /// Reads settings of the web, each as it is typed, between spaces.
    fn settings(text: &str) -> Vec<ChosenSetting> {
        let read = |one: &str| {
            let (name, value) = one.split_once('=').unwrap();
            Family::Web.choose_setting(name, value).unwrap()
        };
        text.split_whitespace().map(read).collect()
    }

    /// Returns the workload of a definition with other requests, each of which is a page.
    fn workload_of(definition: &Definition, requests: Vec<Request>) -> Workload {
        let page = |index: usize| Page { weight: 1, requests: vec![index as u32] };
        let pages = (0..requests.len()).map(page).collect();
        definition.workload.web().unwrap().workload(requests, pages).into()
    }

    /// Returns the modifications of a plan as lines `what: standard -> ours`.
    fn modifications(overrides: &Overrides) -> Vec<String> {
        let line = |row: &crate::Modification| format!("{}: {} -> {}", row.what, row.standard, row.ours);
        plan(overrides).unwrap().modifications.iter().map(line).collect()
    }

    fn problems(change: impl FnOnce(&mut Overrides)) -> Vec<Problem> {
        let mut overrides = overrides();
        change(&mut overrides);
        plan(&overrides).unwrap_err()
    }

    #[test]
    fn a_run_without_overrides_follows_the_definition() {
        let plan = plan(&overrides()).unwrap();
        assert_eq!(plan.modifications, []);
        assert_eq!(plan.load_points.len(), 20);
        assert_eq!(plan.load_points[19], LoadPoint { index: 19, load: Load::Users(200) });
        assert_eq!(plan.users_max(), 200);
        assert_eq!((plan.phases, plan.rules), (definition().phases, definition().rules));
        assert_eq!((plan.seed, &plan.agents[..]), (DEFAULT_SEED, &[AgentPlan::only(1)][..]));
        assert_eq!((plan.benchmark.id.as_str(), plan.benchmark.version), ("pages", 2));
    }

    /// A closed loop is searched from one user to ten times the benchmark's highest load, unless told otherwise.
    #[test]
    fn a_search_has_a_range_instead_of_load_points() {
        let search = Overrides { find_max: true, ..overrides() };
        let found = plan(&search).unwrap();
        assert_eq!(found.search, Some(Search { least: Load::Users(1), most: Load::Users(2000) }));
        assert_eq!((found.load_points.len(), found.level_max(), found.users_max()), (0, 2000.0, 2000));
        assert_eq!(
            modifications(&search),
            ["load: closed loop, 10..200/10 clients -> the highest, looked for from 1 to 2000 clients"]
        );
        let told = Overrides { max_load: Some(50.0), ..search };
        assert_eq!(plan(&told).unwrap().search.unwrap().most, Load::Users(50));
        let nowhere = Overrides { max_load: Some(1.0), ..told };
        assert_eq!(plan(&nowhere).unwrap_err(), [Problem::SearchRange(1.0, 1.0)]);
    }

    /// Half as many as planned, at most two; none between loads that somebody has chosen.
    #[test]
    fn only_loads_that_nobody_chose_are_refined() {
        let refined = Overrides { refine: true, ..overrides() };
        let of = |overrides: Overrides| plan(&overrides).unwrap().refinement;
        assert_eq!(of(refined.clone()), Some(Refinement { n_planned: 20, added_max: 2 }));
        assert_eq!(of(overrides()), None);
        assert_eq!(of(Overrides { load: Some(vec![1, 10, 100]), ..refined.clone() }), None);
        assert_eq!(of(Overrides { rates: Some(vec![10.0, 100.0]), ..refined.clone() }), None);
        assert_eq!(of(Overrides { quick: true, ..refined.clone() }), None);
        assert_eq!(of(Overrides { find_max: true, ..refined.clone() }), None);
        assert_eq!(
            [1, 2, 3, 4].map(|n| Refinement::of(n).map(|of| of.added_max)),
            [None, Some(1), Some(1), Some(2)]
        );
        let json = |overrides: &Overrides| serde_json::to_value(plan(overrides).unwrap()).unwrap();
        assert_eq!(json(&refined)["refinement"]["added_max"], 2);
        assert_eq!(json(&overrides()).get("refinement"), None, "other plans are stored as before");
    }

    /// Three load points of twenty are known: the two that may be added, and none beyond them.
    #[test]
    fn a_plan_takes_as_many_load_points_as_it_may_add() {
        let mut refined = plan(&Overrides { refine: true, ..overrides() }).unwrap();
        assert_eq!((refined.planned().len(), refined.n_points_max()), (20, Some(22)));
        for (index, users) in [(3, 7), (20, 15), (21, 12), (22, 11)] {
            refined.add_load_point(LoadPoint { index, load: Load::Users(users) });
        }
        let added: Vec<_> = refined.load_points[20..].iter().map(|point| point.load).collect();
        assert_eq!(added, [Load::Users(15), Load::Users(12)]);
        assert_eq!((refined.planned().len(), refined.n_points_max()), (20, Some(22)));
        let mut fixed = plan(&overrides()).unwrap();
        fixed.add_load_point(LoadPoint { index: 20, load: Load::Users(15) });
        assert_eq!((fixed.load_points.len(), fixed.n_points_max()), (20, Some(20)));
    }

    #[test]
    fn an_override_equal_to_the_definition_is_not_a_modification() {
        let same = Overrides {
            load: Some((1..=20).map(|step| step * 10).collect()),
            steady: Some(Nanos::from_secs(600)),
            settings: settings("connection=per-request"),
            seed: Some(99),
            load_cpus: vec![1, 3],
            ..overrides()
        };
        assert_eq!(modifications(&same), [""; 0]);
        let agent = AgentPlan { cpus: vec![1, 3], ..AgentPlan::only(2) };
        assert_eq!(plan(&same).unwrap().agents, std::slice::from_ref(&agent));
        assert_eq!(agent.shares(), 0..2);
    }

    #[test]
    fn every_deviation_is_labelled() {
        let s = |seconds| Some(Nanos::from_secs(seconds));
        let all = Overrides {
            quick: true,
            load: Some(vec![3]),
            ramp_up: s(1),
            settle: s(2),
            steady: s(3),
            drain: s(4),
            settings: settings("filelist=mine.txt time-limit=5s connection=keep-alive:100"),
            ..overrides()
        };
        insta::assert_snapshot!(modifications(&all).join("\n"), @r"
        length: full -> quick run
        load: closed loop, 10..200/10 clients -> closed loop, 3 clients
        ramp-up: 0 s -> 1 s
        settle phase: 0 s -> 2 s
        steady phase: 600 s -> 3 s
        drain: 0 s -> 4 s
        connection: one per request -> kept alive, at most 100 requests each
        time limit: 60 s -> 5 s
        filelist: the standard one of pages -> mine.txt
        ");
    }

    #[test]
    fn a_quick_run_is_always_labelled() {
        let quick = Overrides { quick: true, ..overrides() };
        insta::assert_snapshot!(modifications(&quick).join("\n"), @r"
        length: full -> quick run
        load: closed loop, 10..200/10 clients -> closed loop, 1,5 clients
        steady phase: 600 s -> 5 s
        ");
        let in_full = Overrides {
            load: Some(
                definition()
                    .load
                    .levels
                    .list(None, LoadUnit::Users)
                    .iter()
                    .map(|level| *level as u32)
                    .collect(),
            ),
            steady: Some(definition().phases.steady),
            ..quick
        };
        assert_eq!(modifications(&in_full), ["length: full -> quick run"]);
    }

    #[test]
    fn an_open_loop_takes_missing_settings_from_the_definition() {
        let open = Overrides { rates: Some(vec![100.0, 200.0, 300.0]), ..overrides() };
        let load = "open loop, 100..300/100 operations per second, Poisson arrivals, at most 50 in flight";
        assert_eq!(modifications(&open), [format!("load: closed loop, 10..200/10 clients -> {load}")]);
        let arrivals = Some(Arrivals::Constant);
        let other = Overrides { arrivals, in_flight_max: Some(9), quick: true, ..open };
        let plan = plan(&other).unwrap();
        let load = Load::Rate { per_second: 300.0, arrivals: Arrivals::Constant, in_flight_max: 9 };
        assert_eq!(plan.load_points[2], LoadPoint { index: 2, load });
        assert_eq!(plan.phases.steady, Nanos::from_secs(5));
    }

    /// The form of other plans is as it was before there were lanes.
    #[test]
    fn only_plans_with_poisson_arrivals_have_lanes() {
        let poisson = plan(&Overrides { rates: Some(vec![5.0]), ..overrides() }).unwrap();
        let json = |plan: &Plan| serde_json::to_value(plan).unwrap();
        assert_eq!(json(&poisson)["arrival_lanes"], 256);
        let arrivals = Some(Arrivals::Constant);
        let constant = plan(&Overrides { rates: Some(vec![5.0]), arrivals, ..overrides() }).unwrap();
        for other in [constant, plan(&overrides()).unwrap()] {
            assert_eq!(json(&other).get("arrival_lanes"), None);
            assert_eq!(serde_json::from_value::<Plan>(json(&other)).unwrap(), other);
        }
        let search = Overrides { find_max: true, rates: Some(vec![5.0]), ..overrides() };
        assert_eq!(plan(&search).unwrap().arrival_lanes, crate::POISSON_LANES);
        let mut none = json(&poisson);
        none["arrival_lanes"] = 0.into();
        assert!(serde_json::from_value::<Plan>(none).is_err(), "there is at least one lane");
    }

    /// Every load thread must own a lane.
    #[test]
    fn poisson_arrivals_are_divided_among_256_threads_at_most() {
        let found = |threads, arrivals| {
            let rates = Some(vec![5.0]);
            plan(&Overrides { load_threads: threads, rates, arrivals: Some(arrivals), ..overrides() })
        };
        assert!(found(256, Arrivals::Poisson).is_ok());
        assert_eq!(
            found(257, Arrivals::Poisson).unwrap_err(),
            [Problem::PoissonThreads { threads: 257, n_lanes: 256 }]
        );
        assert!(found(257, Arrivals::Constant).is_ok());
    }

    #[test]
    fn impossible_runs_are_refused_with_reasons() {
        assert_eq!(problems(|run| run.load = Some(vec![])), [Problem::NumberOfLoadPoints(0)]);
        assert_eq!(problems(|run| run.load = Some(vec![0, 5])), [Problem::Users(0)]);
        assert_eq!(problems(|run| run.load = Some(vec![USERS_MAX + 1])), [Problem::Users(USERS_MAX + 1)]);
        assert_eq!(problems(|run| run.load = Some(vec![5, 6, 5])), [Problem::LoadPointTwice(5.0)]);
        assert_eq!(problems(|run| run.rates = Some(vec![0.0])), [Problem::Rate(0.0)]);
        assert_eq!(problems(|run| run.rates = Some(vec![f64::INFINITY])), [Problem::Rate(f64::INFINITY)]);
        assert!(matches!(problems(|run| run.rates = Some(vec![f64::NAN]))[..], [Problem::Rate(_)]));
        assert_eq!(
            problems(|run| run.arrivals = Some(Arrivals::Poisson)),
            [Problem::OpenLoopOnly("arrivals")]
        );
        assert_eq!(problems(|run| run.in_flight_max = Some(5)), [Problem::OpenLoopOnly("in-flight-max")]);
        assert_eq!(problems(|run| run.steady = Some(Nanos::ZERO)), [Problem::Zero("steady phase")]);
        assert_eq!(problems(|run| run.steady = Some(Nanos::MAX)), [Problem::TooLong(Nanos::MAX)]);
        assert_eq!(problems(|run| run.load_threads = 0), [Problem::NoLoadThreads]);
        assert_eq!(problems(|run| run.load_cpus = vec![0, 1, 0]), [Problem::CpuTwice(0)]);
        assert_eq!(problems(|run| run.sut.quota = Some(0.0)), [Problem::Quota(0.0)]);
        let zero = CpuQuota { cpus: Some(0.0), reason: "mistake".to_owned() };
        assert_eq!(plan(&overrides()).unwrap().with_quota(zero), Err(Problem::Quota(0.0)));
    }

    fn stages(text: &str) -> Option<crate::StageList> {
        Some(crate::parse_stages(text).unwrap())
    }

    /// One load point, whose load is the highest level and whose steady phase is the shape; ramps are cut.
    #[test]
    fn stages_are_one_load_point() {
        let until = crate::parse_limits("p99<200ms").unwrap();
        let shaped = Overrides { stages: stages("30s:0..100,2m:100"), until, refine: true, ..overrides() };
        let found = plan(&shaped).unwrap();
        assert_eq!(found.load_points, [LoadPoint { index: 0, load: Load::Users(100) }]);
        let shape = found.shape.as_ref().unwrap();
        assert_eq!((shape.stages.len(), shape.until.len(), shape.level_max()), (7, 1, 100.0));
        let zero = Nanos::ZERO;
        let steady = Nanos::from_secs(150);
        let phases =
            Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain: zero };
        assert_eq!((found.phases, found.refinement), (phases, None));
        insta::assert_snapshot!(
            modifications(&shaped).join("\n"),
            @"load: closed loop, 10..200/10 clients -> closed loop, up to 100 clients; stages 30 s:0..100, 120 s:100; until p99<200ms is broken"
        );
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(serde_json::from_value::<Plan>(json).unwrap(), found);
        let open = Overrides {
            stages: stages("1m:10..2000/s"),
            arrivals: Some(Arrivals::Poisson),
            in_flight_max: Some(9),
            quick: true,
            drain: Some(Nanos::from_secs(2)),
            ..overrides()
        };
        let found = plan(&open).unwrap();
        let load = Load::Rate { per_second: 2000.0, arrivals: Arrivals::Poisson, in_flight_max: 9 };
        assert_eq!((found.load_points[0].load, found.phases.drain), (load, Nanos::from_secs(2)));
        assert_eq!((found.phases.steady, found.arrival_lanes), (Nanos::from_secs(60), crate::POISSON_LANES));
        insta::assert_snapshot!(modifications(&open).join("\n"), @r"
        length: full -> quick run
        load: closed loop, 10..200/10 clients -> open loop, up to 2000 operations per second, Poisson arrivals, at most 9 in flight; stages 60 s:10..2000/s
        drain: 0 s -> 2 s
        ");
    }

    #[test]
    fn stages_are_the_whole_load() {
        let s = |seconds| Some(Nanos::from_secs(seconds));
        let until = |text: &str| crate::parse_limits(text).unwrap();
        let shaped = || Overrides { stages: stages("30s:0..100"), ..overrides() };
        for (what, both) in [
            ("numbers of users", Overrides { load: Some(vec![5, 10]), ..shaped() }),
            ("rates", Overrides { rates: Some(vec![5.0]), ..shaped() }),
            ("a highest load", Overrides { max_load: Some(5.0), ..shaped() }),
            ("a search", Overrides { find_max: true, ..shaped() }),
        ] {
            assert_eq!(plan(&both).unwrap_err(), [Problem::StagesAndLoads(what)]);
        }
        let found = problems(|run| {
            run.stages = stages("30s:0..100");
            (run.ramp_up, run.settle, run.steady, run.ramp_down) = (s(1), s(1), s(1), s(1));
        });
        let phases = ["ramp-up", "settle phase", "steady phase", "ramp-down"];
        assert_eq!(found, phases.map(Problem::PhaseOfStages));
        assert_eq!(problems(|run| run.until = until("p99<1s")), [Problem::UntilWithoutStages]);
        let rate = until("rate>5/s");
        let found = problems(|run| (run.stages, run.until) = (stages("30s:0..100"), rate.clone()));
        assert_eq!(found, [Problem::UntilOfRate(rate[0])]);
        let delivered = until("delivered>90%");
        let found = problems(|run| (run.stages, run.until) = (stages("30s:0..100"), delivered.clone()));
        assert_eq!(found, [Problem::LimitOfRate(delivered[0])]);
        let open = Overrides { stages: stages("30s:0..100/s"), until: delivered, ..overrides() };
        assert!(plan(&open).is_ok());
        let found = problems(|run| (run.stages, run.arrivals) = (stages("5s:7"), Some(Arrivals::Poisson)));
        assert_eq!(found, [Problem::OpenLoopOnly("arrivals")]);
    }

    /// Goal: a benchmark that is a shape is run as defined, briefly, with other stages, or at load points of the run's own.
    #[test]
    fn a_benchmark_may_be_a_shape() {
        let definition =
            Definition::parse("day.toml", include_str!("../definition/every_shape_key.toml")).unwrap();
        let workload = workload_of(&definition, vec![Request::file("/index.html", 500)]);
        let plan = |change: fn(&mut Overrides)| {
            let mut overrides = overrides();
            change(&mut overrides);
            make_plan(&definition, workload.clone(), &overrides).unwrap()
        };
        let rows = |plan: &Plan| -> Vec<String> {
            let row = |row: &crate::Modification| format!("{}: {} -> {}", row.what, row.standard, row.ours);
            plan.modifications.iter().map(row).collect()
        };
        let found = plan(|_| ());
        assert_eq!((rows(&found), found.phases), (Vec::new(), definition.phases));
        assert_eq!(found.shape.as_ref().unwrap().stages.len(), 6 + 1 + 2);
        let quick = plan(|run| run.quick = true);
        assert_eq!(
            (quick.phases.steady, quick.load_points[0].load),
            (Nanos::from_secs(15), Load::Users(100))
        );
        let other = plan(|run| run.stages = stages("5s:7"));
        assert_eq!((other.load_points[0].load, other.shape.unwrap().until.len()), (Load::Users(7), 0));
        let longer = plan(|run| run.until = crate::parse_limits("errors<5%").unwrap());
        insta::assert_snapshot!([rows(&quick), rows(&longer)].concat().join("\n"), @r"
        length: full -> quick run
        load: closed loop, up to 100 users; stages 30 s:0..100, 120 s:100, 10 s:100..0; until p99<200ms,errors<1% is broken -> closed loop, up to 100 users; stages 5 s:0..100, 5 s:100, 5 s:100..0; until p99<200ms,errors<1% is broken
        load: closed loop, up to 100 users; stages 30 s:0..100, 120 s:100, 10 s:100..0; until p99<200ms,errors<1% is broken -> closed loop, up to 100 users; stages 30 s:0..100, 120 s:100, 10 s:100..0; until errors<5% is broken
        ");
        let points = plan(|run| (run.load, run.steady) = (Some(vec![5, 50]), Some(Nanos::from_secs(60))));
        assert_eq!(
            (points.load_points.len(), points.shape, points.phases.steady.0),
            (2, None, 60_000_000_000)
        );
    }

    /// By hand: 0..40/s in 10 s are 200 operations of 1,000 at most in flight, each with a row of its own.
    #[test]
    fn rows_of_data_are_counted_over_the_stages() {
        let plan = plan(&Overrides { stages: stages("10s:0..40/s"), ..overrides() }).unwrap();
        let data = |rows| crate::DataSet {
            name: "ids".to_owned(),
            file: String::new(),
            hash: String::new(),
            rows,
            pick: crate::RowPick::Unique,
            at_end: crate::RowsEnd::Leave,
        };
        let needed = |rows| problems::data_problems(&plan, &[data(rows)], plan.load_points[0].load);
        // 50 may be in flight: four rows for each.
        assert_eq!((needed(200).len(), needed(199).len()), (0, 1));
    }

    /// A benchmark with parameters and steps.
    fn steps() -> Definition {
        Definition::parse("steps.toml", include_str!("../definition/every_request_key.toml")).unwrap()
    }

    fn plan_of_steps(change: impl FnOnce(&mut Overrides)) -> Result<Plan, Vec<Problem>> {
        let definition = steps();
        let web = definition.workload.web().unwrap();
        let WorkloadSource::Requests(requests, pages) = web.source.clone() else {
            panic!("the definition has requests");
        };
        let workload = web.workload(requests, pages).into();
        let mut overrides = Overrides { settings: settings("connection=keep-alive"), ..overrides() };
        change(&mut overrides);
        make_plan(&definition, workload, &overrides)
    }

    #[test]
    fn a_highest_load_is_not_a_modification_but_other_distributions_are() {
        let plan = plan_of_steps(|run| {
            run.max_load = Some(1000.0);
            run.settings.extend(settings("pick.item=zipf:0.8"));
        })
        .unwrap();
        assert_eq!(plan.level_max(), 1000.0);
        assert_eq!(plan.workload.web().unwrap().requests[1].parameters[0].pick, ValueDistribution::Zipf(0.8));
        let names: Vec<&str> = plan.modifications.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(names, ["connection", "choice of `item`"]);
    }

    #[test]
    fn contradictory_protocol_settings_are_refused() {
        let found = |names: &str, load: Option<Vec<u32>>| {
            plan_of_steps(|run| (run.settings, run.load) = (settings(names), load)).map(|_| ())
        };
        let refused = |problem| Err(vec![problem]);
        assert_eq!(found("connection=per-request", None), refused(Problem::Http2PerRequest));
        assert_eq!(found("", None), refused(Problem::SessionsOfRate));
        let shared = refused(Problem::SessionsShared(4));
        assert_eq!(found("connection=sessions streams=4", Some(vec![8])), shared);
        let kept = "connection=keep-alive http=1.1 streams=4";
        assert_eq!(found(kept, None), refused(Problem::StreamsWithoutHttp2(4)));
        assert_eq!(found("http=1.0 tls=full connection=per-request", None), Ok(()));
    }

    #[test]
    fn a_setting_is_given_once() {
        let twice = |name: &str| Err(vec![Problem::SettingTwice(name.to_owned())]);
        let found = |names| plan_of_steps(|run| run.settings.extend(settings(names))).map(|_| ());
        assert_eq!(found("connection=keep-alive"), twice("connection"));
        assert_eq!(found("pick.id=uniform pick.id=uniform"), twice("pick.id"));
        assert_eq!(found("pick.id=uniform pick.item=uniform"), Ok(()));
    }

    #[test]
    fn a_highest_load_needs_steps() {
        assert_eq!(problems(|run| run.max_load = Some(100.0)), [Problem::MaxLoadOfList(100.0)]);
        let both = plan_of_steps(|run| (run.max_load, run.rates) = (Some(5.0), Some(vec![5.0])));
        assert_eq!(both, Err(vec![Problem::MaxLoadAndLevels]));
        let found = plan_of_steps(|run| run.max_load = Some(f64::INFINITY)).unwrap_err();
        assert!(found.contains(&Problem::Rate(f64::INFINITY)), "{found:?}");
    }

    #[test]
    fn picks_must_fit_their_parameters() {
        let refused = |name: &str, pick: &str| {
            let setting = settings(&format!("pick.{name}={pick}"));
            plan_of_steps(|run| run.settings.extend(setting)).unwrap_err()[0].to_string()
        };
        let found = [
            refused("itme", "uniform"),
            refused("id", "weights:1,2"),
            refused("item", "weights:1,2"),
            problems(|run| run.settings = settings("pick.id=uniform"))[0].to_string(),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        there is no parameter `itme`; there is `id`, `item`, `size`
        parameter `id` of `image`: 2 weights for 3 values
        parameter `item` of `order`: weights for values whose number grows with the load
        there is no parameter `id`; the benchmark has none
        ");
    }

    #[test]
    fn files_are_counted_at_the_given_load() {
        let definition = steps();
        let web = definition.workload.web().unwrap();
        let WorkloadSource::Requests(mut requests, pages) = web.source.clone() else {
            panic!("the definition has requests");
        };
        requests[1].path = "/orders/{item}".parse().unwrap();
        requests[1].reply = crate::ReplyBody::File(vec![1]);
        requests[1].parameters[0].count = crate::ValueCount::SquareRoot(1e9);
        let workload = Workload::from(web.workload(requests, pages));
        let plan = |rate| {
            let settings = settings("connection=keep-alive");
            let overrides = Overrides { settings, rates: Some(vec![rate]), ..overrides() };
            make_plan(&definition, workload.clone(), &overrides).map(|plan| plan.file_set().files.len())
        };
        assert_eq!(plan(0.001), Ok(1006), "six images");
        let error = crate::FileSetError::Files(31_622_783);
        let picks = crate::ParameterError::Values(31_622_777);
        let pick = Problem::Pick { name: "item".into(), request: "order".into(), error: picks };
        assert_eq!(plan(1e6), Err(vec![pick, Problem::Files { load: 1e6, error }]));
    }

    /// Whether more load needs more files is asked of what is fetched: a filelist takes the place of the definition's.
    #[test]
    fn a_search_goes_beyond_the_highest_load_unless_files_grow() {
        let most = |count| {
            let parameters = vec![crate::Parameter::numbers("item", 0, count)];
            let path = "/{item}".parse().unwrap();
            let requests = vec![Request { path, parameters, ..Request::file("/", 1) }];
            let overrides = Overrides { find_max: true, ..overrides() };
            make_plan(&definition(), workload_of(&definition(), requests), &overrides)
                .unwrap()
                .search
                .unwrap()
                .most
        };
        assert_eq!(most(crate::ValueCount::Fixed(5)), Load::Users(2000));
        assert_eq!(most(crate::ValueCount::SquareRoot(5.0)), Load::Users(200));
    }

    /// By hand: of 201 s, each of 2 · 4 load points has 25 s, of which 2 s are its ramp-up and 3.04 s its settle phase: 19.96 s are
    /// left, and 6.04 s are the least that it can take.
    #[test]
    fn a_time_for_the_whole_run_is_divided_among_its_load_points() {
        let s = Nanos::from_secs;
        let whole = |total| Overrides {
            load: Some(vec![1, 2, 3, 4]),
            ramp_up: Some(s(2)),
            settle: Some(Nanos::from_millis(3_040)),
            total: Some(TotalTime { whole: total, checks: s(1), n_runs: 2 }),
            refine: true,
            ..overrides()
        };
        let planned = plan(&whole(s(201))).unwrap();
        assert_eq!((planned.phases.steady, planned.refinement), (Nanos::from_millis(19_900), None));
        let least = Nanos::from_millis(49_320);
        assert_eq!(plan(&whole(least)).unwrap().phases.steady, s(1));
        let total = least.saturating_sub(Nanos(1));
        assert_eq!(plan(&whole(total)).unwrap_err(), [Problem::TotalTooShort { whole: total, least }]);
        assert_eq!(plan(&whole(s(1))).unwrap_err(), [Problem::TotalTooShort { whole: s(1), least }]);
    }

    /// By hand: 1,000 operations take 10 s at 100/s; a closed loop takes as long as its users need, which an hour bounds.
    #[test]
    fn a_number_of_operations_ends_the_only_load_point() {
        let s = Nanos::from_secs;
        let of = |n| Overrides { operations: Some(n), ..overrides() };
        let closed = Overrides { load: Some(vec![5]), ..of(1_000) };
        let planned = plan(&closed).unwrap();
        let phases = Phases {
            quiet: s(0),
            ramp_up: s(0),
            settle: s(0),
            steady: OPERATIONS_STEADY_MAX,
            ramp_down: s(0),
            drain: s(60),
        };
        assert_eq!((planned.operations, planned.phases), (Some(1_000), phases));
        insta::assert_snapshot!(modifications(&closed).join("\n"), @r"
        load: closed loop, 10..200/10 clients -> closed loop, 5 clients
        operations: any number -> 1000
        drain: 0 s -> 60 s
        ");
        let bounded = Overrides { steady: Some(s(30)), settle: Some(s(2)), ..closed.clone() };
        let bounded = plan(&bounded).unwrap().phases;
        assert_eq!((bounded.settle, bounded.steady), (s(2), s(30)));
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let open = Overrides { rates: Some(vec![100.0]), arrivals: Some(arrivals), ..of(1_000) };
            let planned = plan(&open).unwrap();
            let steady = planned.phases.steady;
            assert!(arrivals == Arrivals::Poisson || steady == s(10), "{steady}");
            assert!(s(8) < steady && steady < s(12), "{steady}");
            let point = planned.load_points[0];
            assert_eq!(planned.schedule(point).unwrap().whole().count(), 1_000, "{arrivals}");
            let short = Overrides { steady: Some(s(1)), ..open };
            assert_eq!(plan(&short).unwrap().phases.steady, s(1), "the length is a bound");
        }
        assert_eq!(planned.operations_of_agent(0, Load::Users(5)), Some(1_000));
    }

    #[test]
    fn a_number_of_operations_that_no_load_point_can_have_is_refused() {
        let of = |change: fn(&mut Overrides)| {
            problems(|run| {
                run.operations = Some(100);
                change(run);
            })
        };
        assert_eq!(of(|_| {}), [Problem::OperationsOfSeveral(20)]);
        assert_eq!(of(|run| run.find_max = true), [Problem::OperationsOfSearch]);
        assert_eq!(of(|run| run.load = Some(vec![101])), [Problem::FewerOperationsThanUsers(100, 101)]);
        assert_eq!(of(|run| (run.load, run.operations) = (Some(vec![1]), Some(0))), [Problem::NoOperations]);
        let rated = |run: &mut Overrides| run.rates = Some(vec![100.0]);
        let ramped = problems(|run| {
            rated(run);
            (run.operations, run.ramp_up) = (Some(100), Some(Nanos::from_secs(2)));
        });
        assert_eq!(ramped, [Problem::OperationsBeforeSteady(100)], "a ramp of 2 s to 100/s has 100 of them");
        let falling = problems(|run| {
            rated(run);
            (run.operations, run.ramp_down) = (Some(500), Some(Nanos::from_secs(2)));
        });
        assert_eq!(falling, [Problem::RampDownOfOperations]);
    }

    #[test]
    fn addresses_are_listed_once() {
        let address = std::net::IpAddr::from([127, 0, 0, 2]);
        assert_eq!(
            problems(|run| run.source_addresses = vec![address, address]),
            [Problem::SourceTwice(address)]
        );
    }

    #[test]
    fn all_reasons_are_given_at_once() {
        let found = problems(|run| {
            run.load = Some(vec![5]);
            run.rates = Some(vec![5.0]);
            run.in_flight_max = Some(0);
            run.load_threads = 0;
        });
        assert_eq!(found, [Problem::InFlight(0), Problem::LoadAndRates, Problem::NoLoadThreads]);
        assert!(found.iter().all(|problem| !problem.hint().is_empty()));
    }
}
