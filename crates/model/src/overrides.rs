//! The settings of a run besides its benchmark's definition.

use std::net::IpAddr;

use units::Nanos;

use crate::{AgentPlan, Arrivals, ChosenSetting, Limit, Phases, StageList, SutPlan};

/// The seed of a run that names none.
pub const DEFAULT_SEED: u64 = 1;

/// The settings that a run overrides; a field that is `None` stays as the benchmark defines it.
#[derive(Debug, Clone)]
pub struct Overrides {
    /// Whether the run uses the benchmark's short form; the other fields take precedence over it.
    pub quick: bool,
    /// Numbers of users, in the order in which they are run.
    pub load: Option<Vec<u32>>,
    /// Open loop: rates in operations per second, in the order in which they are run.
    pub rates: Option<Vec<f64>>,
    /// The stages of the load over time, in place of load points.
    pub stages: Option<StageList>,
    /// The limits that end a load over time when one is broken.
    pub until: Vec<Limit>,
    /// The highest load, for a benchmark whose load points are steps up to a maximum.
    pub max_load: Option<f64>,
    /// Whether the run searches for the highest load instead of running given load points.
    pub find_max: bool,
    /// Whether the run adds load points where the rate stops growing in a gap between two of the definition's own loads
    /// ([`crate::Refinement`]). It adds none to loads that are given here, to those of a short form, and to a search.
    pub refine: bool,
    /// The operations that the load starts in all, at its one load point, which ends with them; `None`: as many as its phases
    /// have time for.
    pub operations: Option<u64>,
    /// The limits of an acceptable result.
    pub limits: Vec<Limit>,
    /// Open loop: the distribution of due times.
    pub arrivals: Option<Arrivals>,
    /// Open loop: the maximum number of operations in flight.
    pub in_flight_max: Option<u32>,
    /// Length of the ramp-up.
    pub ramp_up: Option<Nanos>,
    /// Length of the settle phase.
    pub settle: Option<Nanos>,
    /// Length of the steady phase.
    pub steady: Option<Nanos>,
    /// The time that the whole run takes, in place of the length of the steady phase, which follows from it.
    pub total: Option<TotalTime>,
    /// Longest time for operations in flight to finish.
    pub drain: Option<Nanos>,
    /// Length of the ramp-down.
    pub ramp_down: Option<Nanos>,
    /// Settings of the benchmark's family, each once.
    pub settings: Vec<ChosenSetting>,
    /// The seed of all random choices of users and schedules; [`DEFAULT_SEED`] if absent.
    pub seed: Option<u64>,
    /// The system under test.
    pub sut: SutPlan,
    /// The load agents, where they are processes of their own; empty: this process is the only one, with the CPUs and threads
    /// below.
    pub agents: Vec<AgentPlan>,
    /// CPUs that load threads are pinned to, one thread each; empty: not pinned.
    pub load_cpus: Vec<u32>,
    /// The number of load threads if they are not pinned; at least 1.
    pub load_threads: u32,
    /// Local addresses that connections are made from, in turn; empty: the system chooses.
    pub source_addresses: Vec<IpAddr>,
}

/// The time that a whole run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TotalTime {
    /// The time from its start to its end.
    pub whole: Nanos,
    /// The time of that which is expected to pass without load: for checks, trials and the start.
    pub checks: Nanos,
    /// The number of runs that take turns in it; at least 1.
    pub n_runs: u32,
}

impl TotalTime {
    /// Returns these phases with the steady phase that the time leaves to each of so many load points; `None` if it leaves less
    /// than [`STEADY_OF_TOTAL_MIN`].
    pub fn divided(&self, phases: Phases, n_points: usize) -> Option<Phases> {
        let load = self.whole.0.checked_sub(self.checks.0)?;
        let rest = Phases { steady: Nanos::ZERO, ..phases };
        let steady = (load / self.n_load_points(n_points)).checked_sub((rest.quiet + rest.issuing()).0)?;
        let steady = Nanos(steady / STEADY_OF_TOTAL_UNIT * STEADY_OF_TOTAL_UNIT);
        (STEADY_OF_TOTAL_MIN <= steady).then_some(Phases { steady, ..phases })
    }

    /// Returns the least time that a run of so many load points with these phases can take.
    pub(crate) fn least(&self, phases: Phases, n_points: usize) -> Nanos {
        let point = Phases { steady: STEADY_OF_TOTAL_MIN, ..phases };
        let load = (point.quiet + point.issuing()).0.saturating_mul(self.n_load_points(n_points));
        self.checks.saturating_add(Nanos(load))
    }

    /// Returns the number of load points of all runs; at least 1.
    fn n_load_points(&self, n_points: usize) -> u64 {
        u64::from(self.n_runs).saturating_mul(n_points as u64).max(1)
    }
}

/// The shortest steady phase of a run whose whole length is given.
pub const STEADY_OF_TOTAL_MIN: Nanos = Nanos::from_secs(1);

/// The unit in which the steady phase of such a run is as long as it can be.
const STEADY_OF_TOTAL_UNIT: u64 = 100_000_000;

/// The longest steady phase of a run that is to end with a number of operations, and names no length: longer than most of them
/// take, and an end for those at which the server no longer answers.
pub const OPERATIONS_STEADY_MAX: Nanos = Nanos::from_secs(3600);

impl Overrides {
    /// Returns the phases of a run whose definition has these. Of a number of operations all are measured, unless a ramp or a
    /// settle phase is asked for, and those in flight at the end may take as long as any: `time_limit`.
    pub fn phases(&self, standard: Phases, time_limit: Nanos) -> Phases {
        let standard = match self.operations {
            None => standard,
            Some(_) => Phases {
                quiet: standard.quiet,
                ramp_up: Nanos::ZERO,
                settle: Nanos::ZERO,
                steady: OPERATIONS_STEADY_MAX,
                ramp_down: Nanos::ZERO,
                drain: standard.drain.max(time_limit),
            },
        };
        Phases {
            quiet: standard.quiet,
            ramp_up: self.ramp_up.unwrap_or(standard.ramp_up),
            settle: self.settle.unwrap_or(standard.settle),
            steady: self.steady.unwrap_or(standard.steady),
            ramp_down: self.ramp_down.unwrap_or(standard.ramp_down),
            drain: self.drain.unwrap_or(standard.drain),
        }
    }

    /// Makes the overrides of a run as defined, with this server, on one load thread.
    pub fn new(sut: SutPlan) -> Overrides {
        Overrides {
            quick: false,
            load: None,
            rates: None,
            stages: None,
            until: Vec::new(),
            max_load: None,
            find_max: false,
            refine: false,
            operations: None,
            limits: Vec::new(),
            arrivals: None,
            in_flight_max: None,
            ramp_up: None,
            settle: None,
            steady: None,
            total: None,
            drain: None,
            ramp_down: None,
            settings: Vec::new(),
            seed: None,
            sut,
            agents: Vec::new(),
            load_cpus: Vec::new(),
            load_threads: 1,
            source_addresses: Vec::new(),
        }
    }
}
