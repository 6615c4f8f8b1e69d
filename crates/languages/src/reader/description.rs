//! Descriptions of tables: the keys that a reader asked for, from which the JSON Schema is made.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Map, Value, json};

/// The definitions of a JSON Schema (`$defs`), by name.
pub(crate) type Definitions = Map<String, Value>;

/// A JSON Schema, or the part of one for a value.
pub(crate) type SchemaPart = Map<String, Value>;

/// The description of a table, which the table itself and the one around it share.
pub(super) type SharedDescription = Rc<RefCell<TableDescription>>;

/// The keys of a table, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct TableDescription {
    /// The name of its definition and its description; without a name it stands where it is used.
    definition: Option<(&'static str, String)>,
    keys: Vec<KeyDescription>,
    required: Vec<&'static str>,
    /// The number of keys that must be given.
    n_keys: Option<usize>,
    /// The values under names that the writer chooses.
    named: Vec<Form>,
    /// The pattern of those names.
    name_pattern: Option<&'static str>,
}

/// A key: one form of its value, or several.
struct KeyDescription {
    name: &'static str,
    about: String,
    forms: Vec<Form>,
    /// Further keywords of its schema.
    rules: SchemaPart,
}

/// A form of the value of a key.
pub(super) enum Form {
    Value(SchemaPart),
    Table(SharedDescription),
    Tables(SharedDescription),
}

impl Form {
    fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        match self {
            Form::Value(schema) => schema.clone(),
            Form::Table(table) => table.borrow().reference(definitions),
            Form::Tables(table) => array(table.borrow().reference(definitions)),
        }
    }
}

impl TableDescription {
    /// Sets the name of the definition and the description.
    pub(super) fn define(&mut self, name: &'static str, about: &str) {
        self.definition = Some((name, about.to_owned()));
    }

    /// Adds a form of the value of a key. The first description of a key is the one that counts.
    pub(super) fn add(&mut self, key: &'static str, about: &str, form: Form) {
        match self.key(key) {
            Some(known) => known.forms.push(form),
            None => {
                let about = about.to_owned();
                let forms = vec![form];
                self.keys.push(KeyDescription { name: key, about, forms, rules: SchemaPart::new() });
            }
        }
    }

    /// Adds a keyword to the schema of a key.
    pub(super) fn add_rule(&mut self, key: &str, keyword: &str, value: Value) {
        if let Some(known) = self.key(key) {
            known.rules.insert(keyword.to_owned(), value);
        }
    }

    /// Notes that a key must be given.
    pub(super) fn require(&mut self, key: &'static str) {
        if !self.required.contains(&key) {
            self.required.push(key);
        }
    }

    /// Sets the number of keys that must be given.
    pub(super) fn set_n_keys(&mut self, n: usize) {
        self.n_keys = Some(n);
    }

    /// Adds a form of the values under names that the writer chooses.
    pub(super) fn add_named(&mut self, form: Form) {
        self.named.push(form);
    }

    /// Sets the pattern of those names.
    pub(super) fn set_name_pattern(&mut self, pattern: &'static str) {
        self.name_pattern = Some(pattern);
    }

    /// Returns the JSON Schema (2020-12) of texts whose top-level table this is; `definitions` are those of values.
    pub(super) fn document(&self, title: &str, mut definitions: Definitions) -> Value {
        let mut schema = self.schema(&mut definitions);
        schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
        schema.insert("title".to_owned(), title.into());
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema.into()
    }

    fn key(&mut self, name: &str) -> Option<&mut KeyDescription> {
        self.keys.iter_mut().find(|key| key.name == name)
    }

    /// Returns the reference to its definition, which is added; without a name, the schema itself.
    fn reference(&self, definitions: &mut Definitions) -> SchemaPart {
        let Some((name, _)) = &self.definition else { return self.schema(definitions) };
        if !definitions.contains_key(*name) {
            let schema = self.schema(definitions);
            definitions.insert((*name).to_owned(), schema.into());
        }
        reference(name)
    }

    fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        let mut schema = part(json!({ "type": "object" }));
        if let Some((_, about)) = &self.definition {
            schema.insert("description".to_owned(), about.as_str().into());
        }
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.clone().into());
        }
        if let Some(n) = self.n_keys {
            schema.extend(["minProperties", "maxProperties"].map(|limit| (limit.to_owned(), n.into())));
        }
        let rest = if self.named.is_empty() { None } else { Some(any_of(&self.named, definitions)) };
        match (rest, self.name_pattern) {
            (Some(rest), None) => _ = schema.insert("additionalProperties".to_owned(), rest.into()),
            (rest, pattern) => {
                let patterns = rest.zip(pattern).map(|(rest, pattern)| json!({ pattern: rest }));
                schema.extend(patterns.map(|patterns| ("patternProperties".to_owned(), patterns)));
                schema.insert("additionalProperties".to_owned(), false.into());
            }
        }
        if self.named.is_empty() {
            let property = |key: &KeyDescription| (key.name.to_owned(), key.schema(definitions).into());
            let properties: Map<String, Value> = self.keys.iter().map(property).collect();
            schema.insert("properties".to_owned(), properties.into());
        }
        schema
    }
}

impl KeyDescription {
    fn schema(&self, definitions: &mut Definitions) -> SchemaPart {
        let mut schema = any_of(&self.forms, definitions);
        if !self.about.is_empty() {
            schema.insert("description".to_owned(), self.about.as_str().into());
        }
        schema.extend(self.rules.clone());
        schema
    }
}

/// Returns the schema of values of any of several forms.
fn any_of(forms: &[Form], definitions: &mut Definitions) -> SchemaPart {
    let mut schemas: Vec<SchemaPart> = Vec::new();
    for form in forms {
        let schema = form.schema(definitions);
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }
    if let [only] = &mut schemas[..] {
        return std::mem::take(only);
    }
    part(json!({ "anyOf": schemas }))
}

/// Returns a reference to a definition.
pub(super) fn reference(name: &str) -> SchemaPart {
    part(json!({ "$ref": format!("#/$defs/{name}") }))
}

/// Returns the schema of arrays.
pub(super) fn array(items: SchemaPart) -> SchemaPart {
    part(json!({ "type": "array", "items": items }))
}

/// Returns the entries of an object; none of anything else.
pub(super) fn part(schema: Value) -> SchemaPart {
    match schema {
        Value::Object(entries) => entries,
        _ => SchemaPart::new(),
    }
}
