//! The definition language: a benchmark as a TOML text that people write, read and compare.
//!
//! - [`parse`](Definition::parse): text → [`Definition`], or everything that is wrong with it
//! - `values`: the notation of single values
//! - `workload`, `request`, `parameter`, `reply`, `weight`: the requests and their replies
//! - `secret`: values that are never stored
//! - `schema`: the published JSON Schema

mod parameter;
mod parse;
mod reply;
mod request;
mod schema;
mod secret;
mod values;
mod weight;
mod workload;

use languages::names;
use schemars::JsonSchema;
use units::Nanos;

pub use parse::STREAMS_MAX;
pub use schema::definition_schema;

use crate::{
    Arrivals, Connection, Headline, HttpVersion, Page, Phases, PlacedSecret, Request, Rules, Think, Tls,
};

/// The version of the definition language.
pub const DEFINITION_FORMAT: u32 = 1;

/// A benchmark as defined: the contract that results are comparable by. A definition that exists is valid.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(title = "Plimsoll benchmark definition", description = "A benchmark that `plimsoll run` can run.")]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Definition {
    /// The version of this language: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The name that is typed: lower-case letters, digits, `-` and `.`.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9.-]{0,63}$"))]
    pub id: String,
    /// The version of the benchmark; rises with any change that could move a number.
    #[schemars(range(min = 1))]
    pub version: u32,
    /// The name for people: `WebStone 2.0.1-style`.
    #[schemars(length(min = 1, max = 500))]
    pub title: String,
    /// The purpose of the benchmark, in one sentence.
    #[schemars(length(min = 1, max = 500))]
    pub summary: String,
    /// The kind of server that it loads.
    pub family: Family,
    /// The figure that it is known by.
    pub headline: Headline,
    /// The requests, or the filelist that they are made from.
    #[schemars(with = "schema::WorkloadTable")]
    pub workload: WorkloadDefinition,
    /// The protocol of the requests.
    pub protocol: ProtocolDefinition,
    /// The load points.
    #[schemars(with = "schema::LoadTable")]
    pub load: LoadDefinition,
    /// The settings of an open loop, if the benchmark is one or a run asks for one. If absent: constant arrivals,
    /// 1000 in flight at most.
    #[schemars(default)]
    pub open_loop: OpenLoopDefinition,
    /// The phases of every load point.
    #[schemars(with = "schema::PhasesText")]
    pub phases: Phases,
    /// The short form that `--quick` runs. If absent: the lowest and the highest load, each for at most 5 s, with at
    /// most 1 s of ramp-up, settle and ramp-down.
    #[schemars(with = "Option<schema::QuickTable>")]
    pub quick: QuickDefinition,
    /// Limits that the verdict depends on, where they differ from the measurement rules' own.
    #[schemars(with = "Option<schema::RulesText>")]
    pub rules: Rules,
}

names! {
    /// A kind of server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
    pub enum Family {
        /// Web servers.
        Web = "web",
    }
}

/// The workload: a filelist or requests.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkloadDefinition {
    /// The requests, their replies and weights.
    pub source: WorkloadSource,
    /// Seed of the files' content: a constant of the benchmark's version.
    pub content_seed: u64,
    /// Whether the benchmark counts pages besides requests.
    pub counts_pages: bool,
    /// The pause of users after each page.
    pub think: Think,
    /// The secret parts of its requests, which are never stored.
    pub secrets: Vec<PlacedSecret>,
}

/// The source of the requests.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadSource {
    /// A filelist.
    Filelist(FilelistSource),
    /// The definition itself: requests and pages of a workload.
    Requests(Vec<Request>, Vec<Page>),
}

/// The source of the filelist.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FilelistSource {
    /// A file beside the definition, by its name.
    File(String),
    /// Here: its text, in either of the two filelist formats.
    Text(String),
}

