//! Consistency of a report: one quantity has one value in one document, wherever it appears.
//!
//! A Markdown report is read like a reader without other sources would read it: values in tables, facts and
//! sentences. Everything about one quantity at one load must agree.
//!
//! - `reported_value`: a value and its position
//! - `tables`: values in tables, by load
//! - `sentences`: values in facts and sentences
//! - `bounds`: impossible values, and units that must not be mixed

mod bounds;
mod reported_value;
mod sentences;
mod tables;

use std::collections::BTreeMap;

pub use reported_value::ReportedValue;

/// Returns all values that a report contains in known places, in the order of the text.
pub fn reported_values(report: &str) -> Vec<ReportedValue<'_>> {
    let mut all = tables::read(report);
    all.extend(sentences::read(report, &all));
    all.sort_by_key(|one| one.line);
    all
}

/// Returns the contradictions in a report, a sentence each; empty if there are none.
pub fn contradictions(report: &str) -> Vec<String> {
    let all = reported_values(report);
    let mut groups: BTreeMap<(&str, &str), Vec<&ReportedValue>> = BTreeMap::new();
    for one in &all {
        groups.entry((&one.quantity, &one.of)).or_default().push(one);
    }
    let mut found = Vec::new();
    for ((quantity, of), values) in &groups {
        if let Some(other) = values.iter().find(|one| !one.is_same(values[0])) {
            let of = if of.is_empty() { String::new() } else { format!(" at {of}") };
            found.push(format!("{quantity}{of}: {} and {}", values[0], other));
        }
    }
    found.extend(bounds::broken(report, &all));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
- Rate: **12 631/s** at 40 clients
- Saturation: **not reached** up to 40 clients
- System under test: nginx, limited to 0.30 CPUs (as asked)

## Results

**Results per load point**

| Clients | Conn/second | Latency | Verdict |
| ---: | ---: | ---: | --- |
| 20 | 9 999 (9 990–10 008) | 1.58 ms | ✓ valid |
| **40** | **12 631** | **3.17 ms** | **✓ valid** |

**Response time: mean, percentiles and maximum**

| Clients | n | mean |
| ---: | ---: | ---: |
| 40 | 63155 | 3.17 ms (3.1–3.2 ms) |
";

    #[test]
    fn a_consistent_report_has_no_contradiction() {
        assert_eq!(contradictions(REPORT), [""; 0]);
        let rates = reported_values(REPORT).into_iter().filter(|one| one.quantity == "rate");
        let rates: Vec<(String, String)> = rates.map(|one| (one.of.clone(), one.value())).collect();
        let expected = [("40", "12631"), ("20", "9999"), ("40", "12631")];
        assert_eq!(rates, expected.map(|(of, value)| (of.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_time_may_be_in_another_unit() {
        assert_eq!(contradictions(&REPORT.replace("**3.17 ms**", "**0.00317 s**")), [""; 0]);
    }

    #[test]
    fn two_values_of_one_quantity_are_reported_with_their_lines() {
        let report = REPORT.replace("**3.17 ms**", "**0.003171 s**");
        let found = contradictions(&report);
        assert_eq!(found, ["mean response time at 40: `0.003171s` (line 12) and `3.17ms` (line 18)"]);
    }
}
