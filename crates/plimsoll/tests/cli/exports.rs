//! `export` and `--junit`: what other tools read.

use std::fs;

use serde_json::Value;

use crate::support::Lab;

/// A short run with limits that any server keeps.
fn lab_with_run() -> Lab {
    let lab = Lab::new();
    let limits = ["--limit", "p50<1min,errors<1%", "--junit", "limits.xml"];
    let run = ["run", "one-object", "--settle", "0", "--load", "1,2", "--duration", "2", "--out", "run.plim"];
    let ended = lab.run(&[&run[..], &limits].concat());
    ended.assert_run();
    lab
}

fn export(lab: &Lab, format: &str) -> String {
    lab.run(&["export", "run.plim", "--format", format]).expect(0).stdout
}

/// Successful operations of the measured phase of each load point, by the report.
fn reported(lab: &Lab) -> Vec<u64> {
    let report = lab.report(&lab.path("run.plim"));
    let points = report["load_points"].as_array().unwrap();
    points.iter().map(|point| point["total"]["n"].as_u64().unwrap()).collect()
}

#[test]
fn what_is_exported_is_what_is_reported() {
    let lab = lab_with_run();
    let expected = reported(&lab);
    assert_eq!(expected.len(), 2);

    let text = export(&lab, "ndjson");
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
    // This machine was watched, and tells the memory that it has.
    let memory = |record: &&&Value| record["counters"]["memory.total_bytes"].as_u64().is_some();
    assert!(of("machine")[0]["name"].is_string() && 2 <= of("resource").iter().filter(memory).count());

    let csv = export(&lab, "csv");
    let mut rows = csv.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let mut counted = vec![0; 2];
    for row in rows.filter(|row| row[column("phase")] == "steady") {
        counted[row[column("load_point")].parse::<usize>().unwrap()] +=
            row[column("n_ok")].parse::<u64>().unwrap();
    }
    assert_eq!(counted, expected);

    let log = export(&lab, "hlog");
    assert!(log.contains("\n#[Histogram log format version 1.3]\n"), "{log:.400}");
    let seconds = log.lines().filter(|line| line.starts_with("Tag=2:steady,")).count();
    assert_eq!(
        seconds,
        of("interval").iter().filter(|one| one["phase"] == "steady" && one["load_point"] == 1).count()
    );
    assert!(log.contains("\nTag=2:steady:"), "{log:.400}");
}

#[test]
fn junit_is_the_same_after_the_run_and_later() {
    let lab = lab_with_run();
    let xml = fs::read_to_string(lab.path("limits.xml")).unwrap();
    assert_eq!(xml, export(&lab, "junit"));
    assert!(xml.contains("tests=\"5\"") && xml.contains("load point 2, 2 users: p50&lt;1min"), "{xml}");
}

#[test]
fn an_export_goes_to_a_file_and_never_over_its_run() {
    let lab = lab_with_run();
    lab.run(&["export", "run.plim", "--format", "csv", "--out", "seconds.csv"]).expect(0);
    assert_eq!(fs::read_to_string(lab.path("seconds.csv")).unwrap(), export(&lab, "csv"));
    lab.run(&["export", "run.plim", "--format", "csv", "--out", "run.plim"])
        .expect(2)
        .says("would overwrite the run file `");
    lab.run(&["audit", "run.plim"]).expect(0);
    lab.run(&["export", "run.plim", "--format", "csv", "--out", "none/seconds.csv"])
        .expect(2)
        .says("cannot write `none/seconds.csv`");
    lab.run(&["export", "none.plim", "--format", "csv"]).expect(2);
    lab.run(&["export", "run.plim"]).expect(2).says("--format");
    // A reader that hangs up is no failure.
    let line = r#""$plimsoll" export run.plim --format ndjson | head -1; exit "${PIPESTATUS[0]}""#;
    lab.shell(line).expect(0).prints(r#""type":"run""#);
}

#[test]
fn a_damaged_run_leaves_no_half_export() {
    let lab = lab_with_run();
    let file = rusqlite::Connection::open(lab.path("run.plim")).unwrap();
    file.execute_batch("UPDATE interval SET record = x'ff' WHERE id = (SELECT max(id) FROM interval)")
        .unwrap();
    drop(file);
    for format in ["ndjson", "csv", "hlog", "junit"] {
        lab.run(&["export", "run.plim", "--format", format, "--out", "export"]).expect(2).says("interval");
        assert!(!lab.path("export").exists(), "{format}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_run() {
    let lab = Lab::new();
    let run = ["run", "one-object", "--load", "1", "--duration", "1", "--out", "run.plim"];
    lab.run(&[&run[..], &["--junit", "none/limits.xml"]].concat())
        .expect(2)
        .says("cannot write `none/limits.xml`")
        .says("hint: make the folder first");
    assert!(!lab.path("run.plim").exists());
}
