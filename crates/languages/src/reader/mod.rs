//! Reading TOML that people write; all mistakes are collected, each with its position.
//!
//! - [`read_toml`]: text → value, or everything that is wrong with it; [`toml_schema`]: the JSON Schema of such texts
//! - `table`: tables; `keys`: their keys
//! - `value_spec`: kinds of values; `value`: those that all languages have
//! - `description`: the keys that were asked for, as a JSON Schema

mod description;
mod keys;
mod table;
pub(crate) mod value;
pub(crate) mod value_spec;

use serde_json::Value;
use toml::de::DeTable;

pub use table::{NamedEntry, TomlTable, ValueError, kind};

use crate::diagnostics::{Diagnostic, Diagnostics};
use table::TomlSource;

/// Returns the JSON Schema (2020-12) of the texts that [`read_toml`] accepts with the same reader.
pub fn toml_schema<T>(title: &str, read: impl FnOnce(TomlTable) -> T) -> Value {
    let source = TomlSource::new("", "");
    let entries = DeTable::new();
    let top = TomlTable::description(&source, &entries);
    let description = top.description.clone().unwrap_or_default();
    read(top);
    let definitions = source.definitions.take();
    description.borrow().document(title, definitions)
}

/// Reads a TOML text; `what` is what messages call its kind (`a definition`), `file_name` the text itself.
///
/// `read` gives `None` where a mistake was reported.
///
/// # Errors
/// All mistakes, as far as they can be found at once.
pub fn read_toml<T>(
    what: &'static str,
    file_name: &str,
    text: &str,
    read: impl FnOnce(TomlTable) -> Option<T>,
) -> Result<T, Diagnostics> {
    let (entries, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        let problems = syntax.iter().map(|error| syntax_problem(text, error)).collect();
        return Err(Diagnostics::new(file_name, text, problems));
    }
    let source = TomlSource::new(what, text);
    let value = read(TomlTable::root(&source, entries.get_ref()));
    let problems = source.into_problems();
    match value {
        Some(value) if problems.is_empty() => Ok(value),
        _ => Err(Diagnostics::new(file_name, text, problems)),
    }
}

/// Returns the diagnostic of a syntax error. The usual mistake is a string without quotes; the TOML parser takes one
/// that begins with `n` or `i` for a number.
fn syntax_problem(text: &str, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let label = error.message().to_owned();
    let is_value = label.starts_with("string values must be quoted") || label.starts_with("invalid float");
    let word = text.get(span.clone()).filter(|word| is_value && word.starts_with(char::is_alphabetic));
    let hint = word.map(|word| format!("write strings in quotes: `\"{word}\"`"));
    Diagnostic { message: "this is not TOML".to_owned(), span, label, hint }
}
