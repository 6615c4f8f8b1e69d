//! Planning: definition + workload + what the run asks for → plan, or a list of problems.

use units::Nanos;

use crate::{
    Arrivals, BenchmarkId, Connection, DEFAULT_SEED, Definition, LOAD_POINTS_MAX, Load, LoadPoint,
    Modification, Overrides, PLAN_FORMAT, Phases, Plan, Protocol, RATE_MAX, USERS_MAX, Workload, load_text,
    time_text,
};

/// The longest that a whole run may be planned to take: 30 days.
const RUN_MAX: Nanos = Nanos::from_secs(30 * 24 * 3600);

/// Why no plan can be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A number of users is out of bounds.
    #[error("load point of {0} users: the number of users must be from 1 to {USERS_MAX}")]
    Users(u32),
    /// A rate is out of bounds or not a number.
    #[error("load point of {0} operations per second: the rate must be above 0 and up to {RATE_MAX}")]
    Rate(f64),
    /// There is no load point, or there are too many.
    #[error("{0} load points: there must be from 1 to {LOAD_POINTS_MAX}")]
    NumberOfLoadPoints(usize),
    /// A level of load comes twice.
    #[error("the load point {0} comes twice")]
    LoadPointTwice(f64),
    /// Users and rates are asked for at once.
    #[error("both numbers of users and rates are asked for")]
    LoadAndRates,
    /// Something is asked for that only an open loop has.
    #[error("`{0}` concerns an open loop, but the load is a number of users")]
    OpenLoopOnly(&'static str),
    /// The limit of operations in flight is out of bounds.
    #[error("{0} operations in flight: the limit must be from 1 to {USERS_MAX}")]
    InFlight(u32),
    /// A length that must be above zero is zero.
    #[error("the {0} must be longer than zero")]
    Zero(&'static str),
    /// The run would take too long.
    #[error("the run would take {:.0} days, more than 30", .0.as_secs_f64() / 86_400.0)]
    TooLong(Nanos),
    /// Connections that carry no request.
    #[error("a kept connection must be allowed at least one request")]
    NoRequests,
    /// No thread makes load.
    #[error("there must be at least one load thread")]
    NoLoadThreads,
    /// A CPU is listed twice.
    #[error("CPU {0} is listed twice for load threads")]
    CpuTwice(u32),
    /// The server may use no CPU time.
    #[error("a quota of {0} CPUs: it must be above zero")]
    Quota(f64),
}

impl Problem {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Problem::Users(_) => "`--load 10..200/10` or `--load 1,2,5` lists numbers of users",
            Problem::Rate(_) => "`--rate 1000..5000/1000` lists operations per second",
            Problem::NumberOfLoadPoints(_) => "take a range with a larger step, or fewer levels",
            Problem::LoadPointTwice(_) => "to repeat a measurement, make several runs",
            Problem::LoadAndRates => "give `--load` for a closed loop or `--rate` for an open one",
            Problem::OpenLoopOnly(_) => "give `--rate` as well, or leave it out",
            Problem::InFlight(_) => "`--in-flight-max 1000` is plenty for most servers",
            Problem::Zero(_) => "write a number and a unit, such as `60s`",
            Problem::TooLong(_) => "take fewer load points or shorter phases",
            Problem::NoRequests => "leave the limit out to keep connections for as long as the server does",
            Problem::NoLoadThreads => "one per CPU is a good number",
            Problem::CpuTwice(_) => "list every CPU once; each gets one load thread",
            Problem::Quota(_) => "0.5 is half of one CPU",
        }
    }
}

