//! The short answers on the first page: bottleneck, throughput, errors, and what to do next.

use analysis::attribute::{
    Attribution, BUFFER_READS_MIN, Bottleneck, Indicator, REFAULTS_MIN, SERVICE_COUNTS_MIN,
    SESSIONS_AT_LOG_MIN,
};
use analysis::{LoadPointResult, VerdictState};

use crate::bottleneck::{bottleneck_adjective, bottleneck_text};
use crate::{Report, Text, finding_hint, numbers};

/// Returns the answers by their names, in reading order.
pub(super) fn brief(report: &Report) -> Vec<(String, Text)> {
    let main = report.main_point();
    let answers = [
        ("Bottleneck", bottleneck(report)),
        ("Throughput", main.and_then(|point| throughput(report, point))),
        ("Errors", main.map(|_| errors(report))),
        ("What to do next", Some(next(report)).filter(|text| !text.is_empty())),
    ];
    answers.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
}

fn bottleneck(report: &Report) -> Option<Text> {
    let said = bottleneck_text(&report.analysis.load_points, &report.analysis.words.user)?;
    Some(Text::default().sentence(&format!("{said}.")))
}

fn throughput(report: &Report, point: &LoadPointResult) -> Option<Text> {
    let megabits = format!("{} Mbit/s", numbers::megabits(point.throughput_mbit?));
    let load = report.terms().load_text(point.load);
    Some(Text::default().strong(megabits).plain(format!(" (10⁶ bit/s) at {load}.")))
}

fn errors(report: &Report) -> Text {
    let points = &report.analysis.load_points;
    let n_errors: u64 = points.iter().map(|point| point.total.errors).sum();
    let n: u64 = n_errors + points.iter().map(|point| point.total.n).sum::<u64>();
    if n_errors == 0 {
        return format!("None of {} operations failed.", numbers::count(n)).into();
    }
    let ratio = n_errors as f64 / n as f64;
    let text = format!(
        "{} of {} operations failed ({})",
        numbers::count(n_errors),
        numbers::count(n),
        numbers::percent(ratio, 2)
    );
    let outcomes: Vec<&str> = super::errors::outcomes(points).iter().map(|outcome| outcome.name()).collect();
    let kinds = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    Text::default().strong(text).plain(format!("{kinds}."))
}

/// Returns the next steps: to make the run valid, to remove the bottleneck or to find one, and to compare a change.
fn next(report: &Report) -> Text {
    let verdict = &report.analysis.verdict;
    if verdict.state != VerdictState::Valid {
        let hint = verdict.reasons.iter().find_map(|reason| finding_hint(&reason.finding));
        let hint = hint.unwrap_or("repeat it when nothing disturbs the machine");
        return Text::default().sentence(&format!("Make the run valid first: {hint}."));
    }
    let Some(main) = report.main_point() else { return Text::default() };
    let advice: Vec<String> = match limited_point(report, main) {
        None => more_load(report).into_iter().collect(),
        Some((point, attribution)) => {
            let is_elsewhere = point.index != main.index;
            let load = is_elsewhere.then(|| where_limited(report, main, point, attribution));
            let relief = [Some(advice(attribution.bottleneck)), more_advice(attribution)];
            load.into_iter().chain(relief.into_iter().flatten().map(str::to_owned)).collect()
        }
    };
    let run = report.provenance.run_file.as_deref().unwrap_or("RUN");
    let compare = format!(
        "After a change, repeat the run with `--label after` and compare it: `plimsoll compare {run} AFTER`."
    );
    let sentences: Vec<String> = advice.into_iter().chain([compare]).collect();
    Text::default().sentence(&sentences.join(" "))
}

/// Returns the load point whose bottleneck the advice is about: the main one where it is limited, else the next one of
/// greater load that is, else the nearest one of lower load with a bottleneck that has a name. `None` if no load point is
/// limited.
fn limited_point<'a>(
    report: &Report<'a>,
    main: &LoadPointResult,
) -> Option<(&'a LoadPointResult, &'a Attribution)> {
    let attributed = |point: &'a LoadPointResult| Some((point, point.attribution.as_ref()?));
    let points = report.analysis.load_points.iter().filter_map(attributed);
    let mut limited: Vec<_> = points.filter(|(_, found)| found.bottleneck != Bottleneck::None).collect();
    limited.sort_by(|(one, _), (other, _)| one.load.level().total_cmp(&other.load.level()));
    let next = limited.iter().find(|(point, _)| main.load.level() <= point.load.level());
    let below = limited.iter().rfind(|(_, found)| found.bottleneck != Bottleneck::Undetermined);
    next.or(below).copied()
}

