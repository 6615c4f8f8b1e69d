//! The wording of bottlenecks: their names, and the sentence about a run's bottleneck and where it moves, in the manner
//! of historical reports.

use analysis::attribute::{Attribution, Bottleneck, Certainty, CpuNeighbor, Indicator};
use analysis::{LoadPointResult, SharedCpus};
use model::{Load, Noun};

/// Neighboring load points with the same bottleneck, as far as sentences tell bottlenecks apart.
struct LoadRange<'a> {
    bottleneck: Bottleneck,
    points: Vec<&'a LoadPointResult>,
}

/// The least use of two resources that together are called mixed. A house rule.
const MIXED_MIN: f64 = 0.5;

/// Returns a clause about a run's bottleneck, to stand behind a colon, without a full stop: `processor-bound from 4
/// to 8 clients; mixed from 12 to 40 (CPU 78 %, disk 71 %); probably disk-bound above 40 clients`. `user` is the noun for
/// users, which the first range and the last one have. `None` if no load point has an attribution. The limit of a disk is told
/// behind the range, with its loads where it moves: `disk-bound above 1 client, by its operations from 2 to 8, by its bandwidth
/// at 16`; so is a CPU quota that was used up.
///
/// Load points by rising load; those without a limit are left out if there are others.
pub fn bottleneck_text(points: &[LoadPointResult], user: &Noun) -> Option<String> {
    let mut sorted: Vec<&LoadPointResult> = points.iter().filter(|one| one.attribution.is_some()).collect();
    sorted.sort_by(|one, other| one.load.level().total_cmp(&other.load.level()));
    let ranges = ranges(&sorted);
    let bound: Vec<&LoadRange> = ranges.iter().filter(|range| range.bottleneck != Bottleneck::None).collect();
    match (ranges.first(), bound.is_empty()) {
        (None, _) => None,
        (Some(_), true) => Some("none was reached at the loads tested".to_owned()),
        (Some(_), false) => {
            let clauses = bound.iter().enumerate().map(|(index, range)| {
                let is_between = 0 < index && index + 1 < bound.len();
                clause(range, &ranges, Some(user).filter(|_| !is_between))
            });
            Some(clauses.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The form of a wait of one user alone, who meets no lock of others.
const WAITING_ALONE: &str = "waiting for something outside its CPUs";

/// Returns the form for a sentence about one load.
pub(crate) fn bottleneck_adjective_at(load: Load, attribution: &Attribution) -> String {
    match attribution.bottleneck {
        Bottleneck::Waiting if is_one_user(load) => WAITING_ALONE.to_owned(),
        _ => bottleneck_adjective(attribution),
    }
}

/// Returns the form for a sentence: `probably network-bound`.
pub(crate) fn bottleneck_adjective(attribution: &Attribution) -> String {
    with_certainty(attribution, adjective(attribution.bottleneck))
}

/// Returns the name for a table: `probably network`; `processor, shared with the load generator (0.41 of 2 CPUs)`; `slow
/// downstream service (port 5432)`.
pub(crate) fn bottleneck_name(attribution: &Attribution) -> String {
    let sharing = sharing_text(attribution).map(|text| format!(", {text}"));
    let service = attribution.service.as_ref().map(|service| format!(" ({service})"));
    bare_name(attribution) + &service.or(sharing).unwrap_or_default()
}

/// Returns a clause about a processor that somebody else uses too: `shared with the load generator (0.41 of 2 CPUs)`, `used
/// mostly by stress (0.94 CPUs)`. `None` if nobody does.
pub(crate) fn sharing_text(attribution: &Attribution) -> Option<String> {
    match (&attribution.shared, &attribution.neighbor) {
        (Some(shared), _) => Some(shared_text(shared)),
        (None, Some(neighbor)) => {
            let (program, cpus) = neighbor_use(neighbor);
            Some(format!("used mostly by {program} ({cpus:.2} CPUs)"))
        }
        (None, None) => None,
    }
}

/// Returns the name of a neighbor, and its use in CPUs.
pub(crate) fn neighbor_use(neighbor: &CpuNeighbor) -> (&str, f64) {
    match neighbor {
        CpuNeighbor::Generator { cpus } => ("the load generator", *cpus),
        CpuNeighbor::Program(program) => (&program.name, program.cpus),
    }
}

/// Returns the name without what the processor is shared with.
pub(crate) fn bare_name(attribution: &Attribution) -> String {
    with_certainty(attribution, attribution.bottleneck.name())
}

/// Returns the part of shared CPUs that the generator used: `shared with the load generator (0.41 of 2 CPUs)`.
fn shared_text(shared: &SharedCpus) -> String {
    format!("shared with the load generator ({:.2} of {:.0} CPUs)", shared.generator, shared.n)
}

fn with_certainty(attribution: &Attribution, word: &str) -> String {
    match (attribution.certainty, attribution.bottleneck) {
        (Certainty::Certain, _) | (_, Bottleneck::None | Bottleneck::Undetermined) => word.to_owned(),
        (Certainty::Probable, _) => format!("probably {word}"),
    }
}

/// Returns the form of a bottleneck for a sentence: `processor-bound`.
fn adjective(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::None => "not limited",
        Bottleneck::Processor => "processor-bound",
        Bottleneck::Memory => "memory-bound",
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth => "disk-bound",
        Bottleneck::Network => "network-bound",
        Bottleneck::AcceptBacklog => "bound by its accept backlog",
        Bottleneck::WorkerLimit => "bound by its number of workers",
        Bottleneck::ConnectionLimit => "bound by a limit on connections",
        Bottleneck::OpenFiles => "bound by its limit on open files",
        Bottleneck::RateLimit => "bound by a rate limit of the server",
        Bottleneck::ConcurrencyLimit => "bound by the number of operations that the server serves at once",
        Bottleneck::ServerLimit => "bound by a limit set in the server (503)",
        Bottleneck::BackEndConnections => "bound by failing connections to its back end",
        Bottleneck::Scheduler => "scheduler-bound",
        Bottleneck::DownstreamService => "bound by a slow service behind it",
        Bottleneck::Waiting => "bound by a lock or other waiting",
        Bottleneck::Generator => "limited by the generator",
        Bottleneck::Undetermined => "without a single bottleneck",
    }
}

fn ranges<'a>(sorted: &[&'a LoadPointResult]) -> Vec<LoadRange<'a>> {
    let mut ranges: Vec<LoadRange> = Vec::new();
    for point in sorted {
        let Some(bottleneck) = point.attribution.as_ref().map(|one| one.bottleneck) else { continue };
        match ranges.last_mut() {
            Some(range) if adjective(range.bottleneck) == adjective(bottleneck) => range.points.push(point),
            _ => ranges.push(LoadRange { bottleneck, points: vec![point] }),
        }
    }
    ranges
}

