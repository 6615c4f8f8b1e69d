//! JSON: all numbers of the analysis at full precision, with plan and testbed. Units are in the names.
//!
//! Written by hand, so that a renamed field of the program cannot change the format by accident.

use analysis::{
    KindResult, LoadPointResult, PauseResult, Percentile, Reason, SummaryStatistics, TimeSummary,
    TimelinePoint, Verdict, VerdictState,
};
use model::{Catalog, ConsistencyCheck, Ending, Load, MeasureUnit, Outcome};
use serde_json::{Value, json};
use units::Nanos;

use super::{json_price, json_resources, json_steady, measure_key};
use crate::{Report, bottleneck_text, finding_hint, finding_text};

/// The version of this format; it rises with every incompatible change.
pub const FORMAT: u32 = 1;

/// Renders the report as JSON. What is absent, or not a number, is `null`.
pub fn json(report: &Report) -> Value {
    let analysis = report.analysis;
    let headline = analysis.headline.as_ref().map(|headline| {
        json!({
            "name": headline.name,
            "value": headline.value,
            "load_point": headline.load_point,
            "response_mean_s": headline.response_mean,
            "verdict": state(analysis.verdict.state),
            "modified": !analysis.modifications.is_empty(),
        })
    });
    let catalog = &report.plan.catalog;
    let load_points = analysis.load_points.iter().map(|point| load_point(point, catalog));
    json!({
        "format": FORMAT,
        "benchmark": {
            "id": analysis.benchmark.id,
            "version": analysis.benchmark.version,
            "title": analysis.benchmark.title,
        },
        "verdict": verdict(&analysis.verdict),
        "bottleneck": bottleneck_text(&analysis.load_points, &analysis.words.user),
        "modifications": analysis.modifications,
        "ending": ending(&analysis.ending),
        "headline": headline,
        "curve": {
            "peak": analysis.curve.peak,
            "saturation": analysis.saturation(),
            "knee": analysis.curve.knee,
        },
        "response_mean_s": analysis.response_mean(),
        "load_points": load_points.collect::<Vec<_>>(),
        "price": json_price::price(report),
        "provenance": provenance(report),
        "plan": report.plan,
        "testbed": report.testbed,
    })
}

fn provenance(report: &Report) -> Value {
    let provenance = report.provenance;
    json!({
        "program": provenance.program,
        "command": provenance.command,
        "run_file": provenance.run_file,
        "chain_hash": provenance.chain_hash,
        "started": provenance.started,
        "ended": provenance.ended,
    })
}

/// Returns the word for a judgement.
pub(super) fn state(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "valid",
        VerdictState::Overloaded => "overloaded",
        VerdictState::Invalid => "invalid",
        VerdictState::Incomplete => "incomplete",
    }
}

pub(super) fn ending(ending: &Ending) -> Value {
    let (kind, reason) = match ending {
        Ending::Complete => ("complete", None),
        Ending::Stopped(reason) => ("stopped", Some(reason)),
        Ending::Missing => ("missing", None),
    };
    json!({ "kind": kind, "reason": reason })
}

pub(super) fn verdict(verdict: &Verdict) -> Value {
    let reasons = |reasons: &[Reason]| {
        let reason = |reason: &Reason| {
            let Reason { load_point, finding } = reason;
            let (text, hint) = (finding_text(finding), finding_hint(finding));
            json!({ "rule": reason.rule(), "load_point": load_point, "text": text, "hint": hint })
        };
        reasons.iter().map(reason).collect::<Vec<_>>()
    };
    json!({ "state": state(verdict.state), "reasons": reasons(&verdict.reasons), "remarks": reasons(&verdict.remarks) })
}

fn load_point(point: &LoadPointResult, catalog: &Catalog) -> Value {
    let mut value = figures(point);
    let more = json!({
        "response": times(Some(&point.response)),
        "service": times(Some(&point.service)),
        "lateness": times(point.lateness.as_ref()),
        "connect": times(point.web.as_ref().and_then(|web| web.connect.as_ref())),
        "total": kind(&point.total, catalog),
        "kinds": point.kinds.iter().map(|one| kind(one, catalog)).collect::<Vec<_>>(),
        "failures": point.failures.iter().map(|(outcome, n)| failure(point, *outcome, *n)).collect::<Vec<_>>(),
        "examples": point.examples.iter().map(|example| json!({
            "outcome": example.outcome.name(),
            "kind": example.kind,
            "at_s": seconds(example.at),
            "text": example.text,
        })).collect::<Vec<_>>(),
        "bottleneck": json_resources::bottleneck(point),
        "counters": json_resources::counters(&point.resources),
        "timeline": timeline(&point.timeline),
    });
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    // Earlier runs have think times, but did not record them.
    let drawn: Vec<&PauseResult> =
        point.pauses.iter().filter(|pause| pause.drawn.histogram.n() != 0).collect();
    if !drawn.is_empty() {
        let pause = |pause: &PauseResult| json!({ "name": pause.name, "drawn": times(Some(&pause.drawn)) });
        value["pauses"] = drawn.into_iter().map(pause).collect();
    }
    if !point.checks.is_empty() {
        let check = |check: &ConsistencyCheck| {
            let (moment, name) = (check.moment.name(), &check.name);
            json!({ "moment": moment, "name": name, "holds": check.holds, "found": check.found })
        };
        value["checks"] = point.checks.iter().map(check).collect();
    }
    if !point.counts.is_empty() {
        let counts = point.counts.iter().map(|count| (count.name.clone(), count.n.into()));
        value["counts"] = Value::Object(counts.collect());
    }
    value
}

