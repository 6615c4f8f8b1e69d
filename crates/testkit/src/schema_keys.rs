//! Keys of a language: in texts, in its JSON Schema, and in the published file of the schema.

use std::collections::{BTreeMap, BTreeSet};

use languages::schema_text;
use serde_json::Value;
use toml::de::{DeTable, DeValue};

/// Keys of tables by path; of tables whose keys are names, the path of a value ends in `*`.
pub type SchemaKeys = BTreeMap<String, BTreeSet<String>>;

/// Collects the keys of every table of TOML texts; in tables whose paths end with one of `named`, keys are names.
pub fn keys_read(texts: &[&str], named: &[&str]) -> SchemaKeys {
    let mut found = SchemaKeys::new();
    for text in texts {
        collect_read("", DeTable::parse(text).unwrap().get_ref(), named, &mut found);
    }
    found
}

/// Collects the properties of every object of a schema.
pub fn keys_named(schema: impl Into<Value>) -> SchemaKeys {
    let schema = schema.into();
    let mut found = SchemaKeys::new();
    collect_named(&schema, "", &schema, &mut found);
    found
}

/// Asserts that the file of this name below `schemas/` holds the schema; else writes the expected one.
pub fn is_published(name: &str, schema: impl Into<Value>) {
    let schema = schema_text(&schema.into());
    let published = format!("{}/../../schemas/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::fs::read_to_string(published).unwrap_or_default() != schema {
        // A folder of its own, which stays: tests of other users and worktrees write files of the same name.
        let generated = tempfile::tempdir().unwrap().keep().join(name);
        std::fs::write(&generated, schema).unwrap();
        panic!("the language has changed: `cp {} schemas/`", generated.display());
    }
}

fn collect_read(path: &str, table: &DeTable, named: &[&str], found: &mut SchemaKeys) {
    let are_names = named.iter().any(|end| path.ends_with(end));
    for (key, value) in table {
        let path_of_key = if are_names { "*" } else { key.get_ref() };
        let inner_path = format!("{path}/{path_of_key}");
        if !are_names {
            found.entry(path.to_owned()).or_default().insert(key.get_ref().to_string());
        }
        match value.get_ref() {
            DeValue::Table(inner) => collect_read(&inner_path, inner, named, found),
            DeValue::Array(items) => items.iter().for_each(|item| {
                if let DeValue::Table(inner) = item.get_ref() {
                    collect_read(&inner_path, inner, named, found);
                }
            }),
            _ => {}
        }
    }
}

/// Returns a schema with its references resolved.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![schema];
    if let Some(name) = schema["$ref"].as_str() {
        found.extend(resolve(root, root.pointer(&name[1..]).expect("references lead somewhere")));
    }
    for any in ["anyOf", "oneOf"] {
        let choices = schema[any].as_array().into_iter().flatten();
        found.extend(choices.flat_map(|choice| resolve(root, choice)));
    }
    found
}

fn collect_named(root: &Value, path: &str, schema: &Value, found: &mut SchemaKeys) {
    for part in resolve(root, schema) {
        for (key, inner) in part["properties"].as_object().into_iter().flatten() {
            found.entry(path.to_owned()).or_default().insert(key.clone());
            collect_named(root, &format!("{path}/{key}"), inner, found);
        }
        if part["properties"].is_object() {
            assert_eq!(part["additionalProperties"], false, "{path}");
        } else if part["additionalProperties"].is_object() {
            collect_named(root, &format!("{path}/*"), &part["additionalProperties"], found);
        }
        if part["items"].is_object() {
            collect_named(root, path, &part["items"], found);
        }
    }
}
