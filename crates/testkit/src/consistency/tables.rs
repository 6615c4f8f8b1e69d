//! Values in tables: those with a row for each load, and those with a column for each.

use super::ReportedValue;

/// Headings of the column with the loads.
const LOADS: [&str; 4] = ["Clients", "Users", "Offered/second", "Requested (ops/s)"];

/// Headings of the rate.
const RATES: [&str; 4] = ["Conn/second", "Ops/second", "Requests/second", "Transactions/second"];

/// A table with several rows per load.
const EXAMPLES: &str = "First example of each kind";

/// Returns the numbered lines of a report outside of fences.
pub(super) fn lines(report: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    report.lines().enumerate().filter_map(move |(index, line)| {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => return Some((index + 1, line)),
        }
        None
    })
}

/// Returns the cells of a row; empty for other lines.
pub(super) fn cells(line: &str) -> Vec<&str> {
    let Some(inside) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
        return Vec::new();
    };
    inside.split(" | ").map(str::trim).collect()
}

pub(super) fn read(report: &str) -> Vec<ReportedValue<'_>> {
    let mut values = Vec::new();
    let (mut caption, mut heads): (&str, Option<Vec<&str>>) = ("", None);
    for (line, text) in lines(report) {
        let row = cells(text);
        match &heads {
            _ if row.is_empty() => {
                heads = None;
                if !text.is_empty() {
                    caption = text.trim_matches('*');
                }
            }
            None => heads = Some(row),
            Some(_) if row[0].starts_with("---") => {}
            Some(heads) if LOADS.contains(&heads[0]) => values.extend(by_load(caption, heads, &row, line)),
            Some(heads) => values.extend(by_name(caption, heads, &row, line)),
        }
    }
    values
}

/// Parses a row of a table with a row for each load.
fn by_load<'a>(caption: &str, heads: &[&str], row: &[&'a str], line: usize) -> Vec<ReportedValue<'a>> {
    let of = row[0];
    if caption == EXAMPLES || of.is_empty() {
        return Vec::new();
    }
    let cells = heads.iter().zip(row).skip(1);
    let values = cells.filter_map(|(head, cell)| {
        let value = first_value(cell);
        let is_said = !matches!(value.trim_matches('*'), "" | "–");
        is_said.then(|| ReportedValue::of(&quantity(caption, head), of, value, line))
    });
    values.collect()
}

/// Parses a row of a table with a column for each load: percentiles, and host metrics.
fn by_name<'a>(caption: &str, heads: &[&'a str], row: &[&'a str], line: usize) -> Vec<ReportedValue<'a>> {
    let mut values = Vec::new();
    if caption == "Response time per percentile" {
        for (head, cell) in heads.iter().zip(row).skip(1).filter(|(_, cell)| **cell != "–") {
            values.push(ReportedValue::of(&format!("p{} of the response time", row[0]), head, cell, line));
            // Names of curves mark the special ones.
            for mark in ["saturation", "knee"] {
                if head.ends_with(&format!("({mark})")) {
                    values.push(ReportedValue::whole(mark, load_text(head), line));
                }
            }
        }
    }
    if row[0] == "Connections in TIME-WAIT" {
        let loads = heads.iter().zip(row).skip(3);
        values.extend(
            loads.map(|(head, cell)| ReportedValue::of("connections in TIME-WAIT", head, cell, line)),
        );
    }
    values
}

/// Returns the number at the start of a load's name.
fn load_text(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '\u{202f}').unwrap_or(name.len());
    &name[..end]
}

/// Strips the interval in brackets after a value.
fn first_value(cell: &str) -> &str {
    match cell.find(" (") {
        Some(end) => cell[..end].trim_end(),
        None => cell,
    }
}

/// Returns the normalized name of a column's quantity; a column unknown in other tables keeps its own name.
fn quantity(caption: &str, head: &str) -> String {
    let of_time = caption.strip_suffix(": mean, percentiles and maximum").map(str::to_lowercase);
    match (of_time.as_deref(), head) {
        (_, head) if RATES.contains(&head) => "rate".to_owned(),
        (Some(time), "mean") => format!("mean {time}"),
        (Some(time), head) if is_percentile(head) => format!("{head} of the {time}"),
        (Some(time), head) => format!("{head} of {time}"),
        (None, "Latency" | "Response time" | "Response time, mean" | "mean response") => {
            "mean response time".to_owned()
        }
        (None, "p99" | "p99 response") => "p99 of the response time".to_owned(),
        (None, head) => match head.split_once(' ') {
            Some((what, "response")) if is_percentile(what) => format!("{what} of the response time"),
            Some(("max", "response")) => "max of response time".to_owned(),
            _ => head.to_owned(),
        },
    }
}

fn is_percentile(head: &str) -> bool {
    head.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the number of valid load points in the table of results.
pub(super) fn n_valid(values: &[ReportedValue]) -> Option<usize> {
    let first = values.iter().find(|one| one.quantity == "Verdict")?;
    // The table of results is the first with verdicts; repeated loads appear again later.
    let rows = values.iter().filter(|one| one.quantity == "Verdict" && one.line < first.line + 100);
    let mut last = first.line;
    let results = rows.take_while(|one| {
        let follows = one.line <= last + 1;
        last = one.line;
        follows
    });
    Some(results.filter(|one| one.value() == "✓valid").count())
}
