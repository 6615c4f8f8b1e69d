//! Records and tables: figures, columns, rows.

use std::collections::{HashMap, HashSet};

use languages::reader::{TomlTable, ValueError, choice, flag, id, line, list, text};
use languages::{nearest, parse_rates};
use toml::de::DeValue;

use super::expression::Expression;
use super::unit::PrintedUnit;
use super::{
    CalendarDate, PrintedNumber, PublishedCell, PublishedColumn, PublishedQuantity, PublishedTable,
    PublishedValue, QuantityForm, Repeat,
};

/// Texts that mark a missing number.
const ABSENT: [&str; 4] = ["", "-", "NA", "n/a"];

/// The most levels that a report can announce for one column.
const LEVELS_MAX: usize = 10_000;

/// A record or table as far as it could be read.
pub(super) struct ReadPart {
    pub(super) table: PublishedTable,
    /// Whether a figure, a column or a row is missing because of a mistake, which is reported.
    pub(super) is_partial: bool,
}

/// A figure or column as far as it could be read.
struct ReadColumn {
    column: PublishedColumn,
    /// The unit of its values; `None` if they cannot be checked, because the quantity is unknown.
    unit: Option<String>,
}

/// The keys that records and tables share.
struct Head {
    id: Option<String>,
    title: Option<String>,
    at: Option<String>,
    subject: Option<String>,
    class: Option<String>,
    benchmark: Option<String>,
    repeats: Vec<Repeat>,
}

fn read_head(table: &mut TomlTable) -> Head {
    Head {
        id: table.required_undescribed("id", id),
        title: table.required_undescribed("title", line),
        at: table.optional_undescribed("at", line),
        subject: table.optional_undescribed("subject", line),
        class: table.optional_undescribed("class", line),
        benchmark: table.optional_undescribed("benchmark", id),
        repeats: read_repeats(table),
    }
}

/// Reads the repetitions of a table; their common columns are determined after all tables are read.
fn read_repeats(table: &mut TomlTable) -> Vec<Repeat> {
    let repeats = table.optional_tables_undescribed("repeats").unwrap_or_default();
    let read = |mut repeat: TomlTable| {
        let (table, columns) = (repeat.required_undescribed("table", id), repeat.optional_undescribed("columns", list(id)));
        repeat.finish();
        Some(Repeat { table: table?, columns: columns.unwrap_or_default() })
    };
    repeats.into_iter().filter_map(read).collect()
}

/// Reads `[[record]]`; `None` without an id.
pub(super) fn read_record(table: &mut TomlTable) -> Option<ReadPart> {
    let head = read_head(table);
    let (figures, is_partial) = read_figures(table, "figures");
    let (columns, row) = figures.into_iter().unzip();
    build(head, columns, vec![row], Vec::new(), Vec::new(), false, is_partial)
}

/// Reads `[[table]]`; `None` without an id.
pub(super) fn read_table(table: &mut TomlTable) -> Option<ReadPart> {
    let head = read_head(table);
    let (given, lacks_given) = match table.value("given") {
        Some(_) => read_figures(table, "given"),
        None => (Vec::new(), false),
    };
    let is_paced = table.optional_undescribed("paced", flag).unwrap_or(false);
    let (columns, lacks_columns) = read_columns(table);
    let key = read_key(table, &columns, lacks_columns);
    let written = table.required_undescribed("rows", text);
    // If a column is missing, the rows cannot be checked.
    let (rows, lacks_rows) = match written.filter(|_| !lacks_columns) {
        Some(written) => read_rows(table, &columns, &written),
        None => (Vec::new(), true),
    };
    let columns: Vec<PublishedColumn> = columns.into_iter().map(|read| read.column).collect();
    if !lacks_columns {
        check_by(table, &columns);
    }
    let is_partial = lacks_given || lacks_columns || lacks_rows || key.is_none();
    let part = build(head, columns, rows, given, key.unwrap_or_default(), is_paced, is_partial)?;
    if !part.is_partial {
        check_keys(table, &part.table);
    }
    Some(part)
}

fn build(
    head: Head,
    columns: Vec<PublishedColumn>,
    rows: Vec<Vec<PublishedCell>>,
    given: Vec<(PublishedColumn, PublishedCell)>,
    key: Vec<usize>,
    is_paced: bool,
    is_partial: bool,
) -> Option<ReadPart> {
    let table = PublishedTable {
        id: head.id?,
        title: head.title.unwrap_or_default(),
        at: head.at,
        subject: head.subject,
        class: head.class,
        benchmark: head.benchmark,
        is_paced,
        columns,
        key,
        rows,
        given,
        repeats: head.repeats,
    };
    Some(ReadPart { table, is_partial })
}

