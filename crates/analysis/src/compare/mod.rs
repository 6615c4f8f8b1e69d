//! Comparison of runs: repetitions, changes and their significance, and differences between the servers.
//!
//! Only like runs are compared: benchmark and version, files, mix, protocol, phases, load points, seed and generator
//! must be the same ([`PlanDifference`]). Runs of the same server are repetitions and form one [`ComparedSide`], unless
//! the user gave them different labels or named some as the baseline; the first side is the baseline. Significance is
//! decided over all figures at all loads at once ([`stats::decide_significance`]), so that many comparisons do not
//! create false differences.

mod answer;
mod between_runs;
mod bound;
mod change;
mod configuration;
mod figures;
mod interleaving;
mod metric;
mod plan_difference;
mod processes;
mod run_values;
mod sides;
mod web;

use model::{BenchmarkId, Load, Modification, Score, Words};
use units::Nanos;

pub use crate::run_input::RunInput;
pub use answer::{MOSTLY, SETTLED_WITHIN, ServerAnswer, TURN_SCATTER, found_beforehand, found_when_settled};
pub use between_runs::BETWEEN_RUNS;
pub use bound::{BoundDirection, BoundOutcome, ChangeBound, JudgedBound, judge_bounds};
pub use change::{FigureChange, IntervalBasis};
pub use configuration::{ConfigurationDifference, READINGS, plain_value};
pub use figures::{BestLoad, Figures};
pub use metric::ComparedMetric;
pub use plan_difference::PlanDifference;
pub use processes::BETWEEN_PROCESSES;
pub use sides::{ComparedSide, is_all_offered};

pub(crate) use crate::run_input::best_point;

use crate::scaling::{Scaling, scalings};
use crate::{LoadPointResult, VerdictState};

/// The policy for runs of different plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MismatchPolicy {
    /// They are refused, with their differences.
    Refuse,
    /// They are compared at the loads that all of them have, and their differences are listed.
    Allow,
}

/// A comparison of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The benchmark of the first.
    pub benchmark: BenchmarkId,
    /// Its score.
    pub score: Score,
    /// The shortest steady phase of a load point in any of the runs.
    pub steady: Nanos,
    /// Its words.
    pub words: Words,
    /// Deviations from its definition, in any of the runs; each once.
    pub modifications: Vec<Modification>,
    /// The differences other than the server; empty if like was compared with like.
    pub plan_differences: Vec<PlanDifference>,
    /// The runs in the order given; not empty.
    pub runs: Vec<ComparedRun>,
    /// The servers; not empty. The first is the baseline.
    pub sides: Vec<ComparedSide>,
    /// The loads that all sides have, in the order of the first; may be empty.
    pub levels: Vec<ComparedLevel>,
    /// The differences in the configuration of the sides.
    pub configuration: Vec<ConfigurationDifference>,
    /// The scaling of each server that was run on several groups of CPUs.
    pub scalings: Vec<Scaling>,
    /// The answers, where servers were loaded in turns while they ran: which is faster than the first, by how much. Empty
    /// of other comparisons.
    pub answers: Vec<ServerAnswer>,
}

/// One run of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRun {
    /// The name of the run.
    pub name: String,
    /// The judgement on it.
    pub state: VerdictState,
    /// The side that it belongs to.
    pub side: usize,
}

/// One load, with the figures of all sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedLevel {
    /// The offered load.
    pub load: Load,
    /// The figures in the order of the sides.
    pub figures: Vec<Figures>,
}

/// A reason why runs cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum CompareError {
    /// There are too few runs.
    TooFew {
        /// Number of runs found.
        found: usize,
    },
    /// The load of a run changes within its load point, by stages.
    Shaped {
        /// The name of the run.
        name: String,
    },
    /// They are not runs of the same plan.
    Differ {
        /// The differences from the first run.
        differences: Vec<PlanDifference>,
    },
}

/// Compares runs; the first one's side is the baseline.
///
/// # Errors
///
/// Fewer than two runs, a run whose load changes by stages, or runs of different plans unless `mismatch` allows them.
pub fn compare(runs: &[RunInput], mismatch: MismatchPolicy) -> Result<Comparison, CompareError> {
    compare_with_baseline(runs, 0, mismatch)
}

