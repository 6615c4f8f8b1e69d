//! `run` against the built-in server: benchmarks, modes and modifications.

use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::Fixture;

const NAME: &str = "run.plim";

/// Runs with `--json` and returns the result; any verdict is accepted, because these tests do not check speed.
#[track_caller]
fn run(fixture: &Fixture, arguments: &[&str]) -> Value {
    let ended = fixture.run(&[&["run", "--json", "--out", NAME], arguments].concat());
    ended.assert_run();
    fixture.run(&["audit", NAME]).expect(0);
    let value = ended.json();
    assert_eq!(value["ending"]["kind"], "complete", "{value}");
    value
}

fn modifications(run: &Value) -> Vec<String> {
    let list = run["modifications"].as_array().unwrap();
    list.iter()
        .map(|one| format!("{}: {}", one["what"].as_str().unwrap(), one["ours"].as_str().unwrap()))
        .collect()
}

fn ok(run: &Value, load_point: usize) -> u64 {
    run["load_points"][load_point]["total"]["n"].as_u64().unwrap()
}

#[test]
fn the_json_of_a_run_is_its_report_with_file_names() {
    let fixture = Fixture::new();
    let mut run = run(&fixture, &["one-object", "--settle", "0", "--load", "2", "--duration", "1 s"]);
    let files = run.as_object_mut().unwrap().remove("files").unwrap();
    assert_eq!(files["run"], NAME);
    assert_eq!(files["report"], "run.html");
    assert_eq!(run, fixture.report(&fixture.path(NAME)));
    assert!(fixture.path("run.html").is_file());
    assert!(0 < ok(&run, 0));
}

#[test]
fn webstone_1_1_runs_pages_of_files() {
    let fixture = Fixture::new();
    let run = run(&fixture, &["webstone-1.1", "--load", "1,4", "--duration", "1"]);
    assert_eq!(run["load_points"].as_array().unwrap().len(), 2);
    assert!(run["load_points"][1]["pages_per_min"].as_f64().unwrap() > 0.0);
    assert_eq!(run["load_points"][1]["load"]["users"], 4);
}

#[test]
fn persistent_connections_are_a_modification() {
    let fixture = Fixture::new();
    let run = run(&fixture, &["webstone-2.0.1", "--load", "2", "--duration", "1", "--keep-alive"]);
    let list = modifications(&run).join("\n");
    assert!(list.lines().any(|line| line.starts_with("connection: kept alive")), "{list}");
}

