//! The definition language: a benchmark as a TOML text that people write, read and compare.
//!
//! - [`parse`](Definition::parse): text → [`Definition`], or everything that is wrong with it; the published JSON Schema
//! - `values`: the notation of single values
//! - `web`, `app`, `file`, `order_entry`, `sql`, `mail`, `echo`: the workloads of the families
//! - `family_spec`: the answers that each of them gives
//! - `protocol`: the settings of the families; `choose_setting`: the same as they are typed
//! - `think`: the pauses of users

mod app;
mod choose_setting;
#[cfg(feature = "echo")]
mod echo;
mod family_spec;
mod file;
mod mail;
mod order_entry;
mod parse;
mod protocol;
mod sql;
mod think;
mod values;
mod web;

use units::Nanos;

pub use file::FileDefinition;
pub use parse::definition_schema;
pub use sql::SqlDefinition;
pub use web::{DataDefinition, DataFormat, FilelistSource, WebDefinition, WorkloadSource, header_name_fault};

use crate::{
    Arrivals, Catalog, ChosenSetting, Configuration, Family, Headline, Limit, LoadUnit, Phases, Rules,
    StageList, Workload,
};

/// The version of the definition language.
pub const DEFINITION_FORMAT: u32 = 1;

/// A benchmark as defined: the contract that results are comparable by. A definition that exists is valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The version of this language, [`DEFINITION_FORMAT`].
    pub format: u32,
    /// The name that is typed: lower-case letters, digits, `-` and `.`.
    pub id: String,
    /// The version of the benchmark; rises with any change that could move a number.
    pub version: u32,
    /// The name for people: `WebStone 2.0.1-style`.
    pub title: String,
    /// The purpose of the benchmark, in one sentence.
    pub summary: String,
    /// The figure that it is known by.
    pub headline: Headline,
    /// The running server that a run loads unless it names another: scheme, host and port.
    pub target: Option<String>,
    /// The operations of users, in the terms of their family.
    pub workload: WorkloadDefinition,
    /// The longest that one operation may take, measured from its sending; above zero.
    pub time_limit: Nanos,
    /// The load points; of a shape its highest level.
    pub load: LoadDefinition,
    /// The load over time within the only load point; `None` where the load of each stays the same.
    pub shape: Option<ShapeDefinition>,
    /// The settings of an open loop, if the benchmark is one or a run asks for one.
    pub open_loop: OpenLoopDefinition,
    /// The phases of every load point; of a shape the steady phase, a pause before and a drain.
    pub phases: Phases,
    /// The short form that `--quick` runs.
    pub quick: QuickDefinition,
    /// Limits that the verdict depends on, where they differ from the measurement rules' own.
    pub rules: Rules,
}

/// The workload as defined: a variant for each family that names other files, and one for all others.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadDefinition {
    /// Requests to a web server, perhaps from a filelist and with data.
    Web(WebDefinition),
    /// Transactions of a user's own statements, perhaps with data.
    Sql(SqlDefinition),
    /// Operations of clients on files, perhaps those of a load file.
    File(FileDefinition),
    /// A workload that is all in the definition.
    Complete(Workload),
}

impl WorkloadDefinition {
    /// Returns the definition of a web workload; `None` of another family.
    pub fn web(&self) -> Option<&WebDefinition> {
        if let WorkloadDefinition::Web(web) = self { Some(web) } else { None }
    }

    /// Returns the definition of a file-server workload; `None` of another family.
    pub fn file(&self) -> Option<&FileDefinition> {
        if let WorkloadDefinition::File(file) = self { Some(file) } else { None }
    }
}

/// The load points.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadDefinition {
    /// Whether load is a number of users or a rate.
    pub unit: LoadUnit,
    /// The levels of load.
    pub levels: Levels,
}

/// The load over time within a load point.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeDefinition {
    /// The stages, as written.
    pub stages: StageList,
    /// The limits that end the load when one is broken; empty: it ends with its last stage.
    pub until: Vec<Limit>,
}

impl ShapeDefinition {
    /// Returns the load points of a benchmark with this shape, of which there is one.
    pub fn load(&self) -> LoadDefinition {
        LoadDefinition { unit: self.stages.unit(), levels: Levels::List(vec![self.stages.level_max()]) }
    }

    /// Returns the phases of its load point, with a pause before and a drain.
    pub fn phases(&self, quiet: Nanos, drain: Nanos) -> Phases {
        let zero = Nanos::ZERO;
        Phases { quiet, ramp_up: zero, settle: zero, steady: self.stages.length(), ramp_down: zero, drain }
    }

    /// Returns the short form: the same levels, each stage for 5 s at most.
    pub(crate) fn quick(&self) -> ShapeDefinition {
        ShapeDefinition { stages: self.stages.shortened(QUICK_STEADY_MAX), until: self.until.clone() }
    }
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

impl Definition {
    /// Returns the kind of server that the benchmark loads.
    pub fn family(&self) -> Family {
        match &self.workload {
            WorkloadDefinition::Web(_) => Family::Web,
            WorkloadDefinition::Sql(_) => Family::Sql,
            WorkloadDefinition::File(_) => Family::File,
            WorkloadDefinition::Complete(workload) => workload.family(),
        }
    }

    /// Returns the benchmark as it is defined, with its own workload or one that was made from another filelist.
    pub fn configuration(&self, workload: Workload) -> Configuration {
        let own_loadfile = self.workload.file().and_then(|file| file.loadfile.clone());
        Configuration {
            workload,
            time_limit: self.time_limit,
            filelist: format!("the standard one of {}", self.id),
            loadfile: own_loadfile.unwrap_or_else(|| "none".to_owned()),
        }
    }

    /// Returns the catalog of a run of the benchmark with a workload, its own or one that settings have changed.
    pub fn catalog(&self, workload: &Workload) -> Catalog {
        self.headline.applied(workload.catalog())
    }
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLoopDefinition {
    /// The distribution of due times.
    pub arrivals: Arrivals,
    /// The most operations in flight; if absent, 1000, or 64 of databases, whose sessions are few.
    pub in_flight_max: Option<u32>,
}

impl Default for OpenLoopDefinition {
    /// Constant arrivals.
    fn default() -> OpenLoopDefinition {
        OpenLoopDefinition { arrivals: Arrivals::Constant, in_flight_max: None }
    }
}

/// The short form of a benchmark, for a first look.
#[derive(Debug, Clone, PartialEq)]
pub struct QuickDefinition {
    /// The levels of load, in the unit of the full load.
    pub levels: Levels,
    /// The phases; what the short form does not name is as in the full one.
    pub phases: Phases,
    /// The settings that differ from those of the full form.
    pub settings: Vec<ChosenSetting>,
}

/// The longest steady phase of a default short form.
const QUICK_STEADY_MAX: Nanos = Nanos::from_secs(5);

/// The longest of each other phase with load in a default short form.
const QUICK_PHASE_MAX: Nanos = Nanos::from_secs(1);

impl QuickDefinition {
    /// Makes the short form of a benchmark that defines none: the lowest and the highest load, no pause before.
    pub fn of(load: &LoadDefinition, full: Phases) -> QuickDefinition {
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
        QuickDefinition { levels: Levels::List(both), phases, settings: Vec::new() }
    }
}
