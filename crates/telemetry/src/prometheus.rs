//! The text exposition format of Prometheus, version 0.0.4.
//!
//! Source: Prometheus, "Exposition formats", text format; names follow OpenMetrics 1.0.

use std::fmt::Write;

use crate::families::{DataPoint, FAMILIES, MetricFamily, MetricKind, MetricValue};
use crate::response_histogram::{BOUNDS, ResponseHistogram};
use crate::totals::Snapshot;

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Writes all metrics. One without values is left out.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    FAMILIES.iter().map(|family| family_text(family, snapshot)).collect()
}

fn family_text(family: &MetricFamily, snapshot: &Snapshot) -> String {
    let name = family.prometheus_name();
    let mut samples = String::new();
    for (index, run) in snapshot.runs.iter().enumerate() {
        for point in (family.points)(run, index == snapshot.current) {
            sample(&mut samples, &name, &run.name.server, &point);
        }
    }
    if samples.is_empty() {
        return samples;
    }
    let kind = match family.kind {
        MetricKind::Total => "counter",
        MetricKind::Level => "gauge",
        MetricKind::Distribution => "histogram",
    };
    format!("# HELP {name} {}\n# TYPE {name} {kind}\n{samples}", family.description)
}

fn sample(out: &mut String, name: &str, server: &str, point: &DataPoint) {
    let mut labels = format!("server=\"{}\"", escaped(server));
    for (label, value) in &point.labels {
        labels += &format!(",{label}=\"{}\"", escaped(value));
    }
    // Writing to a string does not fail.
    let _ = match point.value {
        MetricValue::Count(count) => writeln!(out, "{name}{{{labels}}} {count}"),
        MetricValue::Number(number) => writeln!(out, "{name}{{{labels}}} {number}"),
        MetricValue::Distribution(response) => distribution(out, name, &labels, response),
    };
}

/// Writes cumulative buckets, as the format requires.
fn distribution(
    out: &mut String,
    name: &str,
    labels: &str,
    response: &ResponseHistogram,
) -> std::fmt::Result {
    let bounds = BOUNDS.iter().map(|bound| bound.as_secs_f64().to_string()).chain(["+Inf".to_owned()]);
    let mut sum: u64 = 0;
    for (bound, count) in bounds.zip(response.counts) {
        sum = sum.saturating_add(count);
        writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}")?;
    }
    writeln!(out, "{name}_sum{{{labels}}} {}", response.sum_s())?;
    writeln!(out, "{name}_count{{{labels}}} {sum}")
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::tests::{hostile, snapshot};

    #[test]
    fn a_scrape_has_all_metrics_of_all_runs() {
        insta::assert_snapshot!(text(&snapshot()));
    }

    #[test]
    fn a_hostile_name_stays_within_its_label() {
        let text = text(&hostile());
        assert!(text.contains("{server=\"a\\\"b\\\\c\\nd\",outcome=\"ok\"} "), "{text}");
    }
}
