//! The laws of rows and bands, and swapped figures: those that break no law after they are swapped back.
//!
//! The cost of the search has a limit that does not depend on the table: every row that is judged again costs its
//! figures times its classes, and after [`WORK_MAX`] of these the search ends without a diagnosis. The findings of the
//! laws stay in any case.

use std::collections::{BTreeMap, BTreeSet};

use crate::{PrintedNumber, PublishedTable};

use super::bands::Bands;
use super::entry::Row;
use super::{PublishedFinding, row_findings};

/// Part of the rows that must break a law before a whole column is suspected.
const SUSPECT_MIN: f64 = 0.5;

/// Part of the rows that may still do so after the columns were swapped back.
const RESTORED_MAX: f64 = 0.2;

/// The fewest rows for the suspicion of a whole column.
const ROWS_MIN: usize = 3;

/// Rows that are tried for columns swapped in all rows; a pair that repairs these is then tried in every row.
const SAMPLE: usize = 16;

/// The most that the search may cost: figures times classes of each row that is judged again.
const WORK_MAX: usize = 50_000;

/// Laws of order: swapping the compared figures always repairs them, which is no evidence.
const OF_ORDER: [&str; 5] = ["percentiles", "users", "offered", "processors", "negative"];

/// Checks the rows of a table.
pub(super) fn check_table(table: &PublishedTable) -> Vec<PublishedFinding> {
    let rows: Vec<Row> = Row::of_table(table).collect();
    let bands = Bands::of(table, &rows);
    let mut findings: Vec<PublishedFinding> = rows.iter().flat_map(row_findings).collect();
    findings.extend(rows.iter().flat_map(|row| bands.row_findings(row)));
    findings.extend(bands.table_findings().iter().cloned());
    let mut search = Search { table, rows: &rows, bands: &bands, work_left: WORK_MAX };
    let exchanged = search.perform(&findings);
    findings.extend(exchanged);
    findings
}

/// A search for swapped figures.
struct Search<'a> {
    table: &'a PublishedTable,
    rows: &'a [Row<'a>],
    bands: &'a Bands,
    work_left: usize,
}

