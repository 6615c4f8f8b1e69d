//! Kinds of values: how one is read, and its JSON Schema.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use toml::de::DeValue;
use units::{Bytes, Nanos};

use super::ValueError;
use super::description::{Definitions, SchemaPart, array, part, reference};
use super::value;
use super::value::{ID_MAX, LINE_MAX};
use crate::names::Named;
use crate::quantity::TIME_MAX;

/// A function that reads a value.
type ReadValue<V> = Box<dyn Fn(&DeValue) -> Result<V, ValueError>>;

/// A function that makes the schema of a value and adds the definitions to which it refers.
type MakeSchema = Box<dyn Fn(&mut Definitions) -> SchemaPart>;

/// The values of a key.
pub struct ValueSpec<V> {
    read: ReadValue<V>,
    /// Called for descriptions only, so that reading a text makes no schema.
    schema: MakeSchema,
}

/// A word with its description and the value that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedChoice<V>(pub &'static str, pub &'static str, pub V);

impl<V: 'static> ValueSpec<V> {
    /// Makes a specification from a JSON Schema, which is an object, and a reader.
    pub fn new(
        schema: impl Fn() -> Value + 'static,
        read: impl Fn(&DeValue) -> Result<V, ValueError> + 'static,
    ) -> ValueSpec<V> {
        ValueSpec { read: Box::new(read), schema: Box::new(move |_| part(schema())) }
    }

    /// Makes the schema a definition with a name and a description, to which keys refer.
    pub fn named(self, name: &'static str, about: &'static str) -> ValueSpec<V> {
        let inner = self.schema;
        let schema = move |definitions: &mut Definitions| {
            if !definitions.contains_key(name) {
                let mut schema = inner(definitions);
                schema.insert("description".to_owned(), about.into());
                definitions.insert(name.to_owned(), schema.into());
            }
            reference(name)
        };
        ValueSpec { schema: Box::new(schema), ..self }
    }

    /// Adds a keyword to the schema, such as the pattern of texts that a check accepts.
    pub fn rule(self, keyword: &'static str, value: impl Into<Value>) -> ValueSpec<V> {
        let (inner, value) = (self.schema, value.into());
        let schema = move |definitions: &mut Definitions| {
            let mut schema = inner(definitions);
            schema.insert(keyword.to_owned(), value.clone());
            schema
        };
        ValueSpec { schema: Box::new(schema), ..self }
    }

    /// Describes it as other values: for those that are read only to be refused with a reason.
    pub fn described_as<W>(self, other: ValueSpec<W>) -> ValueSpec<V> {
        ValueSpec { schema: other.schema, ..self }
    }

    /// Makes it a list of such values, which may be empty.
    pub fn list(self) -> ValueSpec<Vec<V>> {
        let item = self.schema;
        let schema = move |definitions: &mut Definitions| array(item(definitions));
        ValueSpec { read: Box::new(value::items(self.read)), schema: Box::new(schema) }
    }

    /// Makes it a list of such values that is not empty.
    pub fn non_empty_list(self) -> ValueSpec<Vec<V>> {
        let item = self.schema;
        let schema = move |definitions: &mut Definitions| array(item(definitions));
        let list = ValueSpec { read: Box::new(value::list(self.read)), schema: Box::new(schema) };
        list.rule("minItems", 1)
    }

    /// Adds a condition that the schema does not have, or a conversion.
    pub fn and_then<W: 'static>(
        self,
        convert: impl Fn(V) -> Result<W, ValueError> + 'static,
    ) -> ValueSpec<W> {
        let read = self.read;
        ValueSpec { read: Box::new(move |value| read(value).and_then(&convert)), schema: self.schema }
    }

    /// Changes the error of a value that is refused.
    pub fn map_error(self, change: impl Fn(ValueError) -> ValueError + 'static) -> ValueSpec<V> {
        let read = self.read;
        ValueSpec { read: Box::new(move |value| read(value).map_err(&change)), ..self }
    }

    /// Converts the values.
    pub fn map<W: 'static>(self, convert: impl Fn(V) -> W + 'static) -> ValueSpec<W> {
        self.and_then(move |value| Ok(convert(value)))
    }

    /// Makes it values of either kind: `is_other` tells the other one by what is written.
    pub fn or(self, other: ValueSpec<V>, is_other: fn(&DeValue) -> bool) -> ValueSpec<V> {
        let (read, read_other) = (self.read, other.read);
        let either = move |value: &DeValue| if is_other(value) { read_other(value) } else { read(value) };
        let (schema, schema_of_other) = (self.schema, other.schema);
        let schemas = move |definitions: &mut Definitions| {
            let choices = [schema(definitions), schema_of_other(definitions)];
            part(json!({ "anyOf": choices }))
        };
        ValueSpec { read: Box::new(either), schema: Box::new(schemas) }
    }
}

impl<V> ValueSpec<V> {
    /// Reads a value.
    ///
    /// # Errors
    /// It is not one of these.
    pub fn read(&self, value: &DeValue) -> Result<V, ValueError> {
        (self.read)(value)
    }

