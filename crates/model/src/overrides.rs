//! The settings of a run besides its benchmark's definition.

use std::net::IpAddr;

use units::Nanos;

use crate::{AgentPlan, Arrivals, ChosenSetting, Limit, StageList, SutPlan};

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

impl Overrides {
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
            limits: Vec::new(),
            arrivals: None,
            in_flight_max: None,
            ramp_up: None,
            settle: None,
            steady: None,
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
