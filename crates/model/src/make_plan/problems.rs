//! Reasons why a run cannot be planned.

use std::net::IpAddr;

use languages::{LOAD_POINTS_MAX, RATE_MAX, USERS_MAX};
use units::Nanos;

use crate::workload::check_objects;
use crate::{
    Arrivals, Configuration, ConnectionLifetime, DataSet, Definition, FileSetError, FileSettingsError,
    Headline, HttpVersion, Levels, Limit, LimitMetric, Load, LoadPoint, Overrides, POISSON_USERS_MAX,
    ParameterError, Phase, Plan, RowPick, RowsEnd, Search, SqlWorkload, SutPlan, WebProtocol, WebWorkload,
    check_agents,
};

/// The longest that a whole run may be planned to take: 30 days.
const RUN_MAX: Nanos = Nanos::from_secs(30 * 24 * 3600);

/// A reason why no plan can be made.
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
    /// A level of load is listed twice.
    #[error("the load point {0} is listed twice")]
    LoadPointTwice(f64),
    /// Both users and rates are given.
    #[error("both numbers of users and rates are given")]
    LoadAndRates,
    /// The time for the whole run is too short for its load points.
    #[error("{whole} are too short for the whole run, which takes {least} at least")]
    TotalTooShort {
        /// The time that is given.
        whole: Nanos,
        /// The least time in which each has a steady phase of [`crate::STEADY_OF_TOTAL_MIN`].
        least: Nanos,
    },
    /// The number of operations is zero.
    #[error("the number of operations must be at least 1")]
    NoOperations,
    /// The operations are used up before the steady phase begins.
    #[error("all of the {0} operations are due before the steady phase begins")]
    OperationsBeforeSteady(u64),
    /// A ramp-down of a load that ends with its last operation.
    #[error("a load that ends with its last operation has no ramp-down")]
    RampDownOfOperations,
    /// A number of operations is given for several load points.
    #[error("a number of operations is that of one load point, but there are {0}")]
    OperationsOfSeveral(usize),
    /// A number of operations is given for a search.
    #[error("a number of operations is that of one load point, but a search runs as many as it needs")]
    OperationsOfSearch,
    /// Another end is given for a load whose stages have theirs.
    #[error("the load ends with its last stage, so that {0} cannot end it")]
    EndOfStages(&'static str),
    /// Users are left without an operation.
    #[error("{0} operations are fewer than the {1} users that are to perform them")]
    FewerOperationsThanUsers(u64, u32),
    /// A setting that only an open loop has.
    #[error("`{0}` applies only to an open loop, but the load is a number of users")]
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
    /// A highest load is given, but the levels are a list.
    #[error("`--max-load {0}` does not apply: the benchmark lists its load points")]
    MaxLoadOfList(f64),
    /// Both a highest load and levels are given.
    #[error("both a highest load and levels of load are given")]
    MaxLoadAndLevels,
    /// Stages, and beside them load points or a search.
    #[error("both stages and {0} are given")]
    StagesAndLoads(&'static str),
    /// The length of a phase, beside stages.
    #[error("the length of the {0} does not apply: the stages are the whole load")]
    PhaseOfStages(&'static str),
    /// Limits that end a load that does not change.
    #[error("`--until` ends a load in stages, but the load is one of load points")]
    UntilWithoutStages,
    /// A limit that a rising load breaks at once.
    #[error("`{0}` cannot end a load: one that rises begins below it")]
    UntilOfRate(Limit),
    /// HTTP/2 with a connection per request.
    #[error("HTTP/2 cannot use a connection per request")]
    Http2PerRequest,
    /// Sessions in an open loop.
    #[error("session connections need users, but the load is a rate")]
    SessionsOfRate,
    /// Sessions on connections that users share.
    #[error("session connections cannot be shared, but {0} users share each")]
    SessionsShared(u32),
    /// Streams without HTTP/2.
    #[error("{0} users share a connection: only HTTP/2 has streams")]
    StreamsWithoutHttp2(u32),
    /// A distribution is given for a parameter that does not exist.
    #[error("there is no parameter `{name}`; {known}")]
    NoParameter {
        /// The name given.
        name: String,
        /// The parameters that exist, as the end of a sentence.
        known: String,
    },
    /// The distribution does not fit the values of a parameter.
    #[error("parameter `{name}` of `{request}`: {error}")]
    Pick {
        /// The parameter.
        name: String,
        /// The request's name.
        request: String,
        /// The reason.
        error: ParameterError,
    },
    /// The files cannot be laid out at the highest load.
    #[error("at a load of {load}: {error}")]
    Files {
        /// The highest load.
        load: f64,
        /// The reason.
        error: FileSetError,
    },
    /// A setting is given twice.
    #[error("the setting `{0}` is given twice")]
    SettingTwice(String),
    /// The range of a search is empty.
    #[error("a search from {0} to {1}: the highest load must be above the lowest")]
    SearchRange(f64, f64),
    /// A limit makes sense for an open loop only.
    #[error("the limit `{0}` applies only to an open loop, but the load is a number of users")]
    LimitOfRate(Limit),
    /// The headline is a figure of users.
    #[error("the headline `harmonic-rate` is a figure of users, but the load is a rate")]
    HeadlineOfUsers,
    /// A local address is listed twice.
    #[error("the source address {0} is listed twice")]
    SourceTwice(IpAddr),
    /// No thread makes load.
    #[error("there must be at least one load thread")]
    NoLoadThreads,
    /// More load threads than lanes of Poisson arrivals.
    #[error("{threads} load threads: Poisson arrivals can be divided among at most {n_lanes}")]
    PoissonThreads {
        /// The load threads.
        threads: u32,
        /// The lanes of the arrivals.
        n_lanes: u16,
    },
    /// More users with state than Poisson arrivals can have.
    #[error(
        "{0} operations in flight: the users of this workload have state, and Poisson arrivals support at most \
         {POISSON_USERS_MAX} of them"
    )]
    PoissonUsers(u32),
    /// The rows of data are used up before the run is over.
    #[error("data file `{data}` has {rows} rows; {load} needs {needed} (users would run out of rows)")]
    RowsRunOut {
        /// The name of the data.
        data: String,
        /// Its rows.
        rows: u64,
        /// The load point: `a load of 10 users`.
        load: String,
        /// The rows that it needs at least.
        needed: u64,
    },
    /// A statement changes the database, and the run does not allow that.
    #[error(
        "the transaction `{transaction}` has a statement that is not a query (line {line} of the definition)"
    )]
    Writes {
        /// The transaction.
        transaction: String,
        /// The line of the statement.
        line: u32,
    },
    /// A setting that the benchmark has no use for.
    #[error("the setting `{0}` does not apply to the work of this benchmark")]
    NoUse(String),
    /// Settings of file operations contradict each other.
    #[error(transparent)]
    File(#[from] FileSettingsError),
    /// A CPU is listed twice.
    #[error("CPU {0} is listed twice for load threads")]
    CpuTwice(u32),
    /// The server may use no CPU time.
    #[error("the quota of {0} CPUs must be above zero")]
    Quota(f64),
}

