//! The plan of a run: all settings explicit, no defaults left to apply.
//!
//! - `sut`: the part about the system under test; `web`: the parts of web servers in it

mod sut;
pub(crate) mod web;

use std::net::IpAddr;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{
    AgentPlan, Assignment, Catalog, Limit, Load, LoadPoint, Phases, Schedule, Shape, Workload, partition,
    with_serde,
};

pub use sut::{CertificateCheck, CpuQuota, LimitInForce, ServerLimit, SutPlan};

/// The version of the stored form of [`Plan`].
pub const PLAN_FORMAT: u32 = 4;

/// The plan of a run, with everything the run needs to know. A plan that exists is valid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this form, [`PLAN_FORMAT`].
    pub format: u32,
    /// The benchmark.
    pub benchmark: BenchmarkId,
    /// The seed of all random choices of users and schedules.
    pub seed: u64,
    /// The operations of virtual users, in the terms of their family.
    pub workload: Workload,
    /// The kinds of operations and units that the run counts, the measures of each, and the score.
    pub catalog: Catalog,
    /// The longest that one operation may take, measured from its sending.
    #[serde(rename = "time_limit_ns", with = "with_serde::nanos")]
    pub time_limit: Nanos,
    /// The load points in the order in which they are run; indexes 0, 1, 2… Not empty, but for a search that has not
    /// begun: it adds them one by one. Those that a refinement adds follow the planned ones.
    pub load_points: Vec<LoadPoint>,
    /// The load over time within the only load point; `None` where the load of each stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// The search that replaces given load points.
    pub search: Option<Search>,
    /// The load points that the run may add to the planned ones; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refinement: Option<Refinement>,
    /// The operations that the load starts at most, at the only load point, which ends with them; `None`: no number is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// The limits of an acceptable result, given by the user.
    pub limits: Vec<Limit>,
    /// The phases of every load point.
    pub phases: Phases,
    /// The rules of the verdict.
    pub rules: Rules,
    /// Deviations from the benchmark's definition; empty for a run as defined.
    pub modifications: Vec<Modification>,
    /// The system under test, as specified.
    pub sut: SutPlan,
    /// The load agents; their shares follow each other from 0 without a gap. Not empty; one without a process of its own, or several.
    pub agents: Vec<AgentPlan>,
    /// Number of independent processes of which Poisson arrivals are the sum: [`crate::POISSON_LANES`], or one for each
    /// user where users have state. 1 in plans without Poisson arrivals, which do not store it.
    #[serde(default = "single_lane", skip_serializing_if = "is_single_lane")]
    pub arrival_lanes: NonZeroU16,
    /// Local addresses that connections are made from, in turn; empty: the system chooses.
    pub source_addresses: Vec<IpAddr>,
}

fn single_lane() -> NonZeroU16 {
    NonZeroU16::MIN
}

fn is_single_lane(n_lanes: &NonZeroU16) -> bool {
    *n_lanes == NonZeroU16::MIN
}

/// A search for the highest load that is valid and acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The least load.
    pub least: Load,
    /// The greatest load, of the same kind as the least.
    pub most: Load,
}

/// The load points that a run may add where its rate stops growing within a gap between two loads: one after the other
/// halves the gap, as long as the others (the rule is `analysis::refinement`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refinement {
    /// Number of load points that were planned; those that follow were added.
    pub n_planned: u32,
    /// The most load points that are added; at least 1.
    pub added_max: u32,
}

impl Refinement {
    /// The most load points that a run adds, and the most for each planned one: a run takes at most half as long again.
    const ADDED_MAX: u32 = 2;
    const PLANNED_FOR_ONE: u32 = 2;

    /// Returns the refinement of so many planned load points; `None` for fewer than two, between which there is no gap.
    pub(crate) fn of(n_planned: usize) -> Option<Refinement> {
        let n_planned = u32::try_from(n_planned).ok()?;
        let added_max = (n_planned / Refinement::PLANNED_FOR_ONE).min(Refinement::ADDED_MAX);
        (0 < added_max).then_some(Refinement { n_planned, added_max })
    }
}

