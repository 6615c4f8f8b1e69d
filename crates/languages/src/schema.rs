//! JSON Schemas as texts.

use serde_json::{Map, Value};

/// The keywords that a reader of a schema wants to see first, in this order.
const FIRST: [&str; 7] = ["$schema", "title", "description", "type", "format", "properties", "items"];

/// The keyword that stands last.
const DEFINITIONS: &str = "$defs";

/// Keywords whose entries have names of their own.
const OF_NAMES: [&str; 3] = ["properties", "patternProperties", DEFINITIONS];

/// Returns a JSON Schema as a text: what a value is before what is in it, and the definitions last.
pub fn schema_text(schema: &Value) -> String {
    let mut text = String::new();
    write(&mut text, schema, 0, false);
    text + "\n"
}

/// Writes a value; the keys of an object are keywords of a schema, or names.
fn write(text: &mut String, value: &Value, depth: usize, has_names: bool) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            let entries = in_order(entries, has_names);
            write_all(text, ['{', '}'], depth, entries.iter(), |text, (key, value)| {
                *text += &format!("{}: ", Value::from(key.as_str()));
                write(text, value, depth + 1, !has_names && OF_NAMES.contains(&key.as_str()));
            });
        }
        Value::Array(items) if !items.is_empty() => {
            write_all(text, ['[', ']'], depth, items.iter(), |text, item| {
                write(text, item, depth + 1, false)
            });
        }
        other => *text += &other.to_string(),
    }
}

fn write_all<T>(
    text: &mut String,
    [open, close]: [char; 2],
    depth: usize,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    text.push(open);
    for (index, item) in items.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        *text += &format!("{comma}\n{:1$}", "", 2 * (depth + 1));
        write(text, item);
    }
    *text += &format!("\n{:1$}{close}", "", 2 * depth);
}

fn in_order(entries: &Map<String, Value>, has_names: bool) -> Vec<(&String, &Value)> {
    let rank = |key: &str| match FIRST.iter().position(|first| *first == key) {
        Some(position) => position,
        None if key == DEFINITIONS => usize::MAX,
        None => FIRST.len(),
    };
    let mut ordered: Vec<(&String, &Value)> = entries.iter().collect();
    if !has_names {
        ordered.sort_by_key(|(key, _)| rank(key));
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_written_with_what_a_value_is_first_and_definitions_last() {
        let schema = json!({
            "$defs": { "A": { "type": "string", "description": "A text." } },
            "additionalProperties": false,
            "properties": { "type": { "$ref": "#/$defs/A", "description": "Its type." }, "n": {} },
            "required": ["type", "n"],
            "title": "T",
            "type": "object",
        });
        let text = schema_text(&schema);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), schema);
        insta::assert_snapshot!(text, @r##"
        {
          "title": "T",
          "type": "object",
          "properties": {
            "n": {},
            "type": {
              "description": "Its type.",
              "$ref": "#/$defs/A"
            }
          },
          "additionalProperties": false,
          "required": [
            "type",
            "n"
          ],
          "$defs": {
            "A": {
              "description": "A text.",
              "type": "string"
            }
          }
        }
        "##);
    }
}
