//! Comparison of a server with itself before and after a change: labels, baselines, bounds.

use crate::support::{ExitedCommand, Fixture};

/// Runs the benchmark against a built-in server at one address, with this CPU allowance: before and after a change.
fn run_against(fixture: &Fixture, address: &str, allowance: &str, more: &[&str]) -> (ExitedCommand, String) {
    let server = ["one-object", "--listen", address, "--cpu-allowance", allowance];
    let (_server, address) = fixture.serve(&server);
    let url = format!("http://{address}/");
    let arguments = ["run", "one-object", "--target", &url, "--load", "4", "--settle", "0"];
    (fixture.run(&[&arguments[..], more].concat()), address)
}

/// A server with twice the CPU time serves about twice as much: the whole interval is far beyond any bound.
#[test]
fn runs_of_one_target_with_different_labels_are_two_sides() {
    let fixture = Fixture::new();
    let long = |label| ["--duration", "12", "--label", label];
    let (ended, address) =
        run_against(&fixture, "127.0.0.1:0", "0.1", &[&long("before")[..], &["--out", "1.plim"]].concat());
    ended.assert_run();
    let after = [&long("after")[..], &["--out", "2.plim"]].concat();
    run_against(&fixture, &address, "0.2", &after).0.assert_run();

    let json = fixture.run(&["compare", "1.plim", "2.plim", "--json"]).expect(0).json();
    let names = |json: &serde_json::Value| {
        let sides = json["sides"].as_array().unwrap().iter();
        sides.map(|side| side["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&json), ["before", "after"]);
    fixture.run(&["runs", "."]).expect(0).expect_stdout("external (before)");

    let is_valid = json["runs"].as_array().unwrap().iter().all(|run| run["verdict"] == "valid");
    let compare = |runs: [&str; 2], more: &[&str]| {
        fixture
            .run(&[&["compare", runs[0], runs[1], "--junit", "j.xml", "--markdown", "s.md"], more].concat())
    };
    let faster = compare(["1.plim", "2.plim"], &["--fail-if", "rate<-5%", "--fail-if", "errors>+0.5%"]);
    let slower = compare(["2.plim", "1.plim"], &["--fail-if", "rate<-5%"]);
    let junit = std::fs::read_to_string(fixture.path("j.xml")).unwrap();
    let summary = std::fs::read_to_string(fixture.path("s.md")).unwrap();
    if is_valid {
        let faster = faster.expect(0).expect_stdout("rate<-5% is kept by after: +");
        faster.expect_stderr("hint: `plimsoll run … --repeat 3` measures the scatter between runs");
        let slower = slower.expect(5).expect_stdout("rate<-5% is exceeded by before: −");
        slower.expect_stdout("allow for what identical processes usually differ by");
        assert!(
            junit.contains("failures=\"1\" errors=\"0\"") && junit.contains("before: rate&lt;-5%"),
            "{junit}"
        );
        assert!(summary.contains("before |") && summary.contains("exceeded"), "{summary}");
    } else {
        slower.expect(3).expect_stdout("rate<-5% cannot be judged for before");
        assert!(junit.contains("errors=\""), "{junit}");
    }
}

/// Steady phases below 10 s are too short for an interval, so nothing is decided.
#[test]
fn a_baseline_of_the_same_server_is_the_other_side() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["one-object", "--cpu-allowance", "0.1"]);
    let url = format!("http://{address}/");
    for name in ["1", "2", "3"] {
        let out = format!("{name}.plim");
        let arguments = ["run", "one-object", "--target", &url, "--load", "1", "--settle", "0"];
        fixture.run(&[&arguments[..], &["--duration", "1", "--out", &out]].concat()).assert_run();
    }
    let ended = fixture.run(&["compare", "."]).expect(0);
    ended
        .expect_stdout("All 3 runs are repetitions")
        .expect_stderr("hint: label runs with `plimsoll run … --label");
    let bound = ["--fail-if", "rate<-5%"];
    let refused = fixture.run(&[&["compare", "."], &bound[..]].concat()).expect(2);
    refused.expect_stderr("`--fail-if` needs two sides, and all 3 runs are repetitions");

    let baseline = ["compare", ".", "--baseline", "2.plim", "--json"];
    let json = fixture.run(&baseline).expect(0).json();
    let runs = json["sides"].as_array().unwrap().iter().map(|side| &side["runs"]);
    assert_eq!(runs.collect::<Vec<_>>(), [&serde_json::json!([0]), &serde_json::json!([1, 2])]);
    let is_valid = json["runs"].as_array().unwrap().iter().all(|run| run["verdict"] == "valid");
    let judged = |more: &[&str]| fixture.run(&[&baseline[..4], &bound, more].concat());
    if is_valid {
        judged(&[]).expect(0).expect_stdout("rate<-5% is undecided for");
        judged(&["--strict"]).expect(5).expect_stdout("too short for an interval");
        judged(&["--junit", "j.xml"]).expect(0);
        let junit = std::fs::read_to_string(fixture.path("j.xml")).unwrap();
        assert!(
            junit.contains("skipped=\"1\"") && junit.contains("<skipped message=\"undecided: "),
            "{junit}"
        );
    }
}

#[test]
fn mistakes_in_bounds_and_labels_are_explained() {
    let fixture = Fixture::new();
    fixture
        .run(&["compare", "1.plim", "2.plim", "--fail-if", "rate<-5%,max>10%"])
        .expect(2)
        .expect_stderr("`max` is not a metric of comparisons")
        .expect_stderr("           ^^^^^^^")
        .expect_stderr(
            "hint: the metrics are rate, mean, p50, p90, p95, p99, p99.9, any other percentile, cpu",
        );
    fixture.run(&["compare", "1.plim", "--strict"]).expect(2).expect_stderr("--fail-if");
    let label = ["run", "one-object", "--dry-run", "--label"];
    fixture.run(&[&label[..], &[""]].concat()).expect(2).expect_stderr("1 to 40 printable characters");
    fixture.run(&[&label[..], &["a\tb"]].concat()).expect(2).expect_stderr("printable characters");
}

/// Two runs are too few for changes, which the trend says; labels do not divide it.
#[test]
fn the_trend_of_a_folder_is_shown() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["one-object", "--cpu-allowance", "0.1"]);
    let url = format!("http://{address}/");
    for label in ["1.24", "1.26"] {
        let out = format!("runs/{label}.plim");
        let arguments =
            ["run", "one-object", "--target", &url, "--load", "1", "--settle", "0", "--label", label];
        fixture.run(&[&arguments[..], &["--duration", "1", "--out", &out]].concat()).assert_run();
    }
    let trend = ["compare", "--trend", "runs"];
    let ended = fixture.run(&[&trend[..], &["--html", "trend.html"]].concat()).expect(0);
    let json = fixture.run(&[&trend[..], &["--json"]].concat()).expect(0).json();
    let trend_of_site = &json["trends"][0];
    assert_eq!(
        (trend_of_site["server"].as_str(), json["trends"].as_array().unwrap().len()),
        (Some(url.as_str()), 1)
    );
    let n = |key: &str| trend_of_site[key].as_array().unwrap().len();
    assert_eq!(n("runs") + n("left_out"), 2);
    if n("runs") == 2 {
        let ended = ended
            .expect_stdout("2 runs, from ")
            .expect_stdout("too few runs to find changes: 2 of at least 6");
        ended.expect_stdout("1.26");
    }
    assert!(std::fs::read_to_string(fixture.path("trend.html")).unwrap().contains("<h1>Trend"));
    fixture.run(&["compare", "--trend", "."]).expect(0);
    fixture.run(&["compare", "--trend", "runs", "runs"]).expect(2).expect_stderr("cannot be used with");
    fixture.run(&["compare"]).expect(2).expect_stderr("RUN");
}
