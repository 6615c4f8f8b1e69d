//! Method: what was done, and what every number means.

use model::{Arrivals, CLOSE_WAIT_MAX, ConnectionLifetime, HttpVersion, Load, ReplyBody, ThinkTime, Tls};

use super::limits_listed;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

/// Metric, formula, meaning. n successful, E failed operations, P pages completed in the steady phase of
/// length T; r response time, b bytes of head and body of a successful operation.
const DEFINITIONS: &[(&str, &str, &str)] = &[
    (
        "Rate",
        "n / T",
        "successful operations (connections, requests, transactions) completed per second of the steady phase",
    ),
    ("Error rate", "E / T", "failed operations per second, including timeouts"),
    ("Error level", "100·E / n", "failed operations per hundred successful ones"),
    (
        "Response time",
        "done − due",
        "from the moment an operation was due to the end of its connection, or to the last byte on a connection that is kept alive",
    ),
    (
        "Service time",
        "done − sent",
        "from the creation of the socket, or from the first byte written on a connection that is kept alive, to the same end",
    ),
    ("Lateness", "sent − due", "how late the generator was"),
    ("Latency", "Σr / n", "mean response time of successful operations"),
    (
        "Little’s Law",
        "Σr / T",
        "mean number of successful operations in progress; without think time close to the number of clients",
    ),
    (
        "Throughput",
        "8·Σb / (T·10⁶)",
        "heads and bodies of successful operations in Mbit/s of 10⁶ bits; TCP/IP and Ethernet overhead excluded",
    ),
    ("Throughput of bodies", "Σbody / (T·1024)", "bodies of successful operations in KiB per second"),
    (
        "Receive time",
        "(Σ service − Σ first byte) / n",
        "mean time from the first byte of a response to the end of the operation",
    ),
    ("Delivered ÷ requested", "n / due", "open loop: successful operations ÷ operations due"),
    (
        "Interactive law",
        "R = N ÷ X − Z",
        "closed loop with mean think time Z; no rate above N ÷ Z is possible",
    ),
    ("Average client throughput", "8·Σb / (Σr·10⁶)", "throughput while an operation is in progress"),
    ("Pages per minute", "60·P / T", "pages of which every file was fetched successfully"),
    (
        "Percentile",
        "value at rank ⌈q·n⌉",
        "from a histogram with three significant digits; percentiles are never averaged; 95 % interval from batches of seconds, which show how many independent values the run contains",
    ),
    ("Interval of a mean", "batch means", "over the seconds of the steady phase, Student’s t, 95 %"),
    (
        "Saturation",
        "least load with 97 % of the highest rate, or with an overlapping interval",
        "more load no longer raises the rate",
    ),
    ("Knee", "greatest rate ÷ response time", "beyond it, response time grows faster than throughput"),
];

/// Meanings of metrics in the words of all families, where the table has those of the web; `None`: only the web has it.
const GENERAL_MEANINGS: &[(&str, Option<&str>)] = &[
    ("Rate", Some("successful operations completed per second of the steady phase")),
    ("Response time", Some("from the moment an operation was due to its end")),
    ("Service time", Some("from the moment an operation was sent to its end")),
    (
        "Throughput",
        Some(
            "bytes that successful operations transferred, in Mbit/s of 10⁶ bits; overhead of lower layers excluded",
        ),
    ),
    ("Throughput of bodies", None),
    ("Receive time", None),
    ("Pages per minute", None),
];

pub(crate) fn section(report: &Report) -> Option<Section> {
    let blocks = vec![
        Block::Heading("Load".into()),
        Block::List(load(report)),
        Block::Table(phases(report)),
        Block::Heading("Measurement".into()),
        Block::List(measurement(report)),
        Block::fold("Definitions of the metrics", vec![Block::Table(definitions(report))]),
        Block::bulky_fold("Rules for the verdict", vec![Block::Table(rules(report))]),
    ];
    Some(Section { id: "method", title: "Method".into(), blocks })
}

/// Returns how load was offered, and the phases of every load point.
pub(crate) fn load_blocks(report: &Report) -> Vec<Block> {
    vec![Block::List(load(report)), Block::Table(phases(report))]
}

/// Returns the section on what is the same for all benchmarks: what is recorded, what numbers mean, and the rules of a run.
pub(crate) fn definitions_section(report: &Report) -> Section {
    let blocks = vec![
        Block::List(measurement(report)),
        Block::Table(definitions(report)),
        Block::Heading("Rules for the verdict".into()),
        Block::Table(rules(report)),
    ];
    Section { id: "method", title: "Method of measurement".into(), blocks }
}

