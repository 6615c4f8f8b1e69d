//! The published schemas describe the JSON of every report, comparison and campaign, field by field.

use analysis::compare::{
    BoundDirection, ChangeBound, ComparedMetric, Comparison, MismatchPolicy, RunInput, ServerAnswer, compare,
    judge_bounds,
};
use analysis::{METRICS, Metric, MetricValue};
use disclosure::{CampaignRun, PriceSheet, render};
use model::PriceList;
use serde_json::Value;
use testkit::{closed, schema_faults};

use crate::fixture::{self, Fixture};

fn schema() -> Value {
    published("report")
}

fn published(name: &str) -> Value {
    let path = format!("{}/../../schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Lets anything stand where a schema refers to another file; returns the files.
fn without_other_files(schema: &mut Value) -> Vec<String> {
    let mut others = Vec::new();
    match schema {
        Value::Object(words) => {
            let other = words.get("$ref").and_then(Value::as_str).filter(|target| !target.starts_with('#'));
            others.extend(other.map(str::to_owned));
            if !others.is_empty() {
                words.clear();
            }
            words.values_mut().for_each(|inner| others.extend(without_other_files(inner)));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| others.extend(without_other_files(item))),
        _ => {}
    }
    others
}

/// As a reader gets it: what is not a number has become null.
fn through_text(json: &Value) -> Value {
    serde_json::from_str(&json.to_string()).unwrap()
}

/// Reads the golden files that are JSON of whole reports.
fn golden() -> Vec<(String, Value)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("all__report__json") && name.ends_with(".snap") {
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

fn reports() -> [(&'static str, Fixture); 14] {
    [
        ("priced", priced()),
        ("quick", fixture::quick()),
        ("incomplete", fixture::incomplete()),
        ("open_loop", fixture::open_loop()),
        ("hostile", fixture::hostile()),
        ("classes", fixture::classes()),
        ("thinking", fixture::thinking()),
        ("clients", fixture::clients()),
        ("throughput", fixture::throughput()),
        ("harmonic", fixture::harmonic()),
        ("weighted", fixture::weighted()),
        ("sized", fixture::sized()),
        ("stages", fixture::stages()),
        ("stages_of_users", fixture::stages_of_users()),
    ]
}

/// Method: every object of the schema is closed, so that a field that it does not name breaks it.
#[test]
fn every_report_follows_the_schema_and_has_no_field_that_it_does_not_name() {
    let schema = closed(schema());
    for (name, fixture) in reports() {
        let json = through_text(&render::json(&fixture.report()));
        assert_eq!(schema_faults(&schema, &json), [""; 0], "{name}");
    }
}

/// Goal: the table of metrics is the one place that says what they mean.
#[test]
fn the_schema_has_every_metric_with_the_meaning_that_its_table_gives() {
    let schema = schema();
    let web = fixture::quick();
    let others = [fixture::harmonic(), fixture::sized()];
    let of_point = &schema["$defs"]["LoadPoint"]["properties"];
    let is_in_json = |metric: &&Metric| others.iter().chain([&web]).any(|run| metric.is_in_json(&run.plan));
    for metric in METRICS.iter().filter(is_in_json) {
        let (object, key) = metric.json_key(&web.plan.catalog);
        let property = match object {
            Some(object) => &of_point[object]["properties"][&key],
            None => &of_point[&key],
        };
        let is_number = property["type"].to_string().contains("number");
        let is_count = property["type"] == "integer" && property["minimum"] == 0;
        let is_interval = property["type"][0] == "array" && property["items"]["type"] == "number";
        let form = match metric.value(&web.analysis.load_points[0]) {
            MetricValue::Count(_) => is_count,
            MetricValue::Number(_) => is_number,
            MetricValue::Interval(_) => is_interval,
        };
        let is_described = property["description"] == metric.meaning;
        assert!(form && is_described, "`{key}` should be: {}; found: {property}", metric.meaning);
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
    assert!(broken(|json| json["load_points"][0]["steady_s"] = Value::Null));
    assert!(broken(|json| json["load_points"][0]["load"]["users"] = "ten".into()));
    assert!(broken(|json| _ = json.as_object_mut().unwrap().remove("provenance")));
    assert!(broken(|json| json["load_points"][0]["response"]["percentiles"][0]["q"] = 50.into()));
}

/// Passes of two servers on one and two CPUs, twice each, and a server that carries nothing.
fn passes() -> Vec<(&'static str, Fixture)> {
    let mut runs = Vec::new();
    for (server, cpus, rate) in [
        ("nginx", 1, 1000.0),
        ("nginx", 2, 1900.0),
        ("nginx", 1, 1010.0),
        ("nginx", 2, 1880.0),
        ("apache", 1, 800.0),
        ("apache", 2, 1500.0),
    ] {
        let mut fixture = fixture::valid();
        fixture.plan.sut.name = server.into();
        fixture.plan.sut.cpus = (0..cpus).collect();
        fixture.plan.sut.quota = None;
        let best = fixture.analysis.headline.as_ref().unwrap().load_point;
        fixture::set_rate(&mut fixture.analysis.load_points[best], rate);
        runs.push((server, fixture));
    }
    let mut dead = fixture::quick();
    dead.plan.seed += 1;
    dead.testbed.sections[0].facts[0].value = "another".to_owned();
    dead.analysis.headline = None;
    dead.analysis
        .load_points
        .iter_mut()
        .for_each(|point| point.verdict.state = analysis::VerdictState::Invalid);
    runs.push(("dead", dead));
    runs
}

fn inputs<'a>(runs: &'a [(&'static str, Fixture)]) -> Vec<RunInput<'a>> {
    let input = |(server, fixture): &'a (&'static str, Fixture)| RunInput {
        name: server,
        server,
        program: &fixture.provenance.program,
        plan: &fixture.plan,
        analysis: &fixture.analysis,
        testbed: &fixture.testbed,
        began: &[],
    };
    runs.iter().map(input).collect()
}

fn compared(runs: &[(&'static str, Fixture)]) -> Comparison {
    compare(&inputs(runs), MismatchPolicy::Allow).unwrap()
}

#[test]
fn every_comparison_follows_its_schema() {
    let passes = passes();
    let mut comparison = compared(&passes);
    comparison.levels[0].figures[1].changes[0].interval = Some((0.7, 0.9));
    let change = comparison.levels[0].figures[1].changes[0];
    let as_found = Some((0.75, 0.85));
    comparison.answers.push(ServerAnswer { side: 1, change, as_found, found_mostly: Some(0.05) });
    let bounds = [
        ChangeBound::new(ComparedMetric::Score, BoundDirection::Decrease, -0.05),
        ChangeBound::new(ComparedMetric::ErrorRatio, BoundDirection::Increase, 0.005),
    ];
    let judged = judge_bounds(&comparison, &inputs(&passes), &bounds);
    let json = through_text(&render::comparison_json(&comparison, &judged));
    for filled in ["answers", "bounds", "unlike", "scalings", "levels", "sides", "configuration", "text"] {
        assert!(json[filled].as_array().is_some_and(|all| !all.is_empty()), "{filled} is not looked at");
    }
    let schema = closed(published("comparison"));
    assert_eq!(schema_faults(&schema, &json), [""; 0]);
    let mut broken = json.clone();
    broken["levels"][0]["figures"][1]["changes"][0]["finding"] = "faster".into();
    assert!(!schema_faults(&schema, &broken).is_empty());
    broken = json;
    broken["sides"][0].as_object_mut().unwrap().remove("best");
    assert!(!schema_faults(&schema, &broken).is_empty());
}

/// Method: what the schema takes from others is held against these.
#[test]
fn every_campaign_follows_its_schema() {
    let passes = passes();
    let mut alone = fixture::classes();
    alone.plan.benchmark.id = "web96".into();
    alone.analysis.benchmark = alone.plan.benchmark.clone();
    let all = passes.iter().map(|(server, fixture)| (*server, fixture)).chain([("nginx", &alone)]);
    let runs: Vec<CampaignRun> = all
        .map(|(server, fixture)| CampaignRun { name: server, server, began: &[], report: fixture.report() })
        .collect();
    let json = through_text(&render::campaign_json(&runs));
    let mut schema = published("campaign");
    let others = without_other_files(&mut schema);
    assert_eq!(others, ["comparison.schema.json", "report.schema.json"]);
    let schema = closed(schema);
    assert_eq!(schema_faults(&schema, &json), [""; 0]);
    assert!(!schema_faults(&schema, &serde_json::json!({ "format": 1 })).is_empty());
    for benchmark in json["benchmarks"].as_array().unwrap() {
        for run in benchmark["runs"].as_array().unwrap() {
            assert_eq!(schema_faults(&closed(published("report")), &run["report"]), [""; 0]);
        }
        if !benchmark["comparison"].is_null() {
            assert_eq!(schema_faults(&closed(published("comparison")), &benchmark["comparison"]), [""; 0]);
        }
    }
    assert!(json["benchmarks"][1]["comparison"].is_null(), "{}", json["benchmarks"][1]["comparison"]);
}
