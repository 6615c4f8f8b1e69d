//! Commands that read: `list`, `show`, `doctor`, `runs`, `populate`, `calibrate` and their JSON; broken pipes.

use crate::support::Lab;

#[test]
fn benchmarks_are_listed() {
    let lab = Lab::new();
    let json = lab.run(&["list", "--json"]).expect(0).json();
    let ids: Vec<&str> =
        json["benchmarks"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    for id in
        ["webstone-1.1", "webstone-2.0.1", "web96", "webbench-1.0", "dynpage", "web-modern", "one-object"]
    {
        assert!(ids.contains(&id), "{ids:?}");
        lab.run(&["list"]).expect(0).prints(id);
    }
}

#[test]
fn a_benchmark_is_shown() {
    let lab = Lab::new();
    lab.run(&["show", "webstone-1.1"]).expect(0).prints("16, 32, 48").prints("/file2k.html (2048)");
    let json = lab.run(&["show", "webstone-1.1", "--json"]).expect(0).json();
    assert_eq!(json["plan"]["benchmark"]["id"], "webstone-1.1");
}

#[test]
fn servers_are_listed_with_what_they_can() {
    let lab = Lab::new();
    let json = lab.run(&["suts", "--json"]).expect(0).json();
    let suts = json["suts"].as_array().unwrap();
    let nginx = suts.iter().find(|sut| sut["name"] == "nginx").unwrap();
    assert!(nginx["version"].as_str().unwrap().contains("nginx/"), "{nginx}");
    assert_eq!(nginx["profiles"], serde_json::json!(["benchmark", "default", "direct-io"]));
    assert!(nginx["transports"].as_array().unwrap().contains(&"tls-http2".into()), "{nginx}");
    assert!(nginx["gateways"].as_array().unwrap().iter().any(|gateway| gateway["kind"] == "cgi"), "{nginx}");
    let text = lab.run(&["suts"]).expect(0).stdout;
    for sut in suts {
        let name = sut["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn the_machine_is_examined() {
    let lab = Lab::new();
    let ended = lab.run(&["doctor", "--json"]);
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:?}");
    let json = ended.json();
    let checks = json["checks"].as_array().unwrap();
    let is_bad = checks.iter().any(|check| check["state"] == "bad");
    assert_eq!(ended.code, Some(if is_bad { 4 } else { 0 }));
    assert_eq!(lab.run(&["doctor"]).stdout.matches("hint:").count(), {
        checks.iter().filter(|check| check["advice"] != "").count()
    });
}

#[test]
fn runs_are_listed_with_their_endings() {
    let lab = Lab::new();
    lab.run(&["runs"]).expect(2).says("cannot list `runs`");
    let run = ["run", "one-object", "--settle", "0", "--load", "1", "--duration", "1"];
    let ended = lab.run(&run);
    ended.assert_run();
    lab.write("runs/other.plim", "not a run file");
    lab.run(&["runs"]).expect(0).prints("1/1 load points  complete").prints("other.plim  cannot be read");
    let json = lab.run(&["runs", "--json"]).expect(0).json();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["path"], ended.last_line());
}

#[test]
fn a_file_set_is_laid_out_once() {
    let lab = Lab::new();
    let populate = |json: &[&str]| lab.run(&[&["populate", "webstone-1.1", "--dir", "site"], json].concat());
    populate(&[]).expect(0).prints("18 files");
    assert_eq!(std::fs::metadata(lab.path("site/file2k.html")).unwrap().len(), 2048);
    assert_eq!(populate(&["--json"]).expect(0).json()["reused"], true);
}

/// √(20 · load) directories of 36 files: 10 for 5 operations per second, 100 for 500.
#[test]
fn a_file_set_grows_with_the_load() {
    let lab = Lab::new();
    let populate = |load: &str, dir: &str| lab.run(&["populate", "web96", "--max-load", load, "--dir", dir]);
    populate("5", "small").expect(0).prints("360 files");
    assert!(lab.path("small/spec/dir00009/class3_8").is_file());
    assert!(!lab.path("small/spec/dir00010").exists());
}

#[test]
fn a_calibration_is_measured_and_stored() {
    let lab = Lab::new();
    let ended = lab.run(&["calibrate", "--duration", "500 ms", "--json"]).expect(0);
    let json = ended.json();
    assert_eq!(json["cases"].as_array().unwrap().len(), 5);
    assert!(lab.path("state/plimsoll/calibration.toml").is_file());
    assert_eq!(json["file"], lab.path("state/plimsoll/calibration.toml").to_str().unwrap());
    for case in json["cases"].as_array().unwrap() {
        assert!(0.0 < case["generator_cpu_s_per_op"].as_f64().unwrap(), "{case}");
    }
}

#[test]
fn a_reader_that_hangs_up_gets_a_quiet_end() {
    let lab = Lab::new();
    for command in ["show webstone-1.1", "man", "completions bash", "list --json"] {
        let ended = lab.shell(&format!(r#"set -o pipefail; "$plimsoll" {command} | head -1"#)).expect(0);
        assert_eq!(ended.stderr, "", "{command}");
        assert_eq!(ended.stdout.lines().count(), 1, "{command}");
    }
}

#[test]
fn a_report_in_every_form_goes_where_it_is_asked_to() {
    let lab = Lab::new();
    let ended = lab.run(&[
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
    let report = |more: &[&str]| lab.run(&[&["report", "run.plim"], more].concat());
    report(&["--format", "markdown"]).expect(0).prints("# ");
    assert_eq!(report(&["--format", "csv"]).expect(0).stdout.lines().count(), 2);
    report(&["--format", "csv", "--out", "table.csv"]).expect(0).prints("table.csv");
    assert!(lab.path("table.csv").is_file());
    assert_eq!(report(&[]).expect(0).stdout, "run.html\n");
    report(&["--out", "-"]).expect(0).prints("<svg");
    let quiet = lab.shell(r#"set -o pipefail; "$plimsoll" report run.plim --format markdown | head -1"#);
    assert_eq!(quiet.expect(0).stderr, "");
}

#[test]
fn a_report_never_overwrites_its_run() {
    let lab = Lab::new();
    lab.run(&["run", "one-object", "--settle", "0", "--load", "1", "--duration", "1", "--out", "run.plim"]);
    let before = std::fs::read(lab.path("run.plim")).unwrap();
    lab.run(&["report", "run.plim", "--out", "./run.plim"]).expect(2).says("would overwrite the run file");
    assert_eq!(std::fs::read(lab.path("run.plim")).unwrap(), before);
    lab.run(&["run", "one-object", "--out", "page.html"])
        .expect(2)
        .says("ends in `.plim`")
        .says("hint: write `--out page.html.plim`");
    lab.run(&["run", "one-object", "--out", "."]).expect(2).says("hint: write `--out ./run.plim`");
}

/// Method: root, who may write everything, gives that up.
#[test]
fn a_file_that_may_not_be_written_stays() {
    let lab = Lab::new();
    lab.run(&["run", "one-object", "--settle", "0", "--load", "1", "--duration", "1", "--out", "run.plim"]);
    lab.write("page.html", "precious");
    let line = r#"chmod a-w page.html
        bare=; [ "$(id -u)" != 0 ] || bare='setpriv --bounding-set=-all'
        $bare "$plimsoll" report run.plim --out page.html"#;
    lab.shell(line).expect(2).says("cannot write `page.html`").says("hint: name another place");
    assert_eq!(std::fs::read_to_string(lab.path("page.html")).unwrap(), "precious");
}