fn load(report: &Report) -> Vec<Text> {
    let is_shaped = report.plan.shape.is_some();
    let how = match report.plan.load_points.first().map(|point| point.load) {
        Some(Load::Rate { arrivals, in_flight_max, .. }) => {
            let distance = match (arrivals, is_shaped) {
                (Arrivals::Constant, false) => "at a constant rate",
                (Arrivals::Constant, true) => "at the rate of the stages",
                (Arrivals::Poisson, false) => "at random (Poisson process)",
                (Arrivals::Poisson, true) => "at random (Poisson process) at the rate of the stages",
            };
            format!(
                "Open loop: operations are due {distance}, whatever the server does. At most {in_flight_max} are in \
                 flight; the others wait, and their response time includes that wait. None is dropped silently."
            )
        }
        _ if is_shaped => "Closed loop: as many users as the stages say, each of which waits for a response before it continues. A \
              slow server is therefore offered less load. A user that leaves finishes its operation first, and keeps its session \
              and its place for the time when it is back."
            .to_owned(),
        _ => "Closed loop: a fixed number of users, each of which waits for a response before it continues. A slow server is \
              therefore offered less load."
            .to_owned(),
    };
    let refined = report.plan.refinement.map(|refinement| {
        format!(
            "Up to {} load points are added to the {} that were planned: if the rate stops growing between two loads of which \
             the one is more than twice the other, their geometric mean is run, as long as the others.",
            refinement.added_max, refinement.n_planned
        )
    });
    let counted = report.plan.operations.map(|n| {
        format!(
            "The load starts {} operations at most. The steady phase ends when a user finds none left to start, or with its time; \
             those in flight then are finished and not measured. The checks of the server send operations of their own.",
            numbers::count(n)
        )
    });
    let has_pages = report.web().is_some() && !report.is_open();
    let after = if has_pages {
        "If a request fails, the rest of its page is skipped. Nothing is retried."
    } else {
        "Failed operations are not retried."
    };
    [Some(how), refined, counted, Some(after.to_owned())].into_iter().flatten().map(Text::from).collect()
}

fn phases(report: &Report) -> Table {
    let phases = &report.plan.phases;
    let rows = [
        ("quiet", phases.quiet, "pause before the load point"),
        ("ramp-up", phases.ramp_up, "load rising, not measured"),
        ("settle", phases.settle, "full load, not measured"),
        ("steady", phases.steady, "measured"),
        ("ramp-down", phases.ramp_down, "load falling, not measured"),
        ("drain", phases.drain, "operations in flight may finish, not measured"),
    ];
    let rows =
        rows.map(|(name, time, note)| Row::plain([name.to_owned(), numbers::length(time), note.to_owned()]));
    let columns = vec![Column::words("Phase"), Column::numbers("Length", ""), Column::words("What happens")];
    Table::new("Phases of every load point", columns, rows.into())
}

fn measurement(report: &Report) -> Vec<Text> {
    let limit = numbers::length(report.plan.time_limit);
    let texts = [
        "Counted operations: those that complete within the steady phase. Operations in flight at its end do not count. \
         Rates are divided by the recorded length of the phase."
            .to_owned(),
        format!("Time limit: an operation that takes longer than {limit} fails."),
        verification(report),
        connections(report),
        "Recording: one record per second with histograms of all operations, without sampling. At every load point the number \
         of operations started must equal that of operations ended plus those in flight."
            .to_owned(),
    ];
    texts.into_iter().filter(|text| !text.is_empty()).map(Text::from).collect()
}

/// Says what of the end of connections belongs to an operation; empty where nothing does.
fn connections(report: &Report) -> String {
    let Some(protocol) = report.web().map(|web| web.protocol) else { return String::new() };
    let which = match (protocol.http, protocol.connection) {
        (HttpVersion::Http2, _) | (_, ConnectionLifetime::KeepAlive { .. }) => return String::new(),
        (_, ConnectionLifetime::PerRequest) => "every request has its own connection",
        (_, ConnectionLifetime::Sessions) => "the last request of a session ends with its connection",
    };
    let word = if protocol.tls == Tls::Off { "" } else { " (over TLS: its close_notify)" };
    let n: u64 = report.analysis.load_points.iter().map(|point| point.left_open).sum();
    let left_open = match n {
        0 => "no connection was left open".to_owned(),
        n => format!("{} connections were left open (see the verdict)", numbers::count(n)),
    };
    let limit = numbers::length(CLOSE_WAIT_MAX);
    format!(
        "Connections: {which}. After a complete response the generator waits up to {limit} for the server to close its \
         side{word}, then closes the connection. In the steady phases {left_open}."
    )
}

