//! Comparison of runs of the same plan against different servers.
//!
//! Like is compared only with like: benchmark and version, workload, protocol, phases and seed must be the
//! same. Paths may differ, since servers run programs at different places.

use std::fmt::Write;

use model::{BenchmarkId, Load, Modification, Plan, Workload};
use units::Nanos;

use crate::scaling::{Scaling, scalings};
use crate::{Analysis, LoadPointResult, State};

/// A run that is to be compared.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// What it is called in the comparison: `nginx`.
    pub name: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its numbers.
    pub analysis: &'a Analysis,
}

/// Runs side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The benchmark of all of them.
    pub benchmark: BenchmarkId,
    /// What differs from its definition, in any of them; each once.
    pub modifications: Vec<Modification>,
    /// In the order given; not empty. The first is what the others are measured by.
    pub runs: Vec<ComparedRun>,
    /// The loads that all of them have, in the order of the first; may be empty.
    pub levels: Vec<ComparedLevel>,
    /// How each server that was run on several groups of CPUs scales.
    pub scalings: Vec<Scaling>,
}

/// One run of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// What it is called.
    pub name: String,
    /// The judgement on it.
    pub state: State,
    /// Its own figure; `None` without a valid load point.
    pub best: Option<Best>,
}

/// The highest valid load point of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// At which load.
    pub load: Load,
    /// What was measured there; its ratio is to the best rate of the first run.
    pub figures: LevelFigures,
}

/// One load, as all runs carried it.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedLevel {
    /// What was offered.
    pub load: Load,
    /// In the order of the runs.
    pub figures: Vec<LevelFigures>,
}

/// What is compared of a load point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelFigures {
    /// The judgement on the load point.
    pub state: State,
    /// Successful operations per second.
    pub rate: f64,
    /// 95 % interval for it; `None` if too few seconds.
    pub rate_interval: Option<(f64, f64)>,
    /// Rate ÷ rate of the first run; `None` if one of the two is not valid, or the first is zero.
    pub ratio: Option<f64>,
    /// Mean response time in seconds; `None` if nothing succeeded.
    pub response_mean: Option<f64>,
    /// 99th percentile of the response time; `None` if too few values.
    pub response_p99: Option<Nanos>,
    /// CPUs that the SUT used; `None` if not seen.
    pub sut_cpus: Option<f64>,
    /// CPU time of the SUT per operation, in seconds.
    pub sut_cpu_per_operation: Option<f64>,
}

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// There is nothing to compare.
    #[error("expected two runs or more to compare, found {found}")]
    TooFew {
        /// How many there are.
        found: usize,
    },
    /// They are not runs of the same plan.
    #[error("the runs differ in more than the server:{}", list(.differences))]
    Differ {
        /// One line for each difference from the first run.
        differences: Vec<String>,
    },
}

fn list(differences: &[String]) -> String {
    differences.iter().fold(String::new(), |mut text, line| {
        let _ = write!(text, "\n  {line}");
        text
    })
}

/// Compares runs whose load points were measured in turns: every load that all of them have, and the highest
/// valid load point of each.
///
/// Errors: fewer than two runs, or runs of different plans.
pub fn interleaved(runs: &[Compared]) -> Result<Comparison, CompareError> {
    let [first, others @ ..] = runs else { return Err(CompareError::TooFew { found: 0 }) };
    if others.is_empty() {
        return Err(CompareError::TooFew { found: 1 });
    }
    let differences: Vec<String> = others.iter().flat_map(|other| differences(first, other)).collect();
    if !differences.is_empty() {
        return Err(CompareError::Differ { differences });
    }
    let mut modifications: Vec<Modification> = Vec::new();
    for change in runs.iter().flat_map(|run| &run.analysis.modifications) {
        if !modifications.contains(change) {
            modifications.push(change.clone());
        }
    }
    let first_best = best_point(first.analysis);
    Ok(Comparison {
        benchmark: first.plan.benchmark.clone(),
        modifications,
        runs: runs.iter().map(|run| compared_run(run, first_best)).collect(),
        levels: first.analysis.load_points.iter().filter_map(|point| level(runs, point)).collect(),
        scalings: scalings(runs),
    })
}

/// Names what must be the same and is not.
fn differences(first: &Compared, other: &Compared) -> Vec<String> {
    let (a, b) = (first.plan, other.plan);
    let id = |plan: &Plan| format!("{} version {}", plan.benchmark.id, plan.benchmark.version);
    let values = |one: String, first: String| format!(" ({one}, not {first})");
    let checks = [
        ("benchmark", id(a) == id(b), values(id(b), id(a))),
        ("workload", without_paths(&a.workload) == without_paths(&b.workload), String::new()),
        ("protocol", a.protocol == b.protocol, String::new()),
        ("phases", a.phases == b.phases, String::new()),
        ("seed", a.seed == b.seed, values(b.seed.to_string(), a.seed.to_string())),
    ];
    let broken = checks.into_iter().filter(|(_, same, _)| !same);
    broken
        .map(|(what, _, values)| format!("`{}` differs from `{}` in {what}{values}", other.name, first.name))
        .collect()
}

fn without_paths(workload: &Workload) -> Workload {
    let mut workload = workload.clone();
    for request in &mut workload.requests {
        (request.name, request.path) = (String::new(), "/".parse().expect("a plain path"));
    }
    workload
}

fn compared_run(run: &Compared, first_best: Option<&LoadPointResult>) -> ComparedRun {
    let best = best_point(run.analysis)
        .map(|point| Best { load: point.load, figures: LevelFigures::of(point, first_best) });
    ComparedRun { name: run.name.to_owned(), state: run.analysis.verdict.state, best }
}

pub(crate) fn best_point(analysis: &Analysis) -> Option<&LoadPointResult> {
    analysis.load_points.get(analysis.headline.as_ref()?.load_point)
}

/// Returns one load of the first run, as the others carried it; `None` if one of them does not have it.
fn level(runs: &[Compared], first: &LoadPointResult) -> Option<ComparedLevel> {
    let of_run = |run: &Compared| {
        let mut points = run.analysis.load_points.iter();
        let point = points.find(|point| point.index == first.index && point.load == first.load);
        let found = point.or_else(|| run.analysis.load_points.iter().find(|point| point.load == first.load));
        Some(LevelFigures::of(found?, Some(first)))
    };
    let figures: Option<Vec<LevelFigures>> = runs.iter().map(of_run).collect();
    Some(ComparedLevel { load: first.load, figures: figures? })
}

impl LevelFigures {
    fn of(point: &LoadPointResult, first: Option<&LoadPointResult>) -> LevelFigures {
        let valid = |point: &LoadPointResult| point.verdict.state == State::Valid && 0.0 < point.rate;
        let first = first.filter(|first| valid(first) && valid(point));
        LevelFigures {
            state: point.verdict.state,
            rate: point.rate,
            rate_interval: point.rate_interval,
            ratio: first.map(|first| point.rate / first.rate),
            response_mean: point.response.mean,
            response_p99: point.response.percentile(0.99).map(|p99| p99.value),
            sut_cpus: point.sut_cpus,
            sut_cpu_per_operation: point.sut_cpu_per_operation,
        }
    }
}
