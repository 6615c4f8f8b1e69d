//! `audit` finds changes, and nothing else.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use rusqlite::Connection;

use crate::support::Fixture;

/// Changes the file of a run of two load points, and returns the output of the audit.
#[track_caller]
fn found_after(change: &str) -> String {
    let fixture = Fixture::new();
    let run = recorded(&fixture);
    let database = Connection::open(&run).unwrap();
    database.execute_batch(change).unwrap();
    assert!(0 < database.changes(), "nothing was changed");
    database.close().unwrap();
    let ended = fixture.run(&["audit", "run.plim"]).expect(6);
    let json = fixture.run(&["audit", "run.plim", "--json"]).expect(6).json();
    let n_findings = json["findings"].as_array().unwrap().len();
    assert_eq!(ended.stdout.lines().count(), n_findings + 1, "{}", ended.stdout);
    ended.stdout
}

/// Writes the file of a run of two load points, which is recorded once for all tests, and returns its path.
fn recorded(fixture: &Fixture) -> PathBuf {
    static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = RECORDED.get_or_init(|| {
        let fixture = Fixture::new();
        let arguments =
            ["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "2", "--out", "run.plim"];
        fixture.run(&arguments).assert_run();
        fixture.run(&["audit", "run.plim"]).expect(0);
        fs::read(fixture.path("run.plim")).unwrap()
    });
    let run = fixture.path("run.plim");
    fs::write(&run, bytes).unwrap();
    run
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` expected in:\n{text}");
}

#[test]
fn a_changed_cell_is_found() {
    let found =
        found_after("UPDATE result SET value = value * 1.001 WHERE load_point = 1 AND name = 'rate_per_s'");
    contains(&found, "changed cell: `rate_per_s` is stated as");
}

#[test]
fn a_deleted_second_is_found() {
    let found = found_after("DELETE FROM interval WHERE load_point = 0 AND interval_index = 1");
    contains(&found, "interval");
}

#[test]
fn exchanged_columns_are_found() {
    let found = found_after(
        "UPDATE result SET name = 'other' WHERE name = 'rate_per_s';
         UPDATE result SET name = 'rate_per_s' WHERE name = 'load_factor';
         UPDATE result SET name = 'load_factor' WHERE name = 'other'",
    );
    contains(&found, "exchanged columns: ");
    contains(&found, "`load_factor` and `rate_per_s` are exchanged in every row");
}

#[test]
fn a_changed_header_is_found() {
    contains(&found_after("UPDATE header SET command_line = 'plimsoll run'"), "header");
}

/// Goal: a benchmark under another score is found, also where the stored results follow the changed plan.
#[test]
fn another_score_than_that_of_the_benchmark_is_found() {
    let found = found_after(
        r#"UPDATE header SET plan_json =
               replace(replace(plan_json, '"per":"second"', '"per":"minute"'), 'per second', 'per minute');
           UPDATE result SET value = value * 60 WHERE name = 'score'"#,
    );
    contains(
        &found,
        "changed score: the plan's score is the rate of all operations per minute, the benchmark's is the rate of all \
         operations per second",
    );
    contains(
        &found,
        "changed word: the plan's word for the score is `operations per minute`, the benchmark's",
    );
    assert!(!found.contains("changed cell"), "{found}");
}

/// Goal: what was reported twice, as a difference from the workload and as one from the benchmark, is one line.
#[test]
fn a_changed_catalog_is_found_once() {
    let found = found_after(
        r#"UPDATE header SET plan_json = replace(plan_json, '"name":"body bytes"', '"name":"bodies"')"#,
    );
    assert_eq!(found.matches("catalog").count(), 1, "{found}");
}

#[test]
fn a_changed_fact_about_the_machine_is_found() {
    contains(&found_after("UPDATE testbed SET value = 'a faster one' WHERE id = 2"), "testbed");
}

#[test]
fn a_changed_example_is_found() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["one-object", "--fault", "freeze=1+30"]);
    let url = format!("http://{address}/");
    let arguments =
        ["run", "one-object", "--target", &url, "--load", "1", "--settle", "0", "--duration", "3"];
    let ended =
        fixture.run(&[&arguments[..], &["--time-limit", "500 ms", "--out", "run.plim"]].concat()).expect(3);
    contains(&ended.stderr, "first `timed out`");
    fixture.run(&["audit", "run.plim"]).expect(0);
    let database = Connection::open(fixture.path("run.plim")).unwrap();
    assert_eq!(database.execute("UPDATE example SET text = 'all was well'", []).unwrap(), 1);
    database.close().unwrap();
    fixture.run(&["audit", "run.plim"]).expect(6).expect_stdout("example");
}

const APPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published/apple-network-server-1996.toml");

#[test]
fn a_published_report_is_audited() {
    let fixture = Fixture::new();
    let ended =
        fixture.run(&["audit", APPLE]).expect(6).expect_stdout("Other remarks, not derived from a law:");
    let little = ended.stdout.lines().find(|line| line.trim_start().starts_with("little"));
    contains(
        little.expect("the law and its position"),
        "WebStone 1.1, Network Server 700/150, 16: `Conn/second` 215.60",
    );
    let value = fixture.run(&["audit", APPLE, "--json"]).expect(6).json();
    assert_eq!(value["publisher"], "Apple Computer, Inc.");
    assert_eq!(value["findings"][0]["law"], "little");
    assert_eq!(value["findings"][0]["cells"][0]["row"], 0);
}

const REPORT: &str = r#"format = 1
[report]
title = "T"
publisher = "P"
published = "1999"
[[record]]
id = "run"
title = "A run"
figures = [
    { id = "rate", is = "rate", value = "285.12 /s" },
    { id = "response", is = "response", value = "0.0557 s" },
    { id = "load-factor", is = "in-progress", value = "15.88" },
]
"#;

#[test]
fn a_consistent_report_has_no_findings() {
    let fixture = Fixture::new();
    fixture.write("good.toml", REPORT);
    fixture.run(&["audit", "good.toml"]).expect(0).expect_stdout("good.toml: all 3 numbers are consistent.");
    fixture.write("bad.toml", &REPORT.replace("15.88", "25.88"));
    fixture
        .run(&["audit", "bad.toml"])
        .expect(6)
        .expect_stdout("A run: `rate` 285.12 /s")
        .expect_stdout("1 finding in 3 numbers.");
}

#[test]
fn mistakes_in_a_published_report_are_shown_with_their_position() {
    let fixture = Fixture::new();
    fixture.write("unit.toml", &REPORT.replace("285.12 /s", "285.12 KiB"));
    fixture
        .run(&["audit", "unit.toml"])
        .expect(2)
        .expect_stderr("`285.12 KiB` is not a value of `rate`")
        .expect_stderr("unit.toml:");
    fixture.write("key.toml", &REPORT.replace("publisher", "publishr"));
    fixture.run(&["audit", "key.toml"]).expect(2).expect_stderr("did you mean `publisher`?");
    fixture.run(&["audit", "none.toml"]).expect(2).expect_stderr("cannot read `none.toml`");
}

/// Goal: a run file from an untrusted source can be viewed in a terminal and in a browser.
#[test]
fn control_characters_in_a_run_file_are_escaped_in_all_output() {
    let fixture = Fixture::new();
    let run = recorded(&fixture);
    let bad = "\u{1b}[31mRED\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
    let database = Connection::open(&run).unwrap();
    let title = r"'Evil\u001b[31mRED\u009b2J\u202e'";
    let plan = format!("UPDATE header SET plan_json = replace(plan_json, 'One object', {title})");
    assert_eq!(database.execute(&plan, []).unwrap(), 1);
    assert_eq!(database.execute("UPDATE header SET command_line = ?1", [bad]).unwrap(), 1);
    assert!(1 < database.execute("UPDATE testbed SET value = ?1, name = name || ?1", [bad]).unwrap());
    database.execute("INSERT INTO event (at_unix_ms, text) VALUES (0, ?1)", [bad]).unwrap();
    database.close().unwrap();
    let report = |format| ["report", "run.plim", "--out", "-", "--format", format];
    let export = |format| ["export", "run.plim", "--format", format];
    fixture.run(&report("markdown")).expect(0).expect_stdout(r"Evil\u{1b}");
    let mut commands: Vec<Vec<&str>> = vec![vec!["runs", "."], vec!["audit", "run.plim"]];
    commands
        .extend(["html", "markdown", "csv", "json", "text", "summary"].map(|format| report(format).to_vec()));
    commands.extend(["ndjson", "hlog", "csv", "junit"].map(|format| export(format).to_vec()));
    commands.push(vec!["audit", "run.plim", "--json"]);
    for command in commands {
        let ended = fixture.run(&command);
        let output = ended.stdout + &ended.stderr;
        let is_terminal_control =
            |c: char| languages::is_terminal_control(c) && !matches!(c, '\n' | '\r' | '\t');
        let found =
            output.find(is_terminal_control).map(|at| output[at..].chars().take(30).collect::<String>());
        assert!(!output.is_empty() && found.is_none(), "{command:?}: {found:?}");
    }
}

/// Reported: a claim that cannot be computed was a finding, and a negative figure was an error instead of a finding.
#[test]
fn mistakes_in_a_report_file_are_errors_and_not_findings() {
    let fixture = Fixture::new();
    let claim = |says: &str| format!("{REPORT}[[claim]]\nid = \"c\"\ntext = \"said\"\nsays = [\"{says}\"]\n");
    fixture.write("units.toml", &claim("run.rate < 300 s"));
    fixture
        .run(&["audit", "units.toml"])
        .expect(2)
        .expect_stderr("a number in /s cannot be compared with a number in s");
    fixture.write("zero.toml", &claim("run.rate / 0 = 1 /s"));
    fixture.run(&["audit", "zero.toml"]).expect(2).expect_stderr("division by zero");
    fixture.write("holds.toml", &claim("run.rate < 300 /s"));
    fixture.run(&["audit", "holds.toml"]).expect(0);
    fixture.write("negative.toml", &REPORT.replace("0.0557 s", "-0.0557 s"));
    fixture.run(&["audit", "negative.toml"]).expect(6).expect_stdout("`response` -0.0557 s is below zero");
}

/// Returns the output of an audit of a damaged copy of a run; damage is a difference, not a usage error.
#[track_caller]
fn audit_damaged(fixture: &Fixture, damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = std::fs::read(fixture.path("run.plim")).unwrap();
    damage(&mut bytes);
    std::fs::write(fixture.path("damaged.plim"), bytes).unwrap();
    let ended = fixture.run(&["audit", "damaged.plim"]).expect(6);
    assert!(!ended.stderr.contains("plimsoll audit"), "{}", ended.stderr);
    let json = fixture.run(&["audit", "damaged.plim", "--json"]).expect(6).json();
    assert!(!json["findings"].as_array().unwrap().is_empty());
    ended.stdout
}

#[test]
fn damage_is_a_finding_and_does_not_affect_other_runs() {
    let fixture = Fixture::new();
    recorded(&fixture);
    contains(&audit_damaged(&fixture, |bytes| bytes.truncate(bytes.len() / 2)), "damage");
    contains(&audit_damaged(&fixture, |bytes| bytes.truncate(700)), "damage");
    contains(&audit_damaged(&fixture, |bytes| bytes.truncate(60)), "damage");
    contains(&audit_damaged(&fixture, |bytes| bytes[..8].fill(b'x')), "is damaged: its head");
    // Somewhere in the tables: whatever it hits, something becomes inconsistent.
    for part in [3, 5, 7] {
        audit_damaged(&fixture, |bytes| {
            let middle = bytes.len() * part / 8;
            bytes[middle..middle + 512].fill(0xa5);
        });
    }
    fixture.run(&["audit", "none.plim"]).expect(2).expect_stderr("none.plim");

    // Not in the header table, so that only reading the whole file shows the damage.
    fixture.run(&["audit", "damaged.plim"]).expect(6);
    std::fs::write(fixture.path("short.plim"), &std::fs::read(fixture.path("run.plim")).unwrap()[..700])
        .unwrap();
    let ended = fixture.run(&["report", "."]).expect(0).expect_stderr("warning: skipped: `./short.plim` is ");
    assert_eq!(ended.last_line(), "./report.html");
    fixture
        .run(&["report", "run.plim", "short.plim"])
        .expect(2)
        .expect_stderr("hint: `plimsoll audit short.plim`");
    fixture
        .run(&["compare", "."])
        .expect(2)
        .expect_stderr("skipped: `./short.plim` is ")
        .expect_stderr("name several run files");
    fixture.run(&["runs", "."]).expect(0).expect_stdout("./short.plim  cannot be read");
    std::fs::remove_file(fixture.path("run.plim")).unwrap();
    std::fs::remove_file(fixture.path("damaged.plim")).unwrap();
    fixture.run(&["report", "."]).expect(2).expect_stderr("error: `./short.plim` is ");
}
