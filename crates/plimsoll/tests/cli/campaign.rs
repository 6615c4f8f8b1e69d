//! `report` of several runs.

use crate::support::Fixture;

/// Runs two benchmarks, each into its own directory.
fn campaign() -> Fixture {
    let fixture = Fixture::new();
    for benchmark in ["one-object", "webstone-1.1"] {
        let file = format!("campaign/{benchmark}/built-in.plim");
        let short = ["--load", "1,2", "--duration", "1", "--sut-quota", "0.4", "--out", &file];
        fixture.run(&[&["run", benchmark], &short[..]].concat()).expect_run();
    }
    fixture
}

#[test]
fn a_folder_of_runs_makes_one_report() {
    let fixture = campaign();
    assert_eq!(fixture.run(&["report", "campaign"]).expect(0).last_line(), "campaign/report.html");
    let html = std::fs::read_to_string(fixture.path("campaign/report.html")).unwrap();
    for text in ["Executive overview", "WebStone 1.1-style", "Server configurations side by side", "</html>"]
    {
        assert!(html.contains(text), "{text}");
    }
    let files = ["campaign/one-object/built-in.plim", "campaign/webstone-1.1/built-in.plim"];
    let several = fixture.run(&["report", files[0], files[1], "--format", "markdown"]).expect(0);
    several.expect_stdout("# Performance report: 2 benchmarks").expect_stdout("## WebStone 1.1-style");
    let json = fixture.run(&["report", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["benchmarks"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["benchmarks"][0]["runs"][0]["report"]["format"], 1);
}

#[test]
fn a_report_without_run_files_is_refused() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.path("empty")).unwrap();
    fixture.run(&["report", "empty"]).expect(2).expect_stderr("`empty` contains no run files");
    fixture.run(&["report", "missing.plim", "other.plim"]).expect(2);
}