/// Compares runs, the first `n_baseline` of which were named as the baseline: if all are runs of one server, these are
/// one side and the others another.
///
/// # Errors
///
/// As for [`compare`].
pub fn compare_with_baseline(
    runs: &[RunInput],
    n_baseline: usize,
    mismatch: MismatchPolicy,
) -> Result<Comparison, CompareError> {
    let [first, others @ ..] = runs else { return Err(CompareError::TooFew { found: 0 }) };
    if others.is_empty() {
        return Err(CompareError::TooFew { found: 1 });
    }
    // What is compared is the rate at one load; stages are short, and users come and go in them.
    if let Some(shaped) = runs.iter().find(|run| run.plan.shape.is_some()) {
        return Err(CompareError::Shaped { name: shaped.name.to_owned() });
    }
    let differences: Vec<PlanDifference> =
        others.iter().flat_map(|other| plan_difference::differences(first, other)).collect();
    if mismatch == MismatchPolicy::Refuse && !differences.is_empty() {
        return Err(CompareError::Differ { differences });
    }
    let groups = sides::groups(runs, n_baseline);
    let loads = loads(runs);
    let mut comparison = Comparison {
        benchmark: first.plan.benchmark.clone(),
        score: first.plan.catalog.score.clone(),
        steady: runs.iter().map(|run| run.plan.phases.steady).min().unwrap_or_default(),
        words: first.plan.catalog.words.clone(),
        modifications: modifications(runs),
        plan_differences: differences,
        runs: compared_runs(runs, &groups),
        sides: sides::sides(runs, &groups),
        levels: loads.iter().map(|load| level(runs, &groups, *load)).collect(),
        configuration: configuration::differences(runs, &groups),
        scalings: scalings(runs),
        answers: Vec::new(),
    };
    change::fill(&mut comparison, runs, &groups);
    Ok(comparison)
}

/// Returns whether two runs differ in nothing but the server.
pub(crate) fn is_like(one: &RunInput, other: &RunInput) -> bool {
    plan_difference::differences(one, other).is_empty()
}

/// Returns a metric of a run at a load; `None` if that load is missing or not valid, or the metric is not known.
pub(crate) fn valid_value(run: &RunInput, load: Load, metric: ComparedMetric) -> Option<f64> {
    point_at(run, load).filter(|point| figures::is_valid(point)).and_then(|point| metric.of(point))
}

fn modifications(runs: &[RunInput]) -> Vec<Modification> {
    let mut all: Vec<Modification> = Vec::new();
    for change in runs.iter().flat_map(|run| &run.analysis.modifications) {
        if !all.contains(change) {
            all.push(change.clone());
        }
    }
    all
}

fn compared_runs(runs: &[RunInput], groups: &[Vec<usize>]) -> Vec<ComparedRun> {
    let side = |index: usize| groups.iter().position(|group| group.contains(&index)).unwrap_or(0);
    let run = |(index, run): (usize, &RunInput)| ComparedRun {
        name: run.name.to_owned(),
        state: run.analysis.verdict.state,
        side: side(index),
    };
    runs.iter().enumerate().map(run).collect()
}

/// Returns the loads that all runs have, in the order of the first; each once.
fn loads(runs: &[RunInput]) -> Vec<Load> {
    let mut loads: Vec<Load> = Vec::new();
    for point in &runs[0].analysis.load_points {
        if !loads.contains(&point.load) && runs.iter().all(|run| point_at(run, point.load).is_some()) {
            loads.push(point.load);
        }
    }
    loads
}

/// Returns a run's load point at a load: the last, if a search ran it several times.
fn point_at<'a>(run: &RunInput<'a>, load: Load) -> Option<&'a LoadPointResult> {
    run.analysis.load_points.iter().rev().find(|point| point.load == load)
}

fn level(runs: &[RunInput], groups: &[Vec<usize>], load: Load) -> ComparedLevel {
    let of_side = |group: &Vec<usize>| {
        let points: Vec<&LoadPointResult> =
            group.iter().filter_map(|run| point_at(&runs[*run], load)).collect();
        Figures::of(&points)
    };
    ComparedLevel { load, figures: groups.iter().map(of_side).collect() }
}

impl Comparison {
    /// Returns the side with the highest score; `None` if there is none, and if several served all that was offered,
    /// so that their limits are unknown.
    pub fn leader(&self) -> Option<usize> {
        match self.leaders().as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Returns the side with the highest score, or all that served the highest offered rate.
    pub fn leaders(&self) -> Vec<usize> {
        let bests =
            || self.sides.iter().enumerate().filter_map(|(index, side)| Some((index, side.best.as_ref()?)));
        let highest =
            bests().max_by(|(_, one), (_, other)| one.figures.score.total_cmp(&other.figures.score));
        let Some((first, best)) = highest else { return Vec::new() };
        if best.is_all_offered {
            let is_level = |other: &BestLoad| other.is_all_offered && other.load.level() == best.load.level();
            bests().filter(|(_, other)| is_level(other)).map(|(index, _)| index).collect()
        } else {
            vec![first]
        }
    }
}
