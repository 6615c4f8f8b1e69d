//! Published results: the best one of every system in a published report, for comparison with a run.

use crate::{PublishedReport, QuantityForm};

use crate::audit::{Entry, Row};

/// The best result of a system in one benchmark, as published.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedResult {
    /// The benchmark, by our name for it.
    pub benchmark: String,
    /// The system.
    pub subject: String,
    /// The class of operations or the test; `None` if there is one only.
    pub class: Option<String>,
    /// Operations per second.
    pub rate: f64,
    /// The rate as printed, with its unit.
    pub rate_text: String,
    /// The load at which it was reached, as printed.
    pub load_text: Option<String>,
    /// The mean response time there, as printed.
    pub response_text: Option<String>,
    /// The publisher, and the date of publication.
    pub source: String,
}

impl PublishedResult {
    /// Returns the number of these systems that together perform `rate` operations per second.
    pub fn equivalents(&self, rate: f64) -> f64 {
        rate / self.rate
    }
}

/// Returns the highest rate of every system, test and benchmark of a report, in its order.
///
/// Only rows with a benchmark, a system and a rate are results. Where a system is in several tables, the first one
/// counts: the others repeat it.
pub fn published_results(report: &PublishedReport) -> Vec<PublishedResult> {
    let mut results: Vec<(&str, PublishedResult)> = Vec::new();
    for row in Row::all(report) {
        for result in of_row(report, &row) {
            let is_same = |(_, known): &&mut (&str, PublishedResult)| {
                known.benchmark == result.benchmark
                    && known.subject == result.subject
                    && known.class == result.class
            };
            match results.iter_mut().find(is_same) {
                Some((table, known)) if *table == row.table.id && known.rate < result.rate => *known = result,
                Some(_) => {}
                None => results.push((&row.table.id, result)),
            }
        }
    }
    results.into_iter().map(|(_, result)| result).collect()
}

fn of_row(report: &PublishedReport, row: &Row) -> Vec<PublishedResult> {
    let (Some(benchmark), Some(subject)) = (&row.table.benchmark, row.subject) else { return Vec::new() };
    let rates = row.every(QuantityForm::Rate).filter(|rate| 0.0 < rate.number.value);
    let result = |rate: Entry| {
        let beside = |form| row.find(form, rate.class).map(|entry: Entry| entry.written());
        let load = beside(QuantityForm::Users).map(|users| format!("{users} users"));
        PublishedResult {
            benchmark: benchmark.clone(),
            subject: subject.to_owned(),
            class: rate.class.map(str::to_owned),
            rate: rate.number.value,
            rate_text: rate.written(),
            load_text: load.or_else(|| beside(QuantityForm::OfferedRate)),
            response_text: beside(QuantityForm::Response),
            source: format!("{}, {}", report.publisher, report.published.text),
        }
    };
    rates.map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_row_of_every_system_is_its_result() {
        let text = "format = 1\n[report]\ntitle = \"T\"\npublisher = \"P\"\npublished = \"1996\"\n\
            [[table]]\nid = \"t\"\ntitle = \"T\"\nbenchmark = \"webstone-2.0.1\"\nkey = [\"system\", \"clients\"]\n\
            columns = [{ id = \"system\", is = \"subject\" }, { id = \"clients\", is = \"users\" }, \
            { id = \"rate\", is = \"rate\", unit = \"/s\" }]\n\
            rows = \"\"\"\nA | 10 | 100.0\nA | 20 | 150.0\nA | 30 | 140.0\nB | 10 | 60.0\n\"\"\"\n";
        let report = PublishedReport::parse("t.toml", text).unwrap();
        let results = published_results(&report);
        let short: Vec<(&str, f64, Option<&str>)> =
            results.iter().map(|one| (one.subject.as_str(), one.rate, one.load_text.as_deref())).collect();
        assert_eq!(short, [("A", 150.0, Some("20 users")), ("B", 60.0, Some("10 users"))]);
        assert_eq!(results[0].rate_text, "150.0 /s");
        assert_eq!(results[0].equivalents(17_700.0), 118.0);
    }
}