impl Problem {
    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            Problem::Users(_) => "`--load 10..200/10` or `--load 1,2,5` lists numbers of users",
            Problem::Rate(_) => "`--rate 1000..5000/1000` lists operations per second",
            Problem::NumberOfLoadPoints(_) => "use a range with a larger step, or fewer levels",
            Problem::LoadPointTwice(_) => "to repeat a measurement, make several runs",
            Problem::LoadAndRates => "give `--load` for a closed loop or `--rate` for an open one",
            Problem::TotalTooShort { .. } => "allow more time, or give fewer load points: `-c 16` is one",
            Problem::EndOfStages(_) => "leave out `-n` and `--duration-total`, or give a load without stages",
            Problem::NoOperations => "`-n 1000` starts 1,000 of them",
            Problem::OperationsBeforeSteady(_) => "leave out `--ramp-up` and `--settle`, or raise `-n`",
            Problem::RampDownOfOperations => "leave out `--ramp-down` or `-n`",
            Problem::OperationsOfSeveral(_) => "give one load: `-n 10000 -c 16`, or `-n 10000 --rate 500`",
            Problem::OperationsOfSearch => "leave out `-n`, or give one load: `-n 10000 -c 16`",
            Problem::FewerOperationsThanUsers(..) => {
                "have fewer users perform them: `-c 1` is one after another"
            }
            Problem::OpenLoopOnly(_) | Problem::LimitOfRate(_) => {
                "leave it out, or give an open loop: `--rate`, or stages with `/s` such as `--ramp 10..2000/s`"
            }
            Problem::InFlight(_) => "`--in-flight-max 1000` is plenty for most servers",
            Problem::Zero(_) => "write a number and a unit, such as `60s`",
            Problem::TooLong(_) => "use fewer load points or shorter phases",
            Problem::MaxLoadOfList(_) => "list the load points: `--load` for users, `--rate` for a rate",
            Problem::MaxLoadAndLevels => "give the highest load or the levels",
            Problem::StagesAndLoads(_) => "give one of them: stages have levels of their own",
            Problem::PhaseOfStages(_) => "leave it out; a ramp, or time to settle, is a stage of its own",
            Problem::UntilWithoutStages => {
                "give stages, such as `--ramp 10..2000`; `--limit` judges load points, and `--find-max` searches them"
            }
            Problem::UntilOfRate(_) => "limit response times, `errors` or, in an open loop, `delivered`",
            Problem::Http2PerRequest => "keep connections alive: `--keep-alive`",
            Problem::SessionsOfRate => "keep connections alive instead: `--keep-alive`",
            Problem::SessionsShared(_) => "give every user a connection: `--streams 1`",
            Problem::StreamsWithoutHttp2(_) => "ask for HTTP/2: `--http 2`",
            Problem::NoParameter { .. } => "`plimsoll show` lists the parameters of a benchmark",
            Problem::Pick { .. } => "`uniform` and `zipf:1.0` suit any number of values",
            Problem::Files { .. } => "lower the highest load, or the counts in the definition",
            Problem::SettingTwice(_) => "give it once, as a flag of its own or with `--set`",
            Problem::SearchRange(..) => "`--max-load` sets where the search ends",
            Problem::HeadlineOfUsers => "give `--load` instead of `--rate`",
            Problem::SourceTwice(_) => "list every address once; connections take them in turn",
            Problem::NoLoadThreads => "use one per CPU",
            Problem::PoissonThreads { .. } => {
                "list fewer CPUs with `--load-cpus`, or use `--arrivals constant`"
            }
            Problem::PoissonUsers(_) => "lower `--in-flight-max`, or use `--arrivals constant`",
            Problem::RowsRunOut { .. } => {
                "add rows, lower the load, or write `at-end = \"wrap\"` to reuse rows"
            }
            Problem::Writes { .. } => {
                "`--allow-writes` lets it change the database, which Plimsoll does not restore"
            }
            Problem::NoUse(_) => "leave it out; `plimsoll show` lists the settings that a benchmark has",
            Problem::File(error) => error.hint(),
            Problem::CpuTwice(_) => "list every CPU once; each gets one load thread",
            Problem::Quota(_) => "0.5 is half of one CPU",
        }
    }
}