#[test]
fn persistent_connections_can_be_limited_to_a_number_of_requests() {
    let fixture = Fixture::new();
    let run =
        run(&fixture, &["one-object", "--settle", "0", "--load", "2", "--duration", "1", "--keep-alive=10"]);
    let list = modifications(&run).join("\n");
    assert!(list.lines().any(|line| line == "connection: kept alive, at most 10 requests each"), "{list}");
    let protocol = run["plan"]["workload"]["web"]["protocol"].to_string();
    assert!(protocol.contains(r#""requests_max":10}"#), "{protocol}");
    assert_eq!(run["load_points"][0]["total"]["errors"], 0);
}

#[test]
fn an_open_loop_offers_its_rate() {
    let fixture = Fixture::new();
    let run = run(
        &fixture,
        &["webstone-1.1", "--rate", "500", "--arrivals", "poisson", "--duration", "2", "--seed", "7"],
    );
    let point = &run["load_points"][0];
    // 1,000 of a Poisson process; six standard deviations are 190.
    let offered = point["offered_per_s"].as_f64().unwrap();
    assert!((405.0..=595.0).contains(&offered), "{offered}");
    assert_eq!(run["plan"]["seed"], 7);
}

/// The schedule is a function of the seed: the number of due operations does not depend on the machine.
#[test]
fn the_same_seed_offers_the_same_schedule() {
    let offered = |seed: &str| {
        let fixture = Fixture::new();
        let run = run(
            &fixture,
            &["one-object", "--rate", "300", "--arrivals", "poisson", "--duration", "1", "--seed", seed],
        );
        run["load_points"][0]["offered_per_s"].as_f64().unwrap()
    };
    let first = offered("11");
    assert_eq!(first, offered("11"));
    // One in forty pairs of Poisson counts around 300 is equal; this pair of seeds is not.
    assert_ne!(first, offered("12"));
}

#[test]
fn filelists_of_both_formats_are_accepted() {
    let pages = "# two pages\n2\n3 2\n/file2k.html\n/file3k.html\n1 1\n/file1k.html\n";
    let single = "/a.html 700 #500\n/b.html 300 #20000\n";
    for (benchmark, text, n_files) in [("webstone-1.1", pages, 3), ("webstone-2.0.1", single, 2)] {
        let fixture = Fixture::new();
        fixture.write("my.filelist", text);
        let run = run(&fixture, &[benchmark, "--filelist", "my.filelist", "--load", "2", "--duration", "1"]);
        assert_eq!(run["plan"]["workload"]["web"]["requests"].as_array().unwrap().len(), n_files);
        let list = modifications(&run).join("\n");
        assert!(list.contains("my.filelist"), "{list}");
    }
}

#[test]
fn a_drain_and_a_time_limit_are_part_of_the_plan() {
    let fixture = Fixture::new();
    let arguments = [
        "one-object",
        "--settle",
        "0",
        "--load",
        "2",
        "--duration",
        "1",
        "--drain",
        "1 s",
        "--time-limit",
        "2500 ms",
    ];
    let run = run(&fixture, &arguments);
    assert_eq!(run["plan"]["phases"]["drain_ns"], 1_000_000_000u64);
    assert_eq!(run["plan"]["time_limit_ns"], 2_500_000_000u64);
}

#[test]
fn connections_come_from_several_addresses() {
    let fixture = Fixture::new();
    let addresses = ["--source-addresses", "127.0.0.2,127.0.0.3"];
    let run = run(&fixture, &[&["webstone-1.1", "--load", "2", "--duration", "1"], &addresses[..]].concat());
    assert_eq!(run["plan"]["source_addresses"], serde_json::json!(["127.0.0.2", "127.0.0.3"]));
    assert_eq!(run["load_points"][0]["total"]["errors"], 0);
}

#[test]
fn a_dry_run_prints_the_plan_and_does_nothing_else() {
    let fixture = Fixture::new();
    fixture.run(&["run", "webstone-2.0.1", "--dry-run"]).expect(0).expect_stdout("10, 20, 30");
    let plan = fixture.run(&["run", "webstone-2.0.1", "--dry-run", "--json"]).expect(0).json();
    assert_eq!(plan["plan"]["load_points"].as_array().unwrap().len(), 20);
    assert!(!fixture.path("runs").exists());
}

#[test]
fn a_command_line_with_spaces_is_stored_word_by_word() {
    let fixture = Fixture::new();
    let run = run(&fixture, &["one-object", "--settle", "0", "--load", "1", "--duration", "1 s"]);
    let command = run["provenance"]["command"].as_array().unwrap();
    assert_eq!(command.last().unwrap(), "1 s");
}

/// Progress goes to a pipe that nobody reads: `plimsoll run … 2>&1 | head -1`.
#[test]
fn a_closed_standard_error_does_not_stop_a_run() {
    let fixture = Fixture::new();
    let line = r#""$plimsoll" run one-object --load 1 --duration 1 --out run.plim 2> >(head -1 >/dev/null) | tail -1"#;
    fixture.shell(line).expect(0).expect_stdout("run.plim");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// Other work on the machine, such as that of other tests, makes the run no less invalid.
#[test]
fn a_run_beside_a_busy_program_is_invalid() {
    let fixture = Fixture::new();
    let n_loops = std::thread::available_parallelism().unwrap().get().div_ceil(4);
    let endless = || Command::new("timeout").args(["60", "sh", "-c", "while :; do :; done"]).spawn().unwrap();
    let mut loops: Vec<Child> = (0..n_loops).map(|_| endless()).collect();
    let ended =
        fixture.run(&["run", "one-object", "--settle", "0", "--load", "2", "--duration", "1", "--out", NAME]);
    for one in &mut loops {
        // `timeout` kills its child when terminated.
        kill_process(Pid::from_child(one), Signal::TERM).unwrap();
        one.wait().unwrap();
    }
    ended.expect(3).expect_stdout("other-programs");
    let reasons = fixture.report(&fixture.path(NAME))["verdict"]["reasons"].clone();
    assert!(reasons.as_array().unwrap().iter().any(|one| one["rule"] == "other-programs"), "{reasons}");
}
