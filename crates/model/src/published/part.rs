//! Records and tables: figures, columns, rows.

use toml::de::DeValue;

use super::expression::Expression;
use super::{
    CalendarDate, Order, Printed, PublishedCell, PublishedColumn, PublishedQuantity, PublishedTable,
    PublishedValue, QuantityForm,
};
use crate::diagnostics::nearest;
use crate::parse_rates;
use crate::reader::{Fault, Table, flag, id, line, list, one_of, text};

/// What stands for a number that a report does not give.
const ABSENT: [&str; 4] = ["", "-", "NA", "n/a"];

const ORDERS: &[(&str, Order)] = &[("rising", Order::Rising), ("falling", Order::Falling)];

/// What records and tables have in common.
struct Head {
    id: Option<String>,
    title: Option<String>,
    at: Option<String>,
    subject: Option<String>,
    class: Option<String>,
    benchmark: Option<String>,
}

fn read_head(table: &mut Table) -> Head {
    Head {
        id: table.required("id", id),
        title: table.required("title", line),
        at: table.optional("at", line),
        subject: table.optional("subject", line),
        class: table.optional("class", line),
        benchmark: table.optional("benchmark", id),
    }
}

/// Reads `[[record]]`.
pub(super) fn read_record(table: &mut Table) -> Option<PublishedTable> {
    let head = read_head(table);
    let figures = read_figures(table, "figures");
    if figures.as_ref().is_some_and(Vec::is_empty) {
        table.reject("figures", Fault::new("expected at least one figure, found none"));
    }
    let (columns, row) = figures?.into_iter().unzip();
    build(head, columns, vec![row], Vec::new(), Vec::new(), false)
}

/// Reads `[[table]]`.
pub(super) fn read_table(table: &mut Table) -> Option<PublishedTable> {
    let head = read_head(table);
    let given = if table.value("given").is_some() { read_figures(table, "given") } else { Some(Vec::new()) };
    let is_paced = table.optional("paced", flag).unwrap_or(false);
    let columns = read_columns(table);
    let key = read_key(table, columns.as_deref());
    let rows = table.required("rows", |value| match &columns {
        Some(columns) => read_rows(columns, value),
        // The columns are wrong, which is reported: nothing can be said of the rows.
        None => Ok(Vec::new()),
    });
    let columns: Vec<PublishedColumn> = columns?.into_iter().map(|(column, _)| column).collect();
    check_by(table, &columns);
    build(head, columns, rows?, given?, key?, is_paced)
}

fn build(
    head: Head,
    columns: Vec<PublishedColumn>,
    rows: Vec<Vec<PublishedCell>>,
    given: Vec<(PublishedColumn, PublishedCell)>,
    key: Vec<usize>,
    is_paced: bool,
) -> Option<PublishedTable> {
    Some(PublishedTable {
        id: head.id?,
        title: head.title?,
        at: head.at,
        subject: head.subject,
        class: head.class,
        benchmark: head.benchmark,
        is_paced,
        columns,
        key,
        rows,
        given,
    })
}

/// Reads figures with their values.
fn read_figures(table: &mut Table, key: &'static str) -> Option<Vec<(PublishedColumn, PublishedCell)>> {
    let figures = table.required_tables(key)?;
    let read: Vec<Option<(PublishedColumn, PublishedCell)>> = figures.into_iter().map(read_figure).collect();
    let read: Vec<(PublishedColumn, PublishedCell)> = read.into_iter().collect::<Option<_>>()?;
    check_column_ids(table, key, read.iter().map(|(column, _)| column));
    Some(read)
}

fn read_figure(mut table: Table) -> Option<(PublishedColumn, PublishedCell)> {
    let read = read_column(&mut table);
    let is_known = read.is_some();
    // Values of a figure that is not known are not looked at.
    let cell = |value: &DeValue| -> Result<PublishedValue, Fault> {
        let written = text(value)?;
        match &read {
            Some((column, unit)) => read_cell(column, unit, &written).map_err(Fault::new),
            None => Ok(PublishedValue::Absent),
        }
    };
    let value = table.required("value", cell);
    let elsewhere = if table.value("also").is_some() { table.required_tables("also")? } else { Vec::new() };
    let also: Vec<Option<(String, PublishedValue)>> = elsewhere
        .into_iter()
        .map(|mut place| {
            let (at, value) = (place.required("at", line), place.required("value", cell));
            place.finish();
            Some((at?, value?))
        })
        .collect();
    table.report_unknown();
    let (column, _) = read.filter(|_| is_known)?;
    Some((column, PublishedCell { value: value?, also: also.into_iter().collect::<Option<_>>()? }))
}

/// Reads the columns of a table, each with the unit of its cells.
fn read_columns(table: &mut Table) -> Option<Vec<(PublishedColumn, String)>> {
    let columns = table.required_tables("columns")?;
    let read: Vec<Option<(PublishedColumn, String)>> = columns
        .into_iter()
        .map(|mut column| {
            let read = read_column(&mut column);
            column.report_unknown();
            read
        })
        .collect();
    let read: Vec<(PublishedColumn, String)> = read.into_iter().collect::<Option<_>>()?;
    if read.is_empty() {
        table.reject("columns", Fault::new("expected at least one column, found none"));
    }
    check_column_ids(table, "columns", read.iter().map(|(column, _)| column));
    Some(read).filter(|read| !read.is_empty())
}

