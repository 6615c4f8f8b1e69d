//! The benchmarks of file servers on a directory: with nothing installed, with one that the user names, and their refusals.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::Fixture;

/// A load point of two seconds with little disk.
const SHORT: [&str; 9] =
    ["--quick", "--load", "2", "--duration", "2", "--set", "workspace=15 MiB", "--monitor", "off"];

/// Returns a directory on a disk, and its target.
fn directory() -> (TempDir, String) {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let target = format!("file://{}", directory.path().display());
    (directory, target)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn sum(point: &Value, measure: &str) -> f64 {
    let kinds = point["kinds"].as_array().unwrap().iter();
    let of = |kind: &Value| Some(kind[measure]["mean"].as_f64()? * kind["n"].as_f64()?);
    kinds.filter_map(of).sum()
}

#[test]
fn a_run_works_from_nothing_and_is_audited() {
    let fixture = Fixture::new();
    let arguments = ["run", "netbench", "--quick", "--load", "1,3", "--duration", "3", "--out", "run.plim"];
    let ended = fixture.run(&arguments).expect_run();
    for words in ["megabits per second", "the load generator calls the kernel", "file:///var/tmp/"] {
        assert!((ended.stdout.clone() + &ended.stderr).contains(words), "`{words}` in {ended:?}");
    }
    fixture.run(&["audit", "run.plim"]).expect(0).expect_stdout("no differences found");
    let report = fixture.report(&fixture.path("run.plim"));
    for point in report["load_points"].as_array().unwrap() {
        assert_eq!(point["total"]["errors"], 0, "{point}");
        let bits = 8.0 * (sum(point, "read_bytes") + sum(point, "written_bytes"));
        let score = point["score"].as_f64().unwrap();
        assert!((score / (bits / 1e6 / 3.0) - 1.0).abs() < 1e-6, "{score} of {bits} bits");
        let n = |name: &str| {
            let kinds = point["kinds"].as_array().unwrap();
            kinds.iter().find(|kind| kind["name"] == name).unwrap()["n"].as_u64().unwrap()
        };
        assert!(
            n("path query missing") < n("path query") && 0 < n("find missing") && 0 < n("lock"),
            "{point}"
        );
        let checks: Vec<_> =
            point["checks"].as_array().unwrap().iter().map(|one| one["holds"] == true).collect();
        assert_eq!(checks, [true, true], "before and after");
    }
    let fact = |name: &str| fixture.fact(&fixture.path("run.plim"), "System under test", name);
    assert!(fact("mount options").unwrap().contains("rw"));
    assert!(fact("file system").is_some() && fact("CPU time").is_some());
    let cache = fixture.fact(&fixture.path("run.plim"), "Tuning by this run", "page cache").unwrap();
    assert_eq!(cache, "emptied of the clients’ files before each load point");
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for heading in ["Statistics per kind of operation", "path query missing", "workspace", "Cycles/minute"] {
        assert!(html.contains(heading), "{heading}");
    }
    for of_others in ["HTTP", "database is", "SQL", "Per-file", "heads and bodies", "remove tree"] {
        assert!(!html.contains(of_others), "`{of_others}` in the report of a file benchmark");
    }
}

#[test]
fn a_named_directory_is_left_as_it_was_and_settings_take_turns_on_it() {
    let fixture = Fixture::new();
    let (directory, target) = directory();
    std::fs::write(directory.path().join("precious"), "x").unwrap();
    let turns = ["--set", "verify=off,full", "--out", "turns"];
    let arguments = ["run", "netbench", "--target", &target];
    fixture.run(&[&arguments[..], &SHORT, &turns].concat()).assert_run();
    assert_eq!(entries(directory.path()), [directory.path().join("precious")]);
    assert!(fixture.path("turns/comparison.html").is_file());
    for name in entries(&fixture.path("turns")) {
        if name.extension().is_some_and(|extension| extension == "plim") {
            let report = fixture.report(&name);
            assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{}", name.display());
        }
    }
}

#[test]
fn streams_and_micro_tests_run_on_a_directory() {
    let fixture = Fixture::new();
    let (directory, target) = directory();
    for (benchmark, settings) in [
        ("seqread", &["--set", "files=shared"][..]),
        ("seqread", &["--set", "direction=write-flush", "--set", "file=2 MiB", "--set", "block=1 MiB"]),
        ("file-micro", &["--set", "test=rand-write"]),
        ("file-micro", &["--set", "test=rename"]),
        ("file-micro", &["--set", "test=lock"]),
    ] {
        let arguments = ["run", benchmark, "--target", &target, "--out", "run.plim", "--monitor", "off"];
        let short = ["--quick", "--load", "2", "--duration", "1"];
        fixture.run(&[&arguments[..], &short, settings].concat()).assert_run();
        let report = fixture.report(&fixture.path("run.plim"));
        let total = &report["load_points"][0]["total"];
        assert!(total["errors"] == 0 && total["n"].as_u64().unwrap() != 0, "{settings:?}: {total}");
        assert!(entries(directory.path()).is_empty(), "{settings:?}");
        std::fs::remove_file(fixture.path("run.plim")).unwrap();
    }
}

/// Goal: the report of streams has the time to the first data of each pass, and how evenly clients are served; in-flight
/// operations are as many as clients (golden check 21).
#[test]
fn streams_have_first_data_and_fairness_in_their_report() {
    let fixture = Fixture::new();
    let (_directory, target) = directory();
    let short = ["--quick", "--load", "2", "--duration", "2", "--set", "file=1 MiB", "--monitor", "off"];
    let arguments = ["run", "seqread", "--target", &target, "--set", "cache=warm", "--out", "run.plim"];
    fixture.run(&[&arguments[..], &short].concat()).assert_run();
    let point = fixture.report(&fixture.path("run.plim"))["load_points"][0].clone();
    let kind = |name: &str| {
        point["kinds"].as_array().unwrap().iter().find(|kind| kind["name"] == name).unwrap().clone()
    };
    // Each pass opens once, and has its first data once; those that were cut off by either end may have one of them.
    let n_first = point["first_data"]["n"].as_u64().unwrap();
    let n_opened = kind("open")["n"].as_u64().unwrap();
    assert!(0 < n_first && n_first.abs_diff(n_opened) <= 2, "{n_first} of {n_opened}");
    // It takes an opening and a read.
    let first = kind("read")["first_data_s"]["mean"].as_f64().unwrap();
    let least = |name: &str| kind(name)["response_s"]["min"].as_f64().unwrap();
    assert!(least("open") + least("read") <= first, "{first}");
    let clients = &point["clients"];
    let bytes = clients["mean"].as_f64().unwrap() * 2.0;
    assert_eq!((&clients["n"], &clients["unit"]), (&Value::from(2), &Value::from("bytes")));
    assert!((bytes / sum(&point, "read_bytes") - 1.0).abs() < 1e-9, "{clients}");
    assert!(clients["fairness"].as_f64().unwrap() <= 1.0);
    let in_flight = point["in_flight_mean"].as_f64().unwrap();
    assert!((in_flight / 2.0 - 1.0).abs() < 0.05, "{in_flight}");
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for words in ["Throughput per client", "First data time", "each was read once"] {
        assert!(html.contains(words), "{words}");
    }
    let cache = fixture.fact(&fixture.path("run.plim"), "Tuning by this run", "page cache").unwrap();
    assert_eq!(cache, "filled with the clients’ files before each load point: each was read once");
}

/// A killed run leaves its files; the next one takes them over and removes them.
#[test]
fn what_a_killed_run_has_left_is_taken_over_and_removed() {
    let fixture = Fixture::new();
    let (directory, target) = directory();
    let run = |out, time| {
        let arguments = ["run", "netbench", "--target", &target, "--out", out, "--duration", time];
        let small = ["--quick", "--load", "1", "--set", "workspace=15 MiB", "--monitor", "off"];
        arguments.into_iter().chain(small).map(str::to_owned).collect::<Vec<String>>()
    };
    let words = run("killed.plim", "60");
    let killed = fixture.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let folder = directory.path().join("plimsoll-files");
    crate::support::wait_for("files of clients", || folder.join("private/c0/new").is_dir());
    let words = run("refused.plim", "2");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    fixture
        .run(&words)
        .expect(4)
        .expect_stderr("another run uses `")
        .expect_stderr("hint: wait until that run has ended");
    killed.signal(Signal::KILL);
    drop(killed);
    assert!(folder.is_dir());
    fixture.run(&words).assert_run();
    assert!(entries(directory.path()).is_empty());
}

#[test]
fn directories_that_cannot_be_used_are_refused_with_a_remedy() {
    let fixture = Fixture::new();
    let (directory, target) = directory();
    let refused = |target: &str, code: i32, error: &str, hint: &str| {
        let arguments = ["run", "netbench", "--target", target, "--quick", "--out", "x.plim"];
        fixture.run(&arguments).expect(code).expect_stderr(error).expect_stderr(hint);
        assert!(!fixture.path("x.plim").exists());
    };
    refused("file:///dev/shm", 4, "`/dev/shm` is on tmpfs", "hint: mount a disk there");
    refused("file:///no/such", 4, "the directory `/no/such` cannot be opened", "hint: check the path");
    refused("file://host/share", 2, "expected `file:///PATH`", "error:");
    refused("http://127.0.0.1:1/", 2, "expected `file:///PATH`", "error:");
    refused("app://127.0.0.1:1", 2, "this benchmark loads file servers", "`--target file:///PATH`");
    let theirs = directory.path().join("plimsoll-files");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("precious"), "x").unwrap();
    refused(&target, 4, "no run of Plimsoll has made it", "hint: rename it, or choose another directory");
    assert_eq!(entries(&theirs), [theirs.join("precious")]);
}

