//! NDJSON: the records of a run, one JSON object per line, for further computation. `docs/exports.md` describes the
//! format.
//!
//! Written by hand like the JSON report, and without loss: counters of machines are raw values; times are in ns, or in s
//! where they are relative to the start of a load point.

use std::collections::BTreeMap;

use analysis::Analysis;
use languages::escaped_json;
use model::{
    ConsistencyCheck, CounterUnit, DetailRecord, Example, IntervalRecord, KindTotals, MeasureUnit,
    MonitoredSource, NamedCount, NoticeKind, NoticeTotals, Plan, ResourceRecord, Series, SutUse, export_key,
};
use serde_json::{Map, Value, json};
use stats::Histogram;
use units::{Nanos, Ratio, WallTime};

use super::CONFIDENCE;
use super::json::{ending, load, seconds, verdict};
use super::measures::{add, spread_measures, units_key};
use crate::Provenance;

/// The version of this format; it rises with every incompatible change.
pub const FORMAT: u32 = 1;

/// The percentiles that are written if there are enough values.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The names that the lines of a run refer to.
#[derive(Debug, Clone, Copy)]
pub struct Ndjson<'a> {
    /// The plan, which names load points and kinds of operations.
    pub plan: &'a Plan,
    /// Machines by number.
    pub machines: &'a [MonitoredSource],
    /// Series by number.
    pub series: &'a [Series],
}

