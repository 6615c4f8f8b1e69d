//! Keys: name, description, and where the value goes.

use serde_json::Value;

use super::{TableSpec, ValueSpec};
use crate::reader::{TomlTable, ValueError};

/// A key of a table that is read into a `T`.
pub struct KeySpec<T> {
    name: &'static str,
    is_required: bool,
    /// The default that the schema names.
    default_value: Option<Value>,
    read: ReadKey<T>,
}

/// A function that reads a key of a table into a value.
type ReadKey<T> = Box<dyn Fn(&mut TomlTable, &mut T)>;

/// Makes a key with a value; `set` puts it where it belongs.
pub fn key<T: 'static, V: 'static>(
    name: &'static str,
    about: &'static str,
    value: ValueSpec<V>,
    set: fn(&mut T, V),
) -> KeySpec<T> {
    KeySpec::new(name, move |table, into| {
        if let Some(value) = table.optional_by(name, about, &value) {
            set(into, value);
        }
    })
}

/// Makes a key with a table; `inner` returns the value that the table is read into, and is called only if there is one.
pub fn table<T: 'static, I: 'static>(
    name: &'static str,
    about: &'static str,
    spec: TableSpec<I>,
    inner: fn(&mut T) -> &mut I,
) -> KeySpec<T> {
    KeySpec::new(name, move |table, into| {
        if let Some(mut table) = table.optional_table(name, about) {
            spec.read(&mut table, inner(into));
        }
    })
}

/// Makes a key with an array of tables, `[[name]]`; `new` returns the value that each is read into.
pub fn tables<T: 'static, I: 'static>(
    name: &'static str,
    about: &'static str,
    spec: TableSpec<I>,
    new: fn() -> I,
    set: fn(&mut T, Vec<I>),
) -> KeySpec<T> {
    KeySpec::new(name, move |table, into| {
        let Some(tables) = table.optional_tables(name, about) else { return };
        let read = |mut table: TomlTable| {
            let mut one = new();
            spec.read(&mut table, &mut one);
            one
        };
        set(into, tables.into_iter().map(read).collect());
    })
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
    KeySpec::new(name, move |table, into| {
        let Some(mut table) = table.optional_table(name, about) else { return };
        table.describe_names(pattern);
        set(into, table.named_by(name_of, &value));
    })
}

impl<T> KeySpec<T> {
    fn new(name: &'static str, read: impl Fn(&mut TomlTable, &mut T) + 'static) -> KeySpec<T> {
        KeySpec { name, is_required: false, default_value: None, read: Box::new(read) }
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
        (self.read)(table, into);
        if let Some(default_value) = &self.default_value {
            table.describe_rule(self.name, "default", default_value.clone());
        }
    }
}
