//! Keys of a table: each is read under its name, with what it is for and what values it takes.
//!
//! The same code describes the table: run on a description ([`toml_schema`](super::toml_schema)), it reads nothing, and
//! the keys that it asks for become the JSON Schema. So each key is written once. Code that can read something in one of
//! several ways says so by [`TomlTable::optional_either`], [`TomlTable::cases`] and [`TomlTable::described`], so that a
//! description has them all.

use std::ops::Range;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::description::{Definitions, Form, SharedDescription, TableDescription, array};
use super::table::{NamedEntry, TomlTable, ValueError, kind, place};
use super::value_spec::ValueSpec;

/// The name for all names that a writer may choose, in a description.
const ANY_NAME: &str = "name";

/// Values.
impl<'a> TomlTable<'a> {
    /// Reads the value of a key that may be absent; `None` as well if the value is wrong, which is reported.
    pub fn optional<T>(&mut self, key: &'static str, about: &str, value: ValueSpec<T>) -> Option<T> {
        self.optional_by(key, about, &value)
    }

    /// Reads the value of a key that must be there; `None` if it is not or is wrong, which is reported.
    pub fn required<T>(&mut self, key: &'static str, about: &str, value: ValueSpec<T>) -> Option<T> {
        self.require(key);
        self.optional_by(key, about, &value)
    }

    pub(crate) fn optional_by<T>(
        &mut self,
        key: &'static str,
        about: &str,
        value: &ValueSpec<T>,
    ) -> Option<T> {
        self.describe_key(key, about, |definitions| Form::Value(value.schema(definitions)));
        self.read_value(key, |written| value.read(written))
    }

    /// Reads the items of an array that may be absent, or empty; each wrong item is reported at its own position.
    pub fn optional_items<T>(
        &mut self,
        key: &'static str,
        about: &str,
        item: ValueSpec<T>,
    ) -> Option<Vec<T>> {
        self.describe_key(key, about, |definitions| Form::Value(array(item.schema(definitions))));
        self.read_items(key, |written| item.read(written))
    }

    /// Reads the items of an array that must be there.
    pub fn required_items<T>(
        &mut self,
        key: &'static str,
        about: &str,
        item: ValueSpec<T>,
    ) -> Option<Vec<T>> {
        self.require(key);
        self.optional_items(key, about, item)
    }

