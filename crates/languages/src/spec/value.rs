//! Values: how one is read, and its JSON Schema.

use serde_json::{Value, json};
use toml::de::DeValue;
use units::{Bytes, Nanos};

use super::{Definitions, SchemaPart, part, reference};
use crate::reader::{ValueError, flag, items, one_of, size, text, time_up_to};

/// A function that reads a value.
type ReadValue<V> = Box<dyn Fn(&DeValue) -> Result<V, ValueError>>;

/// The values of a key.
pub struct ValueSpec<V> {
    read: ReadValue<V>,
    shape: Shape,
}

/// A word with its description and the value that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedChoice<V>(pub &'static str, pub &'static str, pub V);

/// The schema of a value.
enum Shape {
    Inline(SchemaPart),
    /// A definition with a name.
    Definition(&'static str, SchemaPart),
    List(Box<Shape>),
}

impl Shape {
    fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        match self {
            Shape::Inline(schema) => schema.clone(),
            Shape::Definition(name, schema) => {
                definitions.entry(*name).or_insert_with(|| schema.clone().into());
                reference(name)
            }
            Shape::List(items) => part(json!({ "type": "array", "items": items.schema(definitions) })),
        }
    }
}

impl<V: 'static> ValueSpec<V> {
    /// Makes a specification from a JSON Schema, which is an object, and a reader.
    pub fn new(schema: Value, read: impl Fn(&DeValue) -> Result<V, ValueError> + 'static) -> ValueSpec<V> {
        ValueSpec { read: Box::new(read), shape: Shape::Inline(part(schema)) }
    }

    /// Makes the schema a definition with a name and a description, to which keys refer.
    pub fn named(self, name: &'static str, about: &'static str) -> ValueSpec<V> {
        let shape = match self.shape {
            Shape::Inline(mut schema) => {
                schema.insert("description".to_owned(), about.into());
                Shape::Definition(name, schema)
            }
            other => other,
        };
        ValueSpec { shape, ..self }
    }

    /// Makes it a list of such values, which may be empty.
    pub fn list(self) -> ValueSpec<Vec<V>> {
        let read = self.read;
        ValueSpec { read: Box::new(items(read)), shape: Shape::List(Box::new(self.shape)) }
    }

    /// Adds a condition that the schema does not have, or a conversion.
    pub fn and_then<W: 'static>(self, convert: fn(V) -> Result<W, ValueError>) -> ValueSpec<W> {
        let read = self.read;
        ValueSpec { read: Box::new(move |value| read(value).and_then(convert)), shape: self.shape }
    }
}

impl<V> ValueSpec<V> {
    pub(super) fn read(&self, value: &DeValue) -> Result<V, ValueError> {
        (self.read)(value)
    }

    pub(super) fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        self.shape.schema(definitions)
    }
}

impl ValueSpec<String> {
    /// Texts, also empty ones.
    pub fn text() -> ValueSpec<String> {
        ValueSpec::new(json!({ "type": "string" }), text)
    }
}

impl ValueSpec<bool> {
    /// True or false.
    pub fn flag() -> ValueSpec<bool> {
        ValueSpec::new(json!({ "type": "boolean" }), flag)
    }
}

impl ValueSpec<Nanos> {
    /// Times up to a longest one.
    pub fn time(max: Nanos) -> ValueSpec<Nanos> {
        let pattern = r"^\s*([0-9.]+\s*(ns|us|µs|ms|s|m|min|h|d)\s*)+$";
        ValueSpec::new(json!({ "type": "string", "pattern": pattern }), time_up_to(max))
    }
}

impl ValueSpec<Bytes> {
    /// Sizes with their unit.
    pub fn size() -> ValueSpec<Bytes> {
        let pattern = r"^\s*[0-9.]+\s*(B|KiB|MiB|GiB|TiB)\s*$";
        ValueSpec::new(json!({ "type": "string", "pattern": pattern }), size)
    }
}

impl<V: Clone + 'static> ValueSpec<V> {
    /// One of several words: a definition with a name, in which each word has its description.
    pub fn one_of(
        name: &'static str,
        about: &'static str,
        choices: &'static [NamedChoice<V>],
    ) -> ValueSpec<V> {
        let word = |NamedChoice(word, about, _): &NamedChoice<V>| json!({ "description": about, "type": "string", "const": word });
        let words: Vec<Value> = choices.iter().map(word).collect();
        let names: Vec<(&'static str, V)> =
            choices.iter().map(|NamedChoice(word, _, value)| (*word, value.clone())).collect();
        let read = move |value: &DeValue| one_of(&names)(value);
        ValueSpec::new(json!({ "oneOf": words }), read).named(name, about)
    }
}
