//! Price lists: read before anything is run, and shown beside the verdict.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/price-list.toml");

const QUICK: [&str; 8] = ["--load", "1,2", "--settle", "0", "--duration", "1", "--out", "run.plim"];

fn price(lab: &Lab, arguments: &[&str]) -> Value {
    let report = ["report", "run.plim", "--format", "json"];
    lab.run(&[&report, arguments].concat()).expect(0).json()["price"].clone()
}

#[test]
fn a_run_keeps_the_price_list_that_it_was_given() {
    let lab = Lab::new();
    let list = fs::read_to_string(EXAMPLE).unwrap();
    lab.write("lab/ours.toml", &list);
    let ended = lab.run(&[&["run", "one-object", "--price", "lab/ours.toml"], &QUICK[..]].concat());
    ended.assert_run();
    ended.prints("Price: 6,126.00 EUR (2026-11-01)");
    let html = fs::read_to_string(lab.path("run.html")).unwrap();
    assert!(html.contains("Price and performance") && html.contains("framework contract"));

    fs::remove_file(lab.path("lab/ours.toml")).unwrap();
    let kept = price(&lab, &[]);
    assert_eq!((kept["total"].as_f64(), kept["file"].as_str()), (Some(6126.0), Some("ours.toml")));
    assert_eq!(kept["blake3"], blake3::hash(list.as_bytes()).to_string());
    lab.write("dearer.toml", &list.replace("quantity = 4", "quantity = 5"));
    assert_eq!(
        price(&lab, &["--price", "dearer.toml"])["file"],
        "dearer.toml",
        "a list that is given counts"
    );
    lab.run(&["audit", "run.plim"]).expect(0);
}

#[test]
fn a_run_is_priced_later() {
    let lab = Lab::new();
    let ended = lab.run(&[&["run", "one-object"], &QUICK[..]].concat());
    ended.assert_run();
    let run = fs::read(lab.path("run.plim")).unwrap();
    assert!(price(&lab, &[]).is_null());
    let found = price(&lab, &["--price", EXAMPLE]);
    assert_eq!((found["total"].as_f64(), found["currency"].as_str()), (Some(6126.0), Some("EUR")));
    assert_eq!(found["file"], "price-list.toml");
    assert_eq!(found["load_points"][1]["per_user"].as_f64(), Some(3063.0));
    assert_eq!(fs::read(lab.path("run.plim")).unwrap(), run, "the report changed the run file");
}

#[test]
fn mistakes_in_a_price_list_are_told_before_anything_is_run() {
    let lab = Lab::new();
    let text = fs::read_to_string(EXAMPLE).unwrap();
    lab.write("prices.toml", &text.replace("currency = \"EUR\"", "curency = \"EUR\""));
    let ended = lab.run(&[&["run", "one-object", "--price", "prices.toml"], &QUICK[..]].concat()).expect(2);
    let ended = ended.says("`currency` is missing").says("did you mean `currency`?").says("prices.toml:5");
    assert_eq!(ended.stdout, "");
    assert!(!lab.path("run.plim").exists());
    lab.run(&["run", "one-object", "--price", "none.toml"]).expect(2).says("cannot read `none.toml`");
    lab.run(&["report", "run.plim", "--price", "none.toml"]).expect(2).says("cannot read `none.toml`");
}
