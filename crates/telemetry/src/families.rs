//! The metrics, a line each: name, unit, sort, what it is, and where its values come from.
//!
//! | sort | Prometheus | OTLP |
//! |---|---|---|
//! | total | counter, `_total` | sum, monotonic, cumulative |
//! | level | gauge | gauge |
//! | distribution | histogram | histogram, cumulative |
//!
//! A name in Prometheus' form is the OTLP name with underscores, the unit, and `_total`: the rule by which collectors
//! translate, so that both ways lead to the same series.

use model::{Load, Outcome};

use crate::response::Response;
use crate::totals::RunTotals;

/// The sort of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Only grows.
    Total,
    /// Stands where it stands.
    Level,
    /// A histogram.
    Distribution,
}

/// The unit of a metric: as OTLP has it (UCUM), and what Prometheus' names end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) ucum: &'static str,
    pub(crate) suffix: &'static str,
}

const OPERATIONS: Unit = Unit { ucum: "{operation}", suffix: "" };
const PER_SECOND: Unit = Unit { ucum: "{operation}/s", suffix: "_per_second" };
const SECONDS: Unit = Unit { ucum: "s", suffix: "_seconds" };
const BYTES: Unit = Unit { ucum: "By", suffix: "_bytes" };
const RATIO: Unit = Unit { ucum: "1", suffix: "_ratio" };
const USERS: Unit = Unit { ucum: "{user}", suffix: "" };
const CPUS: Unit = Unit { ucum: "{cpu}", suffix: "" };
const NONE: Unit = Unit { ucum: "", suffix: "" };

/// A metric with all that is said about it.
pub(crate) struct Family {
    /// The name in OTLP.
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) sort: Sort,
    /// A sentence.
    pub(crate) about: &'static str,
    /// The values of one run; `true` of the one that goes on.
    pub(crate) points: fn(&RunTotals, bool) -> Vec<Point<'_>>,
}

/// One value, with the labels that tell it from others of its run.
pub(crate) struct Point<'a> {
    pub(crate) labels: Vec<(&'static str, String)>,
    pub(crate) value: Value<'a>,
}

/// A value.
pub(crate) enum Value<'a> {
    Count(u64),
    Number(f64),
    Distribution(&'a Response),
}

/// All metrics.
pub(crate) const FAMILIES: &[Family] = &[
    family("plimsoll.run.info", NONE, Sort::Level, "What runs now: always 1.", info),
    family("plimsoll.operations", OPERATIONS, Sort::Total, "Completed operations, by outcome.", |run, _| {
        let point = |(outcome, n): (&Outcome, &u64)| Point {
            labels: vec![("outcome", outcome.name().to_owned())],
            value: Value::Count(*n),
        };
        run.completed.iter().map(point).collect()
    }),
    family("plimsoll.operations.due", OPERATIONS, Sort::Total, "Operations that fell due.", |run, _| {
        one(Value::Count(run.due))
    }),
    family(
        "plimsoll.operations.skipped",
        OPERATIONS,
        Sort::Total,
        "Operations given up before they were started.",
        |run, _| one(Value::Count(run.skipped)),
    ),
    family(
        "plimsoll.operations.abandoned",
        OPERATIONS,
        Sort::Total,
        "Operations given up in flight, because the load point ended.",
        |run, _| one(Value::Count(run.abandoned)),
    ),
    family(
        "plimsoll.reply",
        BYTES,
        Sort::Total,
        "Replies of successful operations, heads and bodies.",
        |run, _| one(Value::Count(run.reply_bytes)),
    ),
    family(
        "plimsoll.response",
        SECONDS,
        Sort::Distribution,
        "Response time of successful operations, from due to done.",
        |run, _| one(Value::Distribution(&run.response)),
    ),
    family("plimsoll.users", USERS, Sort::Level, "Users of a closed loop.", |run, runs_now| {
        let users = run.point.map(|point| point.load).filter(|load| runs_now && load.is_closed());
        maybe(users.map(Load::level))
    }),
    family(
        "plimsoll.offered",
        PER_SECOND,
        Sort::Level,
        "Rate of an open loop, as planned.",
        |run, runs_now| {
            let rate = run.point.map(|point| point.load).filter(|load| runs_now && !load.is_closed());
            maybe(rate.map(Load::level))
        },
    ),
    family("plimsoll.in_flight", OPERATIONS, Sort::Level, "Operations in flight.", |run, runs_now| {
        maybe(runs_now.then_some(run.in_flight as f64))
    }),
    family("plimsoll.generator.cpu", SECONDS, Sort::Total, "CPU time of the load threads.", |run, _| {
        one(Value::Number(run.generator_cpu.as_secs_f64()))
    }),
    family(
        "plimsoll.generator.busy",
        RATIO,
        Sort::Level,
        "Share of the load threads' time that they used in the last second.",
        |run, runs_now| maybe(run.generator_busy.filter(|_| runs_now)),
    ),
    family(
        "plimsoll.sut.cpu",
        SECONDS,
        Sort::Total,
        "CPU time of the server, where it can be seen.",
        |run, _| maybe(run.sut_cpu.map(units::Nanos::as_secs_f64)),
    ),
    family(
        "plimsoll.sut.cpus",
        CPUS,
        Sort::Level,
        "CPUs that the server used in the last second, where they can be seen.",
        |run, runs_now| maybe(run.sut_cpus.filter(|_| runs_now)),
    ),
];

const fn family(
    name: &'static str,
    unit: Unit,
    sort: Sort,
    about: &'static str,
    points: fn(&RunTotals, bool) -> Vec<Point<'_>>,
) -> Family {
    Family { name, unit, sort, about, points }
}

impl Family {
    /// Returns the name in Prometheus' form.
    pub(crate) fn prometheus_name(&self) -> String {
        let total = if self.sort == Sort::Total { "_total" } else { "" };
        format!("{}{}{total}", self.name.replace('.', "_"), self.unit.suffix)
    }
}

fn one(value: Value) -> Vec<Point> {
    vec![Point { labels: Vec::new(), value }]
}

fn maybe(value: Option<f64>) -> Vec<Point<'static>> {
    value.map_or_else(Vec::new, |value| one(Value::Number(value)))
}

fn info(run: &RunTotals, runs_now: bool) -> Vec<Point<'_>> {
    if !runs_now {
        return Vec::new();
    }
    let mut labels = vec![
        ("benchmark", run.name.benchmark.clone()),
        ("benchmark_version", run.name.version.to_string()),
        ("phase", run.phase.map_or("preparation", model::Phase::name).to_owned()),
    ];
    if let Some(point) = run.point {
        let number = u64::from(point.index) + 1;
        labels.extend([("load_point", number.to_string()), ("load", point.load.to_string())]);
    }
    vec![Point { labels, value: Value::Count(1) }]
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
        let names: BTreeSet<String> = FAMILIES.iter().map(Family::prometheus_name).collect();
        assert_eq!(names.len(), FAMILIES.len());
        for family in FAMILIES {
            assert!(family.about.ends_with('.'), "{}", family.name);
        }
        for name in
            ["plimsoll_operations_total", "plimsoll_response_seconds", "plimsoll_generator_busy_ratio"]
        {
            assert!(names.contains(name), "{names:?}");
        }
    }
}
