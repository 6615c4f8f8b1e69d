//! Keys: name, description, and where the value goes.

use serde_json::Value;

use super::{TableSpec, ValueSpec};
use crate::reader::{TomlTable, ValueError};

/// A key of a table that is read into a `T`.
pub struct KeySpec<T> {
    name: &'static str,
    about: &'static str,
    is_required: bool,
    /// The default that the schema names.
    default_value: Option<Value>,
    content: Box<dyn Content<T>>,
}

/// The content of a key: a value, a table or several.
trait Content<T> {
    fn read(&self, table: &mut TomlTable, key: &'static str, about: &str, into: &mut T);
}

/// Makes a key with a value; `set` puts it where it belongs.
pub fn key<T: 'static, V: 'static>(
    name: &'static str,
    about: &'static str,
    value: ValueSpec<V>,
    set: fn(&mut T, V),
) -> KeySpec<T> {
    KeySpec::new(name, about, OneValue { value, set })
}

/// Makes a key with a table; `inner` returns the value that the table is read into, and is called only if there is one.
pub fn table<T: 'static, I: 'static>(
    name: &'static str,
    about: &'static str,
    spec: TableSpec<I>,
    inner: fn(&mut T) -> &mut I,
) -> KeySpec<T> {
    KeySpec::new(name, about, OneTable { spec, inner })
}

/// Makes a key with an array of tables, `[[name]]`; `new` returns the value that each is read into.
pub fn tables<T: 'static, I: 'static>(
    name: &'static str,
    about: &'static str,
    spec: TableSpec<I>,
    new: fn() -> I,
    set: fn(&mut T, Vec<I>),
) -> KeySpec<T> {
    KeySpec::new(name, about, ManyTables { spec, new, set })
}

/// Makes a key with a table of values under names that its writer chooses: `pattern` describes the names in the schema,
/// `name_of` reads them.
pub fn named_values<T: 'static, N: 'static, V: 'static>(
    name: &'static str,
    about: &'static str,
    pattern: &'static str,
    name_of: fn(&str) -> Result<N, ValueError>,
    value: ValueSpec<V>,
    set: fn(&mut T, Vec<(N, V)>),
) -> KeySpec<T> {
    KeySpec::new(name, about, NamedValues { pattern, name_of, value, set })
}

impl<T> KeySpec<T> {
    fn new(name: &'static str, about: &'static str, content: impl Content<T> + 'static) -> KeySpec<T> {
        KeySpec { name, about, is_required: false, default_value: None, content: Box::new(content) }
    }

    /// Makes the key one that must be given.
    pub fn required(self) -> KeySpec<T> {
        KeySpec { is_required: true, ..self }
    }

    /// Names the default in the schema; reading leaves a key that is absent as it is.
    pub fn default_value(self, default_value: impl Into<Value>) -> KeySpec<T> {
        KeySpec { default_value: Some(default_value.into()), ..self }
    }

    pub(super) fn read(&self, table: &mut TomlTable, into: &mut T) {
        if self.is_required {
            table.require(self.name);
        }
        self.content.read(table, self.name, self.about, into);
        if let Some(default_value) = &self.default_value {
            table.describe_rule(self.name, "default", default_value.clone());
        }
    }
}

struct OneValue<T, V> {
    value: ValueSpec<V>,
    set: fn(&mut T, V),
}

impl<T, V> Content<T> for OneValue<T, V> {
    fn read(&self, table: &mut TomlTable, key: &'static str, about: &str, into: &mut T) {
        if let Some(value) = table.optional_by(key, about, &self.value) {
            (self.set)(into, value);
        }
    }
}

struct OneTable<T, I> {
    spec: TableSpec<I>,
    inner: fn(&mut T) -> &mut I,
}

impl<T, I: 'static> Content<T> for OneTable<T, I> {
    fn read(&self, table: &mut TomlTable, key: &'static str, about: &str, into: &mut T) {
        if let Some(mut table) = table.optional_table(key, about) {
            self.spec.read(&mut table, (self.inner)(into));
        }
    }
}

struct ManyTables<T, I> {
    spec: TableSpec<I>,
    new: fn() -> I,
    set: fn(&mut T, Vec<I>),
}

impl<T, I: 'static> Content<T> for ManyTables<T, I> {
    fn read(&self, table: &mut TomlTable, key: &'static str, about: &str, into: &mut T) {
        let Some(tables) = table.optional_tables(key, about) else { return };
        let read = |mut table: TomlTable| {
            let mut into = (self.new)();
            self.spec.read(&mut table, &mut into);
            into
        };
        (self.set)(into, tables.into_iter().map(read).collect());
    }
}

struct NamedValues<T, N, V> {
    pattern: &'static str,
    name_of: fn(&str) -> Result<N, ValueError>,
    value: ValueSpec<V>,
    set: fn(&mut T, Vec<(N, V)>),
}

impl<T, N, V> Content<T> for NamedValues<T, N, V> {
    fn read(&self, table: &mut TomlTable, key: &'static str, about: &str, into: &mut T) {
        let Some(mut table) = table.optional_table(key, about) else { return };
        table.describe_names(self.pattern);
        (self.set)(into, table.named_by(self.name_of, &self.value));
    }
}
