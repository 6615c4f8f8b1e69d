//! A quick run, alone in its process, so that no other test uses the machine meanwhile.

#[path = "cli/support/mod.rs"]
mod support;

use std::fs;

use support::Fixture;

/// Two load points with a quota that leaves the generator mostly idle. On a busy machine, the generator has to wait, which
/// makes the run invalid; no other reason is accepted.
#[test]
fn a_quick_run_is_valid_reported_and_audited() {
    let fixture = Fixture::new();
    let run =
        fixture.run(&["run", "webstone-2.0.1", "--quick", "--load", "1,10", "--duration", "2"]).expect_run();
    let state = if run.code == Some(0) { "valid" } else { "invalid" };
    let path = fixture.path(run.last_line());
    assert_eq!(path.parent(), Some(&*fixture.path("runs")));
    assert!(path.is_file(), "{path:?}");
    for text in [
        &*format!("{}, modified: ", state.to_uppercase()),
        "connections per second at ",
        "mean response time",
    ] {
        assert!(run.stdout.contains(text), "`{text}` expected in:\n{}", run.stdout);
    }
    assert!(run.stdout.contains("Modified: ") && run.stdout.contains("600 s → 2 s"), "{}", run.stdout);
    let rows = run.stdout.lines().filter(|line| {
        let first = line.split_whitespace().next();
        matches!(first, Some("1" | "10"))
    });
    assert_eq!(rows.count(), 2, "{}", run.stdout);

    let html = fs::read_to_string(path.with_extension("html")).unwrap();
    assert!(html.contains("<svg") && html.trim_end().ends_with("</html>"));
    for loading in ["src=\"http", "href=\"http", "url(http", "@import", "<script src", "<link"] {
        assert!(!html.contains(loading), "`{loading}` in the report");
    }

    let text = path.to_str().unwrap();
    let report = fixture.run(&["report", text, "--format", "json"]).expect(0).json();
    assert_eq!(report["verdict"]["state"], state);
    assert_eq!(report["ending"]["kind"], "complete");
    assert_eq!(report, fixture.run(&["report", text, "--json"]).expect(0).json());
    let printed = fixture.run(&["report", text, "--format", "text"]).expect(0).stdout;
    assert!(run.stdout.contains(printed.trim()), "the report differs from the run's output:\n{printed}");

    fixture.run(&["audit", text]).expect(0).expect_stdout("no differences found");
}