impl Plan {
    /// Returns the load points that were planned, without those that the run has added; of a search none.
    pub fn planned(&self) -> &[LoadPoint] {
        match (self.search, self.refinement) {
            (Some(_), _) => &[],
            (None, Some(refinement)) => {
                &self.load_points[..self.load_points.len().min(refinement.n_planned as usize)]
            }
            (None, None) => &self.load_points,
        }
    }

    /// Returns the largest number of load points that the run can have; `None` if it is not known, as of a search.
    pub fn n_points_max(&self) -> Option<usize> {
        let added = self.refinement.map_or(0, |refinement| refinement.added_max as usize);
        self.search.is_none().then(|| self.planned().len() + added)
    }

    /// Adds a load point that the run has begun, if a search or a refinement may add it. One that is known already changes
    /// nothing.
    pub fn add_load_point(&mut self, point: LoadPoint) {
        let may_add = match (self.search, self.n_points_max()) {
            (Some(_), _) => true,
            (None, Some(n_max)) => self.refinement.is_some() && (point.index as usize) < n_max,
            (None, None) => false,
        };
        if may_add && self.load_points.iter().all(|known| known.index != point.index) {
            self.load_points.push(point);
        }
    }

    /// Returns the highest load that may be run; `None` if there is none.
    pub fn load_max(&self) -> Option<Load> {
        self.loads().max_by(|one, other| one.level().total_cmp(&other.level()))
    }

    /// Returns the highest level of load (users, or operations per second): the file set is made for it.
    pub fn level_max(&self) -> f64 {
        self.load_max().map_or(0.0, Load::level)
    }

    /// Returns the most users that any load has, in an open loop the most operations in flight; at least 1.
    pub fn users_max(&self) -> u32 {
        self.loads().map(Load::in_flight_max).max().unwrap_or(0).max(1)
    }

    /// Returns all loads that may be run, as far as they are known beforehand.
    pub fn loads(&self) -> impl Iterator<Item = Load> {
        let searched = self.search.into_iter().flat_map(|search| [search.least, search.most]);
        self.load_points.iter().map(|point| point.load).chain(searched)
    }

    /// Returns the CPU time per second that the SUT may use, in CPUs, if that is limited or known from its CPU list. `None`
    /// where it has no more than CPUs that the load threads use too.
    pub fn sut_allowance(&self) -> Option<f64> {
        let has_own_cpus = !self.sut.cpus.is_empty() && !self.load_is_on_sut_cpus();
        let cpus = has_own_cpus.then_some(self.sut.cpus.len() as f64);
        match (self.sut.quota, cpus) {
            (Some(quota), Some(cpus)) => Some(quota.min(cpus)),
            (quota, cpus) => quota.or(cpus),
        }
    }

    /// Returns whether the data are in SQLite, in this process or in the built-in server, which has one writer at a time.
    pub fn has_one_writer(&self) -> bool {
        self.workload.has_one_writer(&self.sut.name)
    }

    /// Returns the number of load threads of all agents, which is the number of shares of a load point.
    pub fn load_threads(&self) -> u32 {
        self.agents.iter().fold(0, |sum, agent| sum.saturating_add(agent.threads))
    }

    /// Returns the CPUs of the controller's machine that load threads are pinned to, each once; empty if they are not pinned.
    pub fn load_cpus(&self) -> Vec<u32> {
        let here = self.agents.iter().filter(|agent| agent.machine == 0);
        let mut cpus: Vec<u32> = Vec::new();
        for cpu in here.flat_map(|agent| &agent.cpus) {
            if !cpus.contains(cpu) {
                cpus.push(*cpu);
            }
        }
        cpus
    }

    /// Returns the number of users that a load agent has at a load, by its index; 0 where there is none.
    pub fn users_of_agent(&self, agent: usize, load: Load) -> u32 {
        self.assignments_of_agent(agent, load).map(|own| own.users.end - own.users.start).sum()
    }

    /// Returns the operations that a load agent starts at most, by its index, where their number is limited at the users: the
    /// parts of all agents add up. `None` where it is not, as in an open loop, whose schedule has their number.
    pub fn operations_of_agent(&self, agent: usize, load: Load) -> Option<u64> {
        let operations = self.operations.filter(|_| load.is_closed())?;
        Some(self.assignments_of_agent(agent, load).map(|own| own.operations(operations, load)).sum())
    }

