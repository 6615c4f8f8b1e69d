//! Sides of a comparison: runs with the same plan, server and configuration are repetitions.

use model::{Fact, FactSection, Load};

use super::configuration::{identifies, plain_value};
use super::{BestLoad, FigureChange, Figures, RunInput, best_point, plan_difference};
use crate::{Analysis, LoadPointResult, VerdictState};

/// A server with its settings, and the runs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSide {
    /// The name of the side: `nginx`; different for each side.
    pub name: String,
    /// Its runs, in the order given; not empty.
    pub runs: Vec<usize>,
    /// The verdict: valid if all of its runs are; else that of the first that is not.
    pub state: VerdictState,
    /// Its own figure; `None` if no run has a valid load point.
    pub best: Option<BestLoad>,
    /// The changes from the baseline over all loads together: the geometric means over the loads at which all runs of
    /// both are valid. Empty of the baseline, and if there is no such load.
    pub overall: Vec<FigureChange>,
}

/// Groups runs into sides, by the order of their first runs. If all are runs of one server, the first `n_baseline` are
/// the baseline and the others the other side.
pub(super) fn groups(runs: &[RunInput], n_baseline: usize) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match groups.iter_mut().find(|group| are_repetitions(&runs[group[0]], run)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    match groups.as_mut_slice() {
        [only] if (1..only.len()).contains(&n_baseline) => {
            let others = only.split_off(n_baseline);
            groups.push(others);
        }
        _ => {}
    }
    groups
}

fn are_repetitions(one: &RunInput, other: &RunInput) -> bool {
    // The origin of a quota (its calibration) does not move a number.
    let sut = |run: &RunInput| model::SutPlan { quota_reason: String::new(), ..run.plan.sut.clone() };
    // With a label the user says which runs are of one state, whatever else was found to differ.
    let is_labeled = one.plan.sut.label.is_some();
    one.server == other.server
        && sut(one) == sut(other)
        && plan_difference::differences(one, other).is_empty()
        && (is_labeled || identity(one) == identity(other))
}

/// Returns the facts that identify the server.
fn identity<'a>(run: &RunInput<'a>) -> Vec<(&'a str, &'a str, String)> {
    let of_section = |section: &'a FactSection| {
        let facts = section.facts.iter().filter(move |fact: &&Fact| identifies(section, fact));
        facts.map(move |fact| {
            (section.title.as_str(), fact.name.as_str(), plain_value(run.testbed, section, fact))
        })
    };
    run.testbed.sections.iter().flat_map(of_section).collect()
}

/// Makes the sides, without changes from the baseline.
pub(super) fn sides(runs: &[RunInput], groups: &[Vec<usize>]) -> Vec<ComparedSide> {
    let side = |group: &Vec<usize>| {
        let states = || group.iter().map(|run| runs[*run].analysis.verdict.state);
        ComparedSide {
            name: name(runs, groups, group),
            runs: group.clone(),
            state: states().find(|state| *state != VerdictState::Valid).unwrap_or(VerdictState::Valid),
            best: best(runs, group),
            overall: Vec::new(),
        }
    };
    groups.iter().map(side).collect()
}

/// Returns the name of a side: that of its server, with the name of its first run if several have the same.
fn name(runs: &[RunInput], groups: &[Vec<usize>], group: &[usize]) -> String {
    let first = &runs[group[0]];
    let namesakes = groups.iter().filter(|other| runs[other[0]].server == first.server).count();
    match namesakes {
        1 => first.server.to_owned(),
        _ if first.name.starts_with(first.server) => first.name.to_owned(),
        _ => format!("{} ({})", first.server, first.name),
    }
}

fn best(runs: &[RunInput], group: &[usize]) -> Option<BestLoad> {
    let points: Vec<&LoadPointResult> =
        group.iter().filter_map(|run| best_point(runs[*run].analysis)).collect();
    let highest =
        points.iter().max_by(|one, other| one.score.unwrap_or(0.0).total_cmp(&other.score.unwrap_or(0.0)))?;
    let analyses = || group.iter().map(|run| runs[*run].analysis);
    let is_all_offered = analyses().all(|analysis| is_all_offered(analysis, highest.load));
    Some(BestLoad { load: highest.load, is_all_offered, figures: Figures::of(&points) })
}

/// Returns whether a load is the highest that an open loop offered.
pub fn is_all_offered(analysis: &Analysis, load: Load) -> bool {
    let levels = || analysis.load_points.iter().map(|point| point.load.level());
    !load.is_closed() && levels().all(|level| level <= load.level())
}
