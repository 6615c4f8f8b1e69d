//! Executive overview: what was found, what was tested.

use analysis::VerdictState;
use model::{ConnectionLifetime, Load};

use super::highlights::highlights;
use super::stages::{self, ShapedRun};
use crate::bottleneck::{bare_name, sharing_text};
use crate::report::Growth;
use crate::{Block, Column, NoteKind, Report, Row, Section, Table, Text, Tile, numbers};

pub(crate) fn section(report: &Report) -> Option<Section> {
    let mut blocks = Vec::new();
    let shaped = ShapedRun::of(report);
    if report.analysis.headline.is_none() && shaped.is_none() {
        blocks
            .push(Block::Note(NoteKind::Warning, "No load point is valid, so there is no headline.".into()));
    }
    let tiles = shaped.map_or_else(|| tiles(report), |shaped| stages::tiles(report, shaped));
    if !tiles.is_empty() {
        blocks.push(Block::Tiles(tiles));
    }
    // The first of them is what the report opens with.
    let highlights: Vec<Text> = highlights(report).into_iter().skip(1).collect();
    if !highlights.is_empty() {
        blocks.push(Block::Heading("Highlights".into()));
        blocks.push(Block::List(highlights));
    }
    blocks.push(Block::Heading("What was tested".into()));
    blocks.push(Block::Facts(facts(report)));
    blocks.extend(modifications(report));
    blocks.push(Block::Note(NoteKind::Info, disclaimer(report)));
    Some(Section { id: "summary", title: "Executive overview".into(), blocks })
}

fn tiles(report: &Report) -> Vec<Tile> {
    let Some(point) = report.main_point() else { return Vec::new() };
    let terms = report.terms();
    let at = format!("at {}", terms.load_text(point.load));
    let tile = |name: &str, value: String, note: String| Tile { name: name.to_owned(), value, note };
    let mut tiles = vec![tile("Rate", terms.short_score_text(point.score), at.clone())];
    tiles.extend(
        point.throughput_mbit.map(|megabits| {
            tile("Throughput", format!("{} Mbit/s", numbers::megabits(megabits)), at.clone())
        }),
    );
    tiles.push(tile("Mean response time", numbers::seconds(point.response.mean), at.clone()));
    if let Some(p99) = point.response.percentile(0.99) {
        let note = match p99.interval {
            Some((low, high)) => format!("95 % interval {}", numbers::time_range(low, high)),
            None => format!("{at}; the run is too short for an interval"),
        };
        tiles.push(tile("p99 response time", numbers::time(p99.value), note));
    }
    let errors: u64 = report.analysis.load_points.iter().map(|point| point.total.errors).sum();
    let all: u64 = report.analysis.load_points.iter().map(|point| point.total.n).sum();
    tiles.push(tile(
        "Errors",
        numbers::count(errors),
        format!("of {} operations in all", numbers::count(all + errors)),
    ));
    if let Some(attribution) = &point.attribution {
        // A tile has room for the name alone; the rest stands below it.
        let note = match sharing_text(attribution) {
            Some(shared) => format!("{at}, {shared}"),
            None => at,
        };
        tiles.push(tile("Bottleneck", bare_name(attribution), note));
    }
    if 1 < report.analysis.load_points.len() {
        tiles.extend(marks(report));
    }
    tiles
}

/// Returns saturation and knee, which a single load point does not have.
fn marks(report: &Report) -> impl Iterator<Item = Tile> {
    let terms = report.terms();
    let at = |index: Option<usize>| report.analysis.load_points.get(index?);
    let saturation = report.growth().map(|growth| match growth {
        Growth::Ended(point) => {
            let (preposition, load) = report.saturation_words(point);
            let load = if preposition == "at" { load } else { format!("{preposition} {load}") };
            (load, "97 % of the highest rate, or equal to it".to_owned())
        }
        Growth::Going { last, limit } => {
            let value = if limit.is_some() { "rate still grew" } else { "not reached" };
            (value.to_owned(), format!("up to {}", terms.load_text(last.load)))
        }
        Growth::Unknown(last) => {
            ("not known".to_owned(), format!("no valid load point above {}", terms.load_text(last.load)))
        }
    });
    let knee = at(report.analysis.curve.knee.filter(|_| report.has_curve()))
        .map(|point| (terms.load_text(point.load), "highest rate ÷ response time".to_owned()));
    let named = [("Saturation", saturation), ("Best trade-off (knee)", knee)].into_iter();
    named.filter_map(|(name, mark)| mark.map(|(value, note)| Tile { name: name.to_owned(), value, note }))
}

