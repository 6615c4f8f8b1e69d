//! Shared parts of the JSON Schemas.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};

/// Removes null from the types of a schema: schemars allows it for every `Option`, but TOML has no null.
pub fn without_null(mut schema: Schema) -> Schema {
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
