//! The metrics for Prometheus, an entry each.

use http_lite::prometheus::{PrometheusType, family_text};

use cache_store::disk::DiskUsage;

use super::status::Status;
use crate::message::ResponsePath;
use crate::origin::{ServerReport, ServerState};

/// A metric family: its name without the prefix, its type, its help text, and its samples.
struct MetricFamily {
    name: &'static str,
    kind: PrometheusType,
    help: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
}

/// Labels and value.
type Sample = (Vec<(&'static str, String)>, f64);

const PREFIX: &str = "plimsoll_accelerator_";

const FAMILIES: &[MetricFamily] = &[
    counter("replies_total", "Responses by path and reason.", |status| {
        let named = status.totals.responses.iter().filter_map(|((path, reason), n)| {
            Some((ResponsePath::ALL.get(usize::from(*path))?.name().to_owned(), (*reason).to_owned(), *n))
        });
        named.map(|(path, reason, n)| (vec![("path", path), ("reason", reason)], n as f64)).collect()
    }),
    counter("reply_bytes_total", "Bytes of responses, heads and bodies, by path.", |status| {
        by_path(|path| status.totals.bytes[path as usize] as f64)
    }),
    counter("statuses_total", "Responses by the first digit of their status.", |status| {
        let names = ["1xx", "2xx", "3xx", "4xx", "5xx", "other"];
        let statuses = names.into_iter().zip(status.totals.statuses);
        statuses.map(|(name, n)| (vec![("class", name.to_owned())], n as f64)).collect()
    }),
    counter(
        "origin_seconds_total",
        "Time that the origin took to respond (revalidated, miss, pass), or would have taken (all others).",
        |status| by_path(|path| status.totals.origin_time[path as usize].as_secs_f64()),
    ),
    counter("connections_total", "Accepted client connections.", |status| {
        one(status.totals.connections_opened as f64)
    }),
    gauge("connections", "Open client connections.", |status| one(status.totals.connections() as f64)),
    counter("connections_refused_total", "Refused or aborted client connections, by reason.", |status| {
        let refused = status.totals.refused.iter();
        refused.map(|(reason, n)| (vec![("reason", (*reason).to_owned())], *n as f64)).collect()
    }),
    gauge("objects", "Stored responses in memory.", |status| one(status.usage.objects as f64)),
    gauge(
        "memory_bytes",
        "Memory of stored responses and of those still being sent, everything counted.",
        |status| one(status.usage.bytes as f64),
    ),
    gauge(
        "held_bytes",
        "The part of it that cannot be freed: bodies that are being sent to clients, or wait to be written to disk.",
        |status| one(status.held_bytes as f64),
    ),
    gauge("memory_bytes_max", "The limit on that.", |status| one(status.usage.bytes_max as f64)),
    counter("changes_total", "Changes of responses in the store.", |status| {
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
    gauge(
        "disk_objects",
        "Stored responses on disk; absent without a disk tier, like the other disk metrics.",
        |status| of_disk(status, |disk| disk.objects),
    ),
    gauge("disk_bytes", "Disk space of stored responses.", |status| of_disk(status, |disk| disk.bytes)),
    gauge("disk_bytes_max", "The limit on that.", |status| of_disk(status, |disk| disk.bytes_max)),
    counter("disk_operations_total", "Operations of the disk tier.", |status| {
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
    gauge("flights", "Fetches in progress, for any number of clients.", |status| one(status.flights as f64)),
    gauge("filling_bytes", "Memory of responses in progress.", |status| one(status.filling_bytes as f64)),
    gauge("server_up", "Whether an origin server is up.", |status| {
        by_server(status, |server| f64::from(server.condition == ServerState::Up))
    }),
    gauge("server_in_use", "Requests in progress to an origin server.", |status| {
        by_server(status, |server| server.in_use as f64)
    }),
    counter("server_requests_total", "Requests sent to an origin server.", |status| {
        by_server(status, |server| server.requests as f64)
    }),
    counter("server_connections_total", "Connections opened to an origin server.", |status| {
        by_server(status, |server| server.connections as f64)
    }),
    counter(
        "server_failures_total",
        "Requests that an origin server did not answer, or not in full.",
        |status| by_server(status, |server| server.failures as f64),
    ),
    counter("log_lines_dropped_total", "Dropped lines of the access log.", |status| {
        one(status.log_dropped as f64)
    }),
    counter("reloads_total", "Number of reloads.", |status| one(status.reloads as f64)),
    gauge("start_time_seconds", "Time of the start, in seconds since 1970.", |status| {
        one(status.began.0 as f64 / 1000.0)
    }),
];

const fn counter(
    name: &'static str,
    help: &'static str,
    samples: fn(&Status) -> Vec<Sample>,
) -> MetricFamily {
    MetricFamily { name, kind: PrometheusType::Counter, help, samples }
}

const fn gauge(name: &'static str, help: &'static str, samples: fn(&Status) -> Vec<Sample>) -> MetricFamily {
    MetricFamily { name, kind: PrometheusType::Gauge, help, samples }
}

fn one(value: f64) -> Vec<Sample> {
    vec![(Vec::new(), value)]
}

fn of_disk(status: &Status, count: impl Fn(&DiskUsage) -> u64) -> Vec<Sample> {
    status.usage.disk.iter().map(|disk| (Vec::new(), count(disk) as f64)).collect()
}

fn by_path(value: impl Fn(ResponsePath) -> f64) -> Vec<Sample> {
    ResponsePath::ALL.map(|path| (vec![("path", path.name().to_owned())], value(path))).to_vec()
}

fn by_server(status: &Status, value: impl Fn(&ServerReport) -> f64) -> Vec<Sample> {
    status.servers.iter().map(|server| (vec![("server", server.address.clone())], value(server))).collect()
}

/// Writes all metrics. One without values is left out.
pub(crate) fn text(status: &Status) -> String {
    FAMILIES.iter().map(|family| text_of_family(family, status)).collect()
}

fn text_of_family(family: &MetricFamily, status: &Status) -> String {
    family_text(&format!("{PREFIX}{}", family.name), family.kind, family.help, |samples| {
        for (labels, value) in (family.samples)(status) {
            samples.number(labels.iter().map(|(label, value)| (*label, value.as_str())), value);
        }
    })
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
            let is_counter = family.kind == PrometheusType::Counter;
            assert!(family.help.ends_with('.') && family.name.ends_with("_total") == is_counter);
        }
    }

    #[test]
    fn a_scrape_has_responses_by_path_and_reason() {
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
            "plimsoll_accelerator_held_bytes 1024",
            "plimsoll_accelerator_server_up{server=\"127.0.0.1:8080\"} 0",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }

    #[test]
    fn label_values_are_escaped() {
        let mut status = example();
        status.servers[0].address = "a\"b\\c\nd".to_owned();
        assert!(text(&status).contains("{server=\"a\\\"b\\\\c\\nd\"} 0\n"));
    }
}
