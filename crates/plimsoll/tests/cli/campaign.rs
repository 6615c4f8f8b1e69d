//! One report of several runs.

use crate::support::Lab;

/// Runs two benchmarks into a folder of their own each.
fn campaign() -> Lab {
    let lab = Lab::new();
    for benchmark in ["one-object", "webstone-1.1"] {
        let file = format!("campaign/{benchmark}/built-in.plim");
        let short = ["--load", "1,2", "--duration", "1", "--sut-quota", "0.4", "--out", &file];
        lab.run(&[&["run", benchmark], &short[..]].concat()).expect_run();
    }
    lab
}

#[test]
fn a_folder_of_runs_makes_one_report() {
    let lab = campaign();
    assert_eq!(lab.run(&["report", "campaign"]).expect(0).last_line(), "campaign/report.html");
    let html = std::fs::read_to_string(lab.path("campaign/report.html")).unwrap();
    for text in ["Executive overview", "WebStone 1.1-style", "Server configurations side by side", "</html>"]
    {
        assert!(html.contains(text), "{text}");
    }
    let files = ["campaign/one-object/built-in.plim", "campaign/webstone-1.1/built-in.plim"];
    let several = lab.run(&["report", files[0], files[1], "--format", "markdown"]).expect(0);
    several.prints("# Performance report: 2 benchmarks").prints("## WebStone 1.1-style");
    let json = lab.run(&["report", "campaign", "--json"]).expect(0).json();
    assert_eq!(json["benchmarks"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["benchmarks"][0]["runs"][0]["report"]["format"], 1);
}

#[test]
fn what_cannot_be_one_report_is_refused() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("empty")).unwrap();
    lab.run(&["report", "empty"]).expect(2).says("there are no run files in `empty`");
    lab.run(&["report", "missing.plim", "other.plim"]).expect(2);
}
