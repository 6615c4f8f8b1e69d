//! What the benchmark does not account for: how its load differs from what servers meet in production.

use model::{Arrivals, Connection, HttpVersion, Load, ReplyBody, Request, Think, Tls};

use crate::{Block, Report, Section, Text, numbers};

/// File sets up to this size fit into the memory of any server of today, with room to spare.
const SMALL_FILE_SET: u64 = 256 << 20;

pub fn section(report: &Report) -> Option<Section> {
    let text = "A benchmark answers one question under conditions that can be repeated. Before its figures are used to plan a \
                server for other users, weigh in what way those conditions differ from yours:";
    let blocks = vec![Block::Paragraph(text.into()), Block::List(notes(report))];
    Some(Section { id: "production", title: "Benchmark and production".into(), blocks })
}

/// Lists what differs, from the plan of the run.
pub(crate) fn notes(report: &Report) -> Vec<Text> {
    let notes = [
        Some(users(report)),
        Some(arrivals(report)),
        Some(connections(report)),
        encryption(report),
        content(report),
        files(report),
        network(report),
        allowance(report),
        Some(("Steady load", steady(report))),
    ];
    notes
        .into_iter()
        .flatten()
        .map(|(name, text)| Text::default().strong(format!("{name}. ")).plain(text))
        .collect()
}

type Note = (&'static str, String);

fn users(report: &Report) -> Note {
    let text = match (report.is_open(), report.plan.workload.think) {
        (true, _) => "Operations fall due by a schedule; there are no users who would leave, come back, or press reload.".to_owned(),
        (false, Think::None) => format!(
            "Users never pause: one of them asks for as much as many people do who look at what they get. A number of {} is \
             no number of people.",
            report.terms().load_noun
        ),
        (false, Think::Fixed(time) | Think::Exponential(time)) => format!(
            "Users pause {} on average; real users pause far longer, so do not read this as a number of people.",
            numbers::time(time)
        ),
    };
    ("Users", text)
}

fn arrivals(report: &Report) -> Note {
    let text = match report.plan.load_points.first().map(|point| point.load) {
        Some(Load::Rate { arrivals: Arrivals::Constant, .. }) => {
            "Operations come at equal distances. Real ones come in bursts, which need more in reserve at the same mean rate."
        }
        Some(Load::Rate { arrivals: Arrivals::Poisson, .. }) => {
            "Operations come at random, but at a mean rate that does not change. Days and sudden interest do change it."
        }
        _ => {
            "Every user waits for a reply before asking again, so a server that slows down is asked less. In production \
             others keep coming, and queues grow faster than here."
        }
    };
    ("Arrivals", text.to_owned())
}

fn connections(report: &Report) -> Note {
    let text = match report.plan.protocol.connection {
        Connection::PerRequest => {
            "Every request has a connection of its own, so that accepting and closing them weighs heavily; browsers and \
             proxies keep theirs."
        }
        Connection::Sessions => {
            "Connections are kept for a session. Slow and idle ones, which hold memory and workers, are missing."
        }
        Connection::KeepAlive { .. } => {
            "Connections are made once and kept busy. Newcomers, and clients that hold a connection and stay silent, are \
             missing."
        }
    };
    let slow = "Replies are read as fast as they come: no client is behind a slow line.";
    ("Connections", format!("{text} {slow}"))
}

fn encryption(report: &Report) -> Option<Note> {
    let protocol = &report.plan.protocol;
    let text = match (protocol.tls, protocol.http) {
        (Tls::Off, HttpVersion::Http2) => {
            "Nothing is encrypted. Public web servers are asked over TLS, which costs CPU time."
        }
        (Tls::Off, _) => {
            "Nothing is encrypted, and several requests never share a connection at once. Most requests of today come over \
             TLS and HTTP/2 or later."
        }
        (Tls::Full, _) => "Every connection makes a whole handshake; in production many resume a session.",
        (Tls::Resumed, _) => return None,
    };
    Some(("Encryption", text.to_owned()))
}

fn content(report: &Report) -> Option<Note> {
    let requests = &report.plan.workload.requests;
    let is_file = |request: &Request| matches!(request.reply, ReplyBody::File(_) | ReplyBody::Empty);
    let is_made = |request: &Request| matches!(request.reply, ReplyBody::Letters { .. });
    let text = match (requests.iter().all(is_file), requests.iter().any(is_made)) {
        (true, _) => {
            "Only files are served. Pages made by programs, databases, searches and uploads, often most of the work of a \
             site, are not asked for."
        }
        (false, true) => {
            "Pages are made by a small program that needs a processor and nothing else. Applications wait for databases \
             and other services, and need memory for each user."
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
            "The files, {size} in all, stay in memory once they were read: disks play no part. A larger site depends on them, \
             and on how its visitors’ favorites change."
        ),
        _ => format!(
            "There are {size} of files. Whether they fit into the server’s memory decides whether its disks play a part; \
             with other files or another server that can turn out otherwise."
        ),
    };
    Some(("Files", text))
}

fn network(report: &Report) -> Option<Note> {
    let text = "Server and load generator ran on one machine: no network lies between them, with its delays, losses and \
                interrupts; and the generator’s work disturbs the server’s caches.";
    (report.plan.sut.name != "external").then(|| ("Network", text.to_owned()))
}

fn allowance(report: &Report) -> Option<Note> {
    let quota = report.plan.sut.quota?;
    let text = format!(
        "The server had {quota} of a CPU’s time at its disposal. That is what the figures are about, not the whole machine; what \
         a server does with more is measured, not multiplied."
    );
    Some(("Allowance", text))
}

fn steady(report: &Report) -> String {
    format!(
        "Each load lasts for {} and does not change. Caches that fill over hours, memory that leaks, logs, backups and \
         updates do not show in that time.",
        numbers::length(report.plan.phases.steady)
    )
}
