//! Differences between the load of the benchmark and that of servers in production.

use model::{Arrivals, ConnectionLifetime, HttpVersion, Load, ReplyBody, Request, ThinkTime, Tls};

use crate::{Block, Report, Section, Text, numbers};

/// File sets up to this size fit into the memory of any server of today, with room to spare.
const SMALL_FILE_SET: u64 = 256 << 20;

pub(crate) fn section(report: &Report) -> Option<Section> {
    let run = if report.plan.benchmark.is_urls() { "load test" } else { "benchmark" };
    let text = format!(
        "A {run} answers one question under repeatable conditions. Before you size a server for other users by these figures, \
         consider how those conditions differ from yours:"
    );
    let blocks = vec![Block::Paragraph(text.into()), Block::List(notes(report))];
    Some(Section { id: "production", title: title(report).into(), blocks })
}

/// Returns the heading.
pub(crate) fn title(report: &Report) -> &'static str {
    if report.plan.benchmark.is_urls() { "Load test and production" } else { "Benchmark and production" }
}

/// Returns the differences that follow from the plan of the run.
pub(crate) fn notes(report: &Report) -> Vec<Text> {
    let notes = [
        Some(users(report)),
        Some(arrivals(report)),
        connections(report),
        encryption(report),
        content(report),
        files(report),
        network(report),
        cpu_quota(report),
        Some(steady(report)),
    ];
    notes
        .into_iter()
        .flatten()
        .map(|(name, text)| Text::default().strong(format!("{name}. ")).plain(text))
        .collect()
}

