//! CSV (RFC 4180): the results table at full precision, one row per load point, or per stage where the load
//! changed over time, units in the column names.

use analysis::{
    LoadPointResult, METRICS, Metric, MetricValue, NoticeResult, StageResult, TimeSummary, Verdict,
};
use languages::escaped;
use model::{Load, MeasureUnit, Outcome, export_key};

use super::measures::{free_key, spread_measures, unit_suffix};
use crate::{Report, finding_text};

/// Nanoseconds of a second.
const NANOS: f64 = 1e9;

/// Renders the results as CSV with a head row. A value that is absent is an empty field.
pub fn csv(report: &Report) -> String {
    let mut out = String::new();
    let rows: Vec<Vec<(String, String)>> =
        report.analysis.load_points.iter().flat_map(|point| rows_of(report, point)).collect();
    // A run without load points has the head row all the same.
    let heads: Vec<&str> = match rows.first() {
        Some(row) => row.iter().map(|(name, _)| name.as_str()).collect(),
        None => vec!["load_point"],
    };
    line(heads.into_iter(), &mut out);
    for row in &rows {
        line(row.iter().map(|(_, value)| value.as_str()), &mut out);
    }
    out
}

/// Appends a row.
pub(super) fn line<'a>(fields: impl Iterator<Item = &'a str>, out: &mut String) {
    for (index, field) in fields.enumerate() {
        if 0 < index {
            out.push(',');
        }
        out.push_str(&quoted(field));
    }
    out.push_str("\r\n");
}

/// Quotes a field if necessary. Text that a spreadsheet would read as a formula gets an apostrophe.
fn quoted(field: &str) -> String {
    let is_number = field.parse::<f64>().is_ok();
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    let field = escaped(&field).into_owned();
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// Returns the row of a load point, or those of its stages where its load changed.
fn rows_of(report: &Report, point: &LoadPointResult) -> Vec<Vec<(String, String)>> {
    if !point.is_shaped() {
        return vec![row(report, point)];
    }
    point.stages.iter().map(|stage| stage_row(report, point, stage)).collect()
}

fn stage_row(report: &Report, point: &LoadPointResult, stage: &StageResult) -> Vec<(String, String)> {
    let mut row = Fields::default();
    origin(report, point, &mut row);
    row.add("stage", stage.index);
    row.number("start_s", stage.start.as_secs_f64());
    row.number("planned_s", stage.planned.length.as_secs_f64());
    row.number("level_from", stage.planned.from);
    row.number("level_to", stage.planned.to);
    row.add("verdict", super::json::state(stage.verdict.state));
    row.number("steady_s", stage.length.as_secs_f64());
    row.add("n_ok", stage.n);
    row.add("n_errors", stage.errors);
    row.number("offered_per_s", stage.offered_rate);
    row.number("delivered_ratio", stage.delivered_ratio);
    row.number("rate_per_s", stage.rate);
    row.number("rate_low_per_s", stage.rate_interval.map(|(low, _)| low));
    row.number("rate_high_per_s", stage.rate_interval.map(|(_, high)| high));
    row.number("users_mean", stage.users_mean);
    row.number("little_gap_ratio", stage.little_gap);
    times("response", Some(&stage.response), MeasureUnit::Nanoseconds, &mut row);
    times("lateness", stage.lateness.as_ref(), MeasureUnit::Nanoseconds, &mut row);
    row.number("generator_busy_ratio", stage.generator_busy);
    row.number("sut_cpus", stage.sut_cpus);
    row.number("sut_busy_ratio", stage.sut_busy);
    row.add("reasons", reasons_text(&stage.verdict));
    row.0
}

fn reasons_text(verdict: &Verdict) -> String {
    verdict.reasons.iter().map(|reason| finding_text(&reason.finding)).collect::<Vec<_>>().join("; ")
}

fn row(report: &Report, point: &LoadPointResult) -> Vec<(String, String)> {
    let mut row = Fields::default();
    identity(report, point, &mut row);
    metrics(report, point, &mut row, |metric| !metric.is_of_machine());
    times("response", Some(&point.response), MeasureUnit::Nanoseconds, &mut row);
    times("service", Some(&point.service), MeasureUnit::Nanoseconds, &mut row);
    times("lateness", point.lateness.as_ref(), MeasureUnit::Nanoseconds, &mut row);
    measures(report, point, &mut row);
    notices(point, &mut row);
    metrics(report, point, &mut row, Metric::is_of_machine);
    for outcome in outcomes(report) {
        let n = point.failures.iter().find(|(one, _)| *one == outcome).map_or(0, |(_, n)| *n);
        row.add(&format!("errors_{}", export_key(outcome.name())), n.to_string());
    }
    row.add("reasons", reasons_text(&point.verdict));
    row.0
}

/// Named values in order.
#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl Fields {
    fn add(&mut self, name: &str, value: impl ToString) {
        self.0.push((name.to_owned(), value.to_string()));
    }

    fn number(&mut self, name: &str, value: impl Into<Option<f64>>) {
        let value = value.into().filter(|value| value.is_finite());
        self.add(name, value.map_or(String::new(), |value| value.to_string()));
    }
}

/// Writes the run and the load point that a row is of.
fn origin(report: &Report, point: &LoadPointResult, row: &mut Fields) {
    let benchmark = &report.analysis.benchmark;
    row.add("benchmark", &benchmark.id);
    row.add("benchmark_version", benchmark.version);
    row.add("modified", !report.analysis.modifications.is_empty());
    row.add("run_verdict", super::json::state(report.analysis.verdict.state));
    row.add("load_point", point.index);
}