/// The protocol of the requests.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProtocolDefinition {
    /// The version that requests are made in.
    pub http: HttpVersion,
    /// Whether connections are encrypted; if absent: `off`.
    #[schemars(default = "schema::tls_off")]
    pub tls: Tls,
    /// The lifetime of a connection.
    #[schemars(with = "schema::ConnectionText")]
    pub connection: Connection,
    /// HTTP/2: how many users share a connection; if absent: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    pub streams: u32,
    /// The longest that one operation may take, measured from its sending; above zero; if absent: 60 s.
    #[schemars(with = "Option<schema::TimeText>")]
    pub time_limit: Nanos,
}

/// The load points.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadDefinition {
    /// Whether load is a number of users or a rate.
    pub unit: LoadUnit,
    /// The levels of load.
    pub levels: Levels,
}

/// The unit of a level of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadUnit {
    /// Users of a closed loop.
    Users,
    /// Operations per second of an open loop.
    Rate,
}

/// Levels of load.
#[derive(Debug, Clone, PartialEq)]
pub enum Levels {
    /// These, in the order in which they are run.
    List(Vec<f64>),
    /// Equally spaced levels from zero (which is left out) to a maximum, which a run may choose.
    Steps {
        /// Number of levels.
        steps: u32,
        /// The highest.
        max: f64,
    },
}

impl Levels {
    /// Returns the highest level, with the maximum of the definition.
    pub fn highest(&self) -> f64 {
        match self {
            Levels::List(levels) => levels.iter().copied().fold(0.0, f64::max),
            Levels::Steps { max, .. } => *max,
        }
    }

    /// Returns the levels; `max` replaces a maximum that may be chosen. Numbers of users are rounded up, and
    /// duplicates are removed.
    pub fn list(&self, max: Option<f64>, unit: LoadUnit) -> Vec<f64> {
        match self {
            Levels::List(levels) => levels.clone(),
            Levels::Steps { steps, max: standard } => {
                let max = max.unwrap_or(*standard);
                let level = |step: u32| max * f64::from(step) / f64::from(*steps);
                let whole = |level: f64| if unit == LoadUnit::Users { level.ceil() } else { level };
                let mut levels: Vec<f64> = (1..=*steps).map(level).map(whole).collect();
                levels.dedup();
                levels
            }
        }
    }
}

/// The settings of an open loop, if a run asks for one.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct OpenLoopDefinition {
    /// The distribution of due times.
    #[schemars(with = "Option<Arrivals>")]
    pub arrivals: Arrivals,
    /// The most operations in flight.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1_000_000))]
    pub in_flight_max: u32,
}

impl Default for OpenLoopDefinition {
    /// Constant arrivals, 1000 in flight at most.
    fn default() -> OpenLoopDefinition {
        OpenLoopDefinition { arrivals: Arrivals::Constant, in_flight_max: 1000 }
    }
}

/// The short form of a benchmark, for a first look.
#[derive(Debug, Clone, PartialEq)]
pub struct QuickDefinition {
    /// The levels of load, in the unit of the full load.
    pub levels: Levels,
    /// The phases; what the short form does not name is as in the full one.
    pub phases: Phases,
}

/// The longest steady phase of a default short form.
const QUICK_STEADY_MAX: Nanos = Nanos::from_secs(5);

/// The longest of each other phase with load in a default short form.
const QUICK_PHASE_MAX: Nanos = Nanos::from_secs(1);

impl QuickDefinition {
    /// Makes the short form of a benchmark that defines none: the lowest and the highest load, no pause before.
    pub(crate) fn of(load: &LoadDefinition, full: Phases) -> QuickDefinition {
        let levels = load.levels.list(None, load.unit);
        let lowest = levels.iter().copied().reduce(f64::min);
        let highest = levels.iter().copied().reduce(f64::max);
        let mut both: Vec<f64> = lowest.into_iter().chain(highest).collect();
        both.dedup();
        let phases = Phases {
            quiet: Nanos::ZERO,
            ramp_up: full.ramp_up.min(QUICK_PHASE_MAX),
            settle: full.settle.min(QUICK_PHASE_MAX),
            steady: full.steady.min(QUICK_STEADY_MAX),
            ramp_down: full.ramp_down.min(QUICK_PHASE_MAX),
            drain: full.drain,
        };
        QuickDefinition { levels: Levels::List(both), phases }
    }
}