/// Lists all problems of a plan and of its overrides.
pub(super) fn problems(
    definition: &Definition,
    plan: &Plan,
    configuration: &Configuration,
    overrides: &Overrides,
) -> Vec<Problem> {
    let mut problems = load_problems(plan);
    problems.extend(stage_problems(plan, overrides));
    problems.extend(max_load_problems(definition, overrides));
    problems.extend(plan.workload.web().into_iter().flat_map(|web| web_problems(plan, web)));
    problems.extend(plan.workload.sql().into_iter().flat_map(|sql| sql_problems(plan, sql)));
    problems.extend(plan.workload.file().and_then(|file| file.check().err()).map(Problem::File));
    let mut when = |broken: bool, problem: Problem| {
        if broken {
            problems.push(problem);
        }
    };
    let is_open = plan.loads().any(|load| !load.is_closed());
    when(overrides.rates.is_some() && overrides.load.is_some(), Problem::LoadAndRates);
    when(!is_open && overrides.arrivals.is_some(), Problem::OpenLoopOnly("arrivals"));
    when(!is_open && overrides.in_flight_max.is_some(), Problem::OpenLoopOnly("in-flight-max"));
    when(is_open && definition.headline == Headline::HarmonicRate, Problem::HeadlineOfUsers);
    if let Some(n) = plan.catalog.in_flight {
        when(is_open, Problem::File(FileSettingsError::InFlightOnSchedule(n)));
    }
    if let Some(total) = overrides.total {
        let n_points = plan.load_points.len();
        let least = total.least(plan.phases, n_points);
        when(total.whole < least, Problem::TotalTooShort { whole: total.whole, least });
    }
    if let Some(n) = plan.operations {
        when(n == 0, Problem::NoOperations);
        when(plan.phases.ramp_down != Nanos::ZERO, Problem::RampDownOfOperations);
        when(plan.search.is_some(), Problem::OperationsOfSearch);
        match plan.load_points.as_slice() {
            [LoadPoint { load: Load::Users(users), .. }] if 0 < n => {
                when(n < u64::from(*users), Problem::FewerOperationsThanUsers(n, *users));
            }
            [point] => {
                let begin = plan.phases.start_of(Phase::Steady);
                let before = plan.schedule(*point).map_or(0, |schedule| schedule.whole().pass_before(begin));
                when(0 < n && n <= before, Problem::OperationsBeforeSteady(n));
            }
            [] => {}
            several => when(true, Problem::OperationsOfSeveral(several.len())),
        }
    }
    when(plan.phases.steady == Nanos::ZERO, Problem::Zero("steady phase"));
    let length = run_length(plan);
    when(RUN_MAX < length, Problem::TooLong(length));
    when(check_agents(&plan.agents).is_err(), Problem::NoLoadThreads);
    let threads = plan.load_threads();
    let n_lanes = plan.arrival_lanes.get();
    when(1 < n_lanes && u32::from(n_lanes) < threads, Problem::PoissonThreads { threads, n_lanes });
    // Agents of their own may share a CPU.
    for cpus in plan.agents.iter().map(|agent| &agent.cpus) {
        for (index, cpu) in cpus.iter().enumerate() {
            when(cpus[..index].contains(cpu), Problem::CpuTwice(*cpu));
        }
    }
    for (index, address) in plan.source_addresses.iter().enumerate() {
        when(plan.source_addresses[..index].contains(address), Problem::SourceTwice(*address));
    }
    problems.extend(setting_problems(configuration, overrides));
    problems.extend(quota_problem(&plan.sut));
    problems
}

