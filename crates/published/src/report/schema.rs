//! The published JSON Schema of published reports.
//!
//! The types here stand for how a report is written, which has another shape in memory.

#![allow(dead_code, reason = "only the shape of these types is used")]

use languages::schema::without_null;
use schemars::{JsonSchema, Schema};

use super::{AnnotationKind, RowOrder};

/// Returns the JSON Schema (2020-12) of published reports.
pub fn published_schema() -> Schema {
    without_null(schemars::schema_for!(Report))
}

#[derive(JsonSchema)]
#[schemars(
    title = "Plimsoll published report",
    description = "A published report that `plimsoll audit` checks."
)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Report {
    /// The version of this language: 1.
    #[schemars(range(min = 1, max = 1))]
    format: u32,
    /// The head of the report.
    report: Head,
    /// Figures that belong together.
    record: Option<Vec<Record>>,
    /// Rows of the same figures.
    table: Option<Vec<PublishedTable>>,
    /// The statements of the text about the numbers.
    claim: Option<Vec<Claim>>,
    /// Remarks that no law implies.
    annotation: Option<Vec<Annotation>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Head {
    /// The title as printed on the report.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The publisher.
    #[schemars(length(min = 1, max = 500))]
    publisher: String,
    /// The date of publication: a day, a month or a year, such as `1996-09-09`.
    published: String,
    /// Further remarks.
    note: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Record {
    /// The name in claims.
    id: Id,
    /// The title.
    title: String,
    /// The place in the report.
    at: Option<String>,
    /// The system that it is about.
    subject: Option<String>,
    /// The class of all its figures that name none.
    class: Option<String>,
    /// The benchmark whose result this is.
    benchmark: Option<Id>,
    /// The records whose figures it repeats.
    repeats: Option<Vec<Repeat>>,
    /// The figures.
    #[schemars(length(min = 1))]
    figures: Vec<Figure>,
}

#[derive(JsonSchema)]
#[schemars(rename = "Table", deny_unknown_fields)]
struct PublishedTable {
    /// The name in claims.
    id: Id,
    /// The title.
    title: String,
    /// The place in the report.
    at: Option<String>,
    /// The system that all rows are about.
    subject: Option<String>,
    /// The class of all figures whose columns name none.
    class: Option<String>,
    /// The benchmark whose result this is.
    benchmark: Option<Id>,
    /// Whether every user's script sets the pace, so that the rate per user is nearly the same in all rows.
    paced: Option<bool>,
    /// Ids of the key columns, which distinguish rows; if absent: the first column.
    #[schemars(length(min = 1))]
    key: Option<Vec<Id>>,
    /// The tables whose figures it repeats.
    repeats: Option<Vec<Repeat>>,
    /// Figures that hold for every row.
    given: Option<Vec<Figure>>,
    /// The columns.
    #[schemars(length(min = 1))]
    columns: Vec<Figure>,
    /// A row per line, cells separated by `|`.
    rows: String,
}

/// Rows with the same key have the same figures in both tables.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Repeat {
    /// The other record or table.
    table: Id,
    /// Ids of the columns; if absent: all that both tables have.
    #[schemars(length(min = 1))]
    columns: Option<Vec<Id>>,
}

/// A figure with its value, or a column without.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Figure {
    /// Within its record or table.
    id: Id,
    /// The name in the report; if absent: the id.
    name: Option<String>,
    /// Its quantity.
    is: QuantityName,
    /// The class of operations, disks or tests.
    class: Option<String>,
    /// The divisor: a quantity or, for a ratio, a class.
    per: Option<String>,
    /// The unit of values that name none.
    unit: Option<String>,
    /// The report's definition of the figure, an expression.
    equals: Option<String>,
    /// The whole of which the figure is a part, an expression.
    within: Option<String>,
    /// The order of the rows by this column that the report announces.
    order: Option<RowOrder>,
    /// The values that the report announces, in order: `10..200/10`; one may come twice.
    levels: Option<String>,
    /// Ids of the columns that determine its value.
    #[schemars(length(min = 1))]
    by: Option<Vec<Id>>,
    /// Whether all rows have the same value.
    constant: Option<bool>,
    /// The value as printed, with or without its unit; `NA` or `-` if it is not given. Columns have none.
    value: Option<String>,
    /// Other places where the same figure is printed. Columns have none.
    also: Option<Vec<Elsewhere>>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Elsewhere {
    /// The place in the report.
    at: String,
    /// The value as printed there.
    value: String,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Claim {
    /// The name in findings.
    id: Id,
    /// The place in the report.
    at: Option<String>,
    /// The statement, in our words.
    text: String,
    /// Comparisons that must all hold: `max(web.errors) = 0`, `a.system = b.system`, `a.clock in a.title`.
    #[schemars(length(min = 1))]
    says: Vec<String>,
    /// The basis of the comparisons besides the report.
    basis: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Annotation {
    /// The place in the report.
    at: Option<String>,
    /// The remark, in our words.
    text: String,
    /// The kind of the remark.
    kind: AnnotationKind,
}

/// Lower-case letters, digits, `-` and `.`.
#[derive(JsonSchema)]
struct Id(#[schemars(regex(pattern = r"^[a-z0-9][a-z0-9.-]{0,63}$"))] String);

/// A quantity: `users`, `rate`, `response`, `percentile-95`; all are listed in `docs/published.md`.
#[derive(JsonSchema)]
#[schemars(rename = "Quantity")]
struct QuantityName(#[schemars(regex(pattern = r"^([a-z-]+|percentile-[0-9.]+)$"))] String);

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::{is_published, keys_named, keys_read};

    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let read = keys_read(&[include_str!("every_key.toml")], &[]);
        let mut named = keys_named(published_schema());
        // Columns are figures without values.
        named.entry("/table/columns".to_owned()).or_default().retain(|key| key != "value" && key != "also");
        named.remove("/table/columns/also");
        named.retain(|path, _| path != "/table/given/also");
        assert_eq!(read.keys().collect::<Vec<_>>(), named.keys().collect::<Vec<_>>());
        for path in ["", "/report", "/record", "/table", "/claim", "/annotation", "/record/figures/also"] {
            assert_eq!(read[path], named[path], "{path}");
        }
        let figure_keys: std::collections::BTreeSet<String> =
            ["/record/figures", "/table/columns"].iter().flat_map(|path| read[*path].clone()).collect();
        assert_eq!(figure_keys, named["/record/figures"]);
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("published.schema.json", published_schema());
    }
}
