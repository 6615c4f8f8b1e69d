//! Price lists: read before the run, and shown with the verdict.

use std::fs;

use serde_json::Value;

use crate::support::Fixture;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/price-list.toml");

const QUICK: [&str; 8] = ["--load", "1,2", "--settle", "0", "--duration", "1", "--out", "run.plim"];

fn price(fixture: &Fixture, arguments: &[&str]) -> Value {
    let report = ["report", "run.plim", "--format", "json"];
    fixture.run(&[&report, arguments].concat()).expect(0).json()["price"].clone()
}

#[test]
fn a_run_file_stores_its_price_list() {
    let fixture = Fixture::new();
    let list = fs::read_to_string(EXAMPLE).unwrap();
    fixture.write("lab/ours.toml", &list);
    let ended = fixture.run(&[&["run", "one-object", "--price", "lab/ours.toml"], &QUICK[..]].concat());
    ended.assert_run();
    ended.expect_stdout("Price: 6,126.00 EUR (2026-11-01)");
    let html = fs::read_to_string(fixture.path("run.html")).unwrap();
    assert!(html.contains("Price and performance") && html.contains("framework contract"));

    fs::remove_file(fixture.path("lab/ours.toml")).unwrap();
    let kept = price(&fixture, &[]);
    assert_eq!((kept["total"].as_f64(), kept["file"].as_str()), (Some(6126.0), Some("ours.toml")));
    assert_eq!(kept["blake3"], blake3::hash(list.as_bytes()).to_string());
    fixture.write("dearer.toml", &list.replace("quantity = 4", "quantity = 5"));
    assert_eq!(
        price(&fixture, &["--price", "dearer.toml"])["file"],
        "dearer.toml",
        "the list on the command line has priority"
    );
    fixture.run(&["audit", "run.plim"]).expect(0);
}

#[test]
fn a_price_list_can_be_given_later() {
    let fixture = Fixture::new();
    let ended = fixture.run(&[&["run", "one-object"], &QUICK[..]].concat());
    ended.assert_run();
    let run = fs::read(fixture.path("run.plim")).unwrap();
    assert!(price(&fixture, &[]).is_null());
    let found = price(&fixture, &["--price", EXAMPLE]);
    assert_eq!((found["total"].as_f64(), found["currency"].as_str()), (Some(6126.0), Some("EUR")));
    assert_eq!(found["file"], "price-list.toml");
    assert_eq!(found["load_points"][1]["per_user"].as_f64(), Some(3063.0));
    assert_eq!(fs::read(fixture.path("run.plim")).unwrap(), run, "the report changed the run file");
}

#[test]
fn mistakes_in_a_price_list_are_reported_before_the_run() {
    let fixture = Fixture::new();
    let text = fs::read_to_string(EXAMPLE).unwrap();
    fixture.write("prices.toml", &text.replace("currency = \"EUR\"", "curency = \"EUR\""));
    let ended =
        fixture.run(&[&["run", "one-object", "--price", "prices.toml"], &QUICK[..]].concat()).expect(2);
    let ended = ended
        .expect_stderr("`currency` is missing")
        .expect_stderr("did you mean `currency`?")
        .expect_stderr("prices.toml:5");
    assert_eq!(ended.stdout, "");
    assert!(!fixture.path("run.plim").exists());
    fixture
        .run(&["run", "one-object", "--price", "none.toml"])
        .expect(2)
        .expect_stderr("cannot read `none.toml`");
    fixture
        .run(&["report", "run.plim", "--price", "none.toml"])
        .expect(2)
        .expect_stderr("cannot read `none.toml`");
}