/// Lists settings that are given twice, one of them perhaps by its own flag, and those of items that do not exist.
fn setting_problems(configuration: &Configuration, overrides: &Overrides) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut given: Vec<String> = Vec::new();
    for chosen in &overrides.settings {
        let name = chosen.name();
        if given.contains(&name) {
            problems.push(Problem::SettingTwice(name.clone()));
        }
        given.push(name);
        if !chosen.setting.has_items() && chosen.setting.values(configuration).is_empty() {
            problems.push(Problem::NoUse(chosen.name()));
        }
        let items = chosen.setting.items(configuration);
        if let Some(item) = chosen.item().filter(|item| items.iter().all(|known| known != item)) {
            let known = match items.as_slice() {
                [] => "the benchmark has none".to_owned(),
                items => format!("there is `{}`", items.join("`, `")),
            };
            problems.push(Problem::NoParameter { name: item.to_owned(), known });
        }
    }
    problems
}

/// Returns the problem of a server's CPU quota.
pub(super) fn quota_problem(sut: &SutPlan) -> Option<Problem> {
    let quota = sut.quota.filter(|quota| !(0.0 < *quota && quota.is_finite()))?;
    Some(Problem::Quota(quota))
}

/// Lists what contradicts a load in stages, and limits that cannot end one.
fn stage_problems(plan: &Plan, overrides: &Overrides) -> Vec<Problem> {
    let has_own_stages = overrides.stages.is_some();
    let loads = [
        (overrides.load.is_some(), "numbers of users"),
        (overrides.rates.is_some(), "rates"),
        (overrides.max_load.is_some(), "a highest load"),
        (overrides.find_max, "a search"),
    ];
    let lengths = [
        (overrides.ramp_up, "ramp-up"),
        (overrides.settle, "settle phase"),
        (overrides.steady, "steady phase"),
        (overrides.ramp_down, "ramp-down"),
    ];
    let contradicting = loads.into_iter().filter(|(is_given, _)| has_own_stages && *is_given);
    let mut problems: Vec<Problem> = contradicting.map(|(_, what)| Problem::StagesAndLoads(what)).collect();
    if let Some(shape) = &plan.shape {
        let given = lengths.into_iter().filter(|(length, _)| length.is_some());
        problems.extend(given.map(|(_, what)| Problem::PhaseOfStages(what)));
        let ends = [
            (overrides.operations.is_some(), "a number of operations"),
            (overrides.total.is_some(), "a length of the whole run"),
        ];
        let given = ends.into_iter().filter(|(is_given, _)| *is_given);
        problems.extend(given.map(|(_, what)| Problem::EndOfStages(what)));
        let of_rate = shape.until.iter().find(|limit| limit.metric() == LimitMetric::Rate);
        problems.extend(of_rate.map(|limit| Problem::UntilOfRate(*limit)));
    } else if !overrides.until.is_empty() && !has_own_stages {
        problems.push(Problem::UntilWithoutStages);
    }
    problems
}