type Note = (&'static str, String);

fn users(report: &Report) -> Note {
    let text = match (report.is_open(), report.plan.workload.think()) {
        (true, _) => "Operations follow a schedule; no users leave, come back or press reload.".to_owned(),
        (false, ThinkTime::None) => format!(
            "Users never pause, so each of them makes as many requests as many people who read what they get. Do not read the \
             number of {} as a number of people.",
            report.terms().load_noun
        ),
        (false, ThinkTime::Recorded) => {
            "Users pause as recorded, all of them alike, so do not read their number as a number of people."
                .to_owned()
        }
        (false, ThinkTime::Scripted(time)) => format!(
            "Users pause {} from one operation to the next on average, as their script says; all have the same script, so do \
             not read this as a number of people.",
            numbers::time(time)
        ),
        (false, ThinkTime::Fixed(time) | ThinkTime::Exponential(time)) => {
            format!(
                "Users pause {} on average; real users pause far longer, so do not read this as a number of people.",
                numbers::time(time)
            )
        }
    };
    ("Users", text)
}

fn arrivals(report: &Report) -> Note {
    let text = match report.plan.load_points.first().map(|point| point.load) {
        Some(Load::Rate { .. }) if report.plan.shape.is_some() => {
            "Operations arrive at the rate of the stages. Real requests arrive in bursts as well, and their rate changes with \
             events that no stage foresees."
        }
        Some(Load::Rate { arrivals: Arrivals::Constant, .. }) => {
            "Operations arrive at a constant rate. Real requests arrive in bursts, which need more headroom at the same mean rate."
        }
        Some(Load::Rate { arrivals: Arrivals::Poisson, .. }) => {
            "Operations arrive at random, but at a constant mean rate. In production it changes with the time of day and with events."
        }
        _ => {
            "Every user waits for a response before its next request, so a server that slows down receives fewer requests. In \
             production others keep arriving, and queues grow faster than here."
        }
    };
    ("Arrivals", text.to_owned())
}

fn connections(report: &Report) -> Option<Note> {
    let text = match report.web()?.protocol.connection {
        _ if report.reconnects().is_some_and(|found| 0.5 < found.share) => {
            "Requests asked to keep connections, but the server closed most of them, so the cost of opening and closing \
             connections weighs heavily; behind a proxy that keeps them, or with another setting, the server has less to do."
        }
        _ if report.reconnects().is_some() => {
            "Connections are kept busy until the server closes them. There are no new clients, and none that keep a \
             connection open without using it."
        }
        ConnectionLifetime::PerRequest => {
            "Every request has its own connection, so the cost of opening and closing connections weighs heavily; browsers \
             and proxies reuse theirs."
        }
        ConnectionLifetime::Sessions => {
            "Connections last for a session. There are no slow or idle ones, which would hold memory and workers."
        }
        ConnectionLifetime::KeepAlive { .. } => {
            "Connections are opened once and kept busy. There are no new clients, and none that keep a connection open \
             without using it."
        }
    };
    let slow = "Clients read responses as fast as they arrive: none has a slow line.";
    Some(("Connections", format!("{text} {slow}")))
}

fn encryption(report: &Report) -> Option<Note> {
    let protocol = report.web()?.protocol;
    let text = match (protocol.tls, protocol.http) {
        (Tls::Off, HttpVersion::Http2) => {
            "Nothing is encrypted. Public web servers use TLS, which costs CPU time."
        }
        (Tls::Off, _) => {
            "Nothing is encrypted, and requests are not multiplexed. Today most requests use TLS and HTTP/2 or later."
        }
        (Tls::Full, _) => "Every connection makes a full handshake; in production many resume a session.",
        (Tls::Resumed, _) => return None,
    };
    Some(("Encryption", text.to_owned()))
}

fn content(report: &Report) -> Option<Note> {
    let requests = &report.web()?.requests;
    let is_file = |request: &Request| matches!(request.reply, ReplyBody::File(_) | ReplyBody::Empty);
    let is_made = |request: &Request| matches!(request.reply, ReplyBody::Letters { .. });
    let text = match (requests.iter().all(is_file), requests.iter().any(is_made)) {
        (true, _) => {
            "Only files are served. There are no dynamic pages, database queries, searches or uploads, which are often most \
             of a site’s work."
        }
        (false, true) => {
            "Pages are generated by a small program that needs only CPU time. Real applications wait for databases and other \
             services, and need memory for each user."
        }
        (false, false) => return None,
    };
    Some(("Content", format!("{text} Nothing is compressed.")))
}

fn files(report: &Report) -> Option<Note> {
    let bytes = report.file_set_bytes();
    let size = numbers::bytes(bytes);
    let text = match bytes {
        0 => return None,
        _ if bytes <= SMALL_FILE_SET => format!(
            "All files together ({size}) fit into memory, so disks do not matter after the first read. A larger site depends \
             on its disks, and on which files are popular at a time."
        ),
        _ => format!(
            "The file set has {size}. Whether it fits into the server’s memory decides whether its disks matter; with other \
             files or another server the result can differ."
        ),
    };
    Some(("Files", text))
}

fn network(report: &Report) -> Option<Note> {
    let text = match report.plan.sut.name.as_str() {
        "external" => return None,
        "embedded" => {
            "Database and load generator shared one process: there is no network in the response time, no protocol, and no \
             change of process. Applications that reach their database over a network wait for that, too."
        }
        "directory" => {
            "Clients called the kernel themselves: there is no server process and no protocol in the response time, and no \
             network but that of a file system which is mounted there. Clients of a file server wait for those, too."
        }
        _ => {
            "Server and load generator ran on one machine, without the delays, losses and interrupts of a network between \
             them; and the load generator competes for the CPU caches."
        }
    };
    Some(("Network", text.to_owned()))
}

fn cpu_quota(report: &Report) -> Option<Note> {
    let quota = report.plan.sut.quota?;
    let text = format!(
        "The server was limited to the time of {quota} CPUs. The figures hold for this limit, not for the whole machine, and \
         they do not scale by multiplication: measure a server with more CPU time."
    );
    Some(("CPU quota", text))
}

fn steady(report: &Report) -> Note {
    if let Some(shape) = &report.plan.shape {
        let text = format!(
            "The load changes as planned over {}, with the same mix of operations at every level. Caches that fill over hours, \
             memory leaks, log rotation, backups and updates may show only over a longer time.",
            numbers::length(shape.length())
        );
        return ("Load over time", text);
    }
    let length = match (report.plan.operations, report.analysis.load_points.as_slice()) {
        (Some(_), [only]) => only.length,
        _ => report.plan.phases.steady,
    };
    let text = format!(
        "Each load lasts {} and does not change. That is too short to show caches that fill over hours, memory leaks, log \
         rotation, backups and updates.",
        numbers::length(length)
    );
    ("Steady load", text)
}
