//! The published schema accepts what the program accepts, for as much of JSON Schema as it uses.

use model::{Overrides, SutPlan, make_plan};
use serde_json::Value;

/// Returns why a value does not follow a schema, or nothing.
fn faults(root: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        match word.as_str() {
            "$ref" => {
                let target = root.pointer(&rule.as_str().unwrap()[1..]).expect("references lead somewhere");
                faults.extend(self::faults(root, target, value, path));
            }
            "anyOf" | "oneOf" => {
                let choices = rule.as_array().unwrap().iter();
                let fitting =
                    choices.filter(|choice| self::faults(root, choice, value, path).is_empty()).count();
                if fitting == 0 || (word == "oneOf" && 1 < fitting) {
                    faults.push(format!("{path}: fits {fitting} of the choices"));
                }
            }
            "properties" => {
                for (key, rule) in rule.as_object().unwrap() {
                    let inner =
                        value.get(key).map(|value| self::faults(root, rule, value, &format!("{path}/{key}")));
                    faults.extend(inner.unwrap_or_default());
                }
            }
            "items" => {
                let items = value.as_array().into_iter().flatten();
                faults.extend(items.flat_map(|item| self::faults(root, rule, item, &format!("{path}/*"))));
            }
            "additionalProperties" if rule.is_object() => {
                let inner = value.as_object().into_iter().flatten();
                faults.extend(
                    inner.flat_map(|(key, value)| self::faults(root, rule, value, &format!("{path}/{key}"))),
                );
            }
            _ if !follows(word, rule, schema, value) => faults.push(format!("{path}: breaks {word} {rule}")),
            _ => {}
        }
    }
    faults
}

/// Returns whether a value follows one rule that needs no look into the value's parts.
fn follows(word: &str, rule: &Value, schema: &Value, value: &Value) -> bool {
    match word {
        "type" => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            other => panic!("the schema uses the type {other}: teach it to this test"),
        },
        "const" => value == rule,
        "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "additionalProperties" => {
            let known = |key: &String| schema["properties"].get(key).is_some();
            value.as_object().is_none_or(|entries| entries.keys().all(known))
        }
        "minimum" => value.as_f64().is_none_or(|number| rule.as_f64().unwrap() <= number),
        "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|number| rule.as_f64().unwrap() < number),
        "minItems" => value.as_array().is_none_or(|items| rule.as_u64().unwrap() as usize <= items.len()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= rule.as_u64().unwrap() as usize),
        "minLength" => {
            value.as_str().is_none_or(|text| rule.as_u64().unwrap() as usize <= text.chars().count())
        }
        "maxLength" => {
            value.as_str().is_none_or(|text| text.chars().count() <= rule.as_u64().unwrap() as usize)
        }
        "$schema" | "$defs" | "title" | "description" | "default" | "format" | "pattern" => true,
        other => panic!("the schema uses the word {other}: teach it to this test"),
    }
}

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/benchmark.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check(text: &str) -> Vec<String> {
    let value: Value = toml::from_str(text).unwrap();
    faults(&schema(), &schema(), &value, "")
}

#[test]
fn built_in_definitions_follow_the_schema() {
    for builtin in benchmarks::all() {
        assert_eq!(check(builtin.definition), [""; 0], "{}", builtin.id);
    }
}

#[test]
fn what_the_program_refuses_does_not_follow_the_schema() {
    let definition = benchmarks::find("one-object").unwrap().definition;
    for (piece, replacement) in [
        ("version = 1\n", ""),
        ("version = 1\n", "version = -1\n"),
        ("family = \"web\"", "family = \"wap\""),
        ("steady = \"10 s\"", "steddy = \"10 s\""),
        ("steady = \"10 s\"", "steady = 10"),
        ("connection = \"keep-alive\"", "connection = { keep-alive = { requests-max = 0 } }"),
    ] {
        assert!(definition.contains(piece));
        let text = definition.replacen(piece, replacement, 1);
        assert!(!check(&text).is_empty(), "{replacement}");
        let no_file = |_: &str| Ok("/one.html 1 #1".to_owned());
        assert!(benchmarks::from_definition("x.toml", &text, no_file).is_err(), "{replacement}");
    }
}

/// Every example is read, can be planned in full and in short, and follows the schema.
#[test]
fn examples_are_valid_definitions() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let benchmark = benchmarks::from_definition(&name, &text, |_| panic!("no filelist")).unwrap();
        assert_eq!(check(&text), [""; 0], "{name}");
        assert_eq!(format!("{}.toml", benchmark.definition.id), name);
        for quick in [false, true] {
            let overrides = Overrides { quick, ..Overrides::new(SutPlan::of("external")) };
            make_plan(&benchmark.definition, benchmark.workload.clone(), &overrides).unwrap();
        }
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["my-api.toml", "my-site.toml", "slow-page.toml", "static-mix.toml"]);
}

#[test]
fn wrong_requests_do_not_follow_the_schema() {
    let definition = benchmarks::find("web96").unwrap().definition;
    for (piece, replacement) in [
        ("weight = 35\n", "weight = 0\n"),
        ("weight = 35\n", "weight = \"35\"\n"),
        ("path = \"/spec", "path = \"spec"),
        ("count = 9", "count = 0"),
        ("count = 9", "cuont = 9"),
        ("share-gap-max = 0.05", "share-gap-max = 5"),
        ("reply = { file", "reply = { flie"),
        ("name = \"class 0\"\n", ""),
        ("content-seed = 96", "content-seed = 96\nthink = \"a while\""),
    ] {
        assert!(definition.contains(piece), "{piece}");
        let text = definition.replacen(piece, replacement, 1);
        // Patterns are left out here: a text of the wrong form is found by the program alone.
        let by_pattern = replacement.contains("path") || replacement.contains("think");
        assert!(by_pattern || !check(&text).is_empty(), "{replacement}");
        let no_file = |_: &str| panic!("the definition names no file");
        assert!(benchmarks::from_definition("x.toml", &text, no_file).is_err(), "{replacement}");
    }
}

#[test]
fn the_long_form_of_a_connection_follows_the_schema() {
    let definition = benchmarks::find("one-object").unwrap().definition;
    let long = "connection = { keep-alive = { requests-max = 100 } }";
    assert_eq!(check(&definition.replacen("connection = \"keep-alive\"", long, 1)), [""; 0]);
}
