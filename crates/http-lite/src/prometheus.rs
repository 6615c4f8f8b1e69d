//! The text exposition format of Prometheus, version 0.0.4.
//!
//! Source: Prometheus, "Exposition formats", text format.

use std::fmt::{Display, Write};

/// The content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of a metric family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrometheusType {
    /// A value that only grows.
    Counter,
    /// A value that may fall.
    Gauge,
    /// Counts in buckets.
    Histogram,
}

impl PrometheusType {
    fn name(self) -> &'static str {
        match self {
            PrometheusType::Counter => "counter",
            PrometheusType::Gauge => "gauge",
            PrometheusType::Histogram => "histogram",
        }
    }
}

/// Writes a metric family: its name, type, help text, and the samples that `write` adds. Without samples it is empty.
pub fn family_text(
    name: &str,
    kind: PrometheusType,
    help: &str,
    write: impl FnOnce(&mut PrometheusSamples<'_>),
) -> String {
    let mut samples = PrometheusSamples { name, text: String::new() };
    write(&mut samples);
    match samples.text.as_str() {
        "" => String::new(),
        text => format!("# HELP {name} {help}\n# TYPE {name} {}\n{text}", kind.name()),
    }
}

/// The samples of a metric family.
#[derive(Debug)]
pub struct PrometheusSamples<'a> {
    name: &'a str,
    text: String,
}

impl PrometheusSamples<'_> {
    /// Adds a number with these labels.
    pub fn number<'l>(&mut self, labels: impl IntoIterator<Item = (&'l str, &'l str)>, number: impl Display) {
        let labels = LabelText::new(labels);
        self.line("", &labels, number);
    }

    /// Adds a histogram with these labels. `bounds` are the inclusive ends of its buckets, and `counts` the values in
    /// each, not cumulative; the last count is of those beyond all bounds.
    pub fn histogram<'l>(
        &mut self,
        labels: impl IntoIterator<Item = (&'l str, &'l str)>,
        bounds: impl IntoIterator<Item = f64>,
        counts: &[u64],
        sum: f64,
    ) {
        let labels = LabelText::new(labels);
        let bounds = bounds.into_iter().map(|bound| bound.to_string()).chain(["+Inf".to_owned()]);
        let mut count: u64 = 0;
        for (bound, n) in bounds.zip(counts) {
            // The format has cumulative buckets.
            count = count.saturating_add(*n);
            self.line("_bucket", &labels.clone().and("le", &bound), count);
        }
        self.line("_sum", &labels, sum);
        self.line("_count", &labels, count);
    }

    fn line(&mut self, suffix: &str, labels: &LabelText, value: impl Display) {
        let name = self.name;
        // Writing to a string does not fail.
        let _ = match labels.0.as_str() {
            "" => writeln!(self.text, "{name}{suffix} {value}"),
            labels => writeln!(self.text, "{name}{suffix}{{{labels}}} {value}"),
        };
    }
}

/// Labels as text, without braces.
#[derive(Clone)]
struct LabelText(String);

impl LabelText {
    fn new<'l>(labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> LabelText {
        let none = LabelText(String::new());
        labels.into_iter().fold(none, |text, (label, value)| text.and(label, value))
    }

    fn and(mut self, label: &str, value: &str) -> LabelText {
        let comma = if self.0.is_empty() { "" } else { "," };
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        self.0 += &format!("{comma}{label}=\"{value}\"");
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_help_and_type_once() {
        let text = family_text("requests_total", PrometheusType::Counter, "Requests.", |samples| {
            samples.number([("path", "hit"), ("reason", "a\"b\\c\nd")], 3_u64);
            samples.number([], 0.25);
        });
        assert_eq!(
            text,
            "# HELP requests_total Requests.\n# TYPE requests_total counter\n\
             requests_total{path=\"hit\",reason=\"a\\\"b\\\\c\\nd\"} 3\nrequests_total 0.25\n"
        );
    }

    #[test]
    fn a_family_without_samples_is_left_out() {
        assert_eq!(family_text("up", PrometheusType::Gauge, "Up.", |_| {}), "");
    }

    #[test]
    fn buckets_are_cumulative() {
        let text = family_text("seconds", PrometheusType::Histogram, "Time.", |samples| {
            samples.histogram([("run", "a")], [0.1, 1.0], &[2, 3, 1], 4.5);
        });
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "seconds_bucket{run=\"a\",le=\"0.1\"} 2",
                "seconds_bucket{run=\"a\",le=\"1\"} 5",
                "seconds_bucket{run=\"a\",le=\"+Inf\"} 6",
                "seconds_sum{run=\"a\"} 4.5",
                "seconds_count{run=\"a\"} 6",
            ]
        );
    }
}
