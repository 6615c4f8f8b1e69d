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
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
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
    concat!(env!("CARGO_MANIFEST_DIR"), "/../analysis/tests/fixtures/apple-network-server-1996.toml");

/// The two misprints of the Apple report, X1 and X2, and nothing else in its 84 rows.
#[test]
fn published_tables_are_audited() {
    let lab = Lab::new();
    let ended = lab.run(&["audit", APPLE]).expect(6).prints("2 differences found.");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("WebStone 1.1, Network Server 700/150: row 1: little: "), "{}", lines[0]);
    assert!(
        lines[1].starts_with("WebStone 2.0.1, Network Server 500/132: row 5: reply bytes: "),
        "{}",
        lines[1]
    );
}

#[test]
fn a_single_table_is_audited() {
    let lab = Lab::new();
    let table = "title = 'T'\nlength_s = 300.0\nrows = '''\n16 285.12 0.0000 0.0557 15.88 15.24\n'''\n";
    lab.write("good.toml", table);
    lab.run(&["audit", "good.toml"]).expect(0).prints("everything follows");
    lab.write("bad.toml", &table.replace("15.88", "25.88"));
    lab.run(&["audit", "bad.toml"]).expect(6).prints("T: row 1: ");
}

#[test]
fn what_is_no_table_is_named_with_its_line() {
    let lab = Lab::new();
    lab.write("rows.toml", "title = 'T'\nlength_s = 300.0\nrows = '''\n16 285.12\n'''\n");
    lab.run(&["audit", "rows.toml"]).expect(2).says("table `T`: line 1: expected six numbers");
    lab.write("key.toml", "title = 'T'\nlength = 300.0\nrows = ''\n");
    lab.run(&["audit", "key.toml"]).expect(2).says("unknown field `length`").says("hint:");
    lab.write("none.toml", "table = []\n");
    lab.run(&["audit", "none.toml"]).expect(2).says("expected at least one table");
}