impl Search<'_> {
    fn perform(&mut self, findings: &[PublishedFinding]) -> Vec<PublishedFinding> {
        let n = self.rows.len();
        // A finding about the whole table may concern every row.
        let of_table = findings.iter().any(|finding| finding.cells.is_empty());
        let broken: Vec<usize> = if of_table { (0..n).collect() } else { rows_of(findings) };
        if n < ROWS_MIN || broken.is_empty() {
            return Vec::new();
        }
        if SUSPECT_MIN * n as f64 <= broken.len() as f64
            && let Some((one, other)) = self.in_all_rows(&broken, findings)
        {
            let text = format!("{} are swapped in every row", self.names(one, other));
            let place = self.table.title.clone();
            return vec![PublishedFinding { law: "exchanged", place, text, cells: Vec::new() }];
        }
        let mut by_row: BTreeMap<usize, Vec<&PublishedFinding>> = BTreeMap::new();
        for finding in findings {
            for (_, row, _) in &finding.cells {
                by_row.entry(*row).or_default().push(finding);
            }
        }
        let mut exchanged = Vec::new();
        for (row, findings) in by_row {
            if self.work_left == 0 {
                break;
            }
            if let Some((one, other)) = self.in_row(row, &findings) {
                exchanged.push(self.exchanged(row, one, other));
            }
        }
        exchanged
    }

    /// Returns the two columns of a row that break no law once they are swapped.
    fn in_row(&mut self, row: usize, findings: &[&PublishedFinding]) -> Option<(usize, usize)> {
        let mut found = None;
        for (one, other) in self.pairs(findings.iter().copied(), row) {
            self.spend(&self.rows[row])?;
            let exchange = Exchange::of(&self.rows[row], one, other)?;
            let changed = exchange.applied(&self.rows[row]);
            let is_mended = row_findings(&changed).is_empty() && self.bands.row_findings(&changed).is_empty();
            if is_mended && found.replace((one, other)).is_some() {
                return None;
            }
        }
        found
    }

    /// Returns the two columns whose swap in all rows repairs most of them, if there is only one such pair.
    fn in_all_rows(&mut self, broken: &[usize], findings: &[PublishedFinding]) -> Option<(usize, usize)> {
        let step = broken.len().div_ceil(SAMPLE);
        let sample: Vec<usize> = broken.iter().copied().step_by(step).collect();
        let cited: BTreeSet<(usize, usize)> =
            sample.iter().flat_map(|row| self.pairs(findings.iter(), *row)).collect();
        let mut found = None;
        for (one, other) in cited {
            let is_mended = |left: usize, n: usize| left as f64 <= RESTORED_MAX * n as f64;
            let left = self.broken_after(&sample, one, other)?;
            if is_mended(left, sample.len()) && found.replace((one, other)).is_some() {
                return None;
            }
        }
        let (one, other) = found?;
        let all: Vec<usize> = (0..self.rows.len()).collect();
        // Tried again in every row: this costs no more than the laws did.
        self.work_left = usize::MAX;
        let left = self.broken_after(&all, one, other);
        self.work_left = 0;
        (left? as f64 <= RESTORED_MAX * all.len() as f64).then_some((one, other))
    }

    /// Returns the number of these rows that break a law after two columns were swapped in them; `None` at the end of
    /// the search.
    fn broken_after(&mut self, places: &[usize], one: usize, other: usize) -> Option<usize> {
        let exchanges: Vec<Option<Exchange>> =
            places.iter().map(|row| Exchange::of(&self.rows[*row], one, other)).collect();
        let mut changed: Vec<Row> = Vec::new();
        for (row, exchange) in places.iter().zip(&exchanges) {
            self.spend(&self.rows[*row])?;
            let row = &self.rows[*row];
            changed.push(exchange.as_ref().map_or_else(|| row.clone(), |exchange| exchange.applied(row)));
        }
        let bands = Bands::of(self.table, &changed);
        if !bands.table_findings().is_empty() {
            return Some(places.len());
        }
        let is_broken = |row: &&Row| !row_findings(row).is_empty() || !bands.row_findings(row).is_empty();
        Some(changed.iter().filter(is_broken).count())
    }

    /// Returns the pairs of columns that may have been swapped in a row: one is cited by a finding that is not about
    /// order alone, both are of one dimension, and they are not the same quantity of the same class.
    fn pairs<'f>(
        &self,
        findings: impl Iterator<Item = &'f PublishedFinding>,
        row: usize,
    ) -> BTreeSet<(usize, usize)> {
        let row = &self.rows[row];
        let mut cited: BTreeSet<usize> = BTreeSet::new();
        for finding in findings.filter(|finding| !OF_ORDER.contains(&finding.law)) {
            if finding.cells.is_empty() {
                cited.extend(row.entries.iter().filter_map(|entry| entry.place));
            } else {
                cited.extend(
                    finding
                        .cells
                        .iter()
                        .filter(|(_, index, _)| *index == row.index)
                        .filter_map(|(_, _, column)| self.table.column(column)),
                );
            }
        }
        let mut pairs = BTreeSet::new();
        for one in row.entries.iter().filter(|entry| entry.place.is_some_and(|place| cited.contains(&place)))
        {
            for other in &row.entries {
                let (Some(left), Some(right)) = (one.place, other.place) else { continue };
                let are_same = one.column.quantity == other.column.quantity
                    && one.column.per == other.column.per
                    && one.class == other.class;
                if left != right && !are_same && one.number.dimension == other.number.dimension {
                    pairs.insert((left.min(right), left.max(right)));
                }
            }
        }
        pairs
    }

    /// Counts the cost of judging a row; `None` if the limit is exceeded.
    fn spend(&mut self, row: &Row) -> Option<()> {
        let work = row.entries.len() * row.classes().len();
        let left = self.work_left.checked_sub(work);
        self.work_left = left.unwrap_or(0);
        left.map(|_| ())
    }

    fn exchanged(&self, row: usize, one: usize, other: usize) -> PublishedFinding {
        let text = format!("{} are swapped", self.names(one, other));
        let column = |place: usize| self.table.columns[place].id.clone();
        let cells = [one, other].map(|place| (self.table.id.clone(), row, column(place)));
        PublishedFinding { law: "exchanged", place: self.rows[row].place(), text, cells: cells.to_vec() }
    }

    fn names(&self, one: usize, other: usize) -> String {
        format!("`{}` and `{}`", self.table.columns[one].name, self.table.columns[other].name)
    }
}

