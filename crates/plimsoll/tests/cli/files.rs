//! Commands without a run: `list`, `show`, `doctor`, `runs`, `populate`, `calibrate`, and their JSON; closed pipes.

use crate::support::Fixture;

#[test]
fn benchmarks_are_listed() {
    let fixture = Fixture::new();
    let json = fixture.run(&["list", "--json"]).expect(0).json();
    let ids: Vec<&str> =
        json["benchmarks"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    for id in
        ["webstone-1.1", "webstone-2.0.1", "web96", "webbench-1.0", "dynpage", "web-modern", "one-object"]
    {
        assert!(ids.contains(&id), "{ids:?}");
        fixture.run(&["list"]).expect(0).expect_stdout(id);
    }
}

#[test]
fn a_benchmark_is_shown() {
    let fixture = Fixture::new();
    fixture
        .run(&["show", "webstone-1.1"])
        .expect(0)
        .expect_stdout("16, 32, 48")
        .expect_stdout("/file2k.html (2048)");
    let json = fixture.run(&["show", "webstone-1.1", "--json"]).expect(0).json();
    assert_eq!(json["plan"]["benchmark"]["id"], "webstone-1.1");
}

#[test]
fn servers_are_listed_with_their_capabilities() {
    let fixture = Fixture::new();
    let json = fixture.run(&["suts", "--json"]).expect(0).json();
    let suts = json["suts"].as_array().unwrap();
    let nginx = suts.iter().find(|sut| sut["name"] == "nginx").unwrap();
    assert!(nginx["version"].as_str().unwrap().contains("nginx/"), "{nginx}");
    assert_eq!(nginx["profiles"], serde_json::json!(["benchmark", "default", "direct-io"]));
    assert!(nginx["variants"].as_array().unwrap().contains(&"h2".into()), "{nginx}");
    assert!(nginx["gateways"].as_array().unwrap().iter().any(|gateway| gateway["kind"] == "cgi"), "{nginx}");
    let families = ["web", "application", "file", "order-entry", "mail"];
    let not_loaded =
        |sut: &&serde_json::Value| !sut["family"].as_str().is_some_and(|one| families.contains(&one));
    assert_eq!(suts.iter().find(not_loaded), None, "no benchmark loads such servers");
    let text = fixture.run(&["suts"]).expect(0).stdout;
    for sut in suts {
        let name = sut["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn doctor_checks_the_machine() {
    let fixture = Fixture::new();
    let ended = fixture.run(&["doctor", "--json"]);
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    let json = ended.json();
    let checks = json["checks"].as_array().unwrap();
    let is_bad = checks.iter().any(|check| check["state"] == "bad");
    assert_eq!(ended.code, Some(if is_bad { 4 } else { 0 }));
    assert_eq!(fixture.run(&["doctor"]).stdout.matches("hint:").count(), {
        checks.iter().filter(|check| check["advice"] != "").count()
    });
}

#[test]
fn runs_are_listed_with_their_endings() {
    let fixture = Fixture::new();
    fixture.run(&["runs"]).expect(2).expect_stderr("cannot list `runs`");
    let run = ["run", "one-object", "--settle", "0", "--load", "1", "--duration", "1"];
    let ended = fixture.run(&run);
    ended.assert_run();
    fixture.write("runs/other.plim", "not a run file");
    fixture
        .run(&["runs"])
        .expect(0)
        .expect_stdout("1/1 load points  complete")
        .expect_stdout("other.plim  cannot be read");
    let json = fixture.run(&["runs", "--json"]).expect(0).json();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["path"], ended.last_line());
}

#[test]
fn a_file_set_is_created_once() {
    let fixture = Fixture::new();
    let populate =
        |json: &[&str]| fixture.run(&[&["populate", "webstone-1.1", "--dir", "site"], json].concat());
    populate(&[]).expect(0).expect_stdout("18 files");
    assert_eq!(std::fs::metadata(fixture.path("site/file2k.html")).unwrap().len(), 2048);
    assert_eq!(populate(&["--json"]).expect(0).json()["reused"], true);
}

/// √(20 · load) directories of 36 files: 10 for 5 operations per second, 100 for 500.
#[test]
fn a_file_set_grows_with_the_load() {
    let fixture = Fixture::new();
    let populate =
        |load: &str, dir: &str| fixture.run(&["populate", "web96", "--max-load", load, "--dir", dir]);
    populate("5", "small").expect(0).expect_stdout("360 files");
    assert!(fixture.path("small/spec/dir00009/class3_8").is_file());
    assert!(!fixture.path("small/spec/dir00010").exists());
}

#[test]
fn a_calibration_is_measured_and_stored() {
    let fixture = Fixture::new();
    let ended = fixture.run(&["calibrate", "--duration", "500 ms", "--json"]).expect(0);
    let json = ended.json();
    assert_eq!(json["cases"].as_array().unwrap().len(), 5);
    assert!(fixture.path("state/plimsoll/calibration.toml").is_file());
    assert_eq!(json["file"], fixture.path("state/plimsoll/calibration.toml").to_str().unwrap());
    for case in json["cases"].as_array().unwrap() {
        assert!(0.0 < case["generator_cpu_s_per_op"].as_f64().unwrap(), "{case}");
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_exit() {
    let fixture = Fixture::new();
    for command in ["show webstone-1.1", "man", "completions bash", "list --json"] {
        let ended = fixture.shell(&format!(r#"set -o pipefail; "$plimsoll" {command} | head -1"#)).expect(0);
        assert_eq!(ended.stderr, "", "{command}");
        assert_eq!(ended.stdout.lines().count(), 1, "{command}");
    }
}

#[test]
fn a_report_in_each_format_goes_to_the_requested_output() {
    let fixture = Fixture::new();
    let ended = fixture.run(&[
        "run",
        "one-object",
        "--settle",
        "0",
        "--load",
        "1",
        "--duration",
        "1",
        "--out",
        "run.plim",
    ]);
    ended.assert_run();
    let report = |more: &[&str]| fixture.run(&[&["report", "run.plim"], more].concat());
    report(&["--format", "markdown"]).expect(0).expect_stdout("# ");
    assert_eq!(report(&["--format", "csv"]).expect(0).stdout.lines().count(), 2);
    report(&["--format", "csv", "--out", "table.csv"]).expect(0).expect_stdout("table.csv");
    assert!(fixture.path("table.csv").is_file());
    assert_eq!(report(&[]).expect(0).stdout, "run.html\n");
    report(&["--out", "-"]).expect(0).expect_stdout("<svg");
    let quiet = fixture.shell(r#"set -o pipefail; "$plimsoll" report run.plim --format markdown | head -1"#);
    assert_eq!(quiet.expect(0).stderr, "");
}

#[test]
fn a_report_never_overwrites_its_run() {
    let fixture = Fixture::new();
    fixture.run(&[
        "run",
        "one-object",
        "--settle",
        "0",
        "--load",
        "1",
        "--duration",
        "1",
        "--out",
        "run.plim",
    ]);
    let before = std::fs::read(fixture.path("run.plim")).unwrap();
    fixture
        .run(&["report", "run.plim", "--out", "./run.plim"])
        .expect(2)
        .expect_stderr("would overwrite the run file");
    assert_eq!(std::fs::read(fixture.path("run.plim")).unwrap(), before);
    fixture
        .run(&["run", "one-object", "--out", "page.html"])
        .expect(2)
        .expect_stderr("ends in `.plim`")
        .expect_stderr("hint: write `--out page.html.plim`");
    fixture
        .run(&["run", "one-object", "--out", "."])
        .expect(2)
        .expect_stderr("hint: write `--out ./run.plim`");
}

/// Method: root drops the capability to write any file.
#[test]
fn a_read_only_file_is_not_changed() {
    let fixture = Fixture::new();
    fixture.run(&[
        "run",
        "one-object",
        "--settle",
        "0",
        "--load",
        "1",
        "--duration",
        "1",
        "--out",
        "run.plim",
    ]);
    fixture.write("page.html", "precious");
    let line = r#"chmod a-w page.html
        bare=; [ "$(id -u)" != 0 ] || bare='setpriv --bounding-set=-all'
        $bare "$plimsoll" report run.plim --out page.html"#;
    fixture
        .shell(line)
        .expect(2)
        .expect_stderr("cannot write `page.html`")
        .expect_stderr("hint: choose another path");
    assert_eq!(std::fs::read_to_string(fixture.path("page.html")).unwrap(), "precious");
}
