//! Whether a report contradicts itself: one quantity has one value in one document, wherever it stands.
//!
//! A report in Markdown is read as a stranger would read it: what each table says of each load, what facts and sentences say.
//! Whatever says something of the same quantity at the same load has to say the same.
//!
//! - `statement`: what is said, and where
//! - `tables`: what tables say, load by load
//! - `sentences`: what facts and sentences say
//! - `bounds`: what cannot be, and units that must not stand side by side

mod bounds;
mod sentences;
mod statement;
mod tables;

use std::collections::BTreeMap;

pub use statement::Statement;

/// Reads everything that a report says in a place that this module knows, in the order of the text.
pub fn statements(report: &str) -> Vec<Statement<'_>> {
    let mut all = tables::read(report);
    all.extend(sentences::read(report, &all));
    all.sort_by_key(|one| one.line);
    all
}

/// Returns what a report contradicts itself in, a sentence each; empty if nothing.
pub fn contradictions(report: &str) -> Vec<String> {
    let all = statements(report);
    let mut groups: BTreeMap<(&str, &str), Vec<&Statement>> = BTreeMap::new();
    for one in &all {
        groups.entry((&one.quantity, &one.of)).or_default().push(one);
    }
    let mut found = Vec::new();
    for ((quantity, of), said) in &groups {
        if let Some(other) = said.iter().find(|one| one.value() != said[0].value()) {
            let of = if of.is_empty() { String::new() } else { format!(" at {of}") };
            found.push(format!("{quantity}{of}: {} and {}", said[0], other));
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
    fn a_report_that_says_the_same_everywhere_has_no_contradiction() {
        assert_eq!(contradictions(REPORT), [""; 0]);
        let rates = statements(REPORT).into_iter().filter(|one| one.quantity == "rate");
        let rates: Vec<(String, String)> = rates.map(|one| (one.of.clone(), one.value())).collect();
        let expected = [("40", "12631"), ("20", "9999"), ("40", "12631")];
        assert_eq!(rates, expected.map(|(of, value)| (of.to_owned(), value.to_owned())));
    }

    #[test]
    fn two_values_of_one_quantity_are_told_with_their_lines() {
        let report = REPORT.replace("**3.17 ms**", "**0.003171 s**");
        let found = contradictions(&report);
        assert_eq!(found, ["mean response time at 40: `0.003171s` (line 12) and `3.17ms` (line 18)"]);
    }
}