/// Returns the rows that findings are about, each once.
fn rows_of(findings: &[PublishedFinding]) -> Vec<usize> {
    let rows: BTreeSet<usize> =
        findings.iter().flat_map(|finding| &finding.cells).map(|(_, row, _)| *row).collect();
    rows.into_iter().collect()
}

/// The swapped digits of two figures of a row; the units stay with the columns.
struct Exchange {
    one: (usize, PrintedNumber),
    other: (usize, PrintedNumber),
}

impl Exchange {
    fn of(row: &Row, one: usize, other: usize) -> Option<Exchange> {
        let number = |place: usize| row.entries.iter().find(|entry| entry.place == Some(place));
        let left = number(one)?.number;
        let right = number(other)?.number;
        Some(Exchange { one: (one, right.in_unit_of(left)), other: (other, left.in_unit_of(right)) })
    }

    fn applied<'r>(&'r self, row: &Row<'r>) -> Row<'r> {
        let mut changed = row.clone();
        for entry in &mut changed.entries {
            for (place, number) in [&self.one, &self.other] {
                if entry.place == Some(*place) {
                    entry.number = number;
                }
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use crate::PublishedReport;

    use super::super::N_JUDGED;
    use super::*;

    fn report(columns: &str, rows: &str) -> PublishedReport {
        let text = format!(
            "format = 1\n[report]\ntitle = \"T\"\npublisher = \"P\"\npublished = \"2004\"\n[[table]]\nid = \"t\"\n\
             title = \"T\"\ncolumns = [\n{columns}]\nrows = \"\"\"\n{rows}\"\"\"\n"
        );
        PublishedReport::parse("t.toml", &text).unwrap_or_else(|problems| panic!("{problems}"))
    }

    /// Returns how many findings there are in a table, and how many rows were judged for them, counted where rows are
    /// judged.
    fn judged(report: &PublishedReport) -> (usize, usize) {
        let before = N_JUDGED.get();
        let n_findings = check_table(&report.tables[0]).len();
        (n_findings, N_JUDGED.get() - before)
    }

    /// Reported: a table of 400 rows that all break a law took 8 seconds, 3,000 more than 30.
    #[test]
    fn the_search_is_bounded_however_many_rows_break_a_law() {
        let columns = "{ id = \"n\", is = \"count\" }, { id = \"rate\", is = \"rate\", unit = \"/s\" }, \
            { id = \"errors\", is = \"error-rate\", unit = \"/s\" }, { id = \"response\", is = \"response\", unit = \"s\" }, \
            { id = \"factor\", is = \"in-progress\" },\n";
        for n in [400, 3000] {
            let rows: String =
                (0..n).map(|n| format!("{} | 100.0{} | 1.5 | 0.500 | 90.0\n", 1000 + n, n % 7)).collect();
            let (n_findings, n_judged) = judged(&report(columns, &rows));
            assert_eq!(n_findings, n);
            // Once for the laws, once if columns may be exchanged; five figures of one class cost five.
            assert!(n < n_judged && n_judged <= 2 * n + WORK_MAX / 5, "{n} rows: {n_judged}");
        }
    }

    /// Reported: 50 classes of three columns in five rows took more than 30 seconds.
    #[test]
    fn the_search_is_bounded_however_many_classes_there_are() {
        let column = |n: usize| {
            format!(
                "{{ id = \"r{n}\", is = \"rate\", class = \"c{n}\", unit = \"/s\" }}, \
                 {{ id = \"t{n}\", is = \"response\", class = \"c{n}\", unit = \"s\" }}, \
                 {{ id = \"q{n}\", is = \"in-progress\", class = \"c{n}\" }},\n"
            )
        };
        let columns: String = (0..50).map(column).collect();
        let row = |n: usize| format!("{n} {}\n", "| 100.0 | 0.500 | 90.0 ".repeat(50));
        let rows: String = (0..5).map(row).collect();
        let report = report(&format!("{{ id = \"n\", is = \"count\" }},\n{columns}"), &rows);
        let (n_findings, n_judged) = judged(&report);
        assert_eq!(n_findings, 5 * 50);
        // 151 figures times 51 classes for each row.
        assert!(n_judged <= 2 * 5 + WORK_MAX / (151 * 51), "{n_judged}");
    }
}
