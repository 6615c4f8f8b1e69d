//! CSV (RFC 4180) of the intervals of a run: one row per second, units in the column names.

use model::{IntervalRecord, Load, LoadPoint, MeasureUnit, Plan, SutUse, export_key};
use stats::Quantile;
use units::{Nanos, Ratio};

use super::CONFIDENCE;
use super::csv::line;
use super::measures::{free_key, unit_suffix};

/// Nanoseconds of a second.
const NANOS: f64 = 1e9;

/// The input of a row.
struct IntervalRow<'a> {
    record: &'a IntervalRecord,
    load: Option<Load>,
    p50: Option<Quantile>,
    p99: Option<Quantile>,
}

/// The function of a column; `None` becomes an empty field.
type Field = fn(&IntervalRow) -> Option<String>;

/// The columns before those of the measures, with their names.
const FLOW_COLUMNS: &[(&str, Field)] = &[
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
];

/// The columns after them.
const COLUMNS: &[(&str, Field)] = &[
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

/// Returns the head row of a run with this plan.
pub fn intervals_csv_head(plan: &Plan) -> String {
    let names = |columns: &[(&str, Field)]| columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let (mut names, after): (Vec<String>, Vec<String>) = (names(FLOW_COLUMNS), names(COLUMNS));
    for measure in measures(plan) {
        let name = measure_column(plan, measure);
        let name = free_key(name, |name| names.iter().chain(&after).any(|taken| taken == name));
        names.push(name);
    }
    let mut out = String::new();
    line(names.iter().chain(&after).map(String::as_str), &mut out);
    out
}

/// Returns the row of an interval of a run with this plan.
pub fn intervals_csv_row(plan: &Plan, record: &IntervalRecord) -> String {
    let is_there = |point: &&LoadPoint| point.index == record.load_point;
    let quantile = |q| record.response.quantile_interval(Ratio(q), CONFIDENCE);
    let load = plan.load_points.iter().find(is_there).map(|point| point.load);
    let row = IntervalRow { record, load, p50: quantile(0.5), p99: quantile(0.99) };
    let fields = |columns: &'static [(&'static str, Field)]| {
        columns.iter().map(|(_, field)| field(&row).unwrap_or_default())
    };
    let measures = measures(plan).into_iter().map(|measure| measure_field(plan, measure, record));
    let fields: Vec<String> = fields(FLOW_COLUMNS).chain(measures).chain(fields(COLUMNS)).collect();
    let mut out = String::new();
    line(fields.iter().map(String::as_str), &mut out);
    out
}

/// Returns the indexes of the measures that have a column: of the web those that operations transfer, of others all.
fn measures(plan: &Plan) -> Vec<usize> {
    match plan.workload.web() {
        Some(_) => plan.catalog.transferred.clone(),
        None => (0..plan.catalog.measures.len()).collect(),
    }
}

/// Returns the name of a measure's column: the mean of a time in s, the sum of anything else.
fn measure_column(plan: &Plan, measure: usize) -> String {
    let measure = &plan.catalog.measures[measure];
    let mean = if measure.unit == MeasureUnit::Nanoseconds { "_mean" } else { "" };
    format!("{}{mean}{}", export_key(&measure.name), unit_suffix(measure.unit))
}

fn measure_field(plan: &Plan, measure: usize, record: &IntervalRecord) -> String {
    let values = || record.kinds.iter().map(|kind| kind.measure(measure));
    let sum = values().map(|values| values.sum).sum::<u128>();
    match plan.catalog.measures[measure].unit {
        MeasureUnit::Bytes | MeasureUnit::Count => sum.to_string(),
        MeasureUnit::Nanoseconds => match values().map(|values| values.n).sum::<u64>() {
            0 => String::new(),
            n => (sum as f64 / n as f64 / NANOS).to_string(),
        },
    }
}

fn some(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn time(time: Option<Nanos>) -> Option<String> {
    time.map(|time| time.as_secs_f64().to_string())
}