#[test]
fn arguments_of_servers_and_settings_of_other_work_are_refused() {
    let fixture = Fixture::new();
    let refused = |more: &[&str], error: &str| {
        let arguments = [&["run", "netbench", "--quick", "--out", "x.plim"], more].concat();
        fixture.run(&arguments).expect(2).expect_stderr(error).expect_stderr("hint: ");
    };
    refused(
        &["--sut", "nginx"],
        "this benchmark loads file servers, and `nginx` is a server of the family web",
    );
    refused(&["--sut", "built-in"], "there is no built-in file server");
    refused(
        &["--sut-memory", "64 MiB"],
        "`--sut-memory` applies to a server, but this run loads a directory",
    );
    refused(&["--set", "block=1 MiB"], "the setting `block` does not apply to the work of this benchmark");
    refused(&["--set", "workspace=1 MiB"], "`workspace` cannot be `1 MiB`");
    fixture
        .run(&["run", "seqread", "--quick", "--set", "files=shared", "--set", "direction=write"])
        .expect(2)
        .expect_stderr("a file that all clients share is only read");
    fixture
        .run(&["run", "seqread", "--quick", "--set", "in-flight=4"])
        .expect(2)
        .expect_stderr("a client has one request in flight with `transport=directory`, not 4")
        .expect_stderr("hint: load a share (`--target smb://USER@HOST/SHARE`)");
    fixture
        .run(&["run", "seqread", "--quick", "--set", "cache=lukewarm"])
        .expect(2)
        .expect_stderr("`cache` cannot be `lukewarm`");
    fixture
        .run(&["show", "netbench"])
        .expect(0)
        .expect_stdout("workspace")
        .expect_stdout("path query missing");
}