/// Returns the clause about a range; with `user`, loads have their noun.
fn clause(range: &LoadRange, all: &[LoadRange], user: Option<&Noun>) -> String {
    let first = range.points[0].load;
    let last = range.points[range.points.len() - 1].load;
    let is_last = all.last().is_some_and(|other| std::ptr::eq(other.points[0], range.points[0]));
    let before = all.iter().take_while(|other| !std::ptr::eq(other.points[0], range.points[0])).last();
    let place = match before.and_then(|before| before.points.last()) {
        Some(before) if is_last && 1 < range.points.len() => format!("above {}", load(before.load, user)),
        _ => loads(first, last, user),
    };
    match range.bottleneck {
        Bottleneck::Undetermined => {
            let uses = most_used(range);
            let are_used = uses.iter().filter(|(_, value)| MIXED_MIN <= *value).count();
            let word = if 1 < are_used { "mixed" } else { "no single bottleneck found" };
            format!("{word} {place}{}", uses_text(&uses))
        }
        _ => {
            let limits = disk_limits(range) + &quota_at_best(&range.points);
            format!("{} {place}{limits}{}", range.adjective(), shared_at_best(&range.points))
        }
    }
}

/// Returns which limit of a disk was met, and at which loads if operations and bytes both were in one range; else nothing.
fn disk_limits(range: &LoadRange) -> String {
    let limit = |point: &&LoadPointResult| match point.attribution.as_ref().map(|one| one.bottleneck) {
        Some(Bottleneck::DiskOperations) => Some("operations"),
        Some(Bottleneck::DiskBandwidth) => Some("bandwidth"),
        _ => None,
    };
    let parts: Vec<_> = range.points.chunk_by(|one, other| limit(one) == limit(other)).collect();
    let has_moved = 1 < parts.len();
    let text = |part: &&[&LoadPointResult]| {
        let first = part[0];
        let last = part[part.len() - 1];
        let place = has_moved.then(|| format!(" {}", loads(first.load, last.load, None)));
        Some(format!(", by its {}{}", limit(&first)?, place.unwrap_or_default()))
    };
    parts.iter().filter_map(text).collect()
}

