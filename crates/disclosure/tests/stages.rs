//! Reports of runs whose load changes over time by stages.

use disclosure::{outline, render, results_table, stages_text};

use crate::fixture::{self, Fixture};

/// Returns the first page, the overview and the section of the stages as Markdown.
fn beginning(fixture: &Fixture) -> String {
    let document = outline(&fixture.report()).short();
    render::markdown(&document).split("\n## What").next().unwrap().to_owned()
}

#[test]
fn markdown_of_stages_until_a_limit_breaks() {
    insta::assert_snapshot!(beginning(&fixture::stages()));
}

#[test]
fn markdown_of_stages_of_users() {
    insta::assert_snapshot!(beginning(&fixture::stages_of_users()));
}

/// Goal: no sentence of the whole report says that a load stays the same which does not.
#[test]
fn a_load_that_changes_is_called_so_everywhere() {
    let whole = |fixture: &Fixture| render::markdown(&outline(&fixture.report()));
    for text in [whole(&fixture::stages()), whole(&fixture::stages_of_users())] {
        for of_same_load in
            ["does not change", "a fixed number of users", "at a constant rate", "constant mean rate"]
        {
            assert!(!text.contains(of_same_load), "{of_same_load}");
        }
        assert!(text.contains("The load changes as planned over"), "{text}");
    }
    let open_loop = "operations are due at random (Poisson process) at the rate of the stages";
    assert!(whole(&fixture::stages()).contains(open_loop));
    assert!(whole(&fixture::stages_of_users()).contains("as many users as the stages say"));
}

#[test]
fn csv_has_a_row_per_stage() {
    let csv = render::csv(&fixture::stages().report());
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 6, "a head and five stages that were run:\n{csv}");
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let of = |name: &str| rows[1..].iter().map(|row| row[column(name)]).collect::<Vec<_>>();
    assert_eq!(of("stage"), ["0", "1", "2", "3", "4"]);
    assert_eq!(of("level_to"), ["100", "200", "300", "400", "500"]);
    assert_eq!(of("verdict"), ["valid", "valid", "valid", "valid", "overloaded"]);
}

#[test]
fn junit_has_a_case_for_the_limits_that_end_the_load_and_one_per_stage() {
    let junit = render::junit(&[fixture::stages().report()]);
    assert!(junit.contains("name=\"until p99&lt;200ms\""), "{junit}");
    assert!(junit.contains("p99 was 242 ms at a load of 435.0, limit p99&lt;200ms"), "{junit}");
    assert_eq!(junit.matches("name=\"stage ").count(), 5, "{junit}");
}

/// No figure of a load point over unlike stages is anywhere in the report.
#[test]
fn nothing_is_merged_over_stages() {
    for fixture in [fixture::stages(), fixture::stages_of_users()] {
        let json = render::json(&fixture.report());
        let point = &json["load_points"][0];
        for absent in [
            "score",
            "rate_per_s",
            "rate_interval_per_s",
            "offered_per_s",
            "little_gap_ratio",
            "in_flight_mean",
        ] {
            assert!(point[absent].is_null(), "{absent}: {}", point[absent]);
        }
        assert!(point["generator"]["busy_ratio"].is_null());
        assert_eq!(point["response"]["percentiles"].as_array().unwrap().len(), 0);
        assert_eq!(point["n"], serde_json::Value::Null);
        assert_eq!(json["headline"], serde_json::Value::Null);
        let titles: Vec<String> =
            outline(&fixture.report()).sections.into_iter().map(|section| section.title).collect();
        assert!(
            !titles.iter().any(|title| title == "Results" || title.starts_with("Percentiles")),
            "{titles:?}"
        );
    }
}

#[test]
fn the_terminal_has_the_answer_and_the_stages() {
    let fixture = fixture::stages();
    let text = stages_text(&fixture.report()).unwrap();
    assert!(text.starts_with("p99<200ms broke at 435/s (of up to 600/s)"), "{text}");
    assert!(
        text.contains("held up to 425/s") && text.contains("4 of 6 stages valid, 1 overloaded, 1 not run"),
        "{text}"
    );
    assert_eq!(results_table(&fixture.analysis).rows.len(), 5);
    assert_eq!(stages_text(&fixture::valid().report()), None);
}
