//! A TOML table that is read key by key.
//!
//! A table is asked for each key that it may have, then [`Table::finish`] reports what nobody asked for. So the
//! list of valid keys is the reading code itself.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostics::{Diagnostic, nearest};

/// A reason why a value does not fit its key.
pub(crate) struct Fault {
    /// The message: what was expected and what was found.
    pub(crate) label: String,
    /// The remedy: what to write instead.
    pub(crate) hint: Option<String>,
    /// The place inside a string, in bytes from its first character; all of the value if absent.
    pub(crate) inside: Option<Range<usize>>,
}

impl Fault {
    pub(crate) fn new(label: impl Into<String>) -> Fault {
        Fault { label: label.into(), hint: None, inside: None }
    }

    pub(crate) fn at(self, inside: Range<usize>) -> Fault {
        Fault { inside: Some(inside), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }
}

/// The text that is read and what was found wrong with it so far.
pub(crate) struct Source<'a> {
    /// The kind of the text: `a definition`.
    what: &'static str,
    text: &'a str,
    problems: RefCell<Vec<Diagnostic>>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(what: &'static str, text: &'a str) -> Source<'a> {
        Source { what, text, problems: RefCell::default() }
    }

    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        self.problems.into_inner()
    }

    fn report(&self, message: String, span: Range<usize>, fault: Fault) {
        let span = fault.inside.and_then(|inside| self.inside_string(&span, inside)).unwrap_or(span);
        let problem = Diagnostic { message, span, label: fault.label, hint: fault.hint };
        self.problems.borrow_mut().push(problem);
    }

    /// Returns where a part of a string stands in the text; `None` if the string is not written plainly.
    fn inside_string(&self, value: &Range<usize>, inside: Range<usize>) -> Option<Range<usize>> {
        let written = self.text.get(value.clone())?;
        let is_plain =
            !written.contains('\\') && !written.starts_with("\"\"\"") && !written.starts_with("'''");
        let start = value.start + 1;
        is_plain.then_some(start + inside.start..start + inside.end)
    }
}

/// A value under a name that its writer chose.
pub(crate) enum Entry<'a> {
    /// Anything but a table.
    Value(&'a DeValue<'a>),
    /// A table.
    Table(Table<'a>),
}

