//! Records and tables: figures, columns, rows.

use std::collections::{HashMap, HashSet};

use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, choice, flag, id, line, text};
use languages::{nearest, parse_rates};

use super::expression::Expression;
use super::number::PrintedNumberError;
use super::unit::PrintedUnit;
use super::{
    CalendarDate, PrintedNumber, PublishedCell, PublishedColumn, PublishedQuantity, PublishedTable,
    PublishedValue, QuantityForm, Repeat,
};

/// Texts that mark a missing number.
const ABSENT: [&str; 4] = ["", "-", "NA", "n/a"];

/// A reason why a text is not a value of its column.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum CellError {
    #[error("expected a date, found `{0}`")]
    Date(String),
    #[error(transparent)]
    Number(#[from] PrintedNumberError),
    #[error(
        "`{written}` is not a value of `{}`, which takes units such as {}",
        .quantity.name(),
        .quantity.unit_hint()
    )]
    Quantity { written: String, quantity: PublishedQuantity },
}

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

/// Reads the shared keys; `subject` says what has the subject.
fn read_head(table: &mut TomlTable, subject: &str, class: &str) -> Head {
    Head {
        id: table.required("id", "The name in claims.", id()),
        title: table.required("title", "The title.", line()),
        at: table.optional("at", "The place in the report.", line()),
        subject: table.optional("subject", subject, line()),
        class: table.optional("class", class, line()),
        benchmark: table.optional("benchmark", "The benchmark whose result this is.", id()),
        repeats: read_repeats(table),
    }
}

/// Reads the repetitions of a table; their common columns are determined after all tables are read.
fn read_repeats(table: &mut TomlTable) -> Vec<Repeat> {
    let repeats = table.optional_tables("repeats", "The records or tables whose figures it repeats.");
    let read = |mut repeat: TomlTable| {
        repeat.describe("Repeat", "Rows with the same key have the same figures in both tables.");
        let table = repeat.required("table", "The other record or table.", id());
        let about = "Ids of the columns; if absent: all that both tables have.";
        let columns = repeat.optional("columns", about, id().non_empty_list());
        repeat.finish();
        Some(Repeat { table: table?, columns: columns.unwrap_or_default() })
    };
    repeats.into_iter().flatten().filter_map(read).collect()
}

/// Reads `[[record]]`; `None` without an id.
pub(super) fn read_record(table: &mut TomlTable) -> Option<ReadPart> {
    table.describe("Record", "Figures that belong together.");
    let class = "The class of all its figures that name none.";
    let head = read_head(table, "The system that it is about.", class);
    let figures = table.required_tables("figures", "The figures.");
    let (figures, is_partial) = read_figures(table, "figures", figures);
    let (columns, row) = figures.into_iter().unzip();
    build(head, columns, vec![row], Vec::new(), Vec::new(), false, is_partial)
}