/// Makes the plan of a run. `workload` is the benchmark's own, or one made from `overrides.filelist`.
///
/// Everything in which the run differs from the definition becomes a [`Modification`]; seed, server and load
/// threads are no part of the definition.
///
/// # Errors
/// All reasons why there can be no such run.
pub fn make_plan(
    definition: &Definition,
    workload: Workload,
    overrides: &Overrides,
) -> Result<Plan, Vec<Problem>> {
    let plan = Plan {
        format: PLAN_FORMAT,
        benchmark: BenchmarkId {
            id: definition.id.clone(),
            version: definition.version,
            title: definition.title.clone(),
            headline: definition.headline,
        },
        seed: overrides.seed.unwrap_or(DEFAULT_SEED),
        workload,
        protocol: protocol(definition, overrides),
        load_points: load_points(definition, overrides),
        phases: phases(definition, overrides),
        rules: definition.rules,
        modifications: modifications(definition, overrides),
        sut: overrides.sut.clone(),
        load_cpus: overrides.load_cpus.clone(),
        load_threads: match overrides.load_cpus.len() {
            0 => overrides.load_threads,
            pinned => u32::try_from(pinned).unwrap_or(u32::MAX),
        },
    };
    let problems = problems(&plan, overrides);
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

fn protocol(definition: &Definition, overrides: &Overrides) -> Protocol {
    Protocol {
        http: definition.protocol.http,
        connection: overrides.connection.unwrap_or(definition.protocol.connection),
        time_limit: overrides.time_limit.unwrap_or(definition.protocol.time_limit),
    }
}

fn phases(definition: &Definition, overrides: &Overrides) -> Phases {
    let standard = definition.phases;
    let steady = if overrides.quick { definition.quick.steady } else { standard.steady };
    Phases {
        quiet: standard.quiet,
        ramp_up: overrides.ramp_up.unwrap_or(standard.ramp_up),
        settle: overrides.settle.unwrap_or(standard.settle),
        steady: overrides.steady.unwrap_or(steady),
        ramp_down: standard.ramp_down,
        drain: overrides.drain.unwrap_or(standard.drain),
    }
}

fn users<'a>(definition: &'a Definition, overrides: &'a Overrides) -> &'a [u32] {
    match &overrides.load {
        Some(users) => users,
        None if overrides.quick => &definition.quick.users,
        None => &definition.load.users,
    }
}

fn load_points(definition: &Definition, overrides: &Overrides) -> Vec<LoadPoint> {
    let arrivals = overrides.arrivals.unwrap_or(definition.open_loop.arrivals);
    let in_flight_max = overrides.in_flight_max.unwrap_or(definition.open_loop.in_flight_max);
    let loads: Vec<Load> = match &overrides.rates {
        Some(rates) => {
            rates.iter().map(|rate| Load::Rate { per_second: *rate, arrivals, in_flight_max }).collect()
        }
        None => users(definition, overrides).iter().map(|users| Load::Users(*users)).collect(),
    };
    (0..).zip(loads).map(|(index, load)| LoadPoint { index, load }).collect()
}

/// Lists what differs from the definition, in the order in which reports show it.
fn modifications(definition: &Definition, overrides: &Overrides) -> Vec<Modification> {
    let (standard, ours) = (definition.phases, phases(definition, overrides));
    let (as_defined, asked) = (&definition.protocol, protocol(definition, overrides));
    let mut list = Vec::new();
    let mut compare = |what: &str, standard: String, ours: String| {
        if standard != ours {
            list.push(Modification { what: what.to_owned(), standard, ours });
        }
    };
    let length = |what| if overrides.quick { what } else { "" };
    compare("length", length("full").to_owned(), length("quick run").to_owned());
    compare("load", users_text(&definition.load.users), load_asked(definition, overrides));
    compare("ramp-up", time_text(standard.ramp_up), time_text(ours.ramp_up));
    compare("settle phase", time_text(standard.settle), time_text(ours.settle));
    compare("steady phase", time_text(standard.steady), time_text(ours.steady));
    compare("drain", time_text(standard.drain), time_text(ours.drain));
    compare("connection", connection_text(as_defined.connection), connection_text(asked.connection));
    compare("time limit", time_text(as_defined.time_limit), time_text(asked.time_limit));
    if let Some(name) = &overrides.filelist {
        compare("filelist", format!("the standard one of {}", definition.id), name.clone());
    }
    list
}

fn users_text(users: &[u32]) -> String {
    format!("closed loop, {} users", load_text(users.iter().copied().map(f64::from)))
}

fn load_asked(definition: &Definition, overrides: &Overrides) -> String {
    let Some(rates) = &overrides.rates else { return users_text(users(definition, overrides)) };
    let arrivals = match overrides.arrivals.unwrap_or(definition.open_loop.arrivals) {
        Arrivals::Constant => "constant",
        Arrivals::Poisson => "Poisson",
    };
    let in_flight_max = overrides.in_flight_max.unwrap_or(definition.open_loop.in_flight_max);
    let rates = load_text(rates.iter().copied());
    format!(
        "open loop, {rates} operations per second, {arrivals} arrivals, at most {in_flight_max} in flight"
    )
}

fn connection_text(connection: Connection) -> String {
    match connection {
        Connection::PerRequest => "one per request".to_owned(),
        Connection::KeepAlive { requests_max: None } => "kept alive".to_owned(),
        Connection::KeepAlive { requests_max: Some(n) } => format!("kept alive, at most {n} requests each"),
    }
}

fn problems(plan: &Plan, overrides: &Overrides) -> Vec<Problem> {
    let mut problems = load_problems(plan);
    let mut when = |broken: bool, problem: Problem| {
        if broken {
            problems.push(problem);
        }
    };
    let is_open = overrides.rates.is_some();
    when(is_open && overrides.load.is_some(), Problem::LoadAndRates);
    when(!is_open && overrides.arrivals.is_some(), Problem::OpenLoopOnly("arrivals"));
    when(!is_open && overrides.in_flight_max.is_some(), Problem::OpenLoopOnly("in-flight-max"));
    when(plan.phases.steady == Nanos::ZERO, Problem::Zero("steady phase"));
    when(plan.protocol.time_limit == Nanos::ZERO, Problem::Zero("time limit"));
    let length = run_length(plan);
    when(RUN_MAX < length, Problem::TooLong(length));
    let no_requests = Connection::KeepAlive { requests_max: Some(0) };
    when(plan.protocol.connection == no_requests, Problem::NoRequests);
    when(plan.load_threads == 0, Problem::NoLoadThreads);
    for (place, cpu) in plan.load_cpus.iter().enumerate() {
        when(plan.load_cpus[..place].contains(cpu), Problem::CpuTwice(*cpu));
    }
    if let Some(quota) = plan.sut.quota {
        when(!(0.0 < quota && quota.is_finite()), Problem::Quota(quota));
    }
    problems
}

fn load_problems(plan: &Plan) -> Vec<Problem> {
    let points = &plan.load_points;
    let mut problems = Vec::new();
    if points.is_empty() || LOAD_POINTS_MAX < points.len() {
        problems.push(Problem::NumberOfLoadPoints(points.len()));
    }
    for (place, point) in points.iter().take(LOAD_POINTS_MAX).enumerate() {
        match point.load {
            Load::Users(users) if !(1..=USERS_MAX).contains(&users) => problems.push(Problem::Users(users)),
            Load::Rate { per_second, .. } if !(0.0 < per_second && per_second <= RATE_MAX) => {
                problems.push(Problem::Rate(per_second));
            }
            load if points[..place].iter().any(|other| other.load == load) => {
                problems.push(Problem::LoadPointTwice(load.level()));
            }
            _ => {}
        }
    }
    let in_flight = points.iter().map(|point| point.load).find(|load| !load.is_closed());
    match in_flight.map(Load::in_flight_max) {
        Some(limit) if !(1..=USERS_MAX).contains(&limit) => problems.push(Problem::InFlight(limit)),
        _ => {}
    }
    problems
}

/// Returns how long all load points take at most, without bringing the server up and down.
fn run_length(plan: &Plan) -> Nanos {
    let phases = plan.phases;
    let parts = [phases.quiet, phases.ramp_up, phases.settle, phases.steady, phases.ramp_down, phases.drain];
    let point = parts.into_iter().fold(Nanos::ZERO, Nanos::saturating_add);
    Nanos(point.0.saturating_mul(plan.load_points.len() as u64))
}