/// Says what of replies was checked: all of it where the body is known beforehand.
fn verification(report: &Report) -> String {
    let Some(web) = report.web() else {
        return "Verification: every response is checked against what was asked for; a wrong one is an error.".to_owned();
    };
    let requests = &web.requests;
    let names = |is: fn(&ReplyBody) -> bool| {
        let names = requests.iter().filter(|one| is(&one.reply)).map(|one| format!("“{}”", one.name));
        names.collect::<Vec<_>>().join(", ")
    };
    let is_typed: fn(&ReplyBody) -> bool = |reply| matches!(reply, ReplyBody::ContentType(_));
    let weaker = [
        (names(|reply| *reply == ReplyBody::Same), "length and hash must equal those of the first response"),
        (
            names(|reply| *reply == ReplyBody::Seen),
            "length and hash must equal those of the first response until the page changes, then type and least length",
        ),
        (names(|reply| matches!(reply, ReplyBody::Contains(_))), "the body must contain a given text"),
        (names(is_typed), "status and content type are checked, bodies were not compared"),
        (names(|reply| matches!(reply, ReplyBody::Length { .. })), "the length must be within limits"),
        (names(|reply| matches!(reply, ReplyBody::Json(_))), "the body must be JSON with given values"),
        (names(|reply| *reply == ReplyBody::Any), "the body is not checked"),
    ];
    let mut text =
        "Verification: the status, the length and every byte of every body are checked; a wrong body is an \
                    error."
            .to_owned();
    for (names, how) in weaker.into_iter().filter(|(names, _)| !names.is_empty()) {
        text += &format!(" Exception for {names}: {how}.");
    }
    text
}

fn definitions(report: &Report) -> Table {
    let columns = vec![Column::words("Metric"), Column::words("Formula"), Column::words("Meaning")];
    let is_web = report.web().is_some();
    let meaning = |name: &str, of_web: &'static str| {
        let general = GENERAL_MEANINGS.iter().find(|(known, _)| *known == name);
        general.filter(|_| !is_web).map_or(Some(of_web), |(_, meaning)| *meaning)
    };
    let row = |(name, formula, of_web): &(&'static str, &'static str, &'static str)| {
        Some(Row::plain([*name, *formula, meaning(name, of_web)?]))
    };
    let note = if is_web {
        "n, E, P: successful operations, failed operations and complete pages of the steady phase of length T; r, b: response \
             time and received bytes of a successful operation."
    } else {
        "n, E: successful and failed operations of the steady phase of length T; r, b: response time and transferred bytes of \
             a successful operation."
    };
    let webstone = if is_web && report.is_imitation() {
        " WebStone's own Mbits are 2²⁰ bits: 1.048576 of these."
    } else {
        ""
    };
    Table::new("Definitions", columns, DEFINITIONS.iter().filter_map(row).collect())
        .note(format!("{note}{webstone}"))
}

fn rules(report: &Report) -> Table {
    let rules = &report.plan.rules;
    let rows = [
        ("failed ÷ completed operations", format!("at most {}", numbers::percent(rules.error_ratio_max, 2))),
        (
            "gap in Little’s law N = X·(R + Z)",
            format!("at most {}, or explained", numbers::percent(rules.little_gap_max, 1)),
        ),
        (
            "generator’s CPUs",
            format!(
                "CPU use below {}, unless the server is saturated",
                numbers::percent(rules.generator_busy_max, 0)
            ),
        ),
        (
            "CPU wait of the load threads (run queue)",
            format!("at most {} of the time", numbers::percent(rules.run_queue_ratio_max, 0)),
        ),
        ("lateness (open loop)", format!("p99 at most {}", numbers::time(rules.lateness_p99_max))),
        (
            "delivered rate (open loop)",
            format!(
                "at least {} of the offered rate; the last load point may miss this",
                numbers::percent(rules.delivered_ratio_min, 0)
            ),
        ),
        (
            "server counts as saturated",
            format!("from {} of its available CPU time", numbers::percent(rules.sut_saturated_min, 0)),
        ),
        ("completed operations", format!("at least {}", numbers::count(rules.operations_min))),
        ("conservation", "exact".to_owned()),
    ];
    let mut rows: Vec<Row> = rows.map(|(what, limit)| Row::plain([what.to_owned(), limit])).into();
    let shares = report.plan.catalog.kinds.iter().filter_map(|kind| {
        let limit = format!(
            "within {} of the expected share, or chance (4 σ, from 25 expected on)",
            numbers::percent(kind.share_gap_max?, 0)
        );
        Some(Row::plain([format!("share of “{}”", kind.name), limit]))
    });
    rows.extend(shares);
    rows.extend(report.plan.catalog.bands.iter().map(|band| {
        let effect = if band.decides { "" } else { "; else a remark" };
        let least = numbers::figure(band.least);
        let most = numbers::figure(band.most);
        let limit = format!("{least} to {most}, judged from {} on{effect}", band.sample_min());
        Row::plain([band.name.clone(), limit])
    }));
    let limited = report.plan.catalog.kinds.iter().filter(|kind| !kind.limits.is_empty());
    rows.extend(
        limited.map(|kind| Row::plain([format!("results of “{}”", kind.name), limits_listed(&kind.limits)])),
    );
    if !report.is_open() && report.plan.workload.think() != ThinkTime::None {
        rows.push(Row::plain(["user iterations per second", "at most N ÷ Z, within 2 % and chance (3 σ)"]));
    }
    Table::new("Limits", vec![Column::words("What"), Column::words("Limit")], rows)
}
