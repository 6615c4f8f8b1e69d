//! `audit` finds what was changed, and nothing else.

use std::path::PathBuf;

use rusqlite::Connection;

use crate::support::Lab;

/// Makes a run of three seconds at two load points, changes its file, and returns what the audit says.
#[track_caller]
fn found_after(change: &str) -> String {
    let lab = Lab::new();
    let run = recorded(&lab);
    let database = Connection::open(&run).unwrap();
    database.execute_batch(change).unwrap();
    assert!(0 < database.changes(), "nothing was changed");
    database.close().unwrap();
    let ended = lab.run(&["audit", "run.plim"]).expect(6);
    let json = lab.run(&["audit", "run.plim", "--json"]).expect(6).json();
    let n_findings = json["findings"].as_array().unwrap().len();
    assert_eq!(ended.stdout.lines().count(), n_findings + 1, "{}", ended.stdout);
    ended.stdout
}

fn recorded(lab: &Lab) -> PathBuf {
    let arguments =
        ["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "2", "--out", "run.plim"];
    let ended = lab.run(&arguments);
    ended.assert_run();
    lab.run(&["audit", "run.plim"]).expect(0);
    lab.path("run.plim")
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

#[test]
fn a_changed_fact_about_the_machine_is_found() {
    contains(&found_after("UPDATE testbed SET value = 'a faster one' WHERE id = 2"), "testbed");
}

#[test]
fn a_changed_example_is_found() {
    let lab = Lab::new();
    let (_server, address) = lab.serve(&["one-object", "--fault", "freeze=1+30"]);
    let url = format!("http://{address}/");
    let arguments =
        ["run", "one-object", "--target", &url, "--load", "1", "--settle", "0", "--duration", "3"];
    let ended =
        lab.run(&[&arguments[..], &["--time-limit", "500 ms", "--out", "run.plim"]].concat()).expect(3);
    contains(&ended.stderr, "first `timed out`");
    lab.run(&["audit", "run.plim"]).expect(0);
    let database = Connection::open(lab.path("run.plim")).unwrap();
    assert_eq!(database.execute("UPDATE example SET text = 'all was well'", []).unwrap(), 1);
    database.close().unwrap();
    lab.run(&["audit", "run.plim"]).expect(6).prints("example");
}

const APPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/published/apple-network-server-1996.toml");

#[test]
fn a_published_report_is_audited() {
    let lab = Lab::new();
    let ended = lab.run(&["audit", APPLE]).expect(6).prints("Noted besides, though it follows from no law:");
    let little = ended.stdout.lines().find(|line| line.trim_start().starts_with("little"));
    contains(
        little.expect("the law and its place"),
        "WebStone 1.1, Network Server 700/150, 16: `Conn/second` 215.60",
    );
    let value = lab.run(&["audit", APPLE, "--json"]).expect(6).json();
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
fn a_report_that_can_be_true_raises_nothing() {
    let lab = Lab::new();
    lab.write("good.toml", REPORT);
    lab.run(&["audit", "good.toml"]).expect(0).prints("good.toml: all 3 numbers can be true at once.");
    lab.write("bad.toml", &REPORT.replace("15.88", "25.88"));
    lab.run(&["audit", "bad.toml"])
        .expect(6)
        .prints("A run: `rate` 285.12 /s")
        .prints("1 finding in 3 numbers.");
}

#[test]
fn what_is_no_report_is_shown_with_its_place() {
    let lab = Lab::new();
    lab.write("unit.toml", &REPORT.replace("285.12 /s", "285.12 KiB"));
    lab.run(&["audit", "unit.toml"])
        .expect(2)
        .says("`285.12 KiB` is not a value of `rate`")
        .says("unit.toml:");
    lab.write("key.toml", &REPORT.replace("publisher", "publishr"));
    lab.run(&["audit", "key.toml"]).expect(2).says("did you mean `publisher`?");
    lab.run(&["audit", "none.toml"]).expect(2).says("cannot read `none.toml`");
}

/// Goal: whoever opens a file of a stranger's can look at it in a terminal and in a browser.
#[test]
fn a_run_file_of_a_stranger_commands_no_terminal() {
    let lab = Lab::new();
    let run = recorded(&lab);
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
    lab.run(&report("markdown")).expect(0).prints(r"Evil\u{1b}");
    let mut commands: Vec<Vec<&str>> = vec![vec!["runs", "."], vec!["audit", "run.plim"]];
    commands.extend(["html", "markdown", "csv", "json", "text"].map(|format| report(format).to_vec()));
    commands.extend(["ndjson", "hlog", "csv", "junit"].map(|format| export(format).to_vec()));
    commands.push(vec!["audit", "run.plim", "--json"]);
    for command in commands {
        let ended = lab.run(&command);
        let said = ended.stdout + &ended.stderr;
        let is_terminal_control = |c: char| model::is_terminal_control(c) && !matches!(c, '\n' | '\r' | '\t');
        let found = said.find(is_terminal_control).map(|at| said[at..].chars().take(30).collect::<String>());
        assert!(!said.is_empty() && found.is_none(), "{command:?}: {found:?}");
    }
}

/// Reported: a claim that cannot be computed was a finding, and a negative figure no finding but an error.
#[test]
fn mistakes_of_a_report_file_are_told_from_findings() {
    let lab = Lab::new();
    let claim = |says: &str| format!("{REPORT}[[claim]]\nid = \"c\"\ntext = \"said\"\nsays = [\"{says}\"]\n");
    lab.write("units.toml", &claim("run.rate < 300 s"));
    lab.run(&["audit", "units.toml"]).expect(2).says("a number in /s cannot be compared with a number in s");
    lab.write("zero.toml", &claim("run.rate / 0 = 1 /s"));
    lab.run(&["audit", "zero.toml"]).expect(2).says("division by zero");
    lab.write("holds.toml", &claim("run.rate < 300 /s"));
    lab.run(&["audit", "holds.toml"]).expect(0);
    lab.write("negative.toml", &REPORT.replace("0.0557 s", "-0.0557 s"));
    lab.run(&["audit", "negative.toml"]).expect(6).prints("`response` -0.0557 s is below zero");
}

/// Returns what an audit of a damaged copy of a run says; it is a difference, and not the user's mistake.
#[track_caller]
fn audit_damaged(lab: &Lab, damage: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = std::fs::read(lab.path("run.plim")).unwrap();
    damage(&mut bytes);
    std::fs::write(lab.path("damaged.plim"), bytes).unwrap();
    let ended = lab.run(&["audit", "damaged.plim"]).expect(6);
    assert!(!ended.stderr.contains("plimsoll audit"), "{}", ended.stderr);
    let json = lab.run(&["audit", "damaged.plim", "--json"]).expect(6).json();
    assert!(!json["findings"].as_array().unwrap().is_empty());
    ended.stdout
}

#[test]
fn damage_is_a_finding_and_no_reason_to_give_up_on_other_runs() {
    let lab = Lab::new();
    recorded(&lab);
    contains(&audit_damaged(&lab, |bytes| bytes.truncate(bytes.len() / 2)), "damage");
    contains(&audit_damaged(&lab, |bytes| bytes.truncate(700)), "damage");
    contains(&audit_damaged(&lab, |bytes| bytes.truncate(60)), "damage");
    contains(&audit_damaged(&lab, |bytes| bytes[..8].fill(b'x')), "is damaged: its header");
    // Somewhere in the tables: whatever it hits, something does not follow any more.
    for part in [3, 5, 7] {
        audit_damaged(&lab, |bytes| {
            let middle = bytes.len() * part / 8;
            bytes[middle..middle + 512].fill(0xa5);
        });
    }
    lab.run(&["audit", "none.plim"]).expect(2).says("none.plim");

    // Not in the table of its header, so that only reading all of it shows the damage.
    lab.run(&["audit", "damaged.plim"]).expect(6);
    std::fs::write(lab.path("short.plim"), &std::fs::read(lab.path("run.plim")).unwrap()[..700]).unwrap();
    let ended = lab.run(&["report", "."]).expect(0).says("warning: left out: `./short.plim` is ");
    assert_eq!(ended.last_line(), "./report.html");
    lab.run(&["report", "run.plim", "short.plim"]).expect(2).says("hint: `plimsoll audit short.plim`");
    lab.run(&["compare", "."]).expect(2).says("left out: `./short.plim` is ").says("name several run files");
    lab.run(&["runs", "."]).expect(0).prints("./short.plim  cannot be read");
    std::fs::remove_file(lab.path("run.plim")).unwrap();
    std::fs::remove_file(lab.path("damaged.plim")).unwrap();
    lab.run(&["report", "."]).expect(2).says("error: `./short.plim` is ");
}