fn facts(report: &Report) -> Vec<(String, Text)> {
    let plan = report.plan;
    let terms = report.terms();
    let added = report.added_loads();
    let planned = plan.load_points.iter().map(|point| point.load).take(plan.load_points.len() - added.len());
    let mut load = load_text(&planned.collect::<Vec<_>>(), &terms.load());
    if !added.is_empty() {
        load += &format!("; added by the run: {}", load_text(&added, &terms.load()));
    }
    let shape = plan.shape.as_ref();
    if let Some(shape) = shape {
        load = stages::load_text(report, shape);
    }
    let rows = [
        (subject_name(report), Some(plan.benchmark.full_name())),
        ("System under test", Some(sut_text(report))),
        ("Load", Some(load)),
        ("Operations", plan.operations.map(|n| format!("{} in all", numbers::count(n)))),
        ("Steady phase", Some(steady_text(report)).filter(|_| shape.is_none())),
        ("Protocol", Some(protocol_text(report))),
        ("Data set", data_set_text(report)),
        ("Verdicts", Some(verdicts(report))),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect()
}

/// Returns the length of the steady phases; of a load that ended with its operations the recorded one.
fn steady_text(report: &Report) -> String {
    let planned = numbers::length(report.plan.phases.steady);
    match (report.plan.operations, report.analysis.load_points.as_slice()) {
        (Some(_), [only]) => format!("{}, {planned} at most", numbers::length(only.length)),
        _ => format!("{planned} per load point"),
    }
}

/// Returns the name of what was run: a benchmark, or URLs.
pub(crate) fn subject_name(report: &Report) -> &'static str {
    if report.plan.benchmark.is_urls() { "URL" } else { "Benchmark" }
}

/// Describes the data set; `None` where the benchmark has none, or where nobody knows it beforehand, as of a site that is
/// there already.
pub(crate) fn data_set_text(report: &Report) -> Option<String> {
    let Some(workload) = report.web() else { return report.plan.workload.data_text() };
    let files = match workload.n_files(report.plan.level_max()) {
        0 => None,
        1 => Some(format!("1 file of {}", numbers::bytes(report.file_set_bytes()))),
        n => Some(format!("{} files, {} in all", numbers::count(n), numbers::bytes(report.file_set_bytes()))),
    };
    let body = workload.mean_body_bytes().map(|mean| format!("mean body {} B", numbers::figure(mean)));
    match (files, body) {
        (None, body) => body,
        (Some(files), Some(body)) => Some(format!("{files}, {body}")),
        (Some(files), None) => Some(format!("{files}, body length not known in advance")),
    }
}

fn sut_text(report: &Report) -> String {
    let sut = &report.plan.sut;
    let mut text = match sut.name.as_str() {
        "built-in" => "the built-in server".to_owned(),
        "external" => "a server that was already running".to_owned(),
        "embedded" => "a database in the process of the load generator".to_owned(),
        "directory" => "a directory, by calls of the load generator".to_owned(),
        name => name.to_owned(),
    };
    if let Some(label) = &sut.label {
        text += &format!(", labeled “{label}”");
    }
    if let Some(profile) = &sut.profile {
        text += &format!(", profile {profile}");
    }
    if let Some(gateway) = sut.gateway() {
        text += &format!(", pages by {} with {}", gateway.kind.name(), workers_text(gateway.workers));
    }
    if let Some(accelerator) = sut.accelerator() {
        let memory = numbers::bytes(accelerator.cache_bytes);
        text += &format!(", behind the accelerator {} with a cache of {memory}", accelerator.name);
    }
    if !sut.cpus.is_empty() {
        let cpus: Vec<String> = sut.cpus.iter().map(u32::to_string).collect();
        text += &format!(", on CPU {}", cpus.join(", "));
    }
    if let Some(quota) = sut.quota {
        text += &format!(", limited to {} ({})", quota_text(quota), sut.quota_reason);
    }
    if let Some(memory) = sut.memory {
        text += &format!(", memory limited to {}", numbers::bytes(memory));
    }
    if let Some(disk) = sut.disk {
        text += &format!(", disk limited to {disk}");
    }
    text
}

fn workers_text(workers: u32) -> String {
    if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") }
}