fn max_load_problems(definition: &Definition, overrides: &Overrides) -> Option<Problem> {
    let max = overrides.max_load?;
    let levels = if overrides.quick { &definition.quick.levels } else { &definition.load.levels };
    match levels {
        _ if overrides.stages.is_some() => None,
        _ if overrides.load.is_some() || overrides.rates.is_some() => Some(Problem::MaxLoadAndLevels),
        _ if overrides.find_max => None,
        Levels::List(_) => Some(Problem::MaxLoadOfList(max)),
        Levels::Steps { .. } => None,
    }
}

/// Lists problems of a web workload and its protocol.
fn web_problems(plan: &Plan, web: &WebWorkload) -> Vec<Problem> {
    let mut problems = protocol_problems(plan, web.protocol);
    problems.extend(workload_problems(plan, web));
    problems.extend(plan.loads().flat_map(|load| data_problems(plan, &web.data, load)));
    problems
}

fn sql_problems(plan: &Plan, sql: &SqlWorkload) -> Vec<Problem> {
    let write = sql.first_write().filter(|_| !sql.allows_writes);
    let write = write.map(|(transaction, statement)| Problem::Writes {
        transaction: transaction.name.clone(),
        line: statement.line,
    });
    write.into_iter().chain(plan.loads().flat_map(|load| data_problems(plan, &sql.data, load))).collect()
}

/// Lists contradictory settings of connections and HTTP versions.
fn protocol_problems(plan: &Plan, protocol: WebProtocol) -> Vec<Problem> {
    let WebProtocol { http, connection, streams, .. } = protocol;
    let is_open = plan.loads().any(|load| !load.is_closed());
    let is_http2 = http == HttpVersion::Http2;
    let sessions = connection == ConnectionLifetime::Sessions;
    let rows = [
        (is_http2 && connection == ConnectionLifetime::PerRequest, Problem::Http2PerRequest),
        (sessions && is_open, Problem::SessionsOfRate),
        (sessions && 1 < streams, Problem::SessionsShared(streams)),
        (!is_http2 && 1 < streams, Problem::StreamsWithoutHttp2(streams)),
    ];
    rows.into_iter().filter(|(broken, _)| *broken).map(|(_, problem)| problem).collect()
}

/// Lists reasons why requests cannot be drawn or files cannot be created.
fn workload_problems(plan: &Plan, web: &WebWorkload) -> Vec<Problem> {
    let load = plan.level_max();
    let parameters = || {
        let requests = web.requests.iter();
        requests.flat_map(|request| request.parameters.iter().map(move |parameter| (request, parameter)))
    };
    let unfit = parameters().filter_map(|(request, parameter)| {
        let error = parameter.check(load).err()?;
        Some(Problem::Pick { name: parameter.name.clone(), request: request.name.clone(), error })
    });
    let mut problems: Vec<Problem> = unfit.collect();
    // Without parameters files are as they were when they were read.
    if parameters().next().is_some()
        && let Err((_, error)) = check_objects(&web.requests, load)
    {
        problems.push(Problem::Files { load, error });
    }
    problems
}

