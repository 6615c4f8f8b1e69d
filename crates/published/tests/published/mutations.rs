//! Mutations of every single cell of the five reports, as misprints change them: a change that contradicts something
//! else in the same report must be found.
//!
//! The laws do not decide which changes contradict. That is written in `ties`, by reading the reports: a change of a
//! cell counts unless `ties` states that nothing else in the report determines this cell (`Free`), or how far it is
//! left open. The rules are in `docs/published.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use published::{PublishedFinding, audit_report};
use published::{PublishedReport, PublishedValue};

use super::ties::{Tie, contradicts};
use super::{REPORTS, text};

/// The variable that asks for all changes instead of a sample, and for a list of what is missed; `cargo xtask
/// published-changes` sets it.
const ALL: &str = "PLIMSOLL_PUBLISHED_CHANGES";

/// The sample takes one of this many changes. A prime, so that no column is skipped.
const SAMPLE: usize = 41;

/// Part of the contradictory changes that must be found.
const FOUND_MIN: f64 = 0.95;

/// A cell of the file.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) table: String,
    /// The row, from 0.
    pub(super) row: usize,
    pub(super) column: String,
    /// Whether it repeats a figure printed elsewhere.
    pub(super) is_again: bool,
    span: Range<usize>,
    pub(super) text: String,
}

/// A change of one cell.
pub(super) struct Change<'a> {
    pub(super) cell: &'a Cell,
    pub(super) to: String,
}

/// Returns the cells of a file, as our files are written: a figure per line, a row per line.
fn cells(text: &str) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut table = String::new();
    let mut columns = Vec::new();
    let mut is_part = false;
    let mut row = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let trimmed = line.trim();
        if trimmed.starts_with('[') && trimmed.ends_with(']') && !trimmed.starts_with("[{") {
            is_part = matches!(trimmed, "[[record]]" | "[[table]]");
            (table, columns, row) = (String::new(), Vec::new(), None);
        } else if !is_part {
        } else if trimmed == "\"\"\"" {
            row = None;
        } else if let Some(index) = row {
            let mut cell_at = at;
            for (written, column) in line.trim_end_matches('\n').split('|').zip(&columns) {
                let value = written.trim();
                let from = cell_at + written.find(value).unwrap_or_default();
                cell_at += written.len() + 1;
                let span = from..from + value.len();
                let column = String::clone(column);
                let text = value.to_owned();
                cells.push(Cell { table: table.clone(), row: index, column, is_again: false, span, text });
            }
            row = Some(index + 1);
        } else if trimmed == "rows = \"\"\"" {
            row = Some(0);
        } else if let Some(id) = trimmed.strip_prefix("id = \"") {
            table = id.trim_end_matches('"').to_owned();
        } else if let Some(id) = quoted(line, "{ id = \"").next() {
            let column = line[id].to_owned();
            let values: Vec<Range<usize>> = quoted(line, "value = \"").collect();
            if values.is_empty() {
                columns.push(column.clone());
            }
            for (index, value) in values.into_iter().enumerate() {
                let span = at + value.start..at + value.end;
                let text = line[value].to_owned();
                let table = table.clone();
                let column = column.clone();
                cells.push(Cell { table, row: 0, column, is_again: 0 < index, span, text });
            }
        }
    }
    cells
}

/// Returns the text in quotes after each occurrence of `key`.
fn quoted<'a>(line: &'a str, key: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    line.match_indices(key).map(move |(at, _)| {
        let start = at + key.len();
        start..start + line[start..].find('"').unwrap_or_default()
    })
}

/// Returns the value of a cell as the parser reads it.
fn value<'a>(report: &'a PublishedReport, cell: &Cell) -> &'a PublishedValue {
    let table = report.tables.iter().find(|table| table.id == cell.table).expect("a table");
    match table.column(&cell.column) {
        Some(place) => &table.rows[cell.row][place].value,
        None => {
            let given = table.given.iter().find(|(column, _)| column.id == cell.column);
            &given.unwrap_or_else(|| panic!("{}.{}", cell.table, cell.column)).1.value
        }
    }
}

/// Returns the changes of a cell: digits changed and swapped, the point moved, letters changed, another row's text.
fn changes<'a>(report: &PublishedReport, cell: &'a Cell, others: &[&Cell]) -> Vec<Change<'a>> {
    let mut texts: Vec<String> = match value(report, cell) {
        PublishedValue::Absent => Vec::new(),
        PublishedValue::Number(number) if number.text.starts_with("0x") => digits_changed(&cell.text, 2),
        PublishedValue::Number(_) => {
            let mut texts = digits_changed(&cell.text, 0);
            texts.extend(swapped(&cell.text));
            texts.extend(by_ten(&cell.text));
            texts
        }
        PublishedValue::Date(_) => dates(&cell.text),
        PublishedValue::Text(_) => {
            let mut texts = words(&cell.text);
            texts.extend(others.iter().map(|other| other.text.clone()).find(|other| *other != cell.text));
            texts
        }
    };
    let mut seen = BTreeSet::from([plain(&cell.text)]);
    texts.retain(|text| seen.insert(plain(text)));
    texts.into_iter().map(|to| Change { cell, to }).collect()
}

