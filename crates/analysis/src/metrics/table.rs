//! The metrics of a load point, a row each: key, meaning, value, and the exports and tables that have it.
//!
//! JSON, CSV, the stored results that audits recompute, and the report's table of rates follow from the rows. A figure
//! that rules or other sections need by name is also a field of [`LoadPointResult`]; statistics of times and of kinds of
//! operations ([`crate::TimeSummary`], [`crate::KindResult`]) have a form of their own.

use model::{Catalog, Plan, Score, export_key};
use stats::decimal_megabits;

use super::web;
use crate::LoadPointResult;

/// A metric of a load point.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    key: &'static str,
    /// Its name in stored result tables; `None` where it is not stored.
    pub stated: Option<&'static str>,
    /// Its meaning, in sentences.
    pub meaning: &'static str,
    /// Its column in the report's table of rates; `None` if it has none there.
    pub column: Option<MetricColumn>,
    json: MetricScope,
    csv: MetricScope,
    /// Whether it is a sum, which stages of different loads have in common. Counts are sums in any case.
    is_sum: bool,
    value: fn(&LoadPointResult) -> MetricValue,
}

/// A column of a report's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricColumn {
    /// The heading, without a unit.
    pub heading: &'static str,
    /// The form of its cells.
    pub format: MetricFormat,
}

/// The form in which people read a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricFormat {
    /// A figure with four significant digits.
    Figure,
    /// 10⁶ bits per second.
    Megabits,
    /// A ratio, shown in percent.
    Percent,
}

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricValue {
    /// A count.
    Count(u64),
    /// A number; `None` where the load point has none.
    Number(Option<f64>),
    /// The ends of a 95 % interval; `None` where the load point has none.
    Interval(Option<(f64, f64)>),
}

/// The runs that have a metric in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetricScope {
    /// All.
    All,
    /// None.
    None,
    /// Those of the web family.
    Web,
    /// Those whose benchmark counts units. The web's has its pages, counted or not.
    Units,
    /// Those whose operations transfer something that is measured.
    Transfers,
    /// Those whose score is not the rate of all operations.
    OwnScore,
    /// Those whose score is a harmonic one.
    Harmonic,
    /// Those whose benchmark has a sizing rule.
    Sized,
}

