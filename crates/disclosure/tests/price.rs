//! Prices in the report: the section as a golden file, and what must hold of it.

use disclosure::{Document, PriceSheet, outline, price_text, render};
use model::PriceList;
use serde_json::Value;

use crate::fixture::{self, Fixture};

/// Bought and rented items, with discounts and maintenance.
const MIXED: &str = r#"
[[item]]
name = "Server"
kind = "hardware"
quantity = 2
unit-price = 12450.00
discount = { ratio = 0.125, reason = "framework contract" }
maintenance = { per-year = 310.00, years = 3 }
source = "quotation 4711"
date = 2026-10-15

[[item]]
name = "Address"
kind = "cloud"
per-hour = 0.0075
years = 3
"#;

const HOURLY: &str = r#"
[[item]]
name = "Small machine"
kind = "cloud"
quantity = 2
per-hour = 0.0725
years = 1
"#;

/// The whole system at once, as the NotesBench report has it.
const SYSTEM: &str = r#"
[[item]]
name = "PC Server 330"
kind = "hardware"
unit-price = 29581
"#;

fn priced(mut fixture: Fixture, items: &str) -> Fixture {
    let head = "format = 1\ntitle = \"Web server\"\ncurrency = \"USD\"\ndate = 2026-11-01\nsource = \"list price\"\n";
    let list = PriceList::parse("prices.toml", &format!("{head}{items}")).unwrap();
    fixture.price = Some(PriceSheet { list, file: "prices.toml".into(), blake3: "9b1f0c".into() });
    fixture
}

/// Returns the document with the section of prices only; none if it has none.
fn section(fixture: &Fixture) -> Option<Document> {
    let mut document = outline(&fixture.report());
    document.sections.retain(|section| section.id == "price");
    (!document.sections.is_empty()).then_some(document)
}

fn markdown(fixture: &Fixture) -> String {
    render::markdown(&section(fixture).unwrap())
}

#[test]
fn markdown_of_prices() {
    insta::assert_snapshot!(markdown(&priced(fixture::quick(), MIXED)));
}

#[test]
fn json_of_prices() {
    let json = render::json(&priced(fixture::quick(), MIXED).report());
    insta::assert_snapshot!(serde_json::to_string_pretty(&json["price"]).unwrap());
}

#[test]
fn a_report_without_a_price_list_says_nothing_of_prices() {
    let fixture = fixture::valid();
    assert_eq!(section(&fixture), None);
    assert_eq!(price_text(&fixture.report()), None);
    assert_eq!(render::json(&fixture.report())["price"], Value::Null);
}

/// The published prices per user: 29,581 dollars at 2,200 and at 1,700 users, and per operation at 2,917 a minute.
#[test]
fn prices_per_user_are_those_of_the_published_report() {
    let mut fixture = priced(fixture::thinking(), SYSTEM);
    for (point, (users, rate)) in
        fixture.analysis.load_points.iter_mut().zip([(1_700, 3_914.0), (2_200, 2_917.0)])
    {
        point.load = model::Load::Users(users);
        fixture::set_rate(point, rate);
    }
    let json = render::json(&fixture.report());
    let printed = |index: usize, key: &str| {
        let price = json["price"]["load_points"][index][key].as_f64().unwrap();
        format!("{price:.2}")
    };
    assert_eq!([printed(0, "per_user"), printed(0, "per_operation_per_s")], ["17.40", "7.56"]);
    assert_eq!([printed(1, "per_user"), printed(1, "per_operation_per_s")], ["13.45", "10.14"]);
    let text = markdown(&fixture);
    assert!(
        text.contains("17.40") && text.contains("13.45") && text.contains("29\u{202f}581.00 USD"),
        "{text}"
    );
}

/// Golden checks 1 to 4 of the specification of mail: price, users, weighted transactions per minute.
#[test]
fn prices_per_weighted_transaction_are_those_of_the_published_report() {
    for (price, users, score, printed) in [
        ("29581", 2_200, 2_917.0, ["13.45", "10.14"]),
        ("29581", 1_700, 3_914.0, ["17.40", "7.56"]),
        ("19454", 1_795, 2_356.0, ["10.84", "8.26"]),
        ("19454", 1_400, 3_203.0, ["13.90", "6.07"]),
    ] {
        let mut fixture = priced(fixture::weighted(), &SYSTEM.replace("29581", price));
        let point = &mut fixture.analysis.load_points[0];
        (point.load, point.score) = (model::Load::Users(users), Some(score));
        let json = &render::json(&fixture.report())["price"]["load_points"][0];
        let found = ["per_user", "per_score"].map(|key| format!("{:.2}", json[key].as_f64().unwrap()));
        assert_eq!(found, printed);
        let text = markdown(&fixture);
        assert!(text.contains("Per TPM (USD)") && printed.iter().all(|one| text.contains(one)), "{text}");
    }
}

/// 2 × 0.0725 an hour at the rate of the headline: 10⁶ · 0.145 / (3600 · X).
#[test]
fn only_what_is_paid_by_the_hour_has_a_price_for_a_million_operations() {
    let fixture = priced(fixture::valid(), HOURLY);
    let rate = fixture.analysis.load_points[0].rate;
    let json = render::json(&fixture.report());
    let found = json["price"]["load_points"][0]["per_million_operations"].as_f64().unwrap();
    assert!((found / (1e6 * 0.145 / (3600.0 * rate)) - 1.0).abs() < 1e-12, "{found}");
    assert!(markdown(&fixture).contains("Per million operations (USD)"));
    assert!(!markdown(&priced(fixture::valid(), MIXED)).contains("Per million operations (USD)"));
}

#[test]
fn a_schedule_has_no_price_per_user() {
    let text = markdown(&priced(fixture::open_loop(), SYSTEM));
    assert!(text.contains("Per operation/second (USD)") && !text.contains("Per client"), "{text}");
}

/// The price of the headline is never seen without the verdict, and never where there is no headline.
#[test]
fn a_price_of_the_headline_has_its_verdict_beside_it() {
    let quick = priced(fixture::quick(), SYSTEM);
    let text = markdown(&quick);
    let line = text.lines().find(|line| line.contains("Price ÷ headline")).unwrap();
    assert!(line.contains("✕") && line.contains("invalid, modified"), "{line}");
    let headline = quick.analysis.headline.as_ref().unwrap();
    assert_eq!(headline.name, "connections per second");
    let price = 29_581.0 / headline.value;
    let expected = format!("{price:.2} USD for each of {:.1} connections per second.", headline.value);
    assert!(price_text(&quick.report()).unwrap().ends_with(&expected), "{expected}");

    let mut without = priced(fixture::quick(), SYSTEM);
    without.analysis.headline = None;
    let text = markdown(&without);
    assert!(
        !text.contains("Price ÷ headline:") && text.contains("so there is no price ÷ headline"),
        "{text}"
    );
    assert_eq!(price_text(&without.report()).unwrap(), "Price: 29,581.00 USD (2026-11-01).");
    assert_eq!(render::json(&without.report())["price"]["per_headline"], Value::Null);
}
