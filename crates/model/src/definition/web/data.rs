//! Reading `[workload.data.NAME]`: data of users, a file each.

use std::ops::Range;

use languages::names;
use languages::reader::{TomlTable, ValueError};
use languages::spec::{choice, line};

use crate::workload::{EXTRACTED, is_name};
use crate::{RowPick, RowsEnd};

/// The most files of data.
const DATA_MAX: usize = 16;

names! {
    /// The format of a file of data.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DataFormat without serde {
        /// Values between commas, with a line of column names (RFC 4180).
        Csv = "csv",
        /// A JSON object per line.
        JsonLines = "jsonl",
    }
}

/// Data of users as a definition names them; the values are in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDefinition {
    /// Its name in placeholders.
    pub name: String,
    /// The file, by its path from the definition.
    pub file: String,
    /// The format of the file.
    pub format: DataFormat,
    /// The rows that a user takes.
    pub pick: RowPick,
    /// The end of the rows.
    pub at_end: RowsEnd,
    /// The place of the file's name in the definition's text, in bytes.
    pub span: Range<usize>,
    /// The columns that requests use, each with the place where.
    pub columns: Vec<(String, Range<usize>)>,
}

/// Reads `data`: all data by their names.
pub(in crate::definition) fn read_data(table: &mut TomlTable, about: &str) -> Vec<DataDefinition> {
    let Some(mut table) = table.optional_table("data", about) else { return Vec::new() };
    let inner = table.named_tables();
    if DATA_MAX < inner.len() {
        table.reject_all(ValueError::new(format!("more than {DATA_MAX} files of data")));
    }
    table.finish();
    inner.into_iter().filter_map(|(name, table)| read_one(name, table)).collect()
}

fn read_one(name: &str, mut table: TomlTable) -> Option<DataDefinition> {
    if !is_name(name) || name == EXTRACTED {
        let error = ValueError::new(format!("`{name}` cannot be the name of data"));
        table.reject_all(error.hint("use letters, digits, `-` and `_`, but not `extract`"));
    }
    table.describe("Data", "A file whose rows users take, one per page. Its values are never stored.");
    let file = table.required("file", "The file, by its path from the definition.", line());
    let about = "The format of the file; if absent: by the end of its name, `.csv`, `.jsonl` or `.ndjson`.";
    let format = table.optional("format", about, choice());
    let about = "The rows that a user takes; if absent: `sequential`.";
    let pick = table.optional("pick", about, choice()).unwrap_or_default();
    let about = "The end of the rows; if absent: `wrap`.";
    let at_end = table.optional("at-end", about, choice()).unwrap_or_default();
    let span = table.span_of("file");
    let format = format.or_else(|| {
        let format = format_of(file.as_deref()?);
        if format.is_none() && table.value("format").is_none() {
            let error = ValueError::new("the file name does not reveal its format");
            table.reject("file", error.hint("add `format = \"csv\"` or `format = \"jsonl\"`"));
        }
        format
    });
    table.finish();
    Some(DataDefinition {
        name: name.to_owned(),
        file: file?,
        format: format?,
        pick,
        at_end,
        span,
        columns: Vec::new(),
    })
}

/// Returns the format of a file by the end of its name.
fn format_of(file: &str) -> Option<DataFormat> {
    match file.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "csv" => Some(DataFormat::Csv),
        "jsonl" | "ndjson" => Some(DataFormat::JsonLines),
        _ => None,
    }
}