/// Reads `[[table]]`; `None` without an id.
pub(super) fn read_table(table: &mut TomlTable) -> Option<ReadPart> {
    table.describe("Table", "Rows of the same figures.");
    let class = "The class of all figures whose columns name none.";
    let head = read_head(table, "The system that all rows are about.", class);
    let given = table.some_tables("given", "Figures that hold for every row.");
    let (given, lacks_given) = if given.is_some() || table.value("given").is_some() {
        read_figures(table, "given", given)
    } else {
        (Vec::new(), false)
    };
    let about = "Whether every user's script sets the pace, so that the rate per user is nearly the same in all rows.";
    let is_paced = table.optional("paced", about, flag()).unwrap_or(false);
    let (columns, lacks_columns) = read_columns(table);
    let key = read_key(table, &columns, lacks_columns);
    let written = table.required("rows", "A row per line, cells separated by `|`.", text());
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

/// Reads figures with their values, and whether one is missing; `None` for those that were refused.
fn read_figures(
    table: &TomlTable,
    key: &'static str,
    figures: Option<Vec<TomlTable>>,
) -> (Vec<(PublishedColumn, PublishedCell)>, bool) {
    let Some(figures) = figures else { return (Vec::new(), true) };
    let n = figures.len();
    let read: Vec<(PublishedColumn, PublishedCell)> = figures.into_iter().filter_map(read_figure).collect();
    check_column_ids(table, key, read.iter().map(|(column, _)| column));
    let is_partial = read.len() < n;
    (read, is_partial)
}

fn read_figure(mut table: TomlTable) -> Option<(PublishedColumn, PublishedCell)> {
    table.describe("Figure", "A figure with its value.");
    let read = read_column(&mut table);
    let about = "The value as printed, with or without its unit; `NA` or `-` if it is not given.";
    let written = table.required("value", about, text());
    // A figure whose value was refused and reported stays, because other expressions may refer to it.
    let value = written.and_then(|written| read_value(&table, read.as_ref(), &written));
    let elsewhere = table.some_tables("also", "Other places where the same figure is printed.");
    let also = elsewhere.into_iter().flatten().filter_map(|mut entry| {
        entry.describe("Elsewhere", "Another place where a figure is printed.");
        let at = entry.required("at", "The place in the report.", line());
        let written = entry.required("value", "The value as printed there.", text());
        let value = written.and_then(|written| read_value(&entry, read.as_ref(), &written));
        entry.finish();
        Some((at?, value?))
    });
    let also = also.collect();
    table.report_unknown();
    Some((read?.column, PublishedCell { value: value.unwrap_or(PublishedValue::Absent), also }))
}

/// Reads the printed value of a figure, as far as the figure could be read; `None` if it is reported.
fn read_value(table: &TomlTable, read: Option<&ReadColumn>, written: &str) -> Option<PublishedValue> {
    let value = read.map_or(Ok(PublishedValue::Absent), |read| read_cell(read, written));
    value.map_err(|error| table.reject("value", ValueError::new(error.to_string()))).ok()
}

/// Reads the columns of a table, and whether one is missing.
fn read_columns(table: &mut TomlTable) -> (Vec<ReadColumn>, bool) {
    let Some(columns) = table.required_tables("columns", "The columns.") else { return (Vec::new(), true) };
    let n = columns.len();
    let read = |mut column: TomlTable| {
        column.describe("Column", "The figures of a column.");
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
    let column_id = table.required("id", "Within its record or table.", id());
    let name = table.optional("name", "The name in the report; if absent: the id.", line());
    let quantity = table.required("is", "Its quantity.", quantity());
    let class = table.optional("class", "The class of operations, disks or tests.", line());
    let per = table.optional("per", "The divisor: a quantity or, for a ratio, a class.", line());
    let unit = table.optional("unit", "The unit of values that name none.", unit());
    let unit = if table.value("unit").is_none() { Some(String::new()) } else { unit };
    let equals =
        table.optional("equals", "The report's definition of the figure, an expression.", expression());
    let within =
        table.optional("within", "The whole of which the figure is a part, an expression.", expression());
    let about = "The order of the rows by this column that the report announces.";
    let order = table.optional("order", about, choice());
    let about = "The values that the report announces, in order: `10..200/10`; one may come twice.";
    let levels = table.optional("levels", about, levels()).unwrap_or_default();
    let about = "Ids of the columns that determine its value.";
    let by = table.optional("by", about, id().non_empty_list()).unwrap_or_default();
    let is_constant = table.optional("constant", "Whether all rows have the same value.", flag());
    let id = column_id?;
    let name = name.unwrap_or_else(|| id.clone());
    let unit = unit.filter(|_| quantity.is_some());
    // Values of an unknown quantity are not checked.
    let quantity = quantity.unwrap_or(PublishedQuantity::Of(QuantityForm::Figure));
    let is_constant = is_constant.unwrap_or(false);
    let column =
        PublishedColumn { id, name, quantity, class, per, equals, within, order, levels, by, is_constant };
    Some(ReadColumn { column, unit })
}

fn quantity() -> ValueSpec<PublishedQuantity> {
    let read = |written: String| {
        PublishedQuantity::parse(&written).ok_or_else(|| {
            let error = ValueError::new(format!("there is no quantity `{written}`"));
            match nearest(&written, QuantityForm::ALL.iter().map(|form| form.name())) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("`figure` and `count` suit anything that no law describes"),
            }
        })
    };
    let about =
        "A quantity: `users`, `rate`, `response`, `percentile-95`; all are listed in `docs/published.md`.";
    text().rule("pattern", "^([a-z-]+|percentile-[0-9.]+)$").named("Quantity", about).and_then(read)
}

fn unit() -> ValueSpec<String> {
    text().and_then(|written| match PrintedUnit::parse(&written) {
        Some(_) => Ok(written),
        None => Err(ValueError::new(format!("expected a unit, found `{written}`"))),
    })
}

fn expression() -> ValueSpec<Expression> {
    text().and_then(|written| {
        Expression::parse(&written).map_err(|error| ValueError::new(format!("`{written}`: {error}")))
    })
}

/// Announced levels. Unlike the levels of a run, they may repeat.
fn levels() -> ValueSpec<Vec<f64>> {
    text().and_then(|written| {
        let mut levels = Vec::new();
        for item in written.split(',') {
            levels
                .extend(parse_rates(item).map_err(|error| ValueError::new(error.message).hint(error.hint))?);
            if LEVELS_MAX < levels.len() {
                return Err(ValueError::new(format!("expected at most {LEVELS_MAX} levels")));
            }
        }
        Ok(levels)
    })
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
    let about = "Ids of the key columns, which distinguish rows; if absent: the first column.";
    let ids = table.optional("key", about, id().non_empty_list());
    if table.value("key").is_none() {
        return Some(vec![0]);
    }
    let ids = ids?;
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
            let hint = "name in `key` the columns that distinguish rows; for repeated measurements add one, \
                such as `run`";
            table.reject("rows", ValueError::new(label).hint(hint));
        } else {
            seen.insert(key, row);
        }
    }
}

/// Reads a row per line, cells parted by `|`; and whether one is missing. A cell that was refused stays empty.
fn read_rows(table: &TomlTable, columns: &[ReadColumn], written: &str) -> (Vec<Vec<PublishedCell>>, bool) {
    let lines = written.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut rows = Vec::new();
    let mut is_partial = false;
    for (index, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if cells.len() != columns.len() {
            let number = index + 1;
            let expected = columns.len();
            let found = cells.len();
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

/// Reads a printed value by the quantity of its column.
fn read_cell(read: &ReadColumn, written: &str) -> Result<PublishedValue, CellError> {
    let column = &read.column;
    let written = written.trim();
    let Some(unit) = &read.unit else { return Ok(PublishedValue::Absent) };
    if ABSENT.contains(&written) {
        return Ok(PublishedValue::Absent);
    }
    if column.quantity.is_words() {
        return Ok(PublishedValue::Text(written.to_owned()));
    }
    if column.quantity.is_date() {
        let date = CalendarDate::parse(written);
        return date.map(PublishedValue::Date).ok_or_else(|| CellError::Date(written.to_owned()));
    }
    let number = PrintedNumber::parse(written, unit, column.quantity.is_exact() && column.per.is_none())?;
    if !column.quantity.allows(&number.dimension, column.per.is_some()) {
        let written = written.to_owned();
        return Err(CellError::Quantity { written, quantity: column.quantity });
    }
    Ok(PublishedValue::Number(number))
}