    /// Returns the assignments of a load agent at a load, by its index; none where there is no such agent.
    fn assignments_of_agent(&self, agent: usize, load: Load) -> impl Iterator<Item = Assignment> {
        let shares = self.agents.get(agent).map(AgentPlan::shares).unwrap_or_default();
        let all = partition(0, load, self.load_threads().max(1));
        all.into_iter().filter(move |assignment| shares.contains(&assignment.share))
    }

    /// Returns whether all load threads run on CPUs that the SUT was given.
    pub fn load_is_on_sut_cpus(&self) -> bool {
        !self.load_cpus().is_empty() && self.load_cpus().iter().all(|cpu| self.sut.cpus.contains(cpu))
    }

    /// Removes values that look like credentials and are not disclosed on purpose.
    pub fn leave_out_credentials(&mut self) {
        self.workload.leave_out_credentials();
    }

    /// Returns the schedule of a load point; `None` for a closed loop.
    pub fn schedule(&self, point: LoadPoint) -> Option<Schedule> {
        let schedule = Schedule::new(point, &self.phases, self.seed, self.arrival_lanes)?;
        Some(match &self.shape {
            Some(shape) => schedule.with_shape(shape, &self.phases),
            None => schedule,
        })
    }
}

/// The identity of a benchmark: its id, version and title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkId {
    /// The id: `webstone-2.0.1`.
    pub id: String,
    /// The version; rises with any change that could move a number.
    pub version: u32,
    /// The name for people: `WebStone 2.0.1-style`.
    pub title: String,
}

impl BenchmarkId {
    /// The id of what `plimsoll run URL` makes of URLs.
    pub const URLS: &str = "url";

    /// Returns whether this is no benchmark but URLs that somebody loads: the title has them, and a version means nothing.
    pub fn is_urls(&self) -> bool {
        self.id == BenchmarkId::URLS
    }

    /// Returns title, id and version for people; the title alone of URLs.
    pub fn full_name(&self) -> String {
        if self.is_urls() {
            self.title.clone()
        } else {
            format!("{} ({}, version {})", self.title, self.id, self.version)
        }
    }

    /// Returns the name by which runs are listed and grouped: the id; of URLs the title.
    pub fn short_name(&self) -> &str {
        if self.is_urls() { &self.title } else { &self.id }
    }
}

/// Limits that the verdict of a load point depends on. Ratios are from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Failed ÷ completed operations above which a load point is not valid.
    pub error_ratio_max: f64,
    /// Relative gap in N = X·(R + Z) above which a load point needs an explanation.
    pub little_gap_max: f64,
    /// Busy part of the load CPUs from which the generator counts as the bottleneck.
    pub generator_busy_max: f64,
    /// 99th percentile of lateness above which the generator counts as the bottleneck (open loop).
    #[serde(rename = "lateness_p99_max_ns", with = "with_serde::nanos")]
    pub lateness_p99_max: Nanos,
    /// Time that load threads waited for a CPU, as a part of the run's length, above which the generator
    /// counts as the bottleneck.
    pub run_queue_ratio_max: f64,
    /// Part of its own CPU allowance from which the SUT counts as saturated.
    pub sut_saturated_min: f64,
    /// The fewest completed operations of a valid load point.
    pub operations_min: u64,
    /// Delivered ÷ offered rate below which an open-loop load point is not valid.
    pub delivered_ratio_min: f64,
}

impl Default for Rules {
    /// The limits of the measurement rules; see `docs/design/measurement-rules.md`.
    fn default() -> Rules {
        Rules {
            error_ratio_max: 0.01,
            little_gap_max: 0.03,
            generator_busy_max: 0.90,
            lateness_p99_max: Nanos::from_millis(5),
            run_queue_ratio_max: 0.30,
            sut_saturated_min: 0.95,
            operations_min: 100,
            delivered_ratio_min: 0.95,
        }
    }
}

/// A deviation of a plan from its benchmark's definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modification {
    /// The setting: `load`, `steady phase`, `connection`.
    pub what: String,
    /// The setting as the benchmark defines it.
    pub standard: String,
    /// The setting of this run.
    pub ours: String,
}
