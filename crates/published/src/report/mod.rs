//! A published report, transcribed: the printed figures and the claims of the text.
//!
//! - `quantity`, `unit`, `number`, `date`: values of single cells
//! - `expression`: arithmetic on figures; `cursor` reads it
//! - `part`: records and tables; `check`: units of expressions, and whether they can be computed
//! - `parse`: text → [`PublishedReport`], or everything that is wrong with it; the published JSON Schema
//!
//! A record is a table of one row, so everything after the parser knows tables only. `docs/published.md` describes
//! the language.

mod check;
mod cursor;
mod date;
mod expression;
mod number;
mod parse;
mod part;
mod quantity;
mod unit;

use languages::names;

pub use date::CalendarDate;
pub use expression::{Comparator, Expression, Function, Operator, Reference, Statement};
pub use number::PrintedNumber;
pub use parse::published_schema;
pub use quantity::{PublishedQuantity, QuantityForm};
pub use unit::Dimension;

/// The version of the language of published reports.
pub const PUBLISHED_FORMAT: u32 = 1;

/// A published report. A parsed one is well formed; the audit checks whether it is consistent.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedReport {
    /// The title as printed on the report.
    pub title: String,
    /// The publisher.
    pub publisher: String,
    /// The date of publication.
    pub published: CalendarDate,
    /// Further remarks.
    pub note: Option<String>,
    /// Records and tables, in the order of the file; their ids are all different.
    pub tables: Vec<PublishedTable>,
    /// The statements of the text about the numbers.
    pub claims: Vec<Claim>,
    /// Remarks that no law implies.
    pub annotations: Vec<Annotation>,
}

/// Rows of the same figures. A record is a table of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTable {
    /// The name in claims.
    pub id: String,
    /// The title.
    pub title: String,
    /// The place in the report.
    pub at: Option<String>,
    /// The system that all rows are about.
    pub subject: Option<String>,
    /// The class of all figures whose columns name none.
    pub class: Option<String>,
    /// The benchmark whose result this is, by our name for it.
    pub benchmark: Option<String>,
    /// Whether users' scripts set the pace.
    pub is_paced: bool,
    /// Columns; their ids are all different.
    pub columns: Vec<PublishedColumn>,
    /// Indexes of the key columns, which distinguish rows; empty for a record.
    pub key: Vec<usize>,
    /// At least one; each with a cell per column.
    pub rows: Vec<Vec<PublishedCell>>,
    /// Figures that hold for every row.
    pub given: Vec<(PublishedColumn, PublishedCell)>,
    /// Other tables whose figures it repeats.
    pub repeats: Vec<Repeat>,
}

/// A repetition of another table: rows with the same key have the same figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The other record or table.
    pub table: String,
    /// Ids of the columns; both tables have them.
    pub columns: Vec<String>,
}

/// The description of a figure, or of every figure of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedColumn {
    /// Within its table.
    pub id: String,
    /// The name in the report.
    pub name: String,
    /// Its quantity.
    pub quantity: PublishedQuantity,
    /// The class of operations, disks or tests.
    pub class: Option<String>,
    /// The divisor: a quantity or, for a ratio, a class.
    pub per: Option<String>,
    /// The report's definition of the figure.
    pub equals: Option<Expression>,
    /// The whole of which the figure is a part.
    pub within: Option<Expression>,
    /// The order of the rows that the report announces.
    pub order: Option<RowOrder>,
    /// The values that the report announces, in order.
    pub levels: Vec<f64>,
    /// Ids of the columns that determine its value.
    pub by: Vec<String>,
    /// Whether the report says, or means, that all rows have the same value.
    pub is_constant: bool,
}

names! {
    /// The order of rows by a column.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RowOrder without serde {
        /// From low to high.
        Rising = "rising",
        /// From high to low.
        Falling = "falling",
    }
}

/// One figure as printed.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedCell {
    /// The value as printed.
    pub value: PublishedValue,
    /// The same figure in other places: each place, and the value printed there.
    pub also: Vec<(String, PublishedValue)>,
}

/// A printed value.
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedValue {
    /// No value, or a note that it is not available.
    Absent,
    /// A number.
    Number(PrintedNumber),
    /// A date.
    Date(CalendarDate),
    /// Words.
    Text(String),
}

/// A statement of the text about the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The name in findings.
    pub id: String,
    /// The place in the report.
    pub at: Option<String>,
    /// The statement, in our words.
    pub text: String,
    /// The same as arithmetic; at least one comparison, all of which must hold.
    pub says: Vec<Statement>,
    /// The basis of the comparisons besides the report.
    pub basis: Option<String>,
}

/// A remark that no law implies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The place in the report.
    pub at: Option<String>,
    /// The remark, in our words.
    pub text: String,
    /// The kind of the remark.
    pub kind: AnnotationKind,
}

names! {
    /// The kind of an annotation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AnnotationKind without serde {
        /// A misprinted word or name.
        Misprint = "misprint",
        /// A date that cannot be.
        Date = "date",
        /// Information that should have been disclosed.
        Disclosure = "disclosure",
        /// Information attributed to the wrong subject.
        Attribution = "attribution",
        /// Anything else.
        Remark = "remark",
    }
}

impl PublishedValue {
    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<&PrintedNumber> {
        match self {
            PublishedValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the printed text; `NA` for no value.
    pub fn text(&self) -> &str {
        match self {
            PublishedValue::Absent => "NA",
            PublishedValue::Number(number) => &number.text,
            PublishedValue::Date(date) => &date.text,
            PublishedValue::Text(text) => text,
        }
    }
}

impl PublishedTable {
    /// Returns the index of the column with this id.
    pub fn column(&self, id: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }

    /// Returns the column with this id, its own or one that holds for every row.
    pub fn column_or_given(&self, id: &str) -> Option<&PublishedColumn> {
        let given = self.given.iter().map(|(column, _)| column);
        self.columns.iter().chain(given).find(|column| column.id == id)
    }

    /// Returns the text that names the table as a whole: its `title` or its `subject`.
    pub fn name(&self, id: &str) -> Option<&str> {
        match id {
            "title" => Some(&self.title),
            "subject" => self.subject.as_deref(),
            _ => None,
        }
    }

    /// Returns the key of a row: the printed cells of the key columns, without commas in numbers. Empty for a record.
    pub(crate) fn row_key(&self, row: usize) -> Vec<String> {
        self.key.iter().map(|column| self.cell_key(row, *column)).collect()
    }

    /// Returns the row with this key, from 0. Keys are compared as a whole, because a cell may hold commas itself.
    pub(crate) fn row_of(&self, key: &[String]) -> Option<usize> {
        let key = key.join(", ");
        (0..self.rows.len()).find(|row| self.row_key(*row).join(", ") == key)
    }

    /// Returns a printed cell as keys write it: without commas in a number.
    pub(crate) fn cell_key(&self, row: usize, column: usize) -> String {
        let cell = &self.rows[row][column].value;
        match cell {
            PublishedValue::Number(number) => number.text.replace(',', ""),
            other => other.text().to_owned(),
        }
    }
}