/// Returns a failure; its protocol codes only if it has some.
fn failure(point: &LoadPointResult, outcome: Outcome, n: u64) -> Value {
    let mut value = json!({ "outcome": outcome.name(), "n": n });
    let codes = point.codes.iter().filter(|(one, ..)| *one == outcome);
    let codes: Vec<Value> = codes.map(|(_, code, n)| json!({ "code": code, "n": n })).collect();
    if !codes.is_empty() {
        value["codes"] = codes.into();
    }
    value
}

fn figures(point: &LoadPointResult) -> Value {
    let mut value = json!({
        "index": point.index,
        "load": load(point.load),
        "verdict": verdict(&point.verdict),
        "steady_s": seconds(point.length),
        "offered_per_s": point.offered_rate,
        "delivered_ratio": point.delivered_ratio,
        "score": point.score,
        "score_interval": point.score_interval,
        "rate_per_s": point.rate,
        "rate_per_user_per_s": point.rate_per_user,
        "rate_interval_per_s": point.rate_interval,
        "steady_state": json_steady::steady_state(point.steadiness),
        "warm_up_s": point.warm_up.map(seconds),
        "errors_per_s": point.error_rate,
        "error_level_ratio": point.error_level,
        "load_factor": point.load_factor,
        "in_flight_mean": point.in_flight_mean,
        "thinking_mean": point.thinking_mean,
        "little_gap_ratio": point.little_gap,
        "throughput_mbit_per_s": point.throughput_mbit,
        "client_throughput_mbit_per_s": point.client_throughput_mbit,
        "pages_per_min": point.units_per_minute,
        "in_flight_at_end": point.in_flight_at_end,
        "in_flight_age_s": seconds(point.in_flight_age),
        "left_open": point.left_open,
        "generator": {
            "busy_ratio": point.generator_busy,
            "run_queue_ratio": point.generator_run_queue,
            "cpu_per_operation_s": point.generator_cpu_per_operation,
        },
        "sut": {
            "cpus": point.sut_cpus,
            "busy_ratio": point.sut_busy,
            "cpu_per_operation_s": point.sut_cpu_per_operation,
        },
    });
    if let Some(web) = &point.web {
        value["body_throughput_kb_per_s"] = json!(web.body_throughput_kb);
        value["receive_mean_s"] = json!(web.receive_mean);
        value["in_flight_body_bytes"] = json!(web.in_flight_body_bytes);
    }
    value
}

pub(crate) fn load(load: Load) -> Value {
    match load {
        Load::Users(users) => json!({ "users": users }),
        Load::Rate { per_second, arrivals, in_flight_max } => {
            json!({ "per_second": per_second, "arrivals": arrivals, "in_flight_max": in_flight_max })
        }
    }
}

pub(super) fn seconds(time: Nanos) -> f64 {
    time.as_secs_f64()
}

fn times(summary: Option<&TimeSummary>) -> Value {
    let Some(summary) = summary else { return Value::Null };
    let percentile = |one: &Percentile| {
        json!({
            "q": one.q,
            "value_s": seconds(one.value),
            "low_s": one.interval.map(|(low, _)| seconds(low)),
            "high_s": one.interval.map(|(_, high)| seconds(high)),
            "n": one.n,
        })
    };
    json!({
        "n": summary.histogram.n(),
        "mean_s": summary.mean,
        "mean_interval_s": summary.mean_interval,
        "percentiles": summary.percentiles.iter().map(percentile).collect::<Vec<_>>(),
        "max_s": summary.max.map(seconds),
    })
}

fn kind(kind: &KindResult, catalog: &Catalog) -> Value {
    let mut value = json!({
        "name": kind.name,
        "n": kind.n,
        "errors": kind.errors,
        "pages": kind.units_ok,
        "response_s": four(kind.response),
        "bytes_moved": { "total": kind.transferred },
        "response": times(Some(&kind.percentiles)),
    });
    if let Some(web) = kind.web {
        value["object_bytes"] = json!(web.object_bytes);
        value["bytes_moved"] = json!({ "body": web.body, "head": web.head, "total": kind.transferred });
    }
    for (measure, statistics) in catalog.measures.iter().zip(&kind.measures) {
        let key = measure_key(&measure.name);
        let key = if measure.unit == MeasureUnit::Nanoseconds { format!("{key}_s") } else { key };
        value[key] = four(*statistics);
    }
    value
}

fn four(four: SummaryStatistics) -> Value {
    json!({ "mean": four.mean, "deviation": four.deviation, "min": four.min, "max": four.max })
}

/// One array per column: a third of the size of one object per second.
fn timeline(seconds: &[TimelinePoint]) -> Value {
    fn column<T: Into<Value>>(seconds: &[TimelinePoint], value: impl Fn(&TimelinePoint) -> T) -> Value {
        seconds.iter().map(|second| value(second).into()).collect()
    }
    json!({
        "at_s": column(seconds, |second| second.at),
        "phase": column(seconds, |second| second.phase.name()),
        "rate_per_s": column(seconds, |second| second.rate),
        "errors_per_s": column(seconds, |second| second.error_rate),
        "p50_s": column(seconds, |second| second.p50.map(Nanos::as_secs_f64)),
        "p99_s": column(seconds, |second| second.p99.map(Nanos::as_secs_f64)),
        "generator_busy_ratio": column(seconds, |second| second.generator_busy),
        "sut_cpus": column(seconds, |second| second.sut_cpus),
    })
}
