//! Captured mixes: load files of dbench, replayed on a directory; which of them are refused, and why.

use std::path::Path;

use crate::support::{Fixture, LOAD_FILE};

/// A load point of a second.
const SHORT: [&str; 7] = ["--quick", "--load", "2", "--duration", "1", "--monitor", "off"];

/// The load file of dbench, which is not ours to distribute, and the hash of its bytes.
const DBENCH: (&str, &str) =
    ("/usr/share/dbench/client.txt", "a50b5c9fb6fb2da081f09cb6767acdc72f727e70ea5bdbd7937a47933fa64e23");

fn target(directory: &Path) -> String {
    format!("file://{}", directory.display())
}

/// Goal: a load file is replayed, compared with another, disclosed by name, hash and what was left out, and not stored; what
/// it makes goes.
#[test]
fn load_files_are_replayed_in_turns_and_disclosed() {
    let fixture = Fixture::new();
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    fixture.write("mine.txt", LOAD_FILE);
    let skipping = format!("{LOAD_FILE}# a comment\nFlush 12\n");
    fixture.write("skipping.txt", &skipping);
    fixture.shell("gzip skipping.txt").expect(0);
    let files = "loadfile=mine.txt,skipping.txt.gz";
    let arguments =
        ["run", "netbench", "--target", &target(directory.path()), "--set", files, "--out", "turns"];
    fixture.run(&[&arguments[..], &SHORT].concat()).assert_run();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let mut found = Vec::new();
    for path in std::fs::read_dir(fixture.path("turns")).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "plim") {
            continue;
        }
        let name = path.to_str().unwrap();
        fixture.run(&["audit", name]).expect(0).expect_stdout("no differences found");
        let report = fixture.report(&path);
        let point = &report["load_points"][0];
        assert_eq!(point["total"]["errors"], 0, "{point}");
        let kinds = point["kinds"].as_array().unwrap();
        let n = |name: &str| kinds.iter().find(|kind| kind["name"] == name).unwrap()["n"].as_u64().unwrap();
        // Twice in a loop, where the others are once.
        let is_twice = |more: u64, less: u64| (2 * less).abs_diff(more) <= 4;
        assert!(0 < n("remove tree") && is_twice(n("read"), n("rename")), "{point}");
        assert!(
            is_twice(n("close"), n("make folder")) && n("find missing").abs_diff(n("find")) <= 2,
            "{point}"
        );
        assert_eq!((n("open"), n("remove folder")), (0, 0));
        let modified = report["modifications"].as_array().unwrap();
        let row = modified.iter().find(|row| row["what"] == "load file").unwrap();
        let html = fixture.run(&["report", name, "--out", "-"]).expect(0).stdout;
        let is_mine = row["ours"] == "mine.txt";
        let hash =
            blake3::hash(&std::fs::read(fixture.path(row["ours"].as_str().unwrap())).unwrap()).to_hex();
        for words in [hash.as_str(), "24 operations in a loop, 3 of which must fail", "Loops/minute"] {
            assert!(html.contains(words), "{words}");
        }
        assert_eq!(html.contains("1 line without a status is skipped"), !is_mine);
        let stored = std::fs::read(&path).unwrap();
        assert!(!stored.windows(10).any(|text| text == b"letter.txt"), "the paths are not ours to store");
        found.push(is_mine);
    }
    found.sort_unstable();
    assert_eq!(found, [false, true]);
}