impl Ndjson<'_> {
    /// Returns the first lines: the run and its machines.
    pub fn head(&self, provenance: &Provenance) -> String {
        let run = json!({
            "type": "run",
            "format": FORMAT,
            "program": provenance.program,
            "command": provenance.command,
            "run_file": provenance.run_file,
            "started": provenance.started,
            "ended": provenance.ended,
            "plan": self.plan,
        });
        let machine = |(number, machine): (usize, &MonitoredSource)| {
            line(&json!({
                "type": "machine",
                "machine": number,
                "name": machine.name,
                "role": machine.role.name(),
            }))
        };
        line(&run) + &self.machines.iter().enumerate().map(machine).collect::<String>()
    }

    /// Returns the line of a load point that began at `began`.
    pub fn load_point(&self, index: u32, began: WallTime) -> String {
        let point = self.plan.load_points.iter().find(|point| point.index == index);
        line(&json!({
            "type": "load_point",
            "load_point": index,
            "load": point.map(|point| load(point.load)),
            "began_unix_ms": began.0,
        }))
    }

    /// Returns the line of an interval.
    pub fn interval(&self, record: &IntervalRecord) -> String {
        let flow = &record.flow;
        let length_ns = record.end.saturating_sub(record.start).0.max(1) as f64;
        let kinds = record.kinds.iter().enumerate().filter(|(_, totals)| has_ended_any(totals));
        let sut = |used: SutUse| json!({ "cpu_ns": used.cpu.0, "throttled_ns": used.throttled.0 });
        let mut value = json!({
            "type": "interval",
            "load_point": record.load_point,
            "agent": record.agent,
            "index": record.index,
            "phase": record.phase.name(),
            "start_s": seconds(record.start),
            "end_s": seconds(record.end),
            "operations": {
                "waiting_at_start": flow.waiting_at_start,
                "due": flow.due,
                "started": flow.started,
                "skipped": flow.skipped,
                "waiting_at_end": flow.waiting_at_end,
                "in_flight_at_start": flow.in_flight_at_start,
                "ok": flow.ok,
                "failed": flow.failed,
                "timed_out": flow.timed_out,
                "abandoned": flow.abandoned,
                "in_flight_at_end": flow.in_flight_at_end,
                "left_open": flow.left_open,
            },
            "in_flight_mean": flow.in_flight_ns as f64 / length_ns,
            "thinking_mean": flow.thinking_ns as f64 / length_ns,
            "response": times(&record.response),
            "service": times(&record.service),
            "lateness": times(&record.lateness),
            "kinds": kinds.map(|(kind, totals)| self.kind(kind, totals)).collect::<Vec<_>>(),
            "generator": {
                "threads": record.health.threads,
                "cpu_ns": record.health.cpu.0,
                "run_queue_ns": record.health.run_queue.0,
            },
            "sut": record.sut.map(sut),
        });
        if let Some(units) = units_key(self.plan) {
            value[format!("{units}_failed")] =
                record.units.iter().map(|unit| unit.failed).sum::<u64>().into();
            value[units] = record.units.iter().map(|unit| unit.ok).sum::<u64>().into();
        }
        if !record.notices.is_empty() {
            let kinds = self.plan.catalog.notices.iter().zip(&record.notices);
            value["notices"] = kinds.map(|(kind, totals)| notice(kind, totals)).collect();
        }
        line(&value)
    }

    /// Returns the line of a stretch, with the times of each kind of operation.
    pub fn detail(&self, record: &DetailRecord) -> String {
        let mut kinds: BTreeMap<usize, (Value, Map<String, Value>)> = BTreeMap::new();
        for (kind, response) in
            record.detail.response.iter().enumerate().filter(|(_, response)| 0 < response.n())
        {
            kinds.entry(kind).or_default().0 = times(response);
        }
        for ((kind, outcome), histogram) in record.detail.failed.iter().filter(|(_, one)| 0 < one.n()) {
            let (_, failed) = kinds.entry(usize::from(*kind)).or_default();
            failed.insert(outcome.name().to_owned(), times(histogram));
        }
        let kind = |(kind, (response, failed)): (usize, (Value, Map<String, Value>))| json!({ "name": self.kind_name(kind), "response": response, "failed": failed });
        let mut value = json!({
            "type": "detail",
            "load_point": record.load_point,
            "agent": record.agent,
            "phase": record.phase.name(),
            "start_s": seconds(record.start),
            "end_s": seconds(record.end),
            "kinds": kinds.into_iter().map(kind).collect::<Vec<_>>(),
        });
        for (measure, spread) in spread_measures(&self.plan.catalog).zip(&record.detail.spreads) {
            let spread = match measure.unit {
                MeasureUnit::Nanoseconds => times(spread),
                MeasureUnit::Bytes | MeasureUnit::Count => distribution(spread, ""),
            };
            add(&mut value, export_key(&measure.name), spread);
        }
        line(&value)
    }

    /// Returns the line of what a machine told at one moment.
    pub fn resource(&self, record: &ResourceRecord) -> String {
        let mut counters: BTreeMap<String, Value> = BTreeMap::new();
        for (number, value) in &record.values {
            let Some(series) = self.series.get(*number as usize) else { continue };
            let counter = counters.entry(counter_name(series)).or_insert_with(|| json!({}));
            counter[&series.instance] = (*value).into();
        }
        // What a machine has once is a number.
        for counter in counters.values_mut() {
            if let Some(only) = counter.as_object().filter(|map| map.len() == 1).and_then(|map| map.get("")) {
                *counter = only.clone();
            }
        }
        line(&json!({
            "type": "resource",
            "load_point": record.load_point,
            "machine": record.machine,
            "at_s": seconds(record.at),
            "counters": counters,
        }))
    }

    /// Returns the line of a check of the system under test.
    pub fn check(&self, check: &ConsistencyCheck) -> String {
        line(&json!({
            "type": "check",
            "load_point": check.load_point,
            "moment": check.moment.name(),
            "name": check.name,
            "holds": check.holds,
            "found": check.found,
        }))
    }

    /// Returns the line of a named count.
    pub fn count(&self, count: &NamedCount) -> String {
        line(&json!({
            "type": "count",
            "load_point": count.load_point,
            "name": count.name,
            "n": count.n,
        }))
    }

    /// Returns the line of the first operation that ended in a certain way.
    pub fn example(&self, example: &Example) -> String {
        line(&json!({
            "type": "example",
            "load_point": example.load_point,
            "at_s": seconds(example.at),
            "kind": self.kind_name(usize::from(example.kind)),
            "outcome": example.outcome.name(),
            "text": example.text,
        }))
    }

    /// Returns the line of something that happened.
    pub fn event(&self, at: WallTime, text: &str) -> String {
        line(&json!({ "type": "event", "at_unix_ms": at.0, "text": text }))
    }

    /// Returns the line of a number that was stated when the run ended.
    pub fn result(&self, load_point: u32, name: &str, value: f64) -> String {
        line(&json!({ "type": "result", "load_point": load_point, "name": name, "value": value }))
    }

    /// Returns the last line: the judgement, without which no result is to be read.
    pub fn verdict(&self, analysis: &Analysis) -> String {
        line(&json!({
            "type": "verdict",
            "verdict": verdict(analysis, &analysis.verdict),
            "ending": ending(&analysis.ending),
            "modifications": analysis.modifications,
        }))
    }

    fn kind(&self, kind: usize, totals: &KindTotals) -> Value {
        let failed = totals.failed.iter().map(|(outcome, n)| (outcome.name().to_owned(), (*n).into()));
        let mut value = json!({
            "name": self.kind_name(kind),
            "ok": totals.response.n,
            "failed": failed.collect::<Map<String, Value>>(),
            "response_mean_ns": totals.response.mean(),
        });
        let codes: Vec<Value> = totals
            .codes
            .iter()
            .map(|(outcome, code, n)| json!({ "outcome": outcome.name(), "code": code, "n": n }))
            .collect();
        if !codes.is_empty() {
            value["codes"] = codes.into();
        }
        for (index, measure) in self.plan.catalog.measures.iter().enumerate() {
            let key = export_key(&measure.name);
            let values = totals.measure(index);
            match measure.unit {
                MeasureUnit::Nanoseconds => add(&mut value, format!("{key}_mean_ns"), values.mean().into()),
                MeasureUnit::Bytes | MeasureUnit::Count => add(&mut value, key, number(values.sum).into()),
            }
        }
        value
    }

    fn kind_name(&self, kind: usize) -> Option<&str> {
        self.plan.catalog.kinds.get(kind).map(|kind| kind.name.as_str())
    }
}

