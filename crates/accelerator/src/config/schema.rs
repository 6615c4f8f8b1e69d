//! The JSON Schema of configurations.

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, schema_for};

use super::Config;

/// Returns the JSON Schema of configurations, with descriptions of all keys.
pub fn config_schema() -> Schema {
    let mut schema = schema_for!(Config);
    // schemars allows null for every `Option`, and makes it the default; TOML has no null.
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
        // The description of the key comes before that of its type.
        for (key, value) in only {
            if schema.get(&key).is_none() {
                schema.insert(key, value);
            }
        }
    }
}
