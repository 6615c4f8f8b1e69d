//! The published schema accepts what the program accepts, within the supported part of JSON Schema.

use std::io;
use std::path::Path;

use model::{Overrides, SutPlan, make_plan};
use serde_json::Value;
use testkit::schema_faults;

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/benchmark.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn check(text: &str) -> Vec<String> {
    let value: Value = toml::from_str(text).unwrap();
    schema_faults(&schema(), &value)
}

/// The benchmark of the family that only tests have, which the published schema does not name.
const OF_TESTS: &str = "echo";

#[test]
fn built_in_definitions_conform_to_the_schema() {
    for builtin in benchmarks::all().iter().filter(|builtin| builtin.id != OF_TESTS) {
        assert_eq!(check(builtin.definition), [""; 0], "{}", builtin.id);
    }
}

#[test]
fn refused_definitions_do_not_conform_to_the_schema() {
    let definition = benchmarks::find("one-object").unwrap().definition;
    for (piece, replacement) in [
        ("version = 2\n", ""),
        ("version = 2\n", "version = -1\n"),
        ("family = \"web\"", "family = \"wap\""),
        ("steady = \"10 s\"", "steddy = \"10 s\""),
        ("steady = \"10 s\"", "steady = 10"),
        ("connection = \"keep-alive\"", "connection = { keep-alive = { requests-max = 100 } }"),
        ("connection = \"keep-alive\"", "connection = \"keep-alive\"\nstreams = 0"),
        ("connection = \"keep-alive\"", "connection = \"keep-alive\"\ntls = \"on\""),
    ] {
        assert!(definition.contains(piece));
        let text = definition.replacen(piece, replacement, 1);
        assert!(!check(&text).is_empty(), "{replacement}");
        let no_file = |_: &str| Ok(&b"/one.html 1 #1"[..]);
        assert!(benchmarks::from_definition("x.toml", &text, no_file).is_err(), "{replacement}");
    }
}

/// Examples in other languages, which are tested elsewhere.
const OTHER_EXAMPLES: [&str; 2] = ["accelerator.toml", "price-list.toml"];

/// The example with data beside it, in a folder of its own.
const SHOP: &str = "shop/shop.toml";

/// Every example parses, can be planned in full and quick form, and conforms to the schema.
#[test]
fn examples_are_valid_definitions() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut names = Vec::new();
    let paths = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path());
    for path in paths.chain([Path::new(examples).join(SHOP)]) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() || OTHER_EXAMPLES.contains(&name.as_str()) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let beside = |name: &str| std::fs::File::open(path.parent().unwrap().join(name));
        let benchmark = benchmarks::from_definition(&name, &text, beside).unwrap();
        assert_eq!(check(&text), [""; 0], "{name}");
        assert_eq!(format!("{}.toml", benchmark.definition.id), name);
        for quick in [false, true] {
            let overrides = Overrides { quick, ..Overrides::new(SutPlan::of("external")) };
            make_plan(&benchmark.definition, benchmark.workload.clone(), &overrides).unwrap();
        }
        names.push(name);
    }
    names.sort();
    let expected =
        ["my-api.toml", "my-queries.toml", "my-site.toml", "shop.toml", "slow-page.toml", "static-mix.toml"];
    assert_eq!(names, expected);
}

#[test]
fn wrong_requests_do_not_conform_to_the_schema() {
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
        // Patterns are not covered: the schema does not constrain the form of texts.
        let by_pattern = replacement.contains("path") || replacement.contains("think");
        assert!(by_pattern || !check(&text).is_empty(), "{replacement}");
        let no_file = |_: &str| -> io::Result<&[u8]> { panic!("the definition names no file") };
        assert!(benchmarks::from_definition("x.toml", &text, no_file).is_err(), "{replacement}");
    }
}

#[test]
fn settings_conform_to_the_schema_in_every_notation() {
    let definition = benchmarks::find("one-object").unwrap().definition;
    for other in ["\"keep-alive:100\"", "\"sessions\"", "\"keep-alive\"\ntls = \"full\""] {
        let text = definition.replacen("\"keep-alive\"", other, 1);
        assert_eq!(check(&text), [""; 0], "{other}");
        let no_file = |_: &str| Ok(&b"/one.html 1 #1"[..]);
        assert!(benchmarks::from_definition("x.toml", &text, no_file).is_ok(), "{other}");
    }
}
