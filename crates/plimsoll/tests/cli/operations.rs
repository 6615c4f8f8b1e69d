//! A number of operations in all, and a time for the whole run.

use serde_json::Value;

use crate::support::{Fixture, Pages};

/// Returns a named count of the only load point.
fn count(report: &Value, name: &str) -> u64 {
    report["load_points"][0]["counts"][name].as_u64().unwrap_or_else(|| panic!("{name}: {report}"))
}

/// Goal: a server gets as many requests as were asked for, and those of the checks that the plan announces: three to see what it
/// replies, and one before the load.
#[test]
fn a_server_gets_no_more_requests_than_were_asked_for() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = format!("{}post", pages.url);
    let words = ["run", &url, "-d", "order", "-n", "300", "-c", "4", "--out", "run.plim"];
    let ended = fixture.run(&words);
    ended.assert_run();
    let ended =
        ended.expect_stderr("operations    300 in all, with which the load ends; the checks of the server");
    assert!(!ended.stdout.contains("modified"), "{}", ended.stdout);
    assert_eq!(pages.n_requests(), 304, "{}", ended.stderr);
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["plan"]["operations"], 300);
    let point = &report["load_points"][0];
    let measured = point["total"]["n"].as_u64().unwrap_or_else(|| panic!("{point}"));
    assert!((290..=300).contains(&measured), "{measured}");
    let reasons = point["verdict"]["reasons"].as_array().unwrap();
    let is_of_record = |reason: &&Value| {
        let rule = reason["rule"].as_str().unwrap();
        ["operations", "operations-started", "time-axis", "steady-length", "conservation"].contains(&rule)
    };
    assert!(!reasons.iter().any(|reason| is_of_record(&reason)), "{reasons:?}");
    fixture.run(&["audit", "run.plim"]).expect(0);
    let bound = ["--duration", "7", "--settle", "2", "--dry-run"];
    let words = [&["run", &url, "-d", "order", "-n", "300", "-c", "4"], &bound[..]].concat();
    let planned = fixture.run(&words).expect(0).stdout;
    assert!(planned.contains("phases        settle 2.00 s, steady 7.00 s, drain 10.0 s at"), "{planned}");
    assert!(!planned.contains("modified"), "{planned}");
    let markdown = fixture.run(&["report", "run.plim", "--format", "markdown", "--full"]).expect(0).stdout;
    assert!(markdown.contains("The load starts 300 operations at most."), "{markdown}");
}

/// Goal: two agents have parts of the number, which add up to it.
#[test]
fn agents_share_a_number_of_operations() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let words = ["run", &pages.url, "-n", "501", "-c", "5", "--agents", "local=2", "--out", "run.plim"];
    fixture.run(&words).assert_run();
    let report = fixture.report(&fixture.path("run.plim"));
    let started = [0, 1].map(|agent| count(&report, &format!("load agent {agent}, operations started")));
    assert_eq!(started, [200, 301], "two users and three");
    let beside = pages.n_requests() - 501;
    assert!(
        (6..=8).contains(&beside),
        "{beside}: three, one, one of each agent before the load and after it"
    );
    fixture.run(&["audit", "run.plim"]).expect(0);
}

#[test]
fn what_a_number_of_operations_or_a_whole_time_cannot_have_is_refused() {
    let fixture = Fixture::new();
    let refused = |words: &[&str], error: &str| {
        let words = [&["run", "one-object", "--dry-run"], words].concat();
        fixture.run(&words).expect(2).expect_stderr(error);
    };
    refused(&["-n", "100"], "a number of operations is that of one load point, but there are");
    refused(&["-n", "3", "-c", "4"], "3 operations are fewer than the 4 users");
    refused(&["-n", "0"], "0 is not in 1..");
    refused(&["-n", "100", "--find-max"], "cannot be used with");
    refused(&["--duration-total", "1", "-c", "1,2"], "too short for the whole run, which takes");
    refused(&["--duration-total", "60", "--duration", "5"], "cannot be used with");
    let url = ["run", "http://127.0.0.1:9/", "-n", "5", "--save-definition", "page.toml"];
    fixture.run(&url).expect(2).expect_stderr("a definition has no number of operations");
    let planned = fixture.run(&["run", "one-object", "--dry-run", "--duration-total", "60", "-c", "1,2"]);
    let planned = planned.expect(0).stdout;
    assert!(planned.contains("total time    5"), "{planned}");
}