fn plain(text: &str) -> String {
    text.replace(',', "")
}

/// Returns the places of the digits of a printed number, not those of its unit.
fn digit_places(text: &str) -> Vec<usize> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '~' | ' ' | '-');
    let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
    text[..end].char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect()
}

fn with(text: &str, at: usize, by: &str) -> String {
    let mut changed = text.to_owned();
    changed.replace_range(at..at + 1, by);
    changed
}

fn next_digit(digit: u8) -> String {
    char::from(if digit == b'9' { b'8' } else { digit + 1 }).to_string()
}

fn digits_changed(text: &str, from: usize) -> Vec<String> {
    let places: Vec<usize> = match from {
        0 => digit_places(text),
        from => (from..text.len()).filter(|at| text.as_bytes()[*at].is_ascii_digit()).collect(),
    };
    places.into_iter().map(|at| with(text, at, &next_digit(text.as_bytes()[at]))).collect()
}

fn swapped(text: &str) -> Vec<String> {
    let swap = |pair: &[usize]| {
        let one = text[pair[0]..].chars().next()?;
        let other = text[pair[1]..].chars().next()?;
        let first = with(text, pair[0], &other.to_string());
        (one != other).then(|| with(&first, pair[1], &one.to_string()))
    };
    digit_places(text).windows(2).filter_map(swap).collect()
}

/// Returns the number with its point moved by one place, or a zero more or less.
fn by_ten(text: &str) -> Vec<String> {
    let text = plain(text);
    let Some(end) = digit_places(&text).last().map(|at| at + 1) else { return Vec::new() };
    let (number, rest) = text.split_at(end);
    match number.split_once('.') {
        Some((whole, fraction)) => {
            let mut moved = vec![format!("{whole}{}.{}{rest}", &fraction[..1], &fraction[1..])];
            if 1 < fraction.len() && 1 < whole.len() {
                let (head, last) = whole.split_at(whole.len() - 1);
                moved.push(format!("{head}.{last}{fraction}{rest}"));
            }
            moved
                .into_iter()
                .map(|text| text.replacen(". ", " ", 1).trim_end_matches('.').to_owned())
                .collect()
        }
        None => {
            let mut moved = vec![format!("{number}0{rest}")];
            if 1 < number.len() && number.ends_with('0') {
                moved.push(format!("{}{rest}", &number[..number.len() - 1]));
            }
            moved
        }
    }
}

