//! Differences between the plans of two runs: everything except the server that could move a number must be the same.
//!
//! Paths may differ, since servers run programs under different paths; so may the server's limits, its CPUs and its
//! settings, which are compared.

use model::{Modification, Phases, Plan, Workload};
use units::Nanos;

use super::{RunInput, web};

/// A difference between two runs other than the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// The setting that differs: `phases`.
    pub what: &'static str,
    /// The run that differs.
    pub run: String,
    /// The first run, which it differs from.
    pub from: String,
    /// The setting of this run; empty where it does not fit into a line.
    pub here: String,
    /// The setting of the first run; likewise.
    pub there: String,
}

/// A check: its name, whether both plans agree, and the setting of each where that fits into a line.
pub(super) type Check = (&'static str, bool, [String; 2]);

/// Returns the settings that must be the same and differ.
pub(super) fn differences(first: &RunInput, other: &RunInput) -> Vec<PlanDifference> {
    let a = first.plan;
    let b = other.plan;
    let plans = benchmark(a, b).into_iter().chain(workload(&a.workload, &b.workload)).chain(course(a, b));
    let broken = plans.chain(generator(first, other)).filter(|(_, alike, _)| !alike);
    broken
        .map(|(what, _, [there, here])| PlanDifference {
            what,
            run: other.name.to_owned(),
            from: first.name.to_owned(),
            here,
            there,
        })
        .collect()
}

fn benchmark(a: &Plan, b: &Plan) -> [Check; 3] {
    let version = |plan: &Plan| format!("version {}", plan.benchmark.version);
    let id = |plan: &Plan| plan.benchmark.id.clone();
    let is_same = a.benchmark.id == b.benchmark.id;
    [
        ("benchmark", is_same, both(a, b, id)),
        // Versions of different benchmarks are unrelated.
        ("benchmark version", !is_same || a.benchmark.version == b.benchmark.version, both(a, b, version)),
        ("score", a.catalog.score == b.catalog.score, both(a, b, |plan| plan.catalog.words.score.clone())),
    ]
}

/// Checks what the users do, which each family has in its own terms.
fn workload(a: &Workload, b: &Workload) -> Vec<Check> {
    match (a.web(), b.web()) {
        (Some(a), Some(b)) => web::differences(a, b).into(),
        _ => vec![("workload", a == b, nothing())],
    }
}

/// Checks the offered load, its time limit and length, and the rules of the result.
fn course(a: &Plan, b: &Plan) -> [Check; 9] {
    // The load points of a search, and those that a run adds, follow from its results.
    let load = |plan: &Plan| {
        let points: Vec<_> = plan.planned().iter().map(|point| point.load).collect();
        (plan.search, points, plan.refinement)
    };
    let limits = |plan: &Plan| plan.search.map(|_| plan.limits.clone());
    [
        ("load points", load(a) == load(b), both(a, b, load_text)),
        ("limits of the search", limits(a) == limits(b), nothing()),
        ("time limit", a.time_limit == b.time_limit, both(a, b, |plan| plan.time_limit.to_string())),
        ("phases", a.phases == b.phases, phases_text(&a.phases, &b.phases)),
        (
            "arrival lanes",
            a.arrival_lanes == b.arrival_lanes,
            both(a, b, |plan| plan.arrival_lanes.to_string()),
        ),
        (
            "operations in all",
            a.operations == b.operations,
            both(a, b, |plan| plan.operations.map_or_else(|| "any number".to_owned(), |n| n.to_string())),
        ),
        ("seed", a.seed == b.seed, both(a, b, |plan| plan.seed.to_string())),
        ("rules", a.rules == b.rules, nothing()),
        (
            "modifications",
            a.modifications == b.modifications,
            modified_texts(&a.modifications, &b.modifications),
        ),
    ]
}

fn generator(first: &RunInput, other: &RunInput) -> [Check; 3] {
    let a = first.plan;
    let b = other.plan;
    let threads = |plan: &Plan| match plan.load_threads() {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    };
    let addresses = |plan: &Plan| plan.source_addresses.len();
    [
        ("load generator", a.load_threads() == b.load_threads(), both(a, b, threads)),
        (
            "load generator",
            first.program == other.program,
            [first.program.to_owned(), other.program.to_owned()],
        ),
        (
            "number of source addresses",
            addresses(a) == addresses(b),
            both(a, b, |plan| addresses(plan).to_string()),
        ),
    ]
}

fn both(a: &Plan, b: &Plan, of: impl Fn(&Plan) -> String) -> [String; 2] {
    [of(a), of(b)]
}

pub(super) fn nothing() -> [String; 2] {
    [String::new(), String::new()]
}

fn load_text(plan: &Plan) -> String {
    if let Some(search) = plan.search {
        return format!("a search up to {}", search.most);
    }
    let added = if plan.refinement.is_some() { ", and more between them" } else { "" };
    match plan.planned() {
        [] => "none".to_owned(),
        [only] => only.load.to_string(),
        [first, .., last] => {
            format!("{} from {} to {}{added}", plan.planned().len(), first.load, last.load)
        }
    }
}

/// Lists the phases whose lengths differ.
fn phases_text(a: &Phases, b: &Phases) -> [String; 2] {
    type Length = fn(&Phases) -> Nanos;
    const LENGTHS: [(&str, Length); 6] = [
        ("pause", |phases| phases.quiet),
        ("ramp-up", |phases| phases.ramp_up),
        ("settle", |phases| phases.settle),
        ("steady phase", |phases| phases.steady),
        ("ramp-down", |phases| phases.ramp_down),
        ("drain", |phases| phases.drain),
    ];
    let differing = || LENGTHS.iter().filter(|(_, length)| length(a) != length(b));
    let text = |phases: &Phases| {
        let lengths = differing().map(|(name, length)| format!("{name} {} s", length(phases).as_secs_f64()));
        lengths.collect::<Vec<_>>().join(", ")
    };
    [text(a), text(b)]
}

/// Lists the modifications that only one of the two has.
fn modified_texts(a: &[Modification], b: &[Modification]) -> [String; 2] {
    let only = |these: &[Modification], others: &[Modification]| {
        let own = these.iter().filter(|one| !others.contains(one));
        let list: Vec<String> = own.map(|one| format!("{} {}", one.what, one.ours)).collect();
        if list.is_empty() { "nothing".to_owned() } else { list.join("; ") }
    };
    [only(a, b), only(b, a)]
}