/// Reads figures with their values, and whether one is missing.
fn read_figures(table: &mut TomlTable, key: &'static str) -> (Vec<(PublishedColumn, PublishedCell)>, bool) {
    let Some(figures) = table.required_tables_undescribed(key) else { return (Vec::new(), true) };
    let n = figures.len();
    let read: Vec<(PublishedColumn, PublishedCell)> = figures.into_iter().filter_map(read_figure).collect();
    check_column_ids(table, key, read.iter().map(|(column, _)| column));
    let is_partial = read.len() < n;
    (read, is_partial)
}

fn read_figure(mut table: TomlTable) -> Option<(PublishedColumn, PublishedCell)> {
    let read = read_column(&mut table);
    let cell = |value: &DeValue| -> Result<PublishedValue, ValueError> {
        let written = text(value)?;
        match &read {
            Some(read) => read_cell(read, &written).map_err(ValueError::new),
            None => Ok(PublishedValue::Absent),
        }
    };
    // A figure whose value was refused and reported stays, because other expressions may refer to it.
    let value = table.required_undescribed("value", cell).unwrap_or(PublishedValue::Absent);
    let elsewhere = match table.value("also") {
        Some(_) => table.required_tables_undescribed("also").unwrap_or_default(),
        None => Vec::new(),
    };
    let also = elsewhere.into_iter().filter_map(|mut entry| {
        let (at, value) = (entry.required_undescribed("at", line), entry.required_undescribed("value", cell));
        entry.finish();
        Some((at?, value?))
    });
    let also = also.collect();
    table.report_unknown();
    Some((read?.column, PublishedCell { value, also }))
}

/// Reads the columns of a table, and whether one is missing.
fn read_columns(table: &mut TomlTable) -> (Vec<ReadColumn>, bool) {
    let Some(columns) = table.required_tables_undescribed("columns") else { return (Vec::new(), true) };
    let n = columns.len();
    let read = |mut column: TomlTable| {
        let read = read_column(&mut column);
        column.report_unknown();
        read
    };
    let read: Vec<ReadColumn> = columns.into_iter().filter_map(read).collect();
    check_column_ids(table, "columns", read.iter().map(|read| &read.column));
    let is_partial = read.len() < n;
    (read, is_partial)
}

/// Reads the description of a figure or a column; `None` without an id.
fn read_column(table: &mut TomlTable) -> Option<ReadColumn> {
    let column_id = table.required_undescribed("id", id);
    let name = table.optional_undescribed("name", line);
    let quantity = table.required_undescribed("is", quantity);
    let class = table.optional_undescribed("class", line);
    let per = table.optional_undescribed("per", line);
    let unit = match table.value("unit") {
        Some(_) => table.optional_undescribed("unit", unit),
        None => Some(String::new()),
    };
    let equals = table.optional_undescribed("equals", expression);
    let within = table.optional_undescribed("within", expression);
    let order = table.optional_undescribed("order", choice);
    let levels = table.optional_undescribed("levels", levels).unwrap_or_default();
    let by = table.optional_undescribed("by", list(id)).unwrap_or_default();
    let is_constant = table.optional_undescribed("constant", flag).unwrap_or(false);
    let id = column_id?;
    let name = name.unwrap_or_else(|| id.clone());
    let unit = unit.filter(|_| quantity.is_some());
    // Values of an unknown quantity are not checked.
    let quantity = quantity.unwrap_or(PublishedQuantity::Of(QuantityForm::Figure));
    let column =
        PublishedColumn { id, name, quantity, class, per, equals, within, order, levels, by, is_constant };
    Some(ReadColumn { column, unit })
}

fn quantity(value: &DeValue) -> Result<PublishedQuantity, ValueError> {
    let written = text(value)?;
    PublishedQuantity::parse(&written).ok_or_else(|| {
        let error = ValueError::new(format!("there is no quantity `{written}`"));
        match nearest(&written, QuantityForm::ALL.iter().map(|form| form.name())) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint("`figure` and `count` suit anything that no law describes"),
        }
    })
}

fn unit(value: &DeValue) -> Result<String, ValueError> {
    let written = text(value)?;
    match PrintedUnit::parse(&written) {
        Some(_) => Ok(written),
        None => Err(ValueError::new(format!("expected a unit, found `{written}`"))),
    }
}

fn expression(value: &DeValue) -> Result<Expression, ValueError> {
    let written = text(value)?;
    Expression::parse(&written).map_err(|error| ValueError::new(format!("`{written}`: {error}")))
}