/// Returns the place of a range: `at 16 clients`, `from 4 to 8 clients`.
fn loads(first: Load, last: Load, user: Option<&Noun>) -> String {
    if first.level() == last.level() {
        format!("at {}", load(first, user))
    } else {
        format!("from {} to {}", first.level(), load(last, user))
    }
}

impl LoadRange<'_> {
    /// Returns the form for a sentence; a bottleneck that is certain at one load of the range is certain for the range. One user
    /// alone meets no lock of others.
    fn adjective(&self) -> String {
        if self.bottleneck == Bottleneck::Waiting && self.points.iter().all(|point| is_one_user(point.load)) {
            return WAITING_ALONE.to_owned();
        }
        let attributions = || self.points.iter().filter_map(|point| point.attribution.as_ref());
        let certain = attributions().find(|one| one.certainty == Certainty::Certain);
        certain.or_else(|| attributions().next()).map(bottleneck_adjective).unwrap_or_default()
    }
}

/// Returns whether a load is a single user.
pub(crate) fn is_one_user(load: Load) -> bool {
    load == Load::Users(1)
}

/// Returns the CPU quota that was used up at the load point with the highest rate where one was; else nothing.
fn quota_at_best(points: &[&LoadPointResult]) -> String {
    let quota =
        |point: &&LoadPointResult| Some((point.rate, point.attribution.as_ref()?.quota.as_ref()?.cpus));
    let best = points.iter().filter_map(quota).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map_or_else(String::new, |(_, cpus)| format!(", by its quota of {}", cpus_text(cpus)))
}

/// Writes CPU time per second: `0.2 CPUs`, `1 CPU`.
pub(crate) fn cpus_text(cpus: f64) -> String {
    let rounded = (1000.0 * cpus).round() / 1000.0;
    format!("{rounded} CPU{}", if rounded == 1.0 { "" } else { "s" })
}

/// Returns a clause about a processor that the server shares with others, at the load point with the highest rate where
/// it is the bottleneck.
fn shared_at_best(points: &[&LoadPointResult]) -> String {
    let shared = |point: &&LoadPointResult| Some((point.rate, sharing_text(point.attribution.as_ref()?)?));
    let best = points.iter().filter_map(shared).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map_or_else(String::new, |(_, shared)| format!(", on a processor {shared}"))
}

/// The least use of a resource that is worth a word.
const SHOWN_MIN: f64 = 0.1;

/// Returns the two resources with the highest use at any load point of a range.
fn most_used(range: &LoadRange) -> Vec<(Indicator, f64)> {
    let uses = range.points.iter().filter_map(|point| Some(point.attribution.as_ref()?.most_used()));
    let highest = uses.max_by(|one, other| {
        let first = |uses: &[(Indicator, f64)]| uses.first().map_or(0.0, |(_, value)| *value);
        first(one).total_cmp(&first(other))
    });
    highest.unwrap_or_default()
}

/// Writes the uses of resources in brackets; empty if none is worth a word.
fn uses_text(uses: &[(Indicator, f64)]) -> String {
    let texts: Vec<String> = uses
        .iter()
        .filter(|(_, value)| SHOWN_MIN <= *value)
        .map(|(indicator, value)| format!("{} {:.0} %", resource(*indicator), 100.0 * value))
        .collect();
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
}

/// Returns the resource that a share is of.
fn resource(indicator: Indicator) -> &'static str {
    match indicator {
        Indicator::ProcessorUse => "CPU",
        Indicator::DiskBusy => "disk",
        Indicator::NetworkBusy => "network",
        Indicator::WorkersBusy => "workers",
        other => other.name(),
    }
}

fn load(load: Load, user: Option<&Noun>) -> String {
    match (load, user) {
        (Load::Users(users), Some(user)) => format!("{users} {}", user.of(users.into())),
        (Load::Users(users), None) => users.to_string(),
        (Load::Rate { per_second, .. }, _) => format!("{per_second} operations per second"),
    }
}
