//! The metrics, a line each: name, unit, kind, description, and the source of its values.
//!
//! | kind | Prometheus | OTLP |
//! |---|---|---|
//! | total | counter, `_total` | sum, monotonic, cumulative |
//! | level | gauge | gauge |
//! | distribution | histogram | histogram, cumulative |
//!
//! A name in Prometheus' form is the OTLP name with underscores, the unit, and `_total`: the rule by which collectors
//! translate, so that both exports give the same series.

use analysis::{GroupStanding, Reason};
use model::{Load, Outcome};

use crate::response_histogram::ResponseHistogram;
use crate::totals::RunTotals;

/// The kind of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// A counter, which only grows.
    Total,
    /// A gauge.
    Level,
    /// A histogram.
    Distribution,
}

/// The unit of a metric: its UCUM code for OTLP and the suffix of Prometheus' names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MetricUnit {
    pub(crate) ucum: &'static str,
    pub(crate) suffix: &'static str,
}

const OPERATIONS: MetricUnit = MetricUnit { ucum: "{operation}", suffix: "" };
const PER_SECOND: MetricUnit = MetricUnit { ucum: "{operation}/s", suffix: "_per_second" };
const SECONDS: MetricUnit = MetricUnit { ucum: "s", suffix: "_seconds" };
const BYTES: MetricUnit = MetricUnit { ucum: "By", suffix: "_bytes" };
const RATIO: MetricUnit = MetricUnit { ucum: "1", suffix: "_ratio" };
const USERS: MetricUnit = MetricUnit { ucum: "{user}", suffix: "" };
const CPUS: MetricUnit = MetricUnit { ucum: "{cpu}", suffix: "" };
const NONE: MetricUnit = MetricUnit { ucum: "", suffix: "" };

/// A metric family: name, unit, kind, description and values.
pub(crate) struct MetricFamily {
    /// The name in OTLP.
    pub(crate) name: &'static str,
    pub(crate) unit: MetricUnit,
    pub(crate) kind: MetricKind,
    /// A sentence.
    pub(crate) description: &'static str,
    /// The values of one run; `true` for the current run.
    pub(crate) points: fn(&RunTotals, bool) -> Vec<DataPoint<'_>>,
}

/// A data point: one value, with the labels that distinguish it within its run.
pub(crate) struct DataPoint<'a> {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: MetricValue<'a>,
}

/// The value of a data point.
pub(crate) enum MetricValue<'a> {
    Count(u64),
    Number(f64),
    Distribution(&'a ResponseHistogram),
}

/// All metrics.
pub(crate) const FAMILIES: &[MetricFamily] = &[
    family("plimsoll.run.info", NONE, MetricKind::Level, "What runs now: always 1.", info),
    family(
        "plimsoll.operations",
        OPERATIONS,
        MetricKind::Total,
        "Completed operations, by outcome.",
        |run, _| {
            let point = |(outcome, n): (&Outcome, &u64)| DataPoint {
                labels: vec![("outcome", outcome.name().to_owned())],
                value: MetricValue::Count(*n),
            };
            run.sums.completed.iter().map(point).collect()
        },
    ),
    family(
        "plimsoll.operations.due",
        OPERATIONS,
        MetricKind::Total,
        "Operations that fell due.",
        |run, _| one(MetricValue::Count(run.sums.due)),
    ),
    family(
        "plimsoll.operations.skipped",
        OPERATIONS,
        MetricKind::Total,
        "Operations given up before they were started.",
        |run, _| one(MetricValue::Count(run.sums.skipped)),
    ),
    family(
        "plimsoll.operations.abandoned",
        OPERATIONS,
        MetricKind::Total,
        "Operations given up in flight, because the load point ended.",
        |run, _| one(MetricValue::Count(run.sums.abandoned)),
    ),
    family(
        "plimsoll.transferred",
        BYTES,
        MetricKind::Total,
        "Bytes that successful operations transferred.",
        |run, _| one(MetricValue::Count(run.transferred())),
    ),
    family(
        "plimsoll.response",
        SECONDS,
        MetricKind::Distribution,
        "Response time of successful operations, from due to done.",
        |run, _| one(MetricValue::Distribution(&run.response)),
    ),
    family(
        "plimsoll.score",
        NONE,
        MetricKind::Level,
        "The benchmark's score of the steady phase so far, in the unit of its label.",
        |run, is_current| {
            let point = |score| DataPoint {
                labels: vec![("unit", run.run.score_unit.clone())],
                value: MetricValue::Number(score),
            };
            run.score.filter(|_| is_current).map(point).into_iter().collect()
        },
    ),
    family(
        "plimsoll.rules",
        NONE,
        MetricKind::Level,
        "State of each group of rules at the current load point: always 1.",
        |run, is_current| if is_current { run.standings.iter().map(standing).collect() } else { Vec::new() },
    ),
    family("plimsoll.users", USERS, MetricKind::Level, "Users of a closed loop.", |run, is_current| {
        let users = run.point.map(|point| point.load).filter(|load| is_current && load.is_closed());
        maybe(users.map(Load::level))
    }),
    family(
        "plimsoll.offered",
        PER_SECOND,
        MetricKind::Level,
        "Rate of an open loop, as planned.",
        |run, is_current| {
            let rate = run.point.map(|point| point.load).filter(|load| is_current && !load.is_closed());
            maybe(rate.map(Load::level))
        },
    ),
    family(
        "plimsoll.in_flight",
        OPERATIONS,
        MetricKind::Level,
        "Operations in flight.",
        |run, is_current| maybe(is_current.then_some(run.in_flight as f64)),
    ),
    family(
        "plimsoll.generator.cpu",
        SECONDS,
        MetricKind::Total,
        "CPU time of the load threads.",
        |run, _| one(MetricValue::Number(run.sums.generator_cpu.as_secs_f64())),
    ),
    family(
        "plimsoll.generator.busy",
        RATIO,
        MetricKind::Level,
        "Share of the load threads' time that they used in the last second.",
        |run, is_current| maybe(run.last.filter(|_| is_current).and_then(|last| last.generator_busy)),
    ),
    family(
        "plimsoll.sut.cpu",
        SECONDS,
        MetricKind::Total,
        "CPU time of the server, where it can be seen.",
        |run, _| maybe(run.sums.sut_cpu.map(units::Nanos::as_secs_f64)),
    ),
    family(
        "plimsoll.sut.cpus",
        CPUS,
        MetricKind::Level,
        "CPUs that the server used in the last second, where they can be seen.",
        |run, is_current| maybe(run.last.filter(|_| is_current).and_then(|last| last.sut_cpus)),
    ),
];

