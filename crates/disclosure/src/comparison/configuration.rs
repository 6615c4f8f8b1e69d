//! Configuration differences between the sides.

use analysis::compare::{Comparison, ConfigurationDifference};

use crate::{Block, Column, NoteKind, Row, Section, Table, numbers};

/// Maximum length of values on a terminal; longer ones are truncated, but complete in the document.
const WIDTH_MAX: usize = 60;

/// Returns a row for each differing fact, with a column for each side; `None` if there are no differences. Long values are
/// truncated, for a terminal.
pub fn configuration_table(comparison: &Comparison) -> Option<Table> {
    table(comparison, truncate)
}

/// Returns the section; without known differences it contains a note; `None` with fewer than two sides.
pub(super) fn section(comparison: &Comparison) -> Option<Section> {
    let block = match table(comparison, str::to_owned) {
        Some(table) => Block::Table(table),
        None if comparison.sides.len() < 2 => return None,
        None => Block::Note(NoteKind::Info, "No configuration differences were found.".into()),
    };
    Some(Section { id: "differences", title: "Configuration differences".into(), blocks: vec![block] })
}

fn table(comparison: &Comparison, shown: impl Fn(&str) -> String) -> Option<Table> {
    if comparison.configuration.is_empty() {
        return None;
    }
    let mut columns = vec![Column::words("Section"), Column::words("Setting")];
    columns.extend(comparison.sides.iter().map(|side| Column::words(side.name.clone())));
    let mut section = "";
    let row = |one: &'_ ConfigurationDifference, is_new: bool| {
        let title = if is_new { one.section.clone() } else { String::new() };
        let value = |value: &Option<String>| value.as_deref().map_or(numbers::ABSENT.to_owned(), &shown);
        let values = one.values.iter().map(value);
        Row::plain([title, one.name.clone()].into_iter().chain(values))
    };
    let mut rows = Vec::new();
    for one in &comparison.configuration {
        rows.push(row(one, section != one.section));
        section = &one.section;
    }
    let table = Table::new("Configuration differences", columns, rows);
    Some(table.note("For files, only differing lines are shown. Per-run paths and ports are ignored."))
}

/// Returns a value of one line, truncated, or the number of lines of a longer one.
fn truncate(value: &str) -> String {
    let line = value.lines().next().unwrap_or_default();
    let n_lines = value.lines().count();
    if n_lines < 2 && line.chars().count() <= WIDTH_MAX {
        return line.to_owned();
    }
    if 1 < n_lines {
        return format!("{n_lines} differing lines");
    }
    let start: String = line.chars().take(WIDTH_MAX - 1).collect();
    format!("{start}…")
}
