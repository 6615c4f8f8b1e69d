//! The audit of a published report: whether all its numbers can be true at once.
//!
//! There are no records. Every printed number stands for a range, and a law is broken if no values in the ranges
//! obey it. Laws are general: nothing here knows a report or a benchmark.
//!
//! - `range`: arithmetic on ranges; `written`: the format of numbers
//! - `entry`: rows as input of the laws
//! - `product`: laws of the form a = b · c; `window`, `bounds`, `whole`, `shares`, `percentiles`, `deviation`: of one row
//! - `price`, `alike`, `copied`: of one system, wherever it stands; `repeats`: of two tables
//! - `bands`, `listing`, `exchange`: of one table
//! - `evaluate`, `claims`, `words`: the report's own statements

mod alike;
mod bands;
mod bounds;
mod claims;
mod copied;
mod deviation;
mod entry;
mod evaluate;
mod exchange;
mod listing;
mod percentiles;
mod price;
mod product;
mod range;
mod repeats;
mod shares;
mod whole;
mod window;
mod words;
mod written;

use crate::PublishedReport;

pub(crate) use entry::{Entry, Row};

/// A finding in a published report: a figure or statement that does not follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedFinding {
    /// The law that is broken, one of the table in `docs/published.md`.
    pub law: &'static str,
    /// The place: title of the record or table, and the row.
    pub place: String,
    /// The arithmetic, a clause without a full stop.
    pub text: String,
    /// The cells concerned: id of the record or table, row from 0, id of the figure or column.
    pub cells: Vec<(String, usize, String)>,
}

/// A law about single rows.
type RowLaw = fn(&Row) -> Vec<PublishedFinding>;

/// Laws of single rows. A row that breaks none of them after two columns are swapped had these columns swapped.
const ROW_LAWS: [RowLaw; 7] = [
    product::check,
    window::check,
    bounds::check,
    whole::check,
    shares::check_row,
    percentiles::check,
    deviation::check,
];

/// Audits a published report. Findings in the order of the report, those about several places last.
pub fn audit_report(report: &PublishedReport) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for table in &report.tables {
        findings.extend(exchange::check_table(table));
        findings.extend(shares::check_table(table));
        findings.extend(listing::check(table, &report.published));
    }
    findings.extend(price::check(report));
    findings.extend(alike::check(report));
    findings.extend(repeats::check(report));
    findings.extend(copied::check(report, &findings));
    findings.extend(claims::check(report));
    findings
}

#[cfg(test)]
thread_local! {
    /// Number of rows judged, for tests that bound it.
    static N_JUDGED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns the findings of the laws of single rows.
fn row_findings(row: &Row) -> Vec<PublishedFinding> {
    #[cfg(test)]
    N_JUDGED.set(N_JUDGED.get() + 1);
    ROW_LAWS.iter().flat_map(|law| law(row)).collect()
}

impl PublishedFinding {
    /// Makes a finding about entries of a row.
    fn of_row(law: &'static str, row: &Row, entries: &[Entry], text: String) -> PublishedFinding {
        let cell = |entry: &Entry| (row.table.id.clone(), row.index, entry.column.id.clone());
        let cells = entries.iter().filter(|entry| entry.place.is_some()).map(cell).collect();
        PublishedFinding { law, place: row.place(), text, cells }
    }
}
