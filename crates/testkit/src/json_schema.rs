//! Validation of JSON values against JSON Schema, for the subset used by Plimsoll's schemas.

use serde_json::Value;

/// Returns the violations of a schema by a value, with their positions; empty if it conforms.
///
/// # Panics
/// The schema uses an unsupported keyword, or a reference cannot be resolved.
pub fn schema_faults(schema: &Value, value: &Value) -> Vec<String> {
    faults(schema, schema, value, "")
}

/// Closes every object of a schema with listed properties: other properties become violations.
pub fn closed(mut schema: Value) -> Value {
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(words) => {
            if words.get("properties").is_some_and(Value::is_object) && words.contains_key("type") {
                words.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            words.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn faults(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        match word.as_str() {
            "$ref" => {
                let place = rule.as_str().expect("a reference is a text").trim_start_matches('#');
                let target = root.pointer(place).expect("references lead somewhere");
                found.extend(faults(root, target, value, path));
            }
            "anyOf" | "oneOf" => {
                let choices = rule.as_array().expect("choices are a list").iter();
                let fitting = choices.filter(|choice| faults(root, choice, value, path).is_empty()).count();
                if fitting == 0 || (word == "oneOf" && 1 < fitting) {
                    found.push(format!("{path}: fits {fitting} of the choices"));
                }
            }
            "properties" => {
                for (key, rule) in rule.as_object().expect("properties have names") {
                    let inner =
                        value.get(key).map(|value| faults(root, rule, value, &format!("{path}/{key}")));
                    found.extend(inner.unwrap_or_default());
                }
            }
            "items" => {
                let items = value.as_array().into_iter().flatten();
                found.extend(items.flat_map(|item| faults(root, rule, item, &format!("{path}/*"))));
            }
            "additionalProperties" if rule.is_object() => {
                let inner = value.as_object().into_iter().flatten();
                found.extend(
                    inner.flat_map(|(key, value)| faults(root, rule, value, &format!("{path}/{key}"))),
                );
            }
            _ if !follows(word, rule, schema, value) => found.push(format!("{path}: breaks {word} {rule}")),
            _ => {}
        }
    }
    found
}

/// Returns whether a value obeys one rule that does not concern its parts.
fn follows(word: &str, rule: &Value, schema: &Value, value: &Value) -> bool {
    let limit = || rule.as_f64().expect("a limit is a number");
    let size = || rule.as_u64().expect("a size is a whole number") as usize;
    match word {
        "type" => match rule {
            Value::Array(types) => types.iter().any(|name| is_of_type(name, value)),
            name => is_of_type(name, value),
        },
        "const" => value == rule,
        "enum" => rule.as_array().expect("values are a list").contains(value),
        "required" => value.as_object().is_none_or(|entries| {
            let keys = rule.as_array().expect("keys are a list").iter();
            keys.filter_map(Value::as_str).all(|key| entries.contains_key(key))
        }),
        "additionalProperties" => {
            let known = |key: &String| schema["properties"].get(key).is_some();
            rule == &Value::Bool(true) || value.as_object().is_none_or(|entries| entries.keys().all(known))
        }
        "minimum" => value.as_f64().is_none_or(|number| limit() <= number),
        "maximum" => value.as_f64().is_none_or(|number| number <= limit()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| limit() < number),
        "minProperties" => value.as_object().is_none_or(|entries| size() <= entries.len()),
        "maxProperties" => value.as_object().is_none_or(|entries| entries.len() <= size()),
        "minItems" => value.as_array().is_none_or(|items| size() <= items.len()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= size()),
        "minLength" => value.as_str().is_none_or(|text| size() <= text.chars().count()),
        "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= size()),
        "$schema" | "$defs" | "title" | "description" | "default" | "format" | "pattern" => true,
        other => panic!("the schema uses the unsupported keyword `{other}`"),
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("a type has a name") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the schema uses the unsupported type `{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn violations_are_reported_with_their_position() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": { "type": ["integer", "null"], "minimum": 1 },
                "list": { "type": "array", "items": { "$ref": "#/$defs/Word" } },
            },
            "required": ["n"],
            "$defs": { "Word": { "enum": ["a", "b"] } },
        });
        let of = |value: Value| schema_faults(&schema, &value);
        assert_eq!(of(json!({ "n": 1, "list": ["a", "b"], "more": true })), [""; 0]);
        assert_eq!(of(json!({ "n": null })), [""; 0]);
        assert_eq!(of(json!({ "n": 0 })), ["/n: breaks minimum 1"]);
        assert_eq!(of(json!({ "n": 1.5 })).len(), 1);
        assert_eq!(of(json!({ "list": ["c"] })).len(), 2);
        assert_eq!(schema_faults(&closed(schema.clone()), &json!({ "n": 1, "more": true })).len(), 1);
    }
}
