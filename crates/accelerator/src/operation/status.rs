//! A snapshot of the accelerator, for the page, JSON and metrics.

use cache_store::disk::DiskUsage;
use cache_store::{HotObject, StoreUsage};
use serde_json::{Value, json};
use units::WallTime;

use crate::message::ResponsePath;
use crate::observation::{CounterTotals, Notice, TimestampCache};
use crate::origin::{ServerReport, ServerState};

/// A snapshot of the accelerator.
#[derive(Debug, Clone)]
pub(crate) struct Status {
    /// Its name in `Via`.
    pub(crate) name: String,
    /// The time of its start.
    pub(crate) began: WallTime,
    /// The time of the snapshot.
    pub(crate) now: WallTime,
    /// The totals over all workers.
    pub(crate) totals: CounterTotals,
    /// The usage of the store.
    pub(crate) usage: StoreUsage,
    /// The bytes of bodies in it that cannot be freed.
    pub(crate) held_bytes: u64,
    /// The most used objects, if they were asked for.
    pub(crate) hottest: Vec<HotObject>,
    /// The origin servers.
    pub(crate) servers: Vec<ServerReport>,
    /// Fetches in progress, for any number of clients.
    pub(crate) flights: usize,
    /// The bytes of memory that they take.
    pub(crate) filling_bytes: u64,
    /// Dropped lines of the access log.
    pub(crate) log_dropped: u64,
    /// The number of reloads.
    pub(crate) reloads: u64,
    /// The latest notices, newest last.
    pub(crate) notices: Vec<Notice>,
}

impl Status {
    /// Returns the seconds since the start.
    pub(crate) fn up_s(&self) -> u64 {
        u64::try_from((self.now.0 - self.began.0) / 1000).unwrap_or(0)
    }

    /// Returns the snapshot as JSON.
    pub(crate) fn json(&self) -> Value {
        let mut stamp = TimestampCache::default();
        let totals = &self.totals;
        json!({
            "name": self.name,
            "version": env!("CARGO_PKG_VERSION"),
            "began": stamp.iso(self.began),
            "up_s": self.up_s(),
            "reloads": self.reloads,
            "replies": totals.responses(),
            "hit_ratio": totals.hit_ratio(),
            "paths": ResponsePath::ALL.map(|path| self.path_json(path)),
            "statuses": {
                "1xx": totals.statuses[0], "2xx": totals.statuses[1], "3xx": totals.statuses[2],
                "4xx": totals.statuses[3], "5xx": totals.statuses[4],
            },
            "connections": {
                "open": totals.connections(),
                "accepted": totals.connections_opened,
                "refused": totals.refused,
            },
            "origin_time_saved_s": totals.origin_time_saved().as_secs_f64(),
            "origin_time_taken_s": totals.origin_time_taken().as_secs_f64(),
            "store": self.store_json(),
            "in_flight": { "responses": self.flights, "bytes": self.filling_bytes },
            "servers": self.servers.iter().map(server_json).collect::<Vec<_>>(),
            "hottest": self.hottest.iter().map(hot_json).collect::<Vec<_>>(),
            "log_lines_dropped": self.log_dropped,
            "notices": self.notices.iter().map(|notice| notice_json(notice, &mut stamp)).collect::<Vec<_>>(),
        })
    }

    fn path_json(&self, path: ResponsePath) -> Value {
        let of_path = self.totals.responses.iter().filter(|((one, _), _)| *one == path as u8);
        let reasons: serde_json::Map<String, Value> =
            of_path.map(|((_, reason), n)| ((*reason).to_owned(), json!(n))).collect();
        json!({
            "path": path.name(),
            "replies": self.totals.responses_by(path),
            "bytes": self.totals.bytes[path as usize],
            "origin_s": self.totals.origin_time[path as usize].as_secs_f64(),
            "reasons": reasons,
        })
    }

    fn store_json(&self) -> Value {
        let usage = &self.usage;
        json!({
            "objects": usage.objects,
            "bytes": usage.bytes,
            "bytes_max": usage.bytes_max,
            "body_bytes": usage.body_bytes,
            "held_bytes": self.held_bytes,
            "inserted": usage.inserted,
            "replaced": usage.replaced,
            "superseded": usage.superseded,
            "evicted": usage.evicted,
            "purged": usage.purged,
            "refused": usage.refused,
            "disk": usage.disk.as_ref().map(disk_json),
        })
    }
}

