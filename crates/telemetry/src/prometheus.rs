//! The metrics in the text format of Prometheus; names follow OpenMetrics 1.0.

use http_lite::prometheus::{PrometheusType, family_text};

use crate::families::{FAMILIES, MetricFamily, MetricKind, MetricValue};
use crate::response_histogram::BOUNDS;
use crate::totals::Snapshot;

/// Writes all metrics. One without values is left out.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    FAMILIES.iter().map(|family| text_of_family(family, snapshot)).collect()
}

fn text_of_family(family: &MetricFamily, snapshot: &Snapshot) -> String {
    let kind = match family.kind {
        MetricKind::Total => PrometheusType::Counter,
        MetricKind::Level => PrometheusType::Gauge,
        MetricKind::Distribution => PrometheusType::Histogram,
    };
    family_text(&family.prometheus_name(), kind, family.description, |samples| {
        for (index, run) in snapshot.runs.iter().enumerate() {
            for point in (family.points)(run, index == snapshot.current) {
                let more = point.labels.iter().map(|(label, value)| (*label, value.as_str()));
                let labels = std::iter::once(("server", run.run.server.as_str())).chain(more);
                match point.value {
                    MetricValue::Count(count) => samples.number(labels, count),
                    MetricValue::Number(number) => samples.number(labels, number),
                    MetricValue::Distribution(response) => {
                        let bounds = BOUNDS.iter().map(|bound| bound.as_secs_f64());
                        samples.histogram(labels, bounds, &response.counts, response.sum_s());
                    }
                }
            }
        }
    })
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