/// Returns a text with its last digit changed, and with its last letter changed.
fn words(text: &str) -> Vec<String> {
    let digit = text.rfind(|c: char| c.is_ascii_digit());
    let letter = text.rfind(|c: char| c.is_ascii_alphabetic());
    let other = |at: usize| if text[at..].starts_with('x') { "y" } else { "x" };
    [
        digit.map(|at| with(text, at, &next_digit(text.as_bytes()[at]))),
        letter.map(|at| with(text, at, other(at))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a date in the next month, and in the next year.
fn dates(text: &str) -> Vec<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|month| text.starts_with(month)).map(|month| {
        let rest = text.split_once(' ').map_or("", |(_, rest)| rest);
        format!("{} {rest}", MONTHS[(month + 1) % 12])
    });
    let year = text.rfind(|c: char| c.is_ascii_digit());
    month.into_iter().chain(year.map(|at| with(text, at, &next_digit(text.as_bytes()[at])))).collect()
}

/// Returns the identity of a finding, without the numbers that it shows, which a change may alter without being
/// found.
fn identity(finding: &PublishedFinding) -> (String, String, String) {
    let what = match finding.law {
        "claim" => finding.text.split(" does not hold").next().unwrap_or_default().to_owned(),
        _ => format!("{:?}", finding.cells),
    };
    (finding.law.to_owned(), finding.place.clone(), what)
}

/// Returns the number of findings by identity.
fn identities(findings: &[PublishedFinding]) -> BTreeMap<(String, String, String), usize> {
    let mut identities = BTreeMap::new();
    for finding in findings {
        *identities.entry(identity(finding)).or_default() += 1;
    }
    identities
}

/// Returns whether there is a finding that was not there before.
fn has_new(before: &BTreeMap<(String, String, String), usize>, findings: &[PublishedFinding]) -> bool {
    identities(findings).iter().any(|(identity, n)| before.get(identity).is_none_or(|known| known < n))
}

/// The counts of the changes of one report.
#[derive(Debug, Default)]
struct ChangeCounts {
    n_changes: usize,
    n_contradictory: usize,
    n_found: usize,
    /// Number of changes that made the file one that is refused.
    n_refused: usize,
    /// Found, although nothing printed contradicts it by our reading.
    n_found_besides: usize,
    /// Contradictory changes that were missed, by table and column.
    missed: BTreeMap<(String, String), Vec<String>>,
}

fn count_changes(name: &str, is_taken: impl Fn(usize) -> bool) -> ChangeCounts {
    let file = text(name);
    let report = PublishedReport::parse(name, &file).unwrap_or_else(|problems| panic!("{problems}"));
    let before = identities(&audit_report(&report));
    let cells = cells(&file);
    let mut counts = ChangeCounts::default();
    let mut index = 0;
    for cell in &cells {
        let others: Vec<&Cell> = cells
            .iter()
            .filter(|other| other.table == cell.table && other.column == cell.column && !cell.is_again)
            .collect();
        for change in changes(&report, cell, &others) {
            index += 1;
            if !is_taken(index) {
                continue;
            }
            let is_contradiction = contradicts(name, &report, &change);
            let mut changed = file.clone();
            changed.replace_range(cell.span.clone(), &change.to);
            let found = match PublishedReport::parse(name, &changed) {
                Ok(report) => has_new(&before, &audit_report(&report)).then_some(false),
                Err(_) => Some(true),
            };
            counts.n_changes += 1;
            counts.n_contradictory += usize::from(is_contradiction);
            counts.n_found += usize::from(is_contradiction && found.is_some());
            counts.n_refused += usize::from(is_contradiction && found == Some(true));
            counts.n_found_besides += usize::from(!is_contradiction && found.is_some());
            if is_contradiction && found.is_none() {
                let place = (cell.table.clone(), cell.column.clone());
                let again = if cell.is_again { ", printed again" } else { "" };
                let what = format!("row {}{again}: {} → {}", cell.row + 1, cell.text, change.to);
                counts.missed.entry(place).or_default().push(what);
            }
        }
    }
    counts
}

#[test]
fn changes_that_contradict_something_printed_are_found() {
    let is_all = std::env::var_os(ALL).is_some();
    let step = if is_all { 1 } else { SAMPLE };
    let of_report =
        |name: &'static str| std::thread::spawn(move || count_changes(name, |index| index % step == 0));
    let threads = REPORTS.map(|name| (name, of_report(name)));
    let tallies = threads.map(|(name, thread)| (name, thread.join().expect("the changes of a report")));
    println!(
        "| report | changes | contradictions | detected | share | of these, file refused | also detected |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut n = 0;
    let mut n_found = 0;
    for (name, counts) in &tallies {
        let part = 100.0 * counts.n_found as f64 / counts.n_contradictory as f64;
        println!(
            "| `{name}` | {} | {} | {} | {part:.1} % | {} | {} |",
            counts.n_changes,
            counts.n_contradictory,
            counts.n_found,
            counts.n_refused,
            counts.n_found_besides
        );
        n += counts.n_contradictory;
        n_found += counts.n_found;
    }
    println!("all: {n_found} of {n}, {:.2} %", 100.0 * n_found as f64 / n as f64);
    for (name, counts) in &tallies {
        for ((table, column), missed) in counts.missed.iter().filter(|_| is_all) {
            println!(
                "{name}: {table}.{column}: {} missed: {}",
                missed.len(),
                missed[..missed.len().min(4)].join("; ")
            );
        }
    }
    assert!(5 * 30 < n, "so few changes say nothing: {n}");
    assert!(FOUND_MIN * n as f64 <= n_found as f64, "{n_found} of {n} found: {tallies:#?}");
}

/// Goal: `ties` names only cells that exist.
#[test]
fn ties_are_about_cells_that_exist() {
    for name in REPORTS {
        let report = PublishedReport::parse(name, &text(name)).expect("a report");
        for known in super::ties::of_report(name) {
            let Tie { table, columns, .. } = known;
            let table = report.tables.iter().find(|one| one.id == *table);
            let table = table.unwrap_or_else(|| panic!("{name}: there is no table `{}`", known.table));
            for column in columns.split_whitespace().filter(|column| *column != "*") {
                assert!(table.column_or_given(column).is_some(), "{name}: `{}` has no `{column}`", table.id);
            }
        }
        let file = text(name);
        let n_cells =
            report.tables.iter().map(|table| table.rows.len() * table.columns.len() + table.given.len());
        let n_again =
            report.tables.iter().flat_map(|table| table.rows.iter().flatten()).map(|cell| cell.also.len());
        assert_eq!(cells(&file).len(), n_cells.sum::<usize>() + n_again.sum::<usize>(), "{name}");
        assert!(cells(&file).iter().all(|cell| file[cell.span.clone()] == cell.text), "{name}");
    }
}