/// Reads announced levels. Unlike the levels of a run, they may repeat.
fn levels(value: &DeValue) -> Result<Vec<f64>, ValueError> {
    let written = text(value)?;
    let mut levels = Vec::new();
    for item in written.split(',') {
        levels.extend(parse_rates(item).map_err(|error| ValueError::new(error.message).hint(error.hint))?);
        if LEVELS_MAX < levels.len() {
            return Err(ValueError::new(format!("expected at most {LEVELS_MAX} levels")));
        }
    }
    Ok(levels)
}

fn check_column_ids<'a>(table: &TomlTable, key: &str, columns: impl Iterator<Item = &'a PublishedColumn>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for column in columns {
        if !seen.insert(&column.id) {
            table.reject(key, ValueError::new(format!("two figures have the id `{}`", column.id)));
        }
    }
}

/// Reads the ids of the key columns; the first column, if absent. `None` after a mistake.
fn read_key(table: &mut TomlTable, columns: &[ReadColumn], lacks_columns: bool) -> Option<Vec<usize>> {
    if table.value("key").is_none() {
        return Some(vec![0]);
    }
    let ids = table.required_undescribed("key", list(id))?;
    let index_of = |id: &String| columns.iter().position(|read| read.column.id == *id);
    let indices: Option<Vec<usize>> = ids.iter().map(index_of).collect();
    if indices.is_none() && !lacks_columns {
        table
            .reject("key", ValueError::new(format!("expected ids of columns, found `{}`", ids.join("`, `"))));
    }
    indices
}

fn check_by(table: &TomlTable, columns: &[PublishedColumn]) {
    let is_there = |id: &String| columns.iter().any(|column| column.id == *id);
    for id in columns.iter().flat_map(|column| &column.by).filter(|id| !is_there(id)) {
        table.reject("columns", ValueError::new(format!("`by` names `{id}`, which is not a column")));
    }
}

/// Reports rows with the same key.
fn check_keys(table: &TomlTable, read: &PublishedTable) {
    let mut seen: HashMap<Vec<String>, usize> = HashMap::new();
    for row in 0..read.rows.len() {
        let key = read.row_key(row);
        if let Some(first) = seen.get(&key) {
            let label = format!("rows {} and {} have the same key `{}`", first + 1, row + 1, key.join(", "));
            let hint = "name the columns that tell rows apart in `key`; \
                        for what was measured twice add one, such as `run`";
            table.reject("rows", ValueError::new(label).hint(hint));
        } else {
            seen.insert(key, row);
        }
    }
}

/// Reads a row per line, cells parted by `|`; and whether one is missing. A cell that was refused stays empty.
fn read_rows(table: &TomlTable, columns: &[ReadColumn], written: &str) -> (Vec<Vec<PublishedCell>>, bool) {
    let lines = written.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut rows, mut is_partial) = (Vec::new(), false);
    for (index, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() != columns.len() {
            let (number, expected, found) = (index + 1, columns.len(), cells.len());
            let label = format!("row {number}: expected {expected} cells, found {found}: `{line}`");
            table.reject("rows", ValueError::new(label));
            is_partial = true;
            continue;
        }
        let cell = |(read, written): (&ReadColumn, &str)| {
            let value = read_cell(read, written).unwrap_or_else(|error| {
                is_partial = true;
                let label = format!("row {}, `{}`: {error}", index + 1, read.column.id);
                table.reject("rows", ValueError::new(label));
                PublishedValue::Absent
            });
            PublishedCell { value, also: Vec::new() }
        };
        rows.push(columns.iter().zip(cells).map(cell).collect());
    }
    if rows.is_empty() && !is_partial {
        table.reject("rows", ValueError::new("expected at least one row, found none"));
        is_partial = true;
    }
    (rows, is_partial)
}

/// Reads a printed value by the quantity of its column; the error is a clause.
fn read_cell(read: &ReadColumn, written: &str) -> Result<PublishedValue, String> {
    let (column, written) = (&read.column, written.trim());
    let Some(unit) = &read.unit else { return Ok(PublishedValue::Absent) };
    if ABSENT.contains(&written) {
        return Ok(PublishedValue::Absent);
    }
    if column.quantity.is_words() {
        return Ok(PublishedValue::Text(written.to_owned()));
    }
    if column.quantity.is_date() {
        let date = CalendarDate::parse(written);
        return date.map(PublishedValue::Date).ok_or_else(|| format!("expected a date, found `{written}`"));
    }
    let number = PrintedNumber::parse(written, unit, column.quantity.is_exact() && column.per.is_none())?;
    if !column.quantity.allows(&number.dimension, column.per.is_some()) {
        let (name, hint) = (column.quantity.name(), column.quantity.unit_hint());
        return Err(format!("`{written}` is not a value of `{name}`, which takes units such as {hint}"));
    }
    Ok(PublishedValue::Number(number))
}