fn quota_text(quota: f64) -> String {
    // As it was asked for, and as the facts about the server have it.
    format!("{quota} CPU{}", if quota == 1.0 { "" } else { "s" })
}

/// Writes loads; steps that are all the same in short. `word` is what they are of.
pub(crate) fn load_text(loads: &[Load], word: &str) -> String {
    let levels: Vec<f64> = loads.iter().map(|load| load.level()).collect();
    let text = |level: &f64| numbers::group(&level.to_string());
    let word = word.to_lowercase();
    let even = levels.windows(3).all(|three| three[1] - three[0] == three[2] - three[1]);
    match levels.as_slice() {
        [only] => format!("{} {word}", text(only)),
        [first, second, .., last] if even && 3 < levels.len() => {
            let from = text(first);
            let to = text(last);
            let step = text(&(second - first));
            format!("{from} to {to} {word} in steps of {step}, {} load points", levels.len())
        }
        _ => format!("{} {word}", levels.iter().map(text).collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn protocol_text(report: &Report) -> String {
    let limit = format!("time limit {}", numbers::length(report.plan.time_limit));
    let Some(protocol) = report.web().map(|web| web.protocol) else {
        let workload = &report.plan.workload;
        let mode = workload.mode_text().map(|mode| format!(", {mode}")).unwrap_or_default();
        return format!("{}{mode}, {limit}", workload.family());
    };
    let version = protocol.http.name();
    let tls = protocol.tls.clause();
    let connection = match protocol.connection {
        ConnectionLifetime::PerRequest => "one connection per request".to_owned(),
        ConnectionLifetime::Sessions => "one connection per session".to_owned(),
        ConnectionLifetime::KeepAlive { requests_max: None } => "keep-alive".to_owned(),
        ConnectionLifetime::KeepAlive { requests_max: Some(n) } => {
            format!("keep-alive, at most {n} requests per connection")
        }
    };
    let closed =
        report.reconnects().map(|found| format!(" requested, closed by the server {}", found.how_often()));
    let shared = match protocol.streams {
        1 => String::new(),
        users => format!(", each shared by {users} users"),
    };
    format!("HTTP/{version}{tls}, {connection}{}{shared}, {limit}", closed.unwrap_or_default())
}

fn verdicts(report: &Report) -> String {
    if let Some(shaped) = ShapedRun::of(report) {
        return shaped.counted();
    }
    let points = &report.analysis.load_points;
    let n = |state| points.iter().filter(|point| point.verdict.state == state).count();
    let missing = report.plan.load_points.len().saturating_sub(points.len());
    let overloaded = match n(VerdictState::Overloaded) {
        0 => String::new(),
        n => format!("{n} overloaded, "),
    };
    format!(
        "{} load points valid, {overloaded}{} invalid, {} incomplete, {missing} not started",
        n(VerdictState::Valid),
        n(VerdictState::Invalid),
        n(VerdictState::Incomplete),
    )
}

fn modifications(report: &Report) -> Option<Block> {
    let changes = &report.analysis.modifications;
    let columns =
        vec![Column::words("Setting"), Column::words("Benchmark’s definition"), Column::words("This run")];
    let row = |change: &model::Modification| {
        Row::plain([&change.what, &change.standard, &change.ours].map(String::as_str))
    };
    let table = Table::new(
        "Modified: differences from the benchmark’s definition",
        columns,
        changes.iter().map(row).collect(),
    );
    let note = "A modified run can only be compared with runs that are modified in the same way.";
    (!changes.is_empty()).then(|| Block::Table(table.note(note)))
}

fn disclaimer(report: &Report) -> Text {
    let title = &report.plan.benchmark.title;
    if report.plan.benchmark.is_urls() {
        return Text::from("Figures of ").strong(title.clone()).plain(
            " are those of this server on its machine. They are comparable with figures of the same requests under the same \
             load, measured as described under Method. Compare them with results of other programs only with care.",
        );
    }
    if !report.is_imitation() {
        return Text::from("Figures of ").strong(title.clone()).plain(
            " are comparable with figures of the same version of this benchmark, measured as described under Method. \
             Compare them with results of other versions or other programs only with care.",
        );
    }
    Text::from("Here ").strong(title.clone()).plain(
        " means an independent implementation in the manner of that benchmark, not the original program: its figures are \
         not official results. They are comparable with figures of the same benchmark version of this program, \
         measured as described under Method. Compare them with results of other versions or other programs only with \
         care.",
    )
}