/// All metrics, in the order of exports.
pub const METRICS: &[Metric] = &[
    row("steady_s", "Length of the steady phase as recorded, in s.", |point| {
        point.length.as_secs_f64().into()
    })
    .stated("length_s")
    .sum(),
    row("n_ok", "Successful operations.", |point| point.total.n.into())
        .stated("operations")
        .json(MetricScope::None),
    row("n_errors", "Failed operations.", |point| point.total.errors.into())
        .stated("errors")
        .json(MetricScope::None),
    row("offered_per_s", "Operations that fell due per second; null in a closed loop.", |point| {
        point.offered_rate.into()
    })
    .stated("offered_per_s")
    .column("Due/second", MetricFormat::Figure),
    row("delivered_ratio", "Successful ÷ due operations; null in a closed loop.", |point| {
        point.delivered_ratio.into()
    }),
    row(
        "score",
        "The benchmark's score, by `plan.catalog.score`; null if a kind of operation that it needs had no success.",
        |point| point.score.into(),
    )
    .stated("score"),
    row("score_interval", "95 % interval for the score.", |point| MetricValue::Interval(point.score_interval))
        .csv(MetricScope::OwnScore),
    row(
        "score_per_part",
        "The score per part of the data to which users belong, by `plan.catalog.sizing`: of order entry, the new orders per \
         minute and warehouse.",
        |point| point.score_per_part.into(),
    )
    .both(MetricScope::Sized),
    row(
        "rate_of_clients_per_s",
        "Rate of N clients by their own sums, N·Σn ÷ Σt, with n the successful operations of each and t the sum of their \
         response times: N times the harmonic mean of the rates n ÷ t, weighted by n; null in an open loop.",
        |point| point.rate_of_clients.into(),
    )
    .stated("rate_of_clients_per_s")
    .both(MetricScope::Harmonic),
    row("rate_per_s", "Successful operations per second.", |point| point.rate.into()).stated("rate_per_s"),
    row("rate_per_user_per_s", "The same per user; null in an open loop.", |point| {
        point.rate_per_user.into()
    }),
    row("rate_interval_per_s", "95 % interval for the rate.", |point| {
        MetricValue::Interval(point.rate_interval)
    }),
    row("errors_per_s", "Failed operations per second.", |point| point.error_rate.into())
        .stated("errors_per_s"),
    row("error_level_ratio", "Failed ÷ successful operations.", |point| point.error_level.into())
        .stated("error_level"),
    row("load_factor", "Total response time ÷ length: Little's load factor.", |point| {
        point.load_factor.into()
    })
    .stated("load_factor"),
    row(
        "throughput_mbit_per_s",
        "Bytes that operations transferred, in 10^6 bits per second: of web benchmarks, heads and bodies received.",
        |point| point.throughput_mbit.map(decimal_megabits).into(),
    )
    .both(MetricScope::Transfers),
    row("throughput_webstone", "The same in WebStone's 2^20 bits per second, as stored from the first run files on.", |point| {
        point.throughput_mbit.into()
    })
    .only_stated("throughput_mbit"),
    web::CONTENT_THROUGHPUT,
    web::RECEIVE_MEAN,
    web::FIRST_BYTE_MEAN,
    web::CONTENT_BYTES,
    row(
        "client_throughput_mbit_per_s",
        "Throughput while an operation is under way, in 10^6 bits per second.",
        |point| point.client_throughput_mbit.map(decimal_megabits).into(),
    )
    .both(MetricScope::Transfers)
    .column("Average client throughput", MetricFormat::Megabits),
    row("client_throughput_webstone", "The same in WebStone's 2^20 bits per second.", |point| {
        point.client_throughput_mbit.into()
    })
    .only_stated("client_throughput_mbit"),
    row("{units}_per_min", "Complete units per minute, under the benchmark's noun for them: pages.", |point| {
        point.units_per_minute.into()
    })
    .stated("pages_per_minute")
    .both(MetricScope::Units),
    row("in_flight_mean", "Operations in flight on average, failed ones included.", |point| {
        point.in_flight_mean.into()
    })
    .column("In flight, mean", MetricFormat::Figure),
    row("thinking_mean", "Users that think on average.", |point| point.thinking_mean.into())
        .column("Thinking, mean", MetricFormat::Figure),
    row(
        "little_gap_ratio",
        "Gap in N = X·(R + Z), relative to N (in L = X·R where users can owe operations or have several in flight); null in an open loop.",
        |point| point.little_gap.into(),
    )
    .column("Gap in N = X·(R + Z)", MetricFormat::Percent),
    row("warm_up_s", "When the warm-up was over, from the start of the load point, in s.", |point| {
        point.warm_up.map(units::Nanos::as_secs_f64).into()
    })
    .csv(MetricScope::None),
    row("in_flight_at_end", "Operations in flight when the phase ended; in no rate.", |point| {
        point.in_flight_at_end.into()
    }),
    web::IN_FLIGHT_CONTENT,
    row("in_flight_age_s", "How long those had been in flight, summed, in s.", |point| {
        point.in_flight_age.as_secs_f64().into()
    })
    .sum(),
    row(
        "left_open",
        "Successes whose connection was to end with the reply and was left open by the server; up to 1 s was waited for it, \
         which is part of the response time.",
        |point| point.left_open.into(),
    ),
    web::LOST,
    row("generator.busy_ratio", "Use of its CPUs, from 0 to 1.", |point| point.generator_busy.into()),
    row("generator.run_queue_ratio", "Time that it waited for a CPU ÷ its time.", |point| {
        point.generator_run_queue.into()
    }),
    row("generator.cpu_per_operation_s", "CPU time per operation, in s.", |point| {
        point.generator_cpu_per_operation.into()
    }),
    row("sut.cpus", "CPUs used on average; null if not seen.", |point| point.sut_cpus.into()),
    row("sut.busy_ratio", "Use of its allowance.", |point| point.sut_busy.into()),
    row("sut.cpu_per_operation_s", "CPU time per operation, in s.", |point| {
        point.sut_cpu_per_operation.into()
    }),
];

/// Makes a row of a metric that all runs have in all exports.
const fn row(key: &'static str, meaning: &'static str, value: fn(&LoadPointResult) -> MetricValue) -> Metric {
    let json = MetricScope::All;
    let csv = MetricScope::All;
    Metric { key, stated: None, meaning, column: None, json, csv, is_sum: false, value }
}

/// Makes a row of a metric that only runs of the web family have.
pub(super) const fn row_of_web(
    key: &'static str,
    meaning: &'static str,
    value: fn(&LoadPointResult) -> MetricValue,
) -> Metric {
    row(key, meaning, value).both(MetricScope::Web)
}

impl Metric {
    const fn stated(self, name: &'static str) -> Metric {
        Metric { stated: Some(name), ..self }
    }

    const fn column(self, heading: &'static str, format: MetricFormat) -> Metric {
        Metric { column: Some(MetricColumn { heading, format }), ..self }
    }

    const fn sum(self) -> Metric {
        Metric { is_sum: true, ..self }
    }

    const fn json(self, json: MetricScope) -> Metric {
        Metric { json, ..self }
    }