/// A definition names its load file from its own folder; the load file of dbench has the operations of the golden checks.
#[test]
fn definitions_name_load_files_from_their_folder() {
    let fixture = Fixture::new();
    let definition = "format = 1\nid = \"office\"\nversion = 1\ntitle = \"Office\"\nsummary = \"A captured mix.\"\n\
        family = \"file\"\nheadline = \"throughput\"\n[workload]\nclients = \"disk-mix\"\nloadfile = \"mine.txt\"\n\
        [protocol]\n[load]\nusers = \"2\"\n[phases]\nsteady = \"5 s\"\n[quick]\nusers = \"1\"\nsteady = \"1 s\"\n";
    fixture.write("mixes/office.toml", definition);
    fixture.write("mixes/mine.txt", LOAD_FILE);
    fixture
        .run(&["show", "mixes/office.toml"])
        .expect(0)
        .expect_stdout("loadfile ")
        .expect_stdout("mine.txt");
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let target = target(directory.path());
    let arguments =
        ["run", "mixes/office.toml", "--quick", "--monitor", "off", "--target", &target, "--out", "x.plim"];
    fixture.run(&arguments).assert_run();
    let modified = fixture.report(&fixture.path("x.plim"))["modifications"].to_string();
    assert!(!modified.contains("load file"), "{modified}");
    let (dbench, hash) = DBENCH;
    let setting = format!("loadfile={dbench}");
    let planned = ["--json", "run", "mixes/office.toml", "--dry-run", "--target", &target, "--set", &setting];
    let planned = fixture.run(&planned).expect(0).stdout;
    for words in [hash, "1472088767", "1015974170", "59743", "23965486"] {
        assert!(planned.contains(words), "{words} in {planned}\nhint: apt-get install dbench");
    }
    fixture.write("mixes/mine.txt", "Frob 1 NT_STATUS_OK\n");
    fixture
        .run(&["show", "mixes/office.toml"])
        .expect(2)
        .expect_stderr("the load file `mine.txt`, line 1: unknown operation `Frob`")
        .expect_stderr("hint: known operations: NTCreateX, ");
}

/// Nothing is started, and each mistake has its line and a remedy.
#[test]
fn load_files_that_cannot_be_replayed_are_refused() {
    let fixture = Fixture::new();
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let target = target(directory.path());
    let refused = |file: &str, error: &str, hint: &str| {
        let setting = format!("loadfile={file}");
        let arguments =
            ["run", "netbench", "--quick", "--target", &target, "--out", "x.plim", "--set", &setting];
        fixture.run(&arguments).expect(2).expect_stderr(error).expect_stderr(hint);
        assert!(!fixture.path("x.plim").exists());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{file}");
    };
    let open = "NTCreateX \"\\a\" 0x40 2 1 NT_STATUS_OK\n";
    let long = format!("{open}{}\n", "x".repeat(1 << 20));
    let far = format!("{open}ReadX 1 9223372036854775808 10 10 NT_STATUS_OK\n");
    for (text, error, hint) in [
        (
            format!("{open}Frob 1 NT_STATUS_OK\n"),
            "line 2: unknown operation `Frob`",
            "hint: known operations",
        ),
        (
            "\nReadX 7 0 10 10 NT_STATUS_OK\n".to_owned(),
            "line 2: the handle 7 is not open",
            "hint: add the `NTCreateX`",
        ),
        (far, "line 2: expected a number from 0 to 9223372036854775807", "hint: offsets are below 2^63"),
        (long, "line 2: expected at most 1023 characters", "hint: is this a load file of dbench?"),
        (
            "SMBopenX \"\\a\" 1 NT_STATUS_OK\n".to_owned(),
            "line 1: `SMBopenX` is an operation of load files of version 1",
            "hint: use the load file of dbench 4",
        ),
        (String::new(), "expected operations, found none", "hint: give a file with lines such as"),
        (
            "user,password\nme,secret\n".to_owned(),
            "expected operations, found none",
            "hint: give a file with",
        ),
        (
            format!("{open}Rename \"\\a\" \"\\..\\b\" NT_STATUS_OK\n"),
            "line 2: expected a path such as",
            "hint: begin",
        ),
    ] {
        fixture.write("bad.txt", &text);
        refused("bad.txt", error, hint);
        refused("bad.txt", "the load file `bad.txt`, ", "error:");
    }
    std::fs::write(fixture.path("bad.gz"), [0x1f, 0x8b, 8, 0, 1, 2]).unwrap();
    refused(
        "bad.gz",
        "the load file `bad.gz`, line 1: the file cannot be read",
        "hint: give a load file as text",
    );
    refused("no-such.txt", "cannot read the load file `no-such.txt`", "hint: name a load file");
    refused(".", "cannot read the load file `.`: is a directory", "hint: name a load file");
    fixture.write("mine.txt", LOAD_FILE);
    let of_other_work = ["run", "seqread", "--quick", "--out", "x.plim", "--set", "loadfile=mine.txt"];
    fixture
        .run(&of_other_work)
        .expect(2)
        .expect_stderr("the setting `loadfile` does not apply to the work of this benchmark");
    let with_workspace =
        ["run", "netbench", "--quick", "--set", "loadfile=mine.txt", "--set", "workspace=15 MiB"];
    fixture.run(&with_workspace).expect(2).expect_stderr("the setting `workspace` does not apply");
}
