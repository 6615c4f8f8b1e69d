//! Changes made to a run file after the fact are found.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use runfile::{Run, VerifyFinding};
use rusqlite::Connection;

use crate::support::finished_run;

/// A finished run of two load points of 15 s.
static RUN: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 2, 15);
    fs::read(&path).unwrap()
});

/// Changes the run and returns what a check finds.
fn findings_after(change: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    fs::write(&path, &*RUN).unwrap();
    tamper(&path, change);
    Run::open(&path).unwrap().verify().iter().map(VerifyFinding::to_string).collect()
}

fn tamper(path: &Path, change: &str) {
    let database = Connection::open(path).unwrap();
    database.execute_batch(change).unwrap();
    assert!(0 < database.total_changes(), "nothing was changed");
}

fn check(change: &str, expected: &[&str]) {
    assert_eq!(findings_after(change), expected, "{change}");
}

#[test]
fn an_unchanged_run_has_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    fs::write(&path, &*RUN).unwrap();
    assert_eq!(Run::open(&path).unwrap().verify(), []);
}

#[test]
fn a_changed_cell_is_found_where_it_is() {
    check(
        "UPDATE interval SET ok = 41 WHERE load_point = 1 AND interval_index = 7",
        &["interval 7 of load point 1, agent 0: column `ok` holds 41, its record 40"],
    );
    check(
        "UPDATE interval SET end_ns = end_ns + 1 WHERE load_point = 0 AND interval_index = 1",
        &[
            "interval 1 of load point 0, agent 0: its hash does not follow from the one before",
            "detail of load point 0, agent 0, from interval 0: times or phase differ from the intervals'",
        ],
    );
}

#[test]
fn swapped_columns_are_found() {
    let findings = findings_after("UPDATE interval SET ok = timed_out, timed_out = ok");
    assert_eq!(findings.len(), 2 * 30);
    assert_eq!(findings[0], "interval 0 of load point 0, agent 0: column `ok` holds 0, its record 40");
}

#[test]
fn a_deleted_second_is_found() {
    let missing = "load point 0, agent 0: interval 5 is missing, 6 follows";
    check(
        "DELETE FROM interval WHERE load_point = 0 AND interval_index = 5",
        &[
            "interval 6 of load point 0, agent 0: its hash does not follow from the one before",
            missing,
            "detail of load point 0, agent 0, from interval 2: response times differ from the intervals'",
            "detail of load point 0, agent 0, from interval 2: response times per kind differ from the intervals'",
            "detail of load point 0, agent 0, from interval 2: spreads of measures differ from the intervals'",
            "load point 0, agent 0: 14 intervals, detail for 15",
            "table `interval` has 29 rows, had 30 when the run ended",
        ],
    );
}

/// No later hash depends on the last second, but the inventory counts it.
#[test]
fn a_deleted_last_second_is_found() {
    let findings = findings_after(
        "DELETE FROM interval WHERE load_point = 1 AND interval_index = 14;
         UPDATE detail SET last_interval = 13 WHERE load_point = 1 AND last_interval = 14",
    );
    let last = [
        "table `interval` has 29 rows, had 30 when the run ended",
        "table `detail` was changed after the run ended",
    ];
    assert_eq!(findings[findings.len() - 2..], last);
}

#[test]
fn swapped_rows_are_found() {
    let findings = findings_after(
        "UPDATE interval SET record = (SELECT record FROM interval WHERE load_point = 0 AND interval_index = 9)
         WHERE load_point = 0 AND interval_index = 8",
    );
    assert_eq!(
        findings[0],
        "interval 8 of load point 0, agent 0: its hash does not follow from the one before"
    );
    let findings = findings_after(
        "UPDATE interval SET id = -1 WHERE id = 9; UPDATE interval SET id = 9 WHERE id = 10;
         UPDATE interval SET id = 10 WHERE id = -1",
    );
    assert_eq!(
        findings[0],
        "interval 9 of load point 0, agent 0: its hash does not follow from the one before"
    );
    assert_eq!(findings[1], "load point 0, agent 0: interval 8 is missing, 9 follows");
}

#[test]
fn a_changed_plan_or_command_is_found() {
    check(
        r#"UPDATE header SET plan_json = replace(plan_json, '"quota":0.4', '"quota":0.5')"#,
        &["the header was changed", "table `header` was changed after the run ended"],
    );
    check(
        "UPDATE header SET n_modifications = 0",
        &["the header was changed", "table `header` was changed after the run ended"],
    );
}

#[test]
fn a_changed_ending_fact_or_load_point_is_found() {
    check("UPDATE testbed SET value = 'a slow one'", &["table `testbed` was changed after the run ended"]);
    check("DELETE FROM ending", &["table `ending` has 0 rows, had 1 when the run ended"]);
    check("DELETE FROM inventory WHERE table_name = 'event'", &["table `event` is not in the inventory"]);
    check(
        "DELETE FROM load_point WHERE load_point = 1",
        &["table `load_point` has 1 rows, had 2 when the run ended"],
    );
}

#[test]
fn detail_of_another_batch_is_found() {
    check(
        "UPDATE detail SET record = (SELECT record FROM detail WHERE load_point = 1 AND first_interval = 2)
         WHERE load_point = 0 AND first_interval = 2",
        &[
            "detail of load point 0, agent 0, from interval 2: response times differ from the intervals'",
            "detail of load point 0, agent 0, from interval 2: response times per kind differ from the intervals'",
            "detail of load point 0, agent 0, from interval 2: failures differ from the intervals'",
            "detail of load point 0, agent 0, from interval 2: spreads of measures differ from the intervals'",
            "table `detail` was changed after the run ended",
        ],
    );
    check(
        "DELETE FROM detail WHERE load_point = 0 AND first_interval = 0",
        &[
            "load point 0, agent 0: 15 intervals, detail for 13",
            "table `detail` has 5 rows, had 6 when the run ended",
        ],
    );
}

#[test]
fn a_record_that_cannot_be_read_is_a_finding_and_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 1, 5);
    tamper(&path, "UPDATE interval SET record = x'0702' WHERE interval_index = 3");
    let run = Run::open(&path).unwrap();
    let text: Vec<String> = run.verify().iter().map(VerifyFinding::to_string).collect();
    assert_eq!(text[0], "interval 3 of load point 0, agent 0: its hash does not follow from the one before");
    assert_eq!(text[1], "interval 3 of load point 0 cannot be read: record ends early");
    let why = run.records(drop).unwrap_err().to_string();
    assert!(why.ends_with("is damaged: interval 3 of load point 0: record ends early"), "{why}");
}