/// One table that is being read.
pub(crate) struct Table<'a> {
    source: &'a Source<'a>,
    /// Dotted path; empty for the whole file.
    path: String,
    /// The place that missing keys point at.
    span: Range<usize>,
    entries: &'a DeTable<'a>,
    asked: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// Begins with the table that the file is.
    pub(crate) fn root(source: &'a Source<'a>, entries: &'a DeTable<'a>) -> Table<'a> {
        Table { source, path: String::new(), span: 0..0, entries, asked: Vec::new() }
    }

    /// Reads the value of a key that may be absent; `None` as well if the value is wrong, which is reported.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, Fault>,
    ) -> Option<T> {
        let (_, value) = self.entry(key)?;
        match read(value.get_ref()) {
            Ok(read) => Some(read),
            Err(fault) => {
                let message = format!("`{}` is not valid", self.path_of(key));
                self.source.report(message, value.span(), fault);
                None
            }
        }
    }

    /// Reads the value of a key that must be there; `None` if it is not or is wrong, which is reported.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, Fault>,
    ) -> Option<T> {
        self.require(key);
        self.optional(key, read)
    }

    /// Goes into a table that may be absent.
    pub(crate) fn optional_table(&mut self, key: &'static str) -> Option<Table<'a>> {
        let (name, value) = self.entry(key)?;
        let path = self.path_of(key);
        match value.get_ref() {
            DeValue::Table(entries) => Some(self.inner(path, name.span(), entries)),
            other => {
                let fault = Fault::new(format!("expected a table, found {}", kind(other)));
                self.source.report(format!("`{path}` is not valid"), value.span(), fault);
                None
            }
        }
    }

    /// Goes into the tables of a list that may be absent, written as `[[key]]`.
    pub(crate) fn optional_tables(&mut self, key: &'static str) -> Option<Vec<Table<'a>>> {
        let (name, value) = self.entry(key)?;
        let path = self.path_of(key);
        let found = match value.get_ref() {
            DeValue::Array(items) => {
                let table = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
                    DeValue::Table(entries) => Ok(self.inner(path.clone(), place(item, name), entries)),
                    other => Err(kind(other)),
                };
                items.iter().map(table).collect()
            }
            other => Err(kind(other)),
        };
        let fault =
            |found| Fault::new(format!("expected tables, found {found}")).hint(format!("write `[[{path}]]`"));
        found.map_err(|found| self.reject(key, fault(found))).ok()
    }

    /// Goes into all tables of a table whose keys are names that its writer chose.
    pub(crate) fn named_tables(&mut self) -> Vec<(&'a str, Table<'a>)> {
        let mut tables = Vec::new();
        for (name, value) in self.entries {
            self.asked.push(name.get_ref());
            let path = self.path_of(name.get_ref());
            match value.get_ref() {
                DeValue::Table(entries) => {
                    tables.push((name.get_ref().as_ref(), self.inner(path, name.span(), entries)));
                }
                other => {
                    let fault = Fault::new(format!("expected a table, found {}", kind(other)));
                    self.reject(name.get_ref(), fault);
                }
            }
        }
        tables
    }

    /// Reads all values of a table whose keys are names that its writer chose.
    pub(crate) fn named<T>(&mut self, read: impl Fn(&str, &DeValue) -> Result<T, Fault>) -> Vec<(String, T)> {
        let mut values = Vec::new();
        for (name, value) in self.entries {
            self.asked.push(name.get_ref());
            match read(name.get_ref(), value.get_ref()) {
                Ok(read) => values.push((name.get_ref().to_string(), read)),
                Err(fault) => self.reject(name.get_ref(), fault),
            }
        }
        values
    }

    /// Returns all entries of a table whose keys are names that its writer chose, each with the place of its value.
    pub(crate) fn named_entries(&mut self) -> Vec<(&'a str, Range<usize>, Entry<'a>)> {
        let entry = |(name, value): (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)| {
            let path = self.path_of(name.get_ref());
            let entry = match value.get_ref() {
                DeValue::Table(entries) => Entry::Table(self.inner(path, name.span(), entries)),
                other => Entry::Value(other),
            };
            (name.get_ref().as_ref(), value.span(), entry)
        };
        let entries = self.entries.iter().map(entry).collect();
        self.asked.extend(self.entries.keys().map(|key| key.get_ref().as_ref()));
        entries
    }

    /// Goes into a table that must be there.
    pub(crate) fn required_table(&mut self, key: &'static str) -> Option<Table<'a>> {
        self.require(key);
        self.optional_table(key)
    }

    /// Returns whether nothing at all stands in the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys that stand in the table.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.entries.keys().map(|key| key.get_ref().as_ref())
    }

    /// Returns whether a table that stands in this one has a key.
    pub(crate) fn has_inside(&self, table: &str, key: &str) -> bool {
        matches!(self.value(table), Some(DeValue::Table(entries)) if entries.contains_key(key))
    }

    /// Returns the value of a key as it stands there, for a decision on how to read it.
    pub(crate) fn value(&self, key: &str) -> Option<&'a DeValue<'a>> {
        self.entries.get(key).map(Spanned::get_ref)
    }

    /// Returns where the value of a key stands; the table's own place if it has none.
    pub(crate) fn span_of(&self, key: &str) -> Range<usize> {
        self.entries.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Returns where the table stands.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Reports a mistake that concerns the value of a key together with others.
    pub(crate) fn reject(&self, key: &str, fault: Fault) {
        self.source.report(format!("`{}` is not valid", self.path_of(key)), self.span_of(key), fault);
    }

    /// Reports a mistake that concerns the table as a whole.
    pub(crate) fn reject_all(&self, fault: Fault) {
        self.source.report(format!("`{}` is not valid", self.path), self.span.clone(), fault);
    }

    /// Goes into the tables of a list that must be there.
    pub(crate) fn required_tables(&mut self, key: &'static str) -> Option<Vec<Table<'a>>> {
        self.require(key);
        self.optional_tables(key)
    }

    /// Reports all keys that nobody asked for; the last thing that is done with a table.
    pub(crate) fn finish(self) {
        self.report_unknown();
    }

    /// Reports all keys that nobody asked for so far, of a table of which more is to be said later.
    pub(crate) fn report_unknown(&self) {
        for key in self.entries.keys() {
            if self.asked.iter().any(|asked| asked == key.get_ref()) {
                continue;
            }
            let place = if self.path.is_empty() { "" } else { &format!(" in `{}`", self.path) };
            let hint = match nearest(key.get_ref(), self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("keys here are {}", self.asked.join(", ")),
            };
            let fault = Fault::new(format!("not a key of {}", self.source.what)).hint(hint);
            self.source.report(format!("unknown key `{}`{place}", key.get_ref()), key.span(), fault);
        }
    }

    fn inner(&self, path: String, span: Range<usize>, entries: &'a DeTable<'a>) -> Table<'a> {
        Table { source: self.source, path, span, entries, asked: Vec::new() }
    }

    fn entry(&mut self, key: &'static str) -> Option<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        self.asked.push(key);
        self.entries.get_key_value(key)
    }

    fn require(&self, key: &'static str) {
        if !self.entries.contains_key(key) {
            let fault = Fault::new(format!("`{key}` must be given here"));
            self.source.report(format!("`{}` is missing", self.path_of(key)), self.span.clone(), fault);
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// Returns where a table of a list stands: where it begins, or the list if it has no place of its own.
fn place(item: &Spanned<DeValue>, list: &Spanned<DeString>) -> Range<usize> {
    if item.span().is_empty() { list.span() } else { item.span() }
}

/// Returns what a value is, in words.
pub(crate) fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