/// Returns the sentence that tells the load of a bottleneck from that of the main load point, which has none.
fn where_limited(
    report: &Report,
    main: &LoadPointResult,
    point: &LoadPointResult,
    found: &Attribution,
) -> String {
    let terms = report.terms();
    let (free, limited) = (terms.load_text(main.load), terms.load_text(point.load));
    format!("Nothing limited the server at {free}; at {limited} it was {}.", bottleneck_adjective(found))
}

/// Returns the advice to offer more load; `None` if the run has searched for the highest.
fn more_load(report: &Report) -> Option<String> {
    let highest = report.analysis.load_points.iter().map(|point| point.load);
    let highest = highest.max_by(|one, other| one.level().total_cmp(&other.level()))?;
    let flag = if highest.is_closed() { "--load" } else { "--rate" };
    report.plan.search.is_none().then(|| {
        let highest = report.terms().load_text(highest);
        format!("Nothing limited the server up to {highest}: offer more with `{flag}`, or search with `--find-max`.")
    })
}

/// Returns what relieves the cause of a bottleneck, or shows it, as other indicators say; `None` if they say nothing.
fn more_advice(attribution: &Attribution) -> Option<&'static str> {
    let value = |indicator| attribution.indicators.get(&indicator).copied();
    let is_counted_rarely = value(Indicator::ServiceCounts).is_some_and(|n| n < SERVICE_COUNTS_MIN);
    let is_read_again = value(Indicator::RefaultsPerOperation).is_some_and(|n| REFAULTS_MIN <= n);
    let has_small_buffers = value(Indicator::BufferReadsPerOperation).is_some_and(|n| BUFFER_READS_MIN <= n);
    let waits_for_log = value(Indicator::SessionsAtLog).is_some_and(|share| SESSIONS_AT_LOG_MIN <= share);
    match attribution.bottleneck {
        Bottleneck::Undetermined if is_counted_rarely => Some(
            "The server’s connections to services were counted too rarely: measure for longer, or with fewer connections on \
             the machine.",
        ),
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if is_read_again => {
            Some("Memory comes first: much of what is read had been in memory and was evicted.")
        }
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if has_small_buffers => Some(
            "The database’s buffers come first: it reads pages that they do not hold. Make them larger, as far as there is \
             memory.",
        ),
        Bottleneck::DiskOperations | Bottleneck::DiskBandwidth if waits_for_log => Some(
            "Its log comes first: sessions wait until it is written. A faster disk for the log relieves them.",
        ),
        _ => None,
    }
}

/// Returns what relieves a bottleneck.
fn advice(bottleneck: Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::None | Bottleneck::Undetermined => {
            "No single resource limits the server: monitor its machine (`--monitor`), and look for waits inside the \
             application."
        }
        Bottleneck::Processor => {
            "Give the server more CPU time, or lower its CPU time per operation: profile it under this load."
        }
        Bottleneck::Memory => "Give the server more memory, or let it keep less in it.",
        Bottleneck::DiskOperations => {
            "Keep more in memory, batch writes, or use a disk with more operations per second."
        }
        Bottleneck::DiskBandwidth => "Keep more in memory, or use a disk with more bandwidth.",
        Bottleneck::Network => "Send fewer bytes (compression, caching), or use a faster link.",
        Bottleneck::AcceptBacklog => {
            "Raise the server’s listen backlog and `net.core.somaxconn`, or accept connections faster."
        }
        Bottleneck::WorkerLimit => "Raise the number of workers as far as memory and CPUs allow.",
        Bottleneck::ConnectionLimit => {
            "Raise the limit on connections: of the server, of the pool to the service behind it, and of that service."
        }
        Bottleneck::OpenFiles => "Raise the server’s limit of open files (`ulimit -n`, `LimitNOFILE`).",
        Bottleneck::RateLimit => {
            "The server refuses operations beyond a limit of its own: raise it, or expect no more than this."
        }
        Bottleneck::Scheduler => "Run fewer threads at once, or give the server more CPUs.",
        Bottleneck::DownstreamService => {
            "The server waits for a service behind it: make that faster, or ask it less often. Watch it too (`--watch`)."
        }
        Bottleneck::Waiting => {
            "The server waits while its resources are idle: look for locks, and for slow services behind it, whose processes \
             `--watch` adds."
        }
        Bottleneck::Generator => {
            "Give the load generator more CPUs (`--load-cpus`) or a machine of its own: the server’s limit was not reached."
        }
    }
}