/// Reads what a figure or a column is, and the unit of its values.
fn read_column(table: &mut Table) -> Option<(PublishedColumn, String)> {
    let column_id = table.required("id", id);
    let name = table.optional("name", line);
    let quantity = table.required("is", quantity);
    let class = table.optional("class", line);
    let per = table.optional("per", line);
    let unit = table.optional("unit", text).unwrap_or_default();
    let equals = table.optional("equals", expression);
    let within = table.optional("within", expression);
    let order = table.optional("order", one_of(ORDERS));
    let levels = table.optional("levels", levels).unwrap_or_default();
    let by = table.optional("by", list(id)).unwrap_or_default();
    let (id, quantity) = (column_id?, quantity?);
    let name = name.unwrap_or_else(|| id.clone());
    Some((PublishedColumn { id, name, quantity, class, per, equals, within, order, levels, by }, unit))
}

fn quantity(value: &DeValue) -> Result<PublishedQuantity, Fault> {
    let written = text(value)?;
    PublishedQuantity::parse(&written).ok_or_else(|| {
        let fault = Fault::new(format!("there is no quantity `{written}`"));
        match nearest(&written, QuantityForm::ALL.iter().map(|form| form.name())) {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault.hint("`figure` and `count` stand for anything that no law knows"),
        }
    })
}

fn expression(value: &DeValue) -> Result<Expression, Fault> {
    let written = text(value)?;
    Expression::parse(&written).map_err(|error| Fault::new(format!("`{written}`: {error}")))
}

fn levels(value: &DeValue) -> Result<Vec<f64>, Fault> {
    parse_rates(&text(value)?).map_err(|error| Fault::new(error.message).hint(error.hint))
}

fn check_column_ids<'a>(table: &Table, key: &str, columns: impl Iterator<Item = &'a PublishedColumn>) {
    let mut seen: Vec<&str> = Vec::new();
    for column in columns {
        if seen.contains(&column.id.as_str()) {
            table.reject(key, Fault::new(format!("two figures have the id `{}`", column.id)));
        }
        seen.push(&column.id);
    }
}

/// Reads the ids of the columns that tell rows apart; the first column, if absent.
fn read_key(table: &mut Table, columns: Option<&[(PublishedColumn, String)]>) -> Option<Vec<usize>> {
    if table.value("key").is_none() {
        return Some(vec![0]);
    }
    let ids = table.required("key", list(id))?;
    let place = |id: &String| columns?.iter().position(|(column, _)| column.id == *id);
    let places: Option<Vec<usize>> = ids.iter().map(place).collect();
    if places.is_none() && columns.is_some() {
        table.reject("key", Fault::new(format!("expected ids of columns, found `{}`", ids.join("`, `"))));
    }
    places
}

fn check_by(table: &Table, columns: &[PublishedColumn]) {
    let is_there = |id: &String| columns.iter().any(|column| column.id == *id);
    for id in columns.iter().flat_map(|column| &column.by).filter(|id| !is_there(id)) {
        table.reject("columns", Fault::new(format!("`by` names `{id}`, which is no column")));
    }
}

/// Reads a row per line, cells parted by `|`.
fn read_rows(
    columns: &[(PublishedColumn, String)],
    value: &DeValue,
) -> Result<Vec<Vec<PublishedCell>>, Fault> {
    let written = text(value)?;
    let lines = written.lines().map(str::trim).filter(|line| !line.is_empty());
    let rows: Vec<Vec<PublishedCell>> = lines
        .enumerate()
        .map(|(index, line)| read_row(columns, index + 1, line))
        .collect::<Result<_, _>>()?;
    match rows.is_empty() {
        true => Err(Fault::new("expected at least one row, found none")),
        false => Ok(rows),
    }
}

fn read_row(
    columns: &[(PublishedColumn, String)],
    number: usize,
    line: &str,
) -> Result<Vec<PublishedCell>, Fault> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    if cells.len() != columns.len() {
        let (expected, found) = (columns.len(), cells.len());
        return Err(Fault::new(format!("row {number}: expected {expected} cells, found {found}: `{line}`")));
    }
    let cell = |((column, unit), written): (&(PublishedColumn, String), &str)| {
        let value = read_cell(column, unit, written);
        let value = value.map_err(|fault| Fault::new(format!("row {number}, `{}`: {fault}", column.id)))?;
        Ok(PublishedCell { value, also: Vec::new() })
    };
    columns.iter().zip(cells).map(cell).collect()
}

/// Reads what was printed, as its column wants it; the error is a clause.
fn read_cell(column: &PublishedColumn, unit: &str, written: &str) -> Result<PublishedValue, String> {
    let written = written.trim();
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
    let number = Printed::parse(written, unit, column.quantity.is_exact() && column.per.is_none())?;
    if !column.quantity.allows(&number.dimension, column.per.is_some()) {
        let (name, hint) = (column.quantity.name(), column.quantity.unit_hint());
        return Err(format!("`{written}` is no value of `{name}`, whose unit is one like {hint}"));
    }
    Ok(PublishedValue::Number(number))
}
