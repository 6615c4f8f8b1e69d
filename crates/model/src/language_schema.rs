//! Shared parts of the JSON Schemas.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};

/// Removes null from the types of a schema: schemars allows it for every `Option`, but TOML has no null.
pub(crate) fn without_null(mut schema: Schema) -> Schema {
    RecursiveTransform(forbid_null).transform(&mut schema);
    schema
}

fn forbid_null(schema: &mut Schema) {
    if let Some(types) = schema.get_mut("type").and_then(|types| types.as_array_mut()) {
        types.retain(|name| name != "null");
        let only = types.first().cloned().expect("no value is null alone");
        schema.insert("type".to_owned(), only);
    }
    let Some(choices) = schema.get_mut("anyOf").and_then(|choices| choices.as_array_mut()) else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [serde_json::Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        only.into_iter().for_each(|(key, value)| _ = schema.insert(key, value));
    }
}

#[cfg(test)]
pub(crate) use testing::{is_published, keys_named, keys_read};

/// Comparison of a schema with the code that reads the language, and with the published file, for tests.
#[cfg(test)]
mod testing {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::Schema;
    use serde_json::Value;
    use toml::de::{DeTable, DeValue};

    /// The keys of tables, by path; of tables whose keys are names, the path of a value ends in `*`.
    type Keys = BTreeMap<String, BTreeSet<String>>;

    /// Collects the keys of every table of TOML texts; in tables whose paths end with one of `named`, keys are names.
    pub(crate) fn keys_read(texts: &[&str], named: &[&str]) -> Keys {
        let mut found = Keys::new();
        for text in texts {
            collect_read("", DeTable::parse(text).unwrap().get_ref(), named, &mut found);
        }
        found
    }

    /// Collects the properties of every object of a schema.
    pub(crate) fn keys_named(schema: Schema) -> Keys {
        let schema = schema.to_value();
        let mut found = Keys::new();
        collect_named(&schema, "", &schema, &mut found);
        found
    }

    /// Asserts that the file of this name below `schemas/` holds the schema; else writes the expected one.
    pub(crate) fn is_published(name: &str, schema: Schema) {
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let published = format!("{}/../../schemas/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::fs::read_to_string(published).unwrap_or_default() != schema {
            let generated = std::env::temp_dir().join(name);
            std::fs::write(&generated, schema).unwrap();
            panic!("the language has changed: `cp {} schemas/`", generated.display());
        }
    }

    fn collect_read(path: &str, table: &DeTable, named: &[&str], found: &mut Keys) {
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

    fn collect_named(root: &Value, path: &str, schema: &Value, found: &mut Keys) {
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
}
