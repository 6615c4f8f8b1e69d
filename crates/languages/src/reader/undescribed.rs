//! Reading of keys without a description, for languages whose schema is made in another way.

use std::ops::Range;

use toml::de::DeValue;

use super::table::{NamedEntry, TomlTable, ValueError};

impl<'a> TomlTable<'a> {
    /// Reads the value of a key that may be absent; `None` as well if the value is wrong, which is reported.
    pub fn optional_undescribed<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.read_value(key, read)
    }

    /// Reads the value of a key that must be there; `None` if it is not or is wrong, which is reported.
    pub fn required_undescribed<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<T> {
        self.report_missing(key);
        self.read_value(key, read)
    }

    /// Reads the items of an array that may be absent, or empty; each wrong item is reported at its own position.
    pub fn optional_items_undescribed<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<Vec<T>> {
        self.read_items(key, read)
    }

    /// Reads the items of an array that must be there.
    pub fn required_items_undescribed<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&DeValue) -> Result<T, ValueError>,
    ) -> Option<Vec<T>> {
        self.report_missing(key);
        self.read_items(key, read)
    }

    /// Enters a table that may be absent.
    pub fn optional_table_undescribed(&mut self, key: &'static str) -> Option<TomlTable<'a>> {
        self.enter_table(key)
    }

    /// Enters a table that must be there.
    pub fn required_table_undescribed(&mut self, key: &'static str) -> Option<TomlTable<'a>> {
        self.report_missing(key);
        self.enter_table(key)
    }

    /// Enters the tables of an array that may be absent, written as `[[key]]`.
    pub fn optional_tables_undescribed(&mut self, key: &'static str) -> Option<Vec<TomlTable<'a>>> {
        self.enter_tables(key)
    }

    /// Enters the tables of an array that must be there, and not be empty.
    pub fn required_tables_undescribed(&mut self, key: &'static str) -> Option<Vec<TomlTable<'a>>> {
        self.report_missing(key);
        let tables = self.enter_tables(key)?;
        self.refuse_none(key, tables)
    }

    /// Enters all tables of a table whose keys are names that its writer chose.
    pub fn named_tables_undescribed(&mut self) -> Vec<(&'a str, TomlTable<'a>)> {
        self.enter_named_tables()
    }

    /// Reads all values of a table whose keys are names that its writer chose.
    pub fn named_undescribed<T>(
        &mut self,
        read: impl Fn(&str, &DeValue) -> Result<T, ValueError>,
    ) -> Vec<(String, T)> {
        self.read_named(|name, value| Ok((name.to_owned(), read(name, value)?)))
    }

    /// Returns all entries of a table whose keys are names that its writer chose, each with the span of its value.
    pub fn named_entries_undescribed(&mut self) -> Vec<(&'a str, Range<usize>, NamedEntry<'a>)> {
        self.enter_entries()
    }
}
