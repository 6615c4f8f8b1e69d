//! Trends in every form.

use analysis::compare::RunInput;
use analysis::trend::{Trend, trends};
use disclosure::{TrendedRun, render, trend_document, trend_json, trend_text};
use testkit::{closed, schema_faults};
use units::WallTime;

use crate::fixture::{self, Fixture};

/// Nights of a server that falls by a tenth after the eighth of sixteen, with a scatter of 1 %.
fn nights(n: usize) -> Vec<Fixture> {
    let speed = |night: usize| {
        let level = if night < 8 { 1.0 } else { 0.9 };
        level * (1.0 + 0.005 * ((night * 3) % 5) as f64)
    };
    let night = |night: usize| {
        let mut fixture = fixture::valid();
        fixture.plan.sut.label = (night == 8).then(|| "1.26 <b>".to_owned());
        for point in &mut fixture.analysis.load_points {
            fixture::speed_up(point, speed(night));
            point.response.mean = point.response.mean.map(|mean| mean / speed(night));
        }
        fixture
    };
    (0..n).map(night).collect()
}

fn found(nights: &[Fixture]) -> (Vec<Trend>, Vec<TrendedRun>) {
    let times: Vec<[(u32, WallTime); 1]> =
        (0..nights.len()).map(|night| [(0, WallTime(night as i64))]).collect();
    let named = |(night, fixture): (usize, &Fixture)| {
        let day = night + 1;
        TrendedRun {
            name: format!("night-{day}"),
            label: fixture.plan.sut.label.clone(),
            began: format!("2026-11-{day:02}"),
        }
    };
    let runs: Vec<TrendedRun> = nights.iter().enumerate().map(named).collect();
    let inputs: Vec<RunInput> = nights
        .iter()
        .zip(&times)
        .map(|(fixture, began)| RunInput {
            name: "night",
            server: "http://site/",
            program: "plimsoll",
            plan: &fixture.plan,
            analysis: &fixture.analysis,
            testbed: &fixture.testbed,
            began,
        })
        .collect();
    (trends(&inputs), runs)
}

#[test]
fn markdown_of_a_trend() {
    let (trends, runs) = found(&nights(16));
    insta::assert_snapshot!(render::markdown(&trend_document(&trends, &runs, "plimsoll")));
}

#[test]
fn a_page_and_json_of_a_trend() {
    let (trends, runs) = found(&nights(16));
    let html = render::html(&trend_document(&trends, &runs, "plimsoll"));
    for forbidden in ["<script", "<link", " src=", "1.26 <b>"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("id=\"trend-chart\"") && html.contains("1.26 &lt;b&gt;"));
    let json = trend_json(&trends, &runs);
    let rate = &json["trends"][0]["series"][0];
    assert_eq!((rate["metric"].as_str(), rate["changes"][0]["at"].as_u64()), (Some("score"), Some(8)));
    assert_eq!(json["trends"][0]["runs"][8]["label"], "1.26 <b>");
}

/// Method: the schema is closed, so that a field that it does not name breaks it.
#[test]
fn the_json_of_trends_follows_its_schema() {
    let text = include_str!("../../../schemas/trend.schema.json");
    let schema = closed(serde_json::from_str(text).unwrap());
    for n in [1, 5, 16] {
        let mut nights = nights(n);
        if n == 16 {
            nights[3].analysis.load_points[0].verdict.state = analysis::VerdictState::Invalid;
        }
        let (trends, runs) = found(&nights);
        let json = trend_json(&trends, &runs);
        assert_eq!(schema_faults(&schema, &json), [""; 0], "{n} runs");
        assert_eq!(json["trends"][0]["left_out"].as_array().unwrap().len(), usize::from(n == 16));
        let mut broken = json;
        broken["trends"][0]["series"][0]["metric"] = "rate".into();
        assert!(!schema_faults(&schema, &broken).is_empty());
    }
}

#[test]
fn too_few_runs_say_so() {
    let (trends, runs) = found(&nights(5));
    let text = trend_text(&trends[0], &runs).join("\n");
    assert!(text.contains("too few runs to find changes: 5 of at least 6"), "{text}");
    let (trends, runs) = found(&nights(8));
    let text = trend_text(&trends[0], &runs).join("\n");
    assert!(text.contains("No change was found in rate, mean response time"), "{text}");
}
