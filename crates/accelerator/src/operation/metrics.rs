//! The figures in the text form of Prometheus, version 0.0.4.
//!
//! Source: Prometheus, "Exposition formats", text format.

use std::fmt::Write;

use super::status::Status;
use crate::message::HitPath;
use crate::origin::{Condition, ServerReport};
use crate::store::disk::DiskUsage;

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A metric: its name without the prefix, its sort, what it is, and its samples.
struct Family {
    name: &'static str,
    sort: &'static str,
    about: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
}

/// Labels and value.
type Sample = (Vec<(&'static str, String)>, f64);

const PREFIX: &str = "plimsoll_accelerator_";

const FAMILIES: &[Family] = &[
    total("replies_total", "Replies by the way they went and the reason.", |status| {
        let named = status.totals.replies.iter().filter_map(|((path, reason), n)| {
            Some((HitPath::ALL.get(usize::from(*path))?.name().to_owned(), (*reason).to_owned(), *n))
        });
        named.map(|(path, reason, n)| (vec![("path", path), ("reason", reason)], n as f64)).collect()
    }),
    total("reply_bytes_total", "Bytes of replies, heads and bodies, by the way they went.", |status| {
        by_path(|path| status.totals.bytes[path as usize] as f64)
    }),
    total("statuses_total", "Replies by the first digit of their status.", |status| {
        let names = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];
        let statuses = names.into_iter().zip(status.totals.statuses);
        statuses.map(|(name, n)| (vec![("class", name.to_owned())], n as f64)).collect()
    }),
    total(
        "origin_seconds_total",
        "Time that the origin took to answer (revalidated, miss, pass), or would have taken (all others).",
        |status| by_path(|path| status.totals.origin_time[path as usize].as_secs_f64()),
    ),
    total("connections_total", "Connections of clients that were accepted.", |status| {
        one(status.totals.connections_opened as f64)
    }),
    level("connections", "Connections of clients.", |status| one(status.totals.connections() as f64)),
    total("connections_refused_total", "Connections that were refused or broken off, by reason.", |status| {
        let refused = status.totals.refused.iter();
        refused.map(|(reason, n)| (vec![("reason", (*reason).to_owned())], *n as f64)).collect()
    }),
    level("objects", "Stored responses in memory.", |status| one(status.usage.objects as f64)),
    level("memory_bytes", "Memory that stored responses take, everything counted.", |status| {
        one(status.usage.bytes as f64)
    }),
    level("memory_bytes_max", "The limit of that.", |status| one(status.usage.bytes_max as f64)),
    total("changes_total", "What became of responses in the store.", |status| {
        let usage = &status.usage;
        let changes = [
            ("inserted", usage.inserted),
            ("replaced", usage.replaced),
            ("superseded", usage.superseded),
            ("evicted", usage.evicted),
            ("purged", usage.purged),
            ("refused", usage.refused),
        ];
        changes.into_iter().map(|(name, n)| (vec![("change", name.to_owned())], n as f64)).collect()
    }),
    level(
        "disk_objects",
        "Stored responses on disk; without a disk absent, as all that follow on it.",
        |status| of_disk(status, |disk| disk.objects),
    ),
    level("disk_bytes", "Disk that they take.", |status| of_disk(status, |disk| disk.bytes)),
    level("disk_bytes_max", "The limit of that.", |status| of_disk(status, |disk| disk.bytes_max)),
    total("disk_operations_total", "What became of responses on disk.", |status| {
        let Some(disk) = &status.usage.disk else { return Vec::new() };
        let counts = [
            ("written", disk.written),
            ("read", disk.read),
            ("dropped", disk.dropped),
            ("skipped", disk.skipped),
            ("torn", disk.torn),
            ("failed", disk.failed),
        ];
        counts.into_iter().map(|(name, n)| (vec![("operation", name.to_owned())], n as f64)).collect()
    }),
    level("flights", "Responses that are being fetched, for however many clients.", |status| {
        one(status.flights as f64)
    }),
    level("filling_bytes", "Memory that they take.", |status| one(status.filling_bytes as f64)),
    level("server_up", "Whether a server behind gets requests.", |status| {
        by_server(status, |server| f64::from(server.condition == Condition::Up))
    }),
    level("server_in_use", "Requests that a server is working on.", |status| {
        by_server(status, |server| server.in_use as f64)
    }),
    total("server_requests_total", "Requests that a server has got.", |status| {
        by_server(status, |server| server.requests as f64)
    }),
    total("server_connections_total", "Connections that were made to a server.", |status| {
        by_server(status, |server| server.connections as f64)
    }),
    total("server_failures_total", "Requests that a server has not answered, or not in full.", |status| {
        by_server(status, |server| server.failures as f64)
    }),
    total("log_lines_dropped_total", "Lines of the access log that were dropped.", |status| {
        one(status.log_dropped as f64)
    }),
    total("reloads_total", "How often other settings have come into force.", |status| {
        one(status.reloads as f64)
    }),
    level("start_time_seconds", "When it was started, in seconds since 1970.", |status| {
        one(status.began.0 as f64 / 1000.0)
    }),
];

const fn total(name: &'static str, about: &'static str, samples: fn(&Status) -> Vec<Sample>) -> Family {
    Family { name, sort: "counter", about, samples }
}

const fn level(name: &'static str, about: &'static str, samples: fn(&Status) -> Vec<Sample>) -> Family {
    Family { name, sort: "gauge", about, samples }
}

fn one(value: f64) -> Vec<Sample> {
    vec![(Vec::new(), value)]
}

fn of_disk(status: &Status, count: impl Fn(&DiskUsage) -> u64) -> Vec<Sample> {
    status.usage.disk.iter().map(|disk| (Vec::new(), count(disk) as f64)).collect()
}

fn by_path(value: impl Fn(HitPath) -> f64) -> Vec<Sample> {
    HitPath::ALL.map(|path| (vec![("path", path.name().to_owned())], value(path))).to_vec()
}

fn by_server(status: &Status, value: impl Fn(&ServerReport) -> f64) -> Vec<Sample> {
    status.servers.iter().map(|server| (vec![("server", server.address.clone())], value(server))).collect()
}

/// Writes all metrics.
pub(crate) fn text(status: &Status) -> String {
    let mut out = String::new();
    for family in FAMILIES {
        let name = format!("{PREFIX}{}", family.name);
        let samples = (family.samples)(status);
        if samples.is_empty() {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {}", family.about, family.sort);
        for (labels, value) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(out, "{name}{labels} {value}");
        }
    }
    out
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::status::example;

    #[test]
    fn every_metric_is_documented() {
        let page = include_str!("../../../../docs/accelerator.md");
        for family in FAMILIES {
            let name = format!("`{PREFIX}{}`", family.name);
            assert!(page.contains(&name), "{name} is not in docs/accelerator.md");
            assert!(
                family.about.ends_with('.') && family.name.ends_with("_total") == (family.sort == "counter")
            );
        }
    }

    #[test]
    fn a_scrape_has_replies_by_way_and_reason() {
        let text = text(&example());
        for line in [
            "# TYPE plimsoll_accelerator_replies_total counter",
            "plimsoll_accelerator_replies_total{path=\"memory\",reason=\"fresh\"} 3",
            "plimsoll_accelerator_replies_total{path=\"miss\",reason=\"uri-miss\"} 1",
            "plimsoll_accelerator_reply_bytes_total{path=\"memory\"} 3000",
            "plimsoll_accelerator_origin_seconds_total{path=\"miss\"} 0.25",
            "plimsoll_accelerator_statuses_total{class=\"4xx\"} 1",
            "plimsoll_accelerator_connections 1",
            "plimsoll_accelerator_memory_bytes 2048",
            "plimsoll_accelerator_server_up{server=\"127.0.0.1:8080\"} 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }

    #[test]
    fn a_label_cannot_break_its_line() {
        let mut status = example();
        status.servers[0].address = "a\"b\\c\nd".to_owned();
        assert!(text(&status).contains("{server=\"a\\\"b\\\\c\\nd\"} 0\n"));
    }
}
