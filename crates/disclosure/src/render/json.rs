//! JSON: all numbers of the analysis at full precision, with plan and testbed. Units are in the names.
//!
//! Written by hand, so that a renamed field of the program cannot change the format by accident.

use analysis::{
    Analysis, KindResult, LoadPointResult, METRICS, MetricValue, NoticeResult, PauseResult, Percentile,
    Reason, ScoreSummary, SummaryStatistics, TimeSummary, TimelinePoint, Verdict, VerdictState,
};
use model::{ConsistencyCheck, Load, MeasureUnit, Outcome, Plan, RunEnding, Score, export_key};
use serde_json::{Value, json};
use units::Nanos;

use super::measures::{add, amounts, spread_measures, unit_suffix, units_key};
use super::{json_price, json_resources, json_stages, json_steady};
use crate::{Report, bottleneck_text, finding_text, reason_hint};

/// The version of this format; it rises with every incompatible change.
pub const FORMAT: u32 = 1;

/// The percentiles of notices that are written.
const NOTICE_PERCENTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

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
    let load_points = analysis.load_points.iter().map(|point| load_point(point, report));
    let mut value = json!({
        "format": FORMAT,
        "benchmark": {
            "id": analysis.benchmark.id,
            "version": analysis.benchmark.version,
            "title": analysis.benchmark.title,
        },
        "verdict": verdict(analysis, &analysis.verdict),
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
    });
    if let Some(summary) = analysis.score_summary() {
        value["score_summary"] = score_summary(&summary, &analysis.load_points);
    }
    value
}

/// Returns the figures of a suite, with its load points by place.
fn score_summary(summary: &ScoreSummary, points: &[LoadPointResult]) -> Value {
    let at = |index: usize| json!({ "load_point": index, "load": load(points[index].load), "score": points[index].score });
    json!({
        "peak": at(summary.peak),
        "greatest_load": at(summary.greatest_load),
        "harmonic_mean": summary.harmonic_mean,
        "n_load_points": summary.n_load_points,
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

pub(super) fn ending(ending: &RunEnding) -> Value {
    let (kind, reason) = match ending {
        RunEnding::Complete => ("complete", None),
        RunEnding::Stopped(reason) => ("stopped", Some(reason)),
        RunEnding::Missing => ("missing", None),
    };
    json!({ "kind": kind, "reason": reason })
}

pub(super) fn verdict(analysis: &Analysis, verdict: &Verdict) -> Value {
    let reasons = |reasons: &[Reason]| {
        let reason = |reason: &Reason| {
            let Reason { load_point, stage, finding } = reason;
            let text = finding_text(finding);
            let hint = reason_hint(analysis, reason);
            let mut value =
                json!({ "rule": reason.rule(), "load_point": load_point, "text": text, "hint": hint });
            if let Some(stage) = stage {
                value["stage"] = json!(stage);
            }
            value
        };
        reasons.iter().map(reason).collect::<Vec<_>>()
    };
    json!({ "state": state(verdict.state), "reasons": reasons(&verdict.reasons), "remarks": reasons(&verdict.remarks) })
}

fn load_point(point: &LoadPointResult, report: &Report) -> Value {
    let plan = report.plan;
    let mut value = figures(point, report);
    let more = json!({
        "response": times(Some(&point.response)),
        "service": times(Some(&point.service)),
        "lateness": times(point.lateness.as_ref()),
        "total": kind(&point.total, plan),
        "kinds": point.kinds.iter().map(|one| kind(one, plan)).collect::<Vec<_>>(),
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
    if let Some(clients) = point.clients {
        value["clients"] = json!({
            "n": clients.n,
            "unit": if matches!(plan.catalog.score, Score::Throughput { .. }) { "bytes" } else { "operations" },
            "least": clients.least,
            "mean": clients.mean,
            "greatest": clients.greatest,
            "fairness": clients.fairness,
        });
    }
    if !point.notices.is_empty() {
        value["notices"] = point.notices.iter().map(notice).collect();
    }
    if !point.checks.is_empty() {
        let check = |check: &ConsistencyCheck| {
            let moment = check.moment.name();
            let name = &check.name;
            json!({ "moment": moment, "name": name, "holds": check.holds, "found": check.found })
        };
        value["checks"] = point.checks.iter().map(check).collect();
    }
    if point.is_shaped() {
        value["stages"] = point.stages.iter().map(|one| json_stages::stage(one, report.analysis)).collect();
    }
    if let Some(until) = &point.until {
        value["until"] = json_stages::until(until);
    }
    if !point.counts.is_empty() {
        let counts = point.counts.iter().map(|count| (count.name.clone(), count.n.into()));
        value["counts"] = Value::Object(counts.collect());
    }
    for (measure, spread) in spread_measures(&plan.catalog).zip(&point.spreads) {
        let spread = match measure.unit {
            MeasureUnit::Nanoseconds => times(spread.as_ref()),
            MeasureUnit::Bytes | MeasureUnit::Count => spread.as_ref().map_or(Value::Null, amounts),
        };
        add(&mut value, export_key(&measure.name), spread);
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

/// Writes the metrics of a load point, by their table.
fn figures(point: &LoadPointResult, report: &Report) -> Value {
    let plan = report.plan;
    let mut value = json!({
        "index": point.index,
        "load": load(point.load),
        "verdict": verdict(report.analysis, &point.verdict),
        "steady_state": json_steady::steady_state(point.steadiness),
    });
    for metric in METRICS.iter().filter(|metric| metric.is_in_json(plan)) {
        let number = match metric.value(point) {
            MetricValue::Count(count) => json!(count),
            MetricValue::Number(number) => json!(number),
            MetricValue::Interval(interval) => json!(interval),
        };
        match metric.json_key(&plan.catalog) {
            (Some(object), key) => value[object][key] = number,
            (None, key) => value[key] = number,
        }
    }
    if !plan.catalog.score.is_operation_rate() {
        value["score_unit"] = json!(plan.catalog.words.score);
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

pub(super) fn times(summary: Option<&TimeSummary>) -> Value {
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

fn notice(notice: &NoticeResult) -> Value {
    let percentile = |q: f64| json!({ "q": q, "value_s": notice.percentile(q).map(seconds) });
    json!({
        "name": notice.name,
        "begun": notice.begun,
        "ended": notice.ended,
        "lost": notice.lost,
        "pending": notice.pending,
        "begun_in_steady": notice.begun_in_steady,
        "mean_s": notice.mean,
        "percentiles": NOTICE_PERCENTILES.map(percentile),
    })
}

fn kind(kind: &KindResult, plan: &Plan) -> Value {
    let mut value = json!({
        "name": kind.name,
        "n": kind.n,
        "errors": kind.errors,
        "response_s": four(kind.response),
        "bytes_moved": { "total": kind.transferred },
        "response": times(Some(&kind.percentiles)),
    });
    if let Some(units) = units_key(plan) {
        value[units] = json!(kind.units_ok);
    }
    if let Some(web) = kind.web {
        value["object_bytes"] = json!(web.object_bytes);
        value["bytes_moved"] = json!({ "body": web.body, "head": web.head, "total": kind.transferred });
    }
    for (measure, statistics) in plan.catalog.measures.iter().zip(&kind.measures) {
        let key = export_key(&measure.name) + unit_suffix(measure.unit);
        add(&mut value, key, four(*statistics));
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
