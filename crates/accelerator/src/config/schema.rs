//! The JSON Schema of configurations.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, schema_for};

use super::Config;

/// Returns the JSON Schema of configurations, with what their keys mean.
pub fn config_schema() -> Schema {
    let mut schema = schema_for!(Config);
    // schemars says of every `Option` that it may be null, and is by default; TOML does not have that.
    RecursiveTransform(forbid_null).transform(&mut schema);
    schema
}

fn forbid_null(schema: &mut Schema) {
    if schema.get("default").is_some_and(serde_json::Value::is_null) {
        schema.remove("default");
    }
    if let Some(types) = schema.get_mut("type").and_then(|types| types.as_array_mut()) {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    let Some(choices) = schema.get_mut("anyOf").and_then(|choices| choices.as_array_mut()) else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [serde_json::Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        // What is said where it is used comes first, before what the type says of itself.
        for (key, value) in only {
            if schema.get(&key).is_none() {
                schema.insert(key, value);
            }
        }
    }
}
