//! The published schema describes the JSON of every report, field by field.

mod fixture;

use disclosure::{PriceSheet, render};
use fixture::Fixture;
use model::PriceList;
use serde_json::Value;
use testkit::{closed, schema_faults};

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/report.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Reads the golden files that are JSON of whole reports.
fn golden() -> Vec<(String, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("report__json") && name.ends_with(".snap") {
            let text = std::fs::read_to_string(&path).unwrap();
            let json = text.split_once("\n---\n").expect("a snapshot has a head").1;
            found.push((name, serde_json::from_str(json).unwrap()));
        }
    }
    found
}

/// Bought and rented items, so that every part of a price list occurs.
fn priced() -> Fixture {
    let text = "format = 1\ntitle = \"Server\"\ncurrency = \"USD\"\ndate = 2026-11-01\nsource = \"list\"\n\
        [[item]]\nname = \"Server\"\nkind = \"hardware\"\nquantity = 2\nunit-price = 12450.00\n\
        discount = { ratio = 0.125, reason = \"contract\" }\nmaintenance = { per-year = 310.00, years = 3 }\n\
        [[item]]\nname = \"Address\"\nkind = \"cloud\"\nper-hour = 0.0075\nyears = 3\n";
    let list = PriceList::parse("prices.toml", text).unwrap();
    let price = Some(PriceSheet { list, file: "prices.toml".into(), blake3: "9b1f0c".into() });
    Fixture { price, ..fixture::quick() }
}

fn reports() -> [(&'static str, Fixture); 8] {
    [
        ("priced", priced()),
        ("quick", fixture::quick()),
        ("incomplete", fixture::incomplete()),
        ("open_loop", fixture::open_loop()),
        ("hostile", fixture::hostile()),
        ("classes", fixture::classes()),
        ("thinking", fixture::thinking()),
        ("clients", fixture::clients()),
    ]
}

/// Method: every object of the schema is closed, so that a field that it does not name breaks it.
#[test]
fn every_report_follows_the_schema_and_has_no_field_that_it_does_not_name() {
    let schema = closed(schema());
    for (name, fixture) in reports() {
        // Through text, as a reader gets it: what is not a number has become null.
        let json = serde_json::from_str(&render::json(&fixture.report()).to_string()).unwrap();
        assert_eq!(schema_faults(&schema, &json), [""; 0], "{name}");
    }
}

#[test]
fn golden_reports_follow_the_schema() {
    let golden = golden();
    assert!(!golden.is_empty());
    for (name, json) in golden {
        assert_eq!(schema_faults(&closed(schema()), &json), [""; 0], "{name}");
    }
}

#[test]
fn what_is_no_report_does_not_follow_it() {
    let schema = schema();
    let report = render::json(&fixture::quick().report());
    let broken = |change: fn(&mut Value)| {
        let mut json = report.clone();
        change(&mut json);
        !schema_faults(&schema, &json).is_empty()
    };
    assert!(broken(|json| json["format"] = 2.into()));
    assert!(broken(|json| json["verdict"]["state"] = "fine".into()));
    assert!(broken(|json| json["load_points"][0]["rate_per_s"] = Value::Null));
    assert!(broken(|json| json["load_points"][0]["load"]["users"] = "ten".into()));
    assert!(broken(|json| _ = json.as_object_mut().unwrap().remove("provenance")));
    assert!(broken(|json| json["load_points"][0]["response"]["percentiles"][0]["q"] = 50.into()));
}
