//! `export` and `--junit`: output for other tools.

use std::fs;

use serde_json::Value;

use crate::support::Fixture;

/// Records a short run with limits that any server meets.
fn fixture_with_run() -> Fixture {
    let fixture = Fixture::new();
    let limits = ["--limit", "p50<1min,errors<1%", "--junit", "limits.xml"];
    let run = ["run", "one-object", "--settle", "0", "--load", "1,2", "--duration", "2", "--out", "run.plim"];
    let ended = fixture.run(&[&run[..], &limits].concat());
    ended.assert_run();
    fixture
}

fn export(fixture: &Fixture, format: &str) -> String {
    fixture.run(&["export", "run.plim", "--format", format]).expect(0).stdout
}

/// Returns the successful operations of the steady phase of each load point, from the report.
fn reported(fixture: &Fixture) -> Vec<u64> {
    let report = fixture.report(&fixture.path("run.plim"));
    let points = report["load_points"].as_array().unwrap();
    points.iter().map(|point| point["total"]["n"].as_u64().unwrap()).collect()
}

#[test]
fn exports_agree_with_the_report() {
    let fixture = fixture_with_run();
    let expected = reported(&fixture);
    assert_eq!(expected.len(), 2);

    let text = export(&fixture, "ndjson");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |sort: &str| lines.iter().filter(|line| line["type"] == sort).collect::<Vec<_>>();
    let mut counted = vec![0; 2];
    for interval in of("interval").iter().filter(|interval| interval["phase"] == "steady") {
        counted[interval["load_point"].as_u64().unwrap() as usize] +=
            interval["operations"]["ok"].as_u64().unwrap();
    }
    assert_eq!(counted, expected);
    assert_eq!((of("run").len(), of("load_point").len(), of("verdict").len()), (1, 2, 1));
    assert!(!of("result").is_empty() && !of("detail").is_empty());
    assert_eq!(lines.last().unwrap()["type"], "verdict");
    // This machine was monitored; its records have the size of its memory.
    let memory = |record: &&&Value| record["counters"]["memory.total_bytes"].as_u64().is_some();
    assert!(of("machine")[0]["name"].is_string() && 2 <= of("resource").iter().filter(memory).count());

    let csv = export(&fixture, "csv");
    let mut rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let mut counted = vec![0; 2];
    for row in rows.filter(|row| row[column("phase")] == "steady") {
        counted[row[column("load_point")].parse::<usize>().unwrap()] +=
            row[column("n_ok")].parse::<u64>().unwrap();
    }
    assert_eq!(counted, expected);

    let log = export(&fixture, "hlog");
    assert!(log.contains("\n#[Histogram log format version 1.3]\n"), "{log:.400}");
    let seconds = log.lines().filter(|line| line.starts_with("Tag=2:steady,")).count();
    assert_eq!(
        seconds,
        of("interval").iter().filter(|one| one["phase"] == "steady" && one["load_point"] == 1).count()
    );
    assert!(log.contains("\nTag=2:steady:"), "{log:.400}");
}

#[test]
fn junit_of_the_run_and_of_the_export_are_equal() {
    let fixture = fixture_with_run();
    let xml = fs::read_to_string(fixture.path("limits.xml")).unwrap();
    assert_eq!(xml, export(&fixture, "junit"));
    assert!(xml.contains("tests=\"5\"") && xml.contains("load point 2, 2 users: p50&lt;1min"), "{xml}");
}

#[test]
fn an_export_to_a_file_never_overwrites_the_run() {
    let fixture = fixture_with_run();
    fixture.run(&["export", "run.plim", "--format", "csv", "--out", "seconds.csv"]).expect(0);
    assert_eq!(fs::read_to_string(fixture.path("seconds.csv")).unwrap(), export(&fixture, "csv"));
    fixture
        .run(&["export", "run.plim", "--format", "csv", "--out", "run.plim"])
        .expect(2)
        .expect_stderr("would overwrite the run file `");
    fixture.run(&["audit", "run.plim"]).expect(0);
    fixture
        .run(&["export", "run.plim", "--format", "csv", "--out", "none/seconds.csv"])
        .expect(2)
        .expect_stderr("cannot write `none/seconds.csv`");
    fixture.run(&["export", "none.plim", "--format", "csv"]).expect(2);
    fixture.run(&["export", "run.plim"]).expect(2).expect_stderr("--format");
    // A closed pipe is not a failure.
    let line = r#""$plimsoll" export run.plim --format ndjson | head -1; exit "${PIPESTATUS[0]}""#;
    fixture.shell(line).expect(0).expect_stdout(r#""type":"run""#);
}

#[test]
fn a_damaged_run_leaves_no_partial_export() {
    let fixture = fixture_with_run();
    let file = rusqlite::Connection::open(fixture.path("run.plim")).unwrap();
    file.execute_batch("UPDATE interval SET record = x'ff' WHERE id = (SELECT max(id) FROM interval)")
        .unwrap();
    drop(file);
    for format in ["ndjson", "csv", "hlog", "junit"] {
        fixture
            .run(&["export", "run.plim", "--format", format, "--out", "export"])
            .expect(2)
            .expect_stderr("interval");
        assert!(!fixture.path("export").exists(), "{format}");
    }
}

#[test]
fn an_unwritable_output_file_is_reported_before_the_run() {
    let fixture = Fixture::new();
    let run = ["run", "one-object", "--load", "1", "--duration", "1", "--out", "run.plim"];
    fixture
        .run(&[&run[..], &["--junit", "none/limits.xml"]].concat())
        .expect(2)
        .expect_stderr("cannot write `none/limits.xml`")
        .expect_stderr("hint: create the directory first");
    assert!(!fixture.path("run.plim").exists());
}