    const fn csv(self, csv: MetricScope) -> Metric {
        Metric { csv, ..self }
    }

    const fn both(self, scope: MetricScope) -> Metric {
        Metric { json: scope, csv: scope, ..self }
    }

    /// Makes a metric that is part of stored results only, because exports have it in another form.
    pub(super) const fn only_stated(self, name: &'static str) -> Metric {
        self.both(MetricScope::None).stated(name)
    }

    /// Makes a metric that is a column of CSV only, because JSON has it in another form.
    pub(super) const fn only_csv_of_web(self) -> Metric {
        self.json(MetricScope::None).csv(MetricScope::Web)
    }

    /// Returns its key in JSON, with the unit last, and the object that holds it; `None` for the load point itself.
    pub fn json_key(&self, catalog: &Catalog) -> (Option<&'static str>, String) {
        match self.key.split_once('.') {
            Some((object, key)) => (Some(object), key.to_owned()),
            None => (None, self.key.replace("{units}", &export_key(&catalog.words.unit.many))),
        }
    }

    /// Returns the name of its column in CSV, with the unit last.
    pub fn csv_name(&self, catalog: &Catalog) -> String {
        match self.json_key(catalog) {
            (Some(object), key) => format!("{object}_{key}"),
            (None, key) => key,
        }
    }

    /// Returns whether it is about the use of machines: JSON has it in an object, and CSV after the times.
    pub fn is_of_machine(&self) -> bool {
        self.key.contains('.')
    }

    /// Returns whether the JSON of a run has it.
    pub fn is_in_json(&self, plan: &Plan) -> bool {
        self.json.contains(plan)
    }

    /// Returns whether the CSV of a run has it.
    pub fn is_in_csv(&self, plan: &Plan) -> bool {
        self.csv.contains(plan)
    }

    /// Returns its value at a load point; none of one with stages, unless it is a count or a sum.
    pub fn value(&self, point: &LoadPointResult) -> MetricValue {
        match (self.value)(point) {
            MetricValue::Number(_) if point.is_shaped() && !self.is_sum => MetricValue::Number(None),
            MetricValue::Interval(_) if point.is_shaped() => MetricValue::Interval(None),
            value => value,
        }
    }
}

impl MetricScope {
    fn contains(self, plan: &Plan) -> bool {
        let catalog = &plan.catalog;
        let is_web = plan.workload.web().is_some();
        match self {
            MetricScope::All => true,
            MetricScope::None => false,
            MetricScope::Web => is_web,
            MetricScope::Units => is_web || !catalog.units.is_empty(),
            MetricScope::Transfers => !catalog.transferred.is_empty(),
            MetricScope::OwnScore => !catalog.score.is_operation_rate(),
            MetricScope::Sized => catalog.sizing.is_some(),
            MetricScope::Harmonic => matches!(catalog.score, Score::Harmonic { .. }),
        }
    }
}

impl MetricValue {
    /// Returns the value as a number; `None` where there is none, and of an interval.
    pub fn number(self) -> Option<f64> {
        match self {
            MetricValue::Count(count) => Some(count as f64),
            MetricValue::Number(number) => number,
            MetricValue::Interval(_) => None,
        }
    }
}

impl From<u64> for MetricValue {
    fn from(count: u64) -> MetricValue {
        MetricValue::Count(count)
    }
}

impl From<f64> for MetricValue {
    fn from(number: f64) -> MetricValue {
        MetricValue::Number(Some(number))
    }
}

impl From<Option<f64>> for MetricValue {
    fn from(number: Option<f64>) -> MetricValue {
        MetricValue::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_has_names_of_its_own_and_a_sentence() {
        let keys: BTreeSet<&str> = METRICS.iter().map(|metric| metric.key).collect();
        assert_eq!(keys.len(), METRICS.len());
        let stated: Vec<&str> = METRICS.iter().filter_map(|metric| metric.stated).collect();
        assert_eq!(stated.iter().collect::<BTreeSet<_>>().len(), stated.len());
        for metric in METRICS {
            assert!(metric.meaning.ends_with('.'), "{}", metric.key);
        }
    }

    #[test]
    fn the_rate_of_units_has_the_benchmarks_noun() {
        let mut catalog = Catalog::default();
        catalog.words.unit = model::Noun::regular("business case");
        let metric = METRICS.iter().find(|metric| metric.key == "{units}_per_min").unwrap();
        assert_eq!(metric.json_key(&catalog), (None, "business_cases_per_min".to_owned()));
        let busy = METRICS.iter().find(|metric| metric.key == "sut.busy_ratio").unwrap();
        assert_eq!(busy.json_key(&catalog), (Some("sut"), "busy_ratio".to_owned()));
        assert_eq!(busy.csv_name(&catalog), "sut_busy_ratio");
    }
}
