//! What differs in the configuration of the sides.

use analysis::compare::{Comparison, ConfigurationDifference};

use crate::{Block, Column, NoteKind, Row, Section, Table, numbers};

/// Longer values are cut on a terminal; the document has them whole.
const WIDTH_MAX: usize = 60;

/// Returns a row for each fact that differs, with a column for each side; `None` if nothing does. For a terminal: long
/// values are cut.
pub fn configuration_table(comparison: &Comparison) -> Option<Table> {
    table(comparison, cut)
}

/// Returns the section; of a comparison in which nothing is known to differ it says so.
pub(super) fn section(comparison: &Comparison) -> Option<Section> {
    let block = match table(comparison, str::to_owned) {
        Some(table) => Block::Table(table),
        None if comparison.sides.len() < 2 => return None,
        None => Block::Note(NoteKind::Info, "No difference is known in server or machine.".into()),
    };
    Some(Section {
        id: "differences",
        title: "What differs in the configuration".into(),
        blocks: vec![block],
    })
}

fn table(comparison: &Comparison, shown: impl Fn(&str) -> String) -> Option<Table> {
    if comparison.configuration.is_empty() {
        return None;
    }
    let mut columns = vec![Column::words("Where"), Column::words("What")];
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
    let table = Table::new("Configuration that differs", columns, rows);
    Some(table.note("For files, only differing lines are shown. Per-run paths and ports are ignored."))
}

/// Returns the first line, not too long.
fn cut(value: &str) -> String {
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