fn line(value: &Value) -> String {
    escaped_json(&value.to_string()).into_owned() + "\n"
}

fn has_ended_any(totals: &KindTotals) -> bool {
    0 < totals.response.n || totals.failed.values().any(|n| 0 < *n)
}

fn notice(kind: &NoticeKind, totals: &NoticeTotals) -> Value {
    json!({
        "name": kind.name,
        "awaited_at_start": totals.awaited_at_start,
        "begun": totals.begun,
        "begun_in_steady": totals.begun_in_steady,
        "ended": totals.ended,
        "mean_ns": totals.times.mean(),
        "lost": totals.lost,
        "awaited_at_end": totals.awaited_at_end,
    })
}

/// Returns the figures of a histogram of times; `null` if it is empty.
fn times(histogram: &Histogram) -> Value {
    distribution(histogram, "_ns")
}

/// Returns the figures of a histogram, with the unit at the end of their names; `null` if it is empty. A percentile comes
/// with its interval, or not at all.
fn distribution(histogram: &Histogram, unit: &str) -> Value {
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return Value::Null };
    let figures = |figures: &[(&str, u64)]| -> Map<String, Value> {
        figures.iter().map(|(name, figure)| (format!("{name}{unit}"), (*figure).into())).collect()
    };
    let quantile = |q: f64| {
        let found = histogram.quantile_interval(Ratio(q), CONFIDENCE)?;
        let mut value = figures(&[("value", found.value.0), ("low", found.low.0), ("high", found.high.0)]);
        value.insert("q".to_owned(), q.into());
        Some(Value::Object(value))
    };
    let mean = histogram.mean().map_or(0, |Nanos(mean)| mean);
    let sum = number(histogram.sum());
    let mut value = figures(&[("sum", sum), ("mean", mean), ("min", min.0), ("max", max.0)]);
    value.insert("n".to_owned(), histogram.n().into());
    value.insert("percentiles".to_owned(), QUANTILES.into_iter().filter_map(quantile).collect());
    Value::Object(value)
}

/// Returns the name of a counter with its unit at the end: `cpu.user_us`, `memory.total_bytes`, `system.forks`.
fn counter_name(series: &Series) -> String {
    let name = series.counter.name();
    let unit = match series.counter.unit() {
        CounterUnit::Count => "",
        CounterUnit::Bytes if name.ends_with("_bytes") => "",
        CounterUnit::Bytes => "_bytes",
        CounterUnit::Micros => "_us",
        CounterUnit::Hertz => "_hz",
        CounterUnit::BitsPerSecond => "_bit_per_s",
    };
    format!("{name}{unit}")
}

/// Returns a sum as JSON has numbers: 64 bits, the largest where it does not fit.
fn number(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}