fn disk_json(disk: &DiskUsage) -> Value {
    json!({
        "objects": disk.objects,
        "bytes": disk.bytes,
        "bytes_max": disk.bytes_max,
        "index_bytes": disk.index_bytes,
        "written": disk.written,
        "read": disk.read,
        "dropped": disk.dropped,
        "skipped": disk.skipped,
        "torn": disk.torn,
        "failed": disk.failed,
    })
}

fn server_json(server: &ServerReport) -> Value {
    json!({
        "address": server.address,
        "is_up": server.condition == ServerState::Up,
        "in_use": server.in_use,
        "requests": server.requests,
        "connections": server.connections,
        "failures": server.failures,
        "times_down": server.times_down,
    })
}

fn hot_json(object: &HotObject) -> Value {
    json!({ "url": object.key, "status": object.status, "body_bytes": object.body_bytes, "hits": object.hits })
}

fn notice_json(notice: &Notice, stamp: &mut TimestampCache) -> Value {
    json!({ "time": stamp.iso(notice.time), "severity": notice.severity.name(), "text": notice.text })
}

/// Makes a snapshot for tests.
#[cfg(test)]
pub(crate) fn example() -> Status {
    use cache_policy::MissReason;
    use units::Nanos;

    use crate::message::{DisconnectReason, HandlingReason, ProxyReason, RequestHandling};
    use crate::observation::{NoticeLevel, WorkerCounters};

    let counters = WorkerCounters::default();
    let handling = |path, reason: HandlingReason| RequestHandling {
        path,
        reason,
        origin_time: Some(Nanos::from_millis(250)),
    };
    for _ in 0..3 {
        counters.note(&handling(ResponsePath::Memory, ProxyReason::Fresh.into()), 200, 1_000);
    }
    counters.note(&handling(ResponsePath::Miss, MissReason::UriMiss.into()), 404, 500);
    counters.connection_opened();
    counters.connection_refused(DisconnectReason::ConnectionsMax);
    let hot = HotObject { key: "http://h/<b>\"".to_owned(), status: 200, body_bytes: 800, hits: 3 };
    let server = ServerReport {
        address: "127.0.0.1:8080".to_owned(),
        condition: ServerState::Down,
        in_use: 1,
        requests: 2,
        connections: 1,
        failures: 3,
        times_down: 1,
    };
    let notice = Notice {
        time: WallTime(1_000),
        severity: NoticeLevel::Warning,
        text: "`127.0.0.1:8080` is down".to_owned(),
    };
    Status {
        name: "edge".to_owned(),
        began: WallTime(0),
        now: WallTime(61_000),
        totals: CounterTotals::of([&counters]),
        usage: StoreUsage {
            objects: 1,
            bytes: 2_048,
            bytes_max: 1 << 20,
            inserted: 1,
            ..StoreUsage::default()
        },
        held_bytes: 1_024,
        hottest: vec![hot],
        servers: vec![server],
        flights: 2,
        filling_bytes: 4_096,
        log_dropped: 0,
        reloads: 1,
        notices: vec![notice],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_has_totals_and_ratios() {
        let json = example().json();
        assert_eq!((&json["replies"], &json["hit_ratio"]), (&json!(4), &json!(0.75)));
        assert_eq!(
            (&json["origin_time_saved_s"], &json["origin_time_taken_s"]),
            (&json!(0.75), &json!(0.25))
        );
        let memory = json!({ "path": "memory", "replies": 3, "bytes": 3_000, "origin_s": 0.75, "reasons": { "fresh": 3 } });
        assert_eq!(json["paths"][0], memory);
        assert_eq!(json["paths"].as_array().map(Vec::len), Some(ResponsePath::ALL.len()));
        assert_eq!(json["servers"][0]["is_up"], false);
        assert_eq!(
            json["connections"],
            json!({ "open": 1, "accepted": 1, "refused": { "connections-max": 1 } })
        );
        assert_eq!((&json["began"], &json["up_s"]), (&json!("1970-01-01T00:00:00.000Z"), &json!(61)));
    }
}