const fn family(
    name: &'static str,
    unit: MetricUnit,
    kind: MetricKind,
    description: &'static str,
    points: fn(&RunTotals, bool) -> Vec<DataPoint<'_>>,
) -> MetricFamily {
    MetricFamily { name, unit, kind, description, points }
}

impl MetricFamily {
    /// Returns the name in Prometheus' form.
    pub(crate) fn prometheus_name(&self) -> String {
        let total = if self.kind == MetricKind::Total { "_total" } else { "" };
        format!("{}{}{total}", self.name.replace('.', "_"), self.unit.suffix)
    }
}

fn one(value: MetricValue) -> Vec<DataPoint> {
    vec![DataPoint { labels: Vec::new(), value }]
}

fn maybe(value: Option<f64>) -> Vec<DataPoint<'static>> {
    value.map_or_else(Vec::new, |value| one(MetricValue::Number(value)))
}

/// Returns a group of rules with its state, and the rule whose finding gives it that state.
fn standing(standing: &GroupStanding) -> DataPoint<'static> {
    let rule = standing.reason.as_ref().map_or("", Reason::rule);
    let labels = [("group", standing.group.name()), ("state", standing.state.name()), ("rule", rule)];
    DataPoint {
        labels: labels.map(|(name, value)| (name, value.to_owned())).into(),
        value: MetricValue::Count(1),
    }
}

fn info(run: &RunTotals, is_current: bool) -> Vec<DataPoint<'_>> {
    if !is_current {
        return Vec::new();
    }
    let mut labels = vec![
        ("benchmark", run.run.benchmark.clone()),
        ("benchmark_version", run.run.version.to_string()),
        ("phase", run.phase.map_or("preparation", model::Phase::name).to_owned()),
    ];
    if let Some(point) = run.point {
        let number = u64::from(point.index) + 1;
        labels.extend([("load_point", number.to_string()), ("load", point.load.to_string())]);
    }
    vec![DataPoint { labels, value: MetricValue::Count(1) }]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_is_documented_under_both_names() {
        let page = include_str!("../../../docs/exports.md");
        for family in FAMILIES {
            for name in [family.prometheus_name().as_str(), family.name] {
                let found =
                    [format!("`{name}`"), format!("`{name}{{")].iter().any(|form| page.contains(form));
                assert!(found, "`{name}` is not in docs/exports.md");
            }
        }
    }

    #[test]
    fn every_metric_has_a_name_of_its_own_and_a_sentence() {
        let names: BTreeSet<String> = FAMILIES.iter().map(MetricFamily::prometheus_name).collect();
        assert_eq!(names.len(), FAMILIES.len());
        for family in FAMILIES {
            assert!(family.description.ends_with('.'), "{}", family.name);
        }
        for name in
            ["plimsoll_operations_total", "plimsoll_response_seconds", "plimsoll_generator_busy_ratio"]
        {
            assert!(names.contains(name), "{names:?}");
        }
    }
}