fn identity(report: &Report, point: &LoadPointResult, row: &mut Fields) {
    origin(report, point, row);
    let (users, offered) = match point.load {
        Load::Users(users) => (Some(f64::from(users)), None),
        Load::Rate { per_second, .. } => (None, Some(per_second)),
    };
    row.number("users", users);
    row.number("planned_per_s", offered);
    row.add("verdict", super::json::state(point.verdict.state));
    let catalog = &report.plan.catalog;
    if !catalog.score.is_operation_rate() {
        row.add("score_unit", &catalog.words.score);
    }
}

/// Writes the metrics that a test selects, by their table.
fn metrics(report: &Report, point: &LoadPointResult, row: &mut Fields, is_selected: fn(&Metric) -> bool) {
    let has = |metric: &&Metric| metric.is_in_csv(report.plan) && is_selected(metric);
    for metric in METRICS.iter().filter(has) {
        let name = metric.csv_name(&report.plan.catalog);
        match metric.value(point) {
            MetricValue::Count(count) => row.add(&name, count),
            MetricValue::Number(number) => row.number(&name, number),
            MetricValue::Interval(interval) => {
                row.number(&name.replacen("interval", "low", 1), interval.map(|(low, _)| low));
                row.number(&name.replacen("interval", "high", 1), interval.map(|(_, high)| high));
            }
        }
    }
}

/// Writes the distributions of measures, and the means of the others. The web's are among the metrics, as far as they are
/// told.
fn measures(report: &Report, point: &LoadPointResult, row: &mut Fields) {
    let catalog = &report.plan.catalog;
    let is_taken = |row: &Fields, key: &str| {
        row.0.iter().any(|(name, _)| {
            name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    for (measure, spread) in spread_measures(catalog).zip(&point.spreads) {
        let key = free_key(export_key(&measure.name), |key| is_taken(row, key));
        times(&key, spread.as_ref(), measure.unit, row);
    }
    if report.web().is_some() {
        return;
    }
    let with_statistics = catalog.measures.iter().zip(&point.total.measures);
    for (measure, statistics) in with_statistics.filter(|(measure, _)| !measure.has_spread) {
        let key = free_key(export_key(&measure.name), |key| is_taken(row, key));
        row.number(&format!("{key}_mean{}", unit_suffix(measure.unit)), statistics.mean);
    }
}

/// Writes the notices of each kind. A percentile within which not as many came stays empty.
fn notices(point: &LoadPointResult, row: &mut Fields) {
    for notice in &point.notices {
        let key = format!("notice_{}", export_key(&notice.name));
        let NoticeResult { begun, ended, lost, pending, begun_in_steady, .. } = *notice;
        for (label, n) in [
            ("begun", begun),
            ("ended", ended),
            ("lost", lost),
            ("pending", pending),
            ("begun_in_steady", begun_in_steady),
        ] {
            row.add(&format!("{key}_{label}"), n);
        }
        row.number(&format!("{key}_mean_s"), notice.mean);
        for (q, label) in [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")] {
            let time = notice.percentile(q).map(|time| time.as_secs_f64());
            row.number(&format!("{key}_{label}_s"), time);
        }
    }
}

/// Returns the outcomes that have a column: those that the family has, and whatever else occurred.
fn outcomes(report: &Report) -> impl Iterator<Item = Outcome> {
    let occurred = move |outcome| {
        let failures = report.analysis.load_points.iter().flat_map(|point| &point.failures);
        failures.into_iter().any(|(one, _)| *one == outcome)
    };
    let has = move |outcome: &Outcome| report.plan.catalog.can_fail_with(*outcome) || occurred(*outcome);
    Outcome::ALL.into_iter().filter(has)
}

/// Writes a distribution, of times in s, of other amounts in their unit.
fn times(name: &str, summary: Option<&TimeSummary>, unit: MeasureUnit, row: &mut Fields) {
    row.add(&format!("{name}_n"), summary.map_or(String::new(), |summary| summary.histogram.n().to_string()));
    let suffix = unit_suffix(unit);
    let scale = if unit == MeasureUnit::Nanoseconds { 1.0 } else { NANOS };
    let mut number = |label: &str, seconds: Option<f64>| {
        row.number(&format!("{name}_{label}{suffix}"), seconds.map(|seconds| seconds * scale));
    };
    let interval = summary.and_then(|summary| summary.mean_interval);
    number("mean", summary.and_then(|summary| summary.mean));
    number("mean_low", interval.map(|interval| interval.0));
    number("mean_high", interval.map(|interval| interval.1));
    for (q, label) in [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99_9")] {
        let found = summary.and_then(|summary| summary.percentile(q));
        let interval = found.and_then(|one| one.interval);
        number(label, found.map(|one| one.value.as_secs_f64()));
        number(&format!("{label}_low"), interval.map(|(low, _)| low.as_secs_f64()));
        number(&format!("{label}_high"), interval.map(|(_, high)| high.as_secs_f64()));
    }
    number("max", summary.and_then(|summary| summary.max).map(|max| max.as_secs_f64()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_field_stays_one_field() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\"\nor"), "\"say \"\"no\"\"\nor\"");
        assert_eq!(quoted("=HYPERLINK(1)"), "'=HYPERLINK(1)");
        assert_eq!(
            (quoted("-1.5"), quoted("1e-7"), quoted("plain")),
            ("-1.5".into(), "1e-7".into(), "plain".into())
        );
    }
}
