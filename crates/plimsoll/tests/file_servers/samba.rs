//! The benchmarks of file servers on a Samba that the run starts: by its recipe, with its files on disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Fixture;

const DEFINITION: &str = include_str!("../../../benchmarks/src/file/netbench.toml");

/// Load points of a second, with small workspaces.
const SHORT: [&str; 13] = [
    "run",
    "netbench",
    "--sut",
    "samba",
    "--quick",
    "--ramp-up",
    "0.2",
    "--settle",
    "0.3",
    "--duration",
    "1",
    "--set",
    "workspace=15 MiB",
];

/// Returns the run files of a folder, by name.
fn run_files(fixture: &Fixture, folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixture.path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "plim")).collect();
    files.sort_unstable();
    files
}

/// Returns what a run has recorded of its course.
fn events(fixture: &Fixture, run: &Path) -> String {
    let lines = fixture.run(&["export", "--format", "ndjson", run.to_str().unwrap()]).expect(0).stdout;
    lines.lines().filter(|line| line.contains("\"event\"")).map(|line| format!("{line}\n")).collect()
}

/// Checks that every load point of a run has no error and all its files.
fn check_points(report: &Value, n_points: usize) {
    let points = report["load_points"].as_array().unwrap();
    assert_eq!(points.len(), n_points);
    for point in points {
        assert_eq!(point["total"]["errors"], 0, "{point}");
        assert!(0.0 < point["score"].as_f64().unwrap());
        let checks = point["checks"].as_array().unwrap();
        assert!(checks.len() == 2 && checks.iter().all(|check| check["holds"] == true), "{point}");
    }
}

/// Goal: each way of protection has a Samba of its own, which rests while the other is measured and keeps its files, so
/// that the second load point makes none; the report says what was agreed upon, and which settings differ from the
/// benchmark's.
#[test]
fn protections_take_turns_on_servers_that_are_started_and_keep_their_files() {
    let fixture = Fixture::new();
    let turns = ["--load", "2,3", "--set", "signing=off,on", "--set", "encryption=off", "--out", "turns"];
    fixture.run(&[&SHORT[..], &turns].concat()).assert_run();
    let files = run_files(&fixture, "turns");
    assert_eq!(files.len(), 2, "{files:?}");
    let mut signing = Vec::new();
    for file in &files {
        let report = fixture.report(file);
        check_points(&report, 2);
        let fact = |section: &str, name: &str| fixture.fact(file, section, name).unwrap_or_default();
        assert_eq!(fact("Session", "dialect"), "SMB 3.1.1");
        assert_eq!(fact("Session", "encryption"), "off");
        let agreed = fact("Session", "signing");
        let cache = fact("Tuning by this run", "page cache");
        assert_eq!(cache, "emptied of the clients’ files before each load point");
        let kept = fact("Server", "between load points");
        assert_eq!(kept, "keeps running, and is stopped while other servers are measured");
        let modifications = report["modifications"].as_array().unwrap().iter();
        let listed: Vec<&str> = modifications.filter_map(|one| one["what"].as_str()).collect();
        assert!(listed.contains(&"transport") && !listed.contains(&"encryption"), "{listed:?}");
        let events = events(&fixture, file);
        assert!(events.contains(": 0 made (0 B), 212 kept "), "of the second load point: {events}");
        signing.push((agreed, listed.contains(&"signing")));
    }
    signing.sort_unstable();
    assert_eq!(signing, [("AES-128-GMAC".to_owned(), true), ("off".to_owned(), false)]);
}

#[test]
fn a_limit_on_the_memory_of_samba_is_proved_with_the_workspaces_and_sessions_are_encrypted() {
    let fixture = Fixture::new();
    let arguments = ["--load", "4", "--set", "encryption=on", "--out", "run.plim", "--sut-memory", "48 MiB"];
    let ended = fixture.run(&[&SHORT[..], &arguments].concat());
    if ended.stderr.contains("cannot enforce the memory limit") {
        // Without rights, or without a hierarchy that can be written.
        return;
    }
    ended.assert_run();
    let run = fixture.path("run.plim");
    check_points(&fixture.report(&run), 1);
    assert_eq!(fixture.fact(&run, "Session", "encryption").unwrap(), "AES-128-GCM");
    let events = events(&fixture, &run);
    assert!(events.contains("limit on the server's memory binds: "), "{events}");
}

#[test]
fn a_directory_for_clients_of_a_server_is_refused_with_place_and_remedy() {
    let fixture = Fixture::new();
    let refused = |piece: &str, replacement: &str, error: &str, hint: &str| {
        let text = DEFINITION.replacen(piece, replacement, 1);
        assert_ne!(text, DEFINITION, "{piece}");
        fixture.write("mine.toml", &text);
        let run = ["run", "./mine.toml", "--quick", "--out", "x.plim"];
        fixture.run(&run).expect(2).expect_stderr(error).expect_stderr(hint);
        assert!(!fixture.path("x.plim").exists());
    };
    let transport = "transport = \"directory\"";
    let of_definition =
        "`transport = \"smb\"` in `[protocol]` of the benchmark `netbench` applies to a share";
    refused(transport, "transport = \"smb\"", of_definition, "or start a server: `--sut samba`");
    let signed = "transport = \"directory\"\nsigning = \"on\"";
    refused(transport, signed, "of the benchmark `netbench` apply to a share", "hint: name a share");
    let unused = "pad = \"inert\"\nblock = \"64 KiB\"";
    refused("pad = \"inert\"", unused, "the work of this benchmark has no use for it", "leave it out");
    fixture
        .run(&["run", "netbench", "--sut", "samba", "--quick", "--set", "transport=directory"])
        .expect(2)
        .expect_stderr("samba speaks `smb`, which contradicts `transport=directory`");
}
