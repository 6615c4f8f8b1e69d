//! Kinds of values: how one is read, and its JSON Schema.

use serde_json::{Value, json};
use toml::de::DeValue;

use super::description::{Definitions, SchemaPart, array, part, reference};
use super::{ValueError, kind};

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
        let inner = self.schema;
        let value = value.into();
        let schema = move |definitions: &mut Definitions| {
            let mut schema = inner(definitions);
            schema.insert(keyword.to_owned(), value.clone());
            schema
        };
        ValueSpec { schema: Box::new(schema), ..self }
    }

    /// Describes it as other values: some are read only so that their refusal can give the reason.
    pub fn described_as<W>(self, other: ValueSpec<W>) -> ValueSpec<V> {
        ValueSpec { schema: other.schema, ..self }
    }

    /// Makes it a list of such values, which may be empty.
    pub fn list(self) -> ValueSpec<Vec<V>> {
        let item = self.schema;
        let schema = move |definitions: &mut Definitions| array(item(definitions));
        let read = self.read;
        let items = move |value: &DeValue| match value {
            DeValue::Array(items) => items.iter().map(|item| read(item.get_ref())).collect(),
            other => Err(ValueError::new(format!("expected an array, found {}", kind(other)))),
        };
        ValueSpec { read: Box::new(items), schema: Box::new(schema) }
    }

    /// Makes it a list of such values that is not empty.
    pub fn non_empty_list(self) -> ValueSpec<Vec<V>> {
        self.list().rule("minItems", 1).and_then(|items| {
            if items.is_empty() {
                return Err(ValueError::new("expected an array, found an empty one"));
            }
            Ok(items)
        })
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

    /// Accepts values of another kind, too, which `is_other` recognizes.
    pub fn or(self, other: ValueSpec<V>, is_other: fn(&DeValue) -> bool) -> ValueSpec<V> {
        let read = self.read;
        let read_other = other.read;
        let either = move |value: &DeValue| if is_other(value) { read_other(value) } else { read(value) };
        let schema = self.schema;
        let schema_of_other = other.schema;
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