    /// Reads a key that may be absent and has a value, or a table that is read by `read`.
    pub fn optional_either<T>(
        &mut self,
        key: &'static str,
        about: &str,
        value: ValueSpec<T>,
        read: impl FnOnce(TomlTable<'a>) -> Option<T>,
    ) -> Option<T> {
        if self.description.is_some() {
            self.optional(key, about, value);
            return self.optional_table(key, about).and_then(read);
        }
        match self.value(key) {
            Some(DeValue::Table(_)) => self.optional_table(key, about).and_then(read),
            _ => self.optional(key, about, value),
        }
    }

    /// Reads a key that must be there and has a value, or a table that is read by `read`.
    pub fn required_either<T>(
        &mut self,
        key: &'static str,
        about: &str,
        value: ValueSpec<T>,
        read: impl FnOnce(TomlTable<'a>) -> Option<T>,
    ) -> Option<T> {
        self.require(key);
        self.optional_either(key, about, value, read)
    }

    /// Refuses a key that used to be one. It is in no schema.
    pub fn refuse(&mut self, key: &'static str, error: ValueError) {
        if self.entry(key).is_some() {
            self.reject(key, error);
        }
    }

    /// Reads all values of a table whose keys are names that its writer chose.
    pub fn named<T>(&mut self, value: ValueSpec<T>) -> Vec<(String, T)> {
        self.named_by(|name| Ok(name.to_owned()), &value)
    }

    /// Reads all values of a table whose keys are names that its writer chose; `name_of` reads those.
    pub fn named_by<N, T>(
        &mut self,
        name_of: impl Fn(&str) -> Result<N, ValueError>,
        value: &ValueSpec<T>,
    ) -> Vec<(N, T)> {
        self.describe_named(|definitions| Form::Value(value.schema(definitions)));
        self.read_named(|name, written| Ok((name_of(name)?, value.read(written)?)))
    }
}

/// Tables.
impl<'a> TomlTable<'a> {
    /// Enters a table that may be absent.
    pub fn optional_table(&mut self, key: &'static str, about: &str) -> Option<TomlTable<'a>> {
        self.described_table(key, about, Form::Table).or_else(|| self.enter_table(key))
    }

    /// Enters a table that must be there.
    pub fn required_table(&mut self, key: &'static str, about: &str) -> Option<TomlTable<'a>> {
        self.require(key);
        self.optional_table(key, about)
    }

    /// Enters the tables of an array that may be absent, written as `[[key]]`.
    pub fn optional_tables(&mut self, key: &'static str, about: &str) -> Option<Vec<TomlTable<'a>>> {
        match self.described_table(key, about, Form::Tables) {
            Some(table) => Some(vec![table]),
            None => self.enter_tables(key),
        }
    }

    /// Enters the tables of an array that may be absent, but not empty.
    pub fn some_tables(&mut self, key: &'static str, about: &str) -> Option<Vec<TomlTable<'a>>> {
        let tables = self.optional_tables(key, about);
        self.describe_rule(key, "minItems", 1);
        self.refuse_none(key, tables?)
    }

    /// Enters the tables of an array that must be there, and not be empty.
    pub fn required_tables(&mut self, key: &'static str, about: &str) -> Option<Vec<TomlTable<'a>>> {
        self.require(key);
        self.some_tables(key, about)
    }

    /// Enters all tables of a table whose keys are names that its writer chose.
    pub fn named_tables(&mut self) -> Vec<(&'a str, TomlTable<'a>)> {
        match self.described_named_table() {
            Some(table) => vec![(ANY_NAME, table)],
            None => self.enter_named_tables(),
        }
    }

    /// Returns all entries of a table whose keys are names that its writer chose, each with the span of its value. The
    /// caller reads those that are no tables by `value`.
    pub fn named_entries<T>(&mut self, value: &ValueSpec<T>) -> Vec<(&'a str, Range<usize>, NamedEntry<'a>)> {
        self.describe_named(|definitions| Form::Value(value.schema(definitions)));
        match self.described_named_table() {
            Some(table) => vec![(ANY_NAME, 0..0, NamedEntry::Table(table))],
            None => self.enter_entries(),
        }
    }
}

/// Descriptions. These methods do nothing to a table that is read.
impl<'a> TomlTable<'a> {
    /// Names the definition of this table and describes it.
    pub fn describe(&self, name: &'static str, about: &str) {
        self.note(|description| description.define(name, about));
    }

    /// Adds a keyword to the schema of a key: a default, a limit that a later check sets.
    pub fn describe_rule(&self, key: &str, keyword: &str, value: impl Into<Value>) {
        self.note(|description| description.add_rule(key, keyword, value.into()));
    }

    /// Describes how many keys of this table must be given, of several that exclude each other.
    pub fn describe_n_keys(&self, n: usize) {
        self.note(|description| description.set_n_keys(n));
    }

    /// Describes the names that the writer of this table may choose, by a pattern.
    pub fn describe_names(&self, pattern: &'static str) {
        self.note(|description| description.set_name_pattern(pattern));
    }

    /// Returns the cases to read: the given one, or all of them for a description.
    pub fn cases<T: Copy>(&self, given: T, all: &[T]) -> Vec<T> {
        if self.description.is_some() { all.to_vec() } else { vec![given] }
    }

    /// Returns a value if this is a description: in place of one that a table would have.
    pub fn described<T>(&self, value: T) -> Option<T> {
        self.description.as_ref().map(|_| value)
    }

    /// Reports a key that is absent although it must be there.
    pub(crate) fn require(&self, key: &'static str) {
        self.note(|description| description.require(key));
        self.report_missing(key);
    }

    fn note(&self, note: impl FnOnce(&mut TableDescription)) {
        if let Some(description) = &self.description {
            note(&mut description.borrow_mut());
        }
    }

    fn describe_key(&self, key: &'static str, about: &str, form: impl FnOnce(&mut Definitions) -> Form) {
        self.note(|description| {
            description.add(key, about, form(&mut self.source.definitions.borrow_mut()));
        });
    }

    fn describe_named(&self, form: impl FnOnce(&mut Definitions) -> Form) {
        self.note(|description| description.add_named(form(&mut self.source.definitions.borrow_mut())));
    }

    /// Returns the description of a table at a key; `None` if this is no description.
    fn described_table(
        &self,
        key: &'static str,
        about: &str,
        form: fn(SharedDescription) -> Form,
    ) -> Option<TomlTable<'a>> {
        let (table, inner) = self.described_inner()?;
        self.note(|description| description.add(key, about, form(inner)));
        Some(table)
    }

    /// Returns the description of the tables under names that the writer chooses; `None` if this is no description.
    fn described_named_table(&self) -> Option<TomlTable<'a>> {
        let (table, inner) = self.described_inner()?;
        self.note(|description| description.add_named(Form::Table(inner)));
        Some(table)
    }

    fn described_inner(&self) -> Option<(TomlTable<'a>, SharedDescription)> {
        self.description.as_ref()?;
        let table = TomlTable::description(self.source, self.entries);
        let inner = table.description.clone()?;
        Some((table, inner))
    }
}

/// Reading.
impl<'a> TomlTable<'a> {
    pub(super) fn read_value<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        let (_, value) = self.entry(key)?;
        read(value.get_ref()).map_err(|error| self.reject_at(key, value.span(), error)).ok()
    }

    pub(super) fn read_items<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<Vec<T>> {
        let (_, value) = self.entry(key)?;
        let DeValue::Array(items) = value.get_ref() else {
            let error = ValueError::new(format!("expected an array, found {}", kind(value.get_ref())));
            self.reject(key, error);
            return None;
        };
        let read_item = |item: &Spanned<DeValue>| {
            read(item.get_ref()).map_err(|error| self.reject_at(key, item.span(), error)).ok()
        };
        // All are read before the first wrong one ends it.
        let read: Vec<Option<T>> = items.iter().map(read_item).collect();
        read.into_iter().collect()
    }

    pub(super) fn read_named<T>(&mut self, read: impl Fn(&str, &DeValue) -> Result<T, ValueError>) -> Vec<T> {
        let mut values = Vec::new();
        for (name, value) in self.entries {
            self.asked.push(name.get_ref());
            match read(name.get_ref(), value.get_ref()) {
                Ok(read) => values.push(read),
                Err(error) => self.reject(name.get_ref(), error),
            }
        }
        values
    }

    pub(super) fn enter_table(&mut self, key: &'static str) -> Option<TomlTable<'a>> {
        let (name, value) = self.entry(key)?;
        let path = self.path_of(key);
        match value.get_ref() {
            DeValue::Table(entries) => Some(self.inner(path, name.span(), entries)),
            other => {
                let mut error = ValueError::new(format!("expected a table, found {}", kind(other)));
                if let DeValue::Array(items) = other
                    && items.iter().all(|item| matches!(item.get_ref(), DeValue::Table(_)))
                {
                    error = error.hint(format!("only one is possible: write `[{path}]`"));
                }
                self.reject_at(key, place(value, name), error);
                None
            }
        }
    }

    pub(super) fn enter_tables(&mut self, key: &'static str) -> Option<Vec<TomlTable<'a>>> {
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
        let error = |found| {
            ValueError::new(format!("expected tables, found {found}")).hint(format!("write `[[{path}]]`"))
        };
        found.map_err(|found| self.reject(key, error(found))).ok()
    }

    /// Refuses an array without tables.
    pub(super) fn refuse_none(&self, key: &str, tables: Vec<TomlTable<'a>>) -> Option<Vec<TomlTable<'a>>> {
        if tables.is_empty() {
            let hint = format!("write `[[{}]]`", self.path_of(key));
            self.reject(key, ValueError::new("expected at least one table, found none").hint(hint));
            return None;
        }
        Some(tables)
    }

    pub(super) fn enter_named_tables(&mut self) -> Vec<(&'a str, TomlTable<'a>)> {
        let mut tables = Vec::new();
        for (name, value) in self.entries {
            self.asked.push(name.get_ref());
            let path = self.path_of(name.get_ref());
            match value.get_ref() {
                DeValue::Table(entries) => {
                    tables.push((name.get_ref().as_ref(), self.inner(path, name.span(), entries)));
                }
                other => {
                    let error = ValueError::new(format!("expected a table, found {}", kind(other)));
                    self.reject(name.get_ref(), error);
                }
            }
        }
        tables
    }

    pub(super) fn enter_entries(&mut self) -> Vec<(&'a str, Range<usize>, NamedEntry<'a>)> {
        let entry = |(name, value): (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)| {
            let path = self.path_of(name.get_ref());
            let entry = match value.get_ref() {
                DeValue::Table(entries) => NamedEntry::Table(self.inner(path, name.span(), entries)),
                other => NamedEntry::Value(other),
            };
            (name.get_ref().as_ref(), value.span(), entry)
        };
        let entries = self.entries.iter().map(entry).collect();
        self.asked.extend(self.entries.keys().map(|key| key.get_ref().as_ref()));
        entries
    }
}
