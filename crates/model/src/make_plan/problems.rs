//! Why a run cannot be planned.

use units::Nanos;

use crate::{Connection, LOAD_POINTS_MAX, Load, Overrides, Plan, RATE_MAX, USERS_MAX};

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

/// Lists everything that is wrong with a plan and with what was asked for.
pub(super) fn problems(plan: &Plan, overrides: &Overrides) -> Vec<Problem> {
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
