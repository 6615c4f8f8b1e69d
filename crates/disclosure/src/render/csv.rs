//! CSV (RFC 4180): the results table at full precision, one row per load point, units in the column names.

use analysis::{LoadPointResult, TimeSummary};
use languages::escaped;
use model::{Load, Outcome, web_measure};
use units::Nanos;

use crate::{Report, finding_text};

/// Renders the results as CSV with a head row. A value that is absent is an empty field.
pub fn csv(report: &Report) -> String {
    let mut out = String::new();
    let rows: Vec<Vec<(String, String)>> =
        report.analysis.load_points.iter().map(|point| row(report, point)).collect();
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

fn row(report: &Report, point: &LoadPointResult) -> Vec<(String, String)> {
    let mut row = Fields::default();
    identity(report, point, &mut row);
    figures(point, &mut row);
    times("response", Some(&point.response), &mut row);
    times("service", Some(&point.service), &mut row);
    times("lateness", point.lateness.as_ref(), &mut row);
    times("connect", point.web.as_ref().and_then(|web| web.connect.as_ref()), &mut row);
    resources(point, &mut row);
    for outcome in Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Ok) {
        let n = point.failures.iter().find(|(one, _)| *one == outcome).map_or(0, |(_, n)| *n);
        row.add(&format!("errors_{}", outcome.name().replace(' ', "_")), n.to_string());
    }
    let reasons = point.verdict.reasons.iter().map(|reason| finding_text(&reason.finding));
    let reasons: Vec<String> = reasons.collect();
    row.add("reasons", reasons.join("; "));
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

fn identity(report: &Report, point: &LoadPointResult, row: &mut Fields) {
    let benchmark = &report.analysis.benchmark;
    row.add("benchmark", &benchmark.id);
    row.add("benchmark_version", benchmark.version);
    row.add("modified", !report.analysis.modifications.is_empty());
    row.add("run_verdict", super::json::state(report.analysis.verdict.state));
    row.add("load_point", point.index);
    let (users, offered) = match point.load {
        Load::Users(users) => (Some(f64::from(users)), None),
        Load::Rate { per_second, .. } => (None, Some(per_second)),
    };
    row.number("users", users);
    row.number("planned_per_s", offered);
    row.add("verdict", super::json::state(point.verdict.state));
    row.number("steady_s", point.length.as_secs_f64());
}

fn figures(point: &LoadPointResult, row: &mut Fields) {
    row.add("n_ok", point.total.n);
    row.add("n_errors", point.total.errors);
    row.number("offered_per_s", point.offered_rate);
    row.number("delivered_ratio", point.delivered_ratio);
    row.number("score", point.score);
    row.number("rate_per_s", point.rate);
    row.number("rate_per_user_per_s", point.rate_per_user);
    row.number("rate_low_per_s", point.rate_interval.map(|interval| interval.0));
    row.number("rate_high_per_s", point.rate_interval.map(|interval| interval.1));
    row.number("errors_per_s", point.error_rate);
    row.number("error_level_ratio", point.error_level);
    row.number("load_factor", point.load_factor);
    row.number("throughput_mbit_per_s", point.throughput_mbit);
    // Of another family these cells are empty.
    let web = point.web.as_ref();
    let first_byte = web.and_then(|_| point.total.measure(web_measure::FIRST_BYTE).mean);
    row.number("body_throughput_kb_per_s", web.map(|web| web.body_throughput_kb));
    row.number("receive_mean_s", web.and_then(|web| web.receive_mean));
    row.number("first_byte_mean_s", first_byte);
    row.number("client_throughput_mbit_per_s", point.client_throughput_mbit);
    row.number("pages_per_min", point.units_per_minute);
    row.number("in_flight_mean", point.in_flight_mean);
    row.number("thinking_mean", point.thinking_mean);
    row.number("little_gap_ratio", point.little_gap);
    row.add("in_flight_at_end", point.in_flight_at_end);
    row.add("in_flight_body_bytes", web.map_or(String::new(), |web| web.in_flight_body_bytes.to_string()));
    row.number("in_flight_age_s", point.in_flight_age.as_secs_f64());
    row.add("left_open", point.left_open);
}

fn times(name: &str, summary: Option<&TimeSummary>, row: &mut Fields) {
    let seconds = |time: Option<Nanos>| time.map(Nanos::as_secs_f64);
    let interval = summary.and_then(|summary| summary.mean_interval);
    row.add(&format!("{name}_n"), summary.map_or(String::new(), |summary| summary.histogram.n().to_string()));
    row.number(&format!("{name}_mean_s"), summary.and_then(|summary| summary.mean));
    row.number(&format!("{name}_mean_low_s"), interval.map(|interval| interval.0));
    row.number(&format!("{name}_mean_high_s"), interval.map(|interval| interval.1));
    for (q, label) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99_9")] {
        let found = summary.and_then(|summary| summary.percentile(q));
        let interval = found.and_then(|one| one.interval);
        row.number(&format!("{name}_{label}_s"), seconds(found.map(|one| one.value)));
        row.number(&format!("{name}_{label}_low_s"), seconds(interval.map(|interval| interval.0)));
        row.number(&format!("{name}_{label}_high_s"), seconds(interval.map(|interval| interval.1)));
    }
    row.number(&format!("{name}_max_s"), seconds(summary.and_then(|summary| summary.max)));
}

fn resources(point: &LoadPointResult, row: &mut Fields) {
    row.number("generator_busy_ratio", point.generator_busy);
    row.number("generator_run_queue_ratio", point.generator_run_queue);
    row.number("generator_cpu_per_operation_s", point.generator_cpu_per_operation);
    row.number("sut_cpus", point.sut_cpus);
    row.number("sut_busy_ratio", point.sut_busy);
    row.number("sut_cpu_per_operation_s", point.sut_cpu_per_operation);
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
