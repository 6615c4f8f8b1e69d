//! CSV (RFC 4180) of the intervals of a run: one row per second, units in the column names.

use model::{IntervalRecord, Load, LoadPoint, Plan, SutUse, web_measure};
use stats::Quantile;
use units::{Nanos, Ratio};

use super::CONFIDENCE;
use super::csv::line;

/// The input of a row.
struct IntervalRow<'a> {
    record: &'a IntervalRecord,
    load: Option<Load>,
    p50: Option<Quantile>,
    p99: Option<Quantile>,
}

/// The function of a column; `None` becomes an empty field.
type Field = fn(&IntervalRow) -> Option<String>;

/// All columns with their names.
const COLUMNS: &[(&str, Field)] = &[
    ("load_point", |row| some(row.record.load_point)),
    ("users", |row| row.load.filter(|load| load.is_closed()).map(|load| load.level().to_string())),
    ("planned_per_s", |row| row.load.filter(|load| !load.is_closed()).map(|load| load.level().to_string())),
    ("agent", |row| some(row.record.agent)),
    ("index", |row| some(row.record.index)),
    ("phase", |row| some(row.record.phase.name())),
    ("start_s", |row| some(row.record.start.as_secs_f64())),
    ("end_s", |row| some(row.record.end.as_secs_f64())),
    ("n_due", |row| some(row.record.flow.due)),
    ("n_started", |row| some(row.record.flow.started)),
    ("n_skipped", |row| some(row.record.flow.skipped)),
    ("n_ok", |row| some(row.record.flow.ok)),
    ("n_failed", |row| some(row.record.flow.failed)),
    ("n_timed_out", |row| some(row.record.flow.timed_out)),
    ("n_abandoned", |row| some(row.record.flow.abandoned)),
    ("in_flight_at_end", |row| some(row.record.flow.in_flight_at_end)),
    ("n_left_open", |row| some(row.record.flow.left_open)),
    ("reply_bytes", |row| {
        some(row.record.kinds.iter().map(|kind| kind.measure(web_measure::REPLY_BYTES).sum).sum::<u128>())
    }),
    ("response_n", |row| some(row.record.response.n())),
    ("response_mean_s", |row| time(row.record.response.mean())),
    ("response_p50_s", |row| time(row.p50.map(|found| found.value))),
    ("response_p50_low_s", |row| time(row.p50.map(|found| found.low))),
    ("response_p50_high_s", |row| time(row.p50.map(|found| found.high))),
    ("response_p99_s", |row| time(row.p99.map(|found| found.value))),
    ("response_p99_low_s", |row| time(row.p99.map(|found| found.low))),
    ("response_p99_high_s", |row| time(row.p99.map(|found| found.high))),
    ("response_max_s", |row| time(row.record.response.max())),
    ("lateness_mean_s", |row| time(row.record.lateness.mean())),
    ("lateness_max_s", |row| time(row.record.lateness.max())),
    ("generator_threads", |row| some(row.record.health.threads)),
    ("generator_cpu_s", |row| time(Some(row.record.health.cpu))),
    ("generator_run_queue_s", |row| time(Some(row.record.health.run_queue))),
    ("sut_cpu_s", |row| time(row.record.sut.map(|SutUse { cpu, .. }| cpu))),
    ("sut_throttled_s", |row| time(row.record.sut.map(|SutUse { throttled, .. }| throttled))),
];

/// Returns the head row.
pub fn intervals_csv_head() -> String {
    let mut out = String::new();
    line(COLUMNS.iter().map(|(name, _)| *name), &mut out);
    out
}

/// Returns the row of an interval of a run with this plan.
pub fn intervals_csv_row(plan: &Plan, record: &IntervalRecord) -> String {
    let is_there = |point: &&LoadPoint| point.index == record.load_point;
    let quantile = |q| record.response.quantile_interval(Ratio(q), CONFIDENCE);
    let load = plan.load_points.iter().find(is_there).map(|point| point.load);
    let row = IntervalRow { record, load, p50: quantile(0.5), p99: quantile(0.99) };
    let fields: Vec<String> = COLUMNS.iter().map(|(_, field)| field(&row).unwrap_or_default()).collect();
    let mut out = String::new();
    line(fields.iter().map(String::as_str), &mut out);
    out
}

fn some(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn time(time: Option<Nanos>) -> Option<String> {
    time.map(|time| time.as_secs_f64().to_string())
}