    pub(super) fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        (self.schema)(definitions)
    }
}

/// Texts, also empty ones.
pub fn text() -> ValueSpec<String> {
    ValueSpec::new(|| json!({ "type": "string" }), value::text)
}

/// Texts of one line that are not empty, of at most 500 bytes.
pub fn line() -> ValueSpec<String> {
    ValueSpec::new(|| json!({ "type": "string", "minLength": 1, "maxLength": LINE_MAX }), value::line)
}

/// Names that are easy to type and can be part of a file name: lower-case letters, digits, `-` and `.`.
pub fn id() -> ValueSpec<String> {
    let pattern = format!("^[a-z0-9][a-z0-9.-]{{0,{}}}$", ID_MAX - 1);
    ValueSpec::new(move || json!({ "type": "string", "pattern": pattern }), value::id)
}

/// True or false.
pub fn flag() -> ValueSpec<bool> {
    ValueSpec::new(|| json!({ "type": "boolean" }), value::flag)
}

/// Whole numbers within limits.
pub fn whole(limits: RangeInclusive<u64>) -> ValueSpec<u64> {
    let (least, most) = (*limits.start(), *limits.end());
    let schema = move || match most {
        u64::MAX => json!({ "type": "integer", "minimum": least }),
        most => json!({ "type": "integer", "minimum": least, "maximum": most }),
    };
    ValueSpec::new(schema, value::whole(limits))
}

/// Whole numbers within limits that fit 32 bits.
pub fn whole_u32(limits: RangeInclusive<u32>) -> ValueSpec<u32> {
    whole(u64::from(*limits.start())..=u64::from(*limits.end())).map(|number| number as u32)
}

/// Sizes of files in bytes, at most 1 TiB.
pub fn bytes() -> ValueSpec<u64> {
    whole(0..=value::FILE_BYTES_MAX).named("FileSize", "A size in bytes, at most 1 TiB.")
}

/// Ratios from 0 to 1.
pub fn ratio() -> ValueSpec<f64> {
    let schema = || json!({ "type": "number", "minimum": 0, "maximum": 1 });
    ValueSpec::new(schema, value::ratio).named("Ratio", "A ratio from 0 to 1.")
}

/// Times with their unit, at most 30 days.
pub fn time() -> ValueSpec<Nanos> {
    let about = "A time: a number and a unit (ns, us, ms, s, m or min, h, d), such as `600 s`, or several such as \
                 `1m30s`; at most 30 days.";
    time_up_to(TIME_MAX).named("Time", about)
}

/// Times above zero with their unit, at most 30 days.
pub fn time_above_zero() -> ValueSpec<Nanos> {
    time().and_then(value::above_zero)
}

/// Times up to a longest one.
pub fn time_up_to(max: Nanos) -> ValueSpec<Nanos> {
    let pattern = r"^\s*([0-9.]+\s*(ns|us|µs|ms|s|m|min|h|d)\s*)+$";
    ValueSpec::new(move || json!({ "type": "string", "pattern": pattern }), value::time_up_to(max))
}

/// Sizes with their unit.
pub fn size() -> ValueSpec<Bytes> {
    let pattern = r"^\s*[0-9.]+\s*(B|KiB|MiB|GiB|TiB)\s*$";
    ValueSpec::new(move || json!({ "type": "string", "pattern": pattern }), value::size)
}

/// Values of a choice, by their names.
pub fn choice<T: Named>() -> ValueSpec<T> {
    ValueSpec::new(|| names_schema::<T>(|_| true), value::choice)
}

/// Values of a choice, by their names; the schema names only some of them.
pub fn choice_described<T: Named + PartialEq>(described: &'static [T]) -> ValueSpec<T> {
    ValueSpec::new(move || names_schema::<T>(|value| described.contains(value)), value::choice)
}

/// Returns the schema of those names of a choice that are described.
fn names_schema<T: Named>(is_described: impl Fn(&T) -> bool) -> Value {
    let names = T::NAMES.iter().enumerate().filter(|(_, (_, value))| is_described(value));
    let words = names.map(|(index, (name, _))| match T::ABOUTS.get(index) {
        Some(about) => word(name, about.concat().trim()),
        None => json!({ "type": "string", "const": name }),
    });
    json!({ "oneOf": words.collect::<Vec<Value>>() })
}

/// One of several words: a definition with a name, in which each word has its description.
pub fn one_of<V: Clone + 'static>(
    name: &'static str,
    about: &'static str,
    choices: &'static [NamedChoice<V>],
) -> ValueSpec<V> {
    let words = move || {
        let words: Vec<Value> = choices.iter().map(|choice| word(choice.0, choice.1)).collect();
        json!({ "oneOf": words })
    };
    let read = move |value: &DeValue| {
        let names: Vec<(&'static str, V)> =
            choices.iter().map(|NamedChoice(word, _, value)| (*word, value.clone())).collect();
        value::one_of(&names)(value)
    };
    ValueSpec::new(words, read).named(name, about)
}

fn word(name: &str, about: &str) -> Value {
    json!({ "description": about, "type": "string", "const": name })
}