/// Lists data that a load point uses up for certain, so that users leave. In an open loop the schedule goes on without
/// them, so that there must be a row for every operation that could begin a page.
pub(super) fn data_problems(plan: &Plan, data: &[DataSet], load: Load) -> Vec<Problem> {
    let users = u64::from(load.in_flight_max().max(1));
    let (pages, name) = match load {
        Load::Users(users) => (1, format!("a load of {users} users")),
        Load::Rate { per_second, .. } => {
            let issuing = plan.phases.issuing();
            let mean = plan.shape.as_ref().map_or(per_second, |shape| shape.level_mean(Nanos::ZERO..issuing));
            let operations = (mean * issuing.as_secs_f64()).ceil();
            ((operations as u64).div_ceil(users), format!("a rate of {mean} operations per second"))
        }
    };
    let problem = |data: &DataSet| {
        let needed = match data.pick {
            RowPick::Random => 0,
            RowPick::Sequential => pages,
            RowPick::Unique => pages.saturating_mul(users),
        };
        let runs_out = data.at_end == RowsEnd::Leave && data.rows < needed;
        runs_out.then(|| Problem::RowsRunOut {
            data: data.name.clone(),
            rows: data.rows,
            load: name.clone(),
            needed,
        })
    };
    data.iter().filter_map(problem).collect()
}

fn load_problems(plan: &Plan) -> Vec<Problem> {
    let points = &plan.load_points;
    let mut problems = Vec::new();
    if (points.is_empty() && plan.search.is_none()) || LOAD_POINTS_MAX < points.len() {
        problems.push(Problem::NumberOfLoadPoints(points.len()));
    }
    for (index, point) in points.iter().take(LOAD_POINTS_MAX).enumerate() {
        match point.load {
            Load::Users(users) if !(1..=USERS_MAX).contains(&users) => problems.push(Problem::Users(users)),
            Load::Rate { per_second, .. } if !(0.0 < per_second && per_second <= RATE_MAX) => {
                problems.push(Problem::Rate(per_second));
            }
            load if points[..index].iter().any(|other| other.load == load) => {
                problems.push(Problem::LoadPointTwice(load.level()));
            }
            _ => {}
        }
    }
    if let Some(Search { least, most }) = plan.search
        && most.level() <= least.level()
    {
        problems.push(Problem::SearchRange(least.level(), most.level()));
    }
    let until = plan.shape.iter().flat_map(|shape| &shape.until);
    let is_of_rates = |limit: &&Limit| limit.metric() == LimitMetric::Delivered;
    if plan.loads().any(Load::is_closed)
        && let Some(limit) = plan.limits.iter().chain(until).find(is_of_rates)
    {
        problems.push(Problem::LimitOfRate(*limit));
    }
    problems
        .extend(plan.loads().find(|load| !load.is_closed()).and_then(|open| in_flight_problem(plan, open)));
    problems
}

/// Returns the problem with the most operations in flight of an open loop.
fn in_flight_problem(plan: &Plan, open: Load) -> Option<Problem> {
    let limit = open.in_flight_max();
    let is_poisson = matches!(open, Load::Rate { arrivals: Arrivals::Poisson, .. });
    if !(1..=USERS_MAX).contains(&limit) {
        return Some(Problem::InFlight(limit));
    }
    let is_too_many = plan.workload.has_user_state() && is_poisson && POISSON_USERS_MAX < limit;
    is_too_many.then_some(Problem::PoissonUsers(limit))
}

/// Returns the longest duration of all load points together, without starting and stopping the server.
fn run_length(plan: &Plan) -> Nanos {
    let phases = plan.phases;
    let parts = [phases.quiet, phases.ramp_up, phases.settle, phases.steady, phases.ramp_down, phases.drain];
    let point = parts.into_iter().fold(Nanos::ZERO, Nanos::saturating_add);
    Nanos(point.0.saturating_mul(plan.load_points.len() as u64))
}
