//! Services behind the server that were found by its connections, and watched from then on.

use std::collections::BTreeMap;

use analysis::{LoadPointResult, ResourceUsage};
use model::{Counter, Fact, FactSection};

use crate::Report;

/// The section of the testbed that lists the processes that are watched from the beginning.
const WATCHED: &str = "Watched processes";

/// A service behind the server whose processes are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BackEnd {
    /// The group of its processes: `port=5432`.
    pub(super) label: String,
    /// The name of its program, where that can be told from those of the server.
    pub(super) program: Option<String>,
    /// The greatest number of its processes.
    pub(super) processes: u64,
}

impl BackEnd {
    /// Returns its name in sentences: `postgres (port 5432)`.
    pub(super) fn title(&self) -> String {
        let place = place_of(&self.label);
        self.program.as_ref().map_or(place.clone(), |program| format!("{program} ({place})"))
    }
}

/// Returns all of them, by their labels.
pub(super) fn back_ends(report: &Report) -> Vec<BackEnd> {
    let known: Vec<&Fact> = watched_facts(&report.testbed.sections).collect();
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for one in
        report.analysis.load_points.iter().flat_map(|point| point.resources.of_sut(Counter::SutProcesses))
    {
        let label = one.series.instance.as_str();
        if !label.is_empty() && 0 < one.max && !known.iter().any(|fact| is_about(fact, label)) {
            let processes = found.entry(label).or_default();
            *processes = (*processes).max(one.max);
        }
    }
    let program = if found.len() == 1 && !known.is_empty() { program_beside(report, &known) } else { None };
    let back_end = |(label, processes): (&str, u64)| BackEnd {
        label: label.to_owned(),
        program: program.clone(),
        processes,
    };
    found.into_iter().map(back_end).collect()
}

/// Returns the service of a name as sentences have it (`port 5432`, a path).
pub(super) fn back_end_at(report: &Report, place: &str) -> Option<BackEnd> {
    back_ends(report).into_iter().find(|one| place_of(&one.label) == place)
}

/// Returns the testbed's sections, the one about watched processes with these services.
pub(super) fn with_back_ends(report: &Report) -> Vec<FactSection> {
    let mut sections = report.testbed.sections.clone();
    let facts = back_ends(report).into_iter().map(|one| {
        let program = one.program.as_deref().unwrap_or("a service");
        let processes = if one.processes == 1 { "process" } else { "processes" };
        let text = format!(
            "{program} ({} {processes}), found during the run by the server’s connections",
            one.processes
        );
        Fact::found(&one.label, &text).from("/proc")
    });
    if let Some(section) = sections.iter_mut().find(|section| section.title == WATCHED) {
        section.facts.extend(facts);
    }
    sections
}

/// Returns the CPUs that a group of processes used at a load point.
pub(super) fn cpus_of(point: &LoadPointResult, label: &str) -> Option<f64> {
    micros(&point.resources, Counter::SutCpu, label)
}

/// Returns the program that used most of the server's CPU time, with its use and that of all programs, in CPUs; `None` if there
/// is only one.
pub(super) fn busiest_program(point: &LoadPointResult) -> Option<(&str, f64, f64)> {
    let used = point.resources.of_sut(Counter::ProcessCpu);
    let used: Vec<(&str, f64)> =
        used.filter_map(|one| Some((one.series.instance.as_str(), one.value? / 1e6))).collect();
    let total: f64 = used.iter().map(|(_, cpus)| cpus).sum();
    let (name, most) = used.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
    (1 < used.len()).then_some((name, most, total))
}

/// Returns the busiest program that is not among those of the processes that were watched from the beginning.
fn program_beside(report: &Report, known: &[&Fact]) -> Option<String> {
    let is_known = |name: &str| known.iter().any(|fact| names_program(fact, name));
    let points = report.analysis.load_points.iter();
    let programs = points.flat_map(|point| point.resources.of_sut(Counter::ProcessCpu));
    let others = programs.filter(|one| !is_known(&one.series.instance));
    let busiest = others.max_by(|one, other| one.value.unwrap_or(0.0).total_cmp(&other.value.unwrap_or(0.0)));
    busiest.map(|one| one.series.instance.clone())
}

/// Returns whether a fact such as `nginx (2 processes), sh (1 process)` names a program.
fn names_program(fact: &Fact, name: &str) -> bool {
    fact.value.split(", ").any(|one| one.strip_prefix(name).is_some_and(|rest| rest.starts_with(" (")))
}

/// Returns the facts about the groups that are watched from the beginning.
fn watched_facts(sections: &[FactSection]) -> impl Iterator<Item = &Fact> {
    sections.iter().filter(|section| section.title == WATCHED).flat_map(|section| &section.facts)
}

fn is_about(fact: &Fact, label: &str) -> bool {
    fact.name == label || fact.name.strip_prefix(label).is_some_and(|rest| rest.starts_with(" on "))
}

/// Returns the place of a group as sentences have it.
fn place_of(label: &str) -> String {
    match label.split_once('=') {
        Some(("port", port)) => format!("port {port}"),
        Some((_, place)) => place.to_owned(),
        None => label.to_owned(),
    }
}

fn micros(uses: &ResourceUsage, counter: Counter, instance: &str) -> Option<f64> {
    let mut found = uses.of_sut(counter).filter(|one| one.series.instance == instance);
    found.next()?.value.map(|micros| micros / 1e6)
}
