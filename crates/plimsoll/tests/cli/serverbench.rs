//! The application server benchmark: with the built-in server, with one that runs already, and with its faults.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::{Fixture, RunningCommand, assert_watched};

/// Arguments for a load point of some seconds with files of the shortest range.
const SHORT: [&str; 8] =
    ["--quick", "--load", "1,2", "--duration", "2", "--set", "range=64 KiB", "--monitor"];

/// Starts a built-in application server with files in a directory on a disk; returns both, and its target.
fn serve(fixture: &Fixture, more: &[&str]) -> ((RunningCommand, TempDir), String) {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = directory.path().to_str().unwrap();
    let server = ["serve", "app", "--threads", "3", "--clients-max", "12", "--directory", path];
    let server = fixture.start(&[&server, more].concat());
    let target = format!("app://{}", server.address());
    ((server, directory), target)
}

#[test]
fn a_run_works_from_nothing_and_is_audited() {
    let fixture = Fixture::new();
    let arguments = ["run", "serverbench", "--out", "run.plim"];
    let ended = fixture.run(&[&arguments[..], &SHORT, &["off"]].concat()).expect_run();
    for word in ["weighted transactions per second", "Clients"] {
        assert!(ended.stdout.contains(word), "`{word}` in {}", ended.stdout);
    }
    fixture.run(&["audit", "run.plim"]).expect(0).expect_stdout("no differences found");
    let report = fixture.report(&fixture.path("run.plim"));
    for (point, clients) in report["load_points"].as_array().unwrap().iter().zip([1.0, 2.0]) {
        assert_eq!(point["total"]["errors"], 0);
        let kinds = point["kinds"].as_array().unwrap();
        let names: Vec<&str> = kinds.iter().map(|kind| kind["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["CS", "PROC", "SC", "RREAD", "RWRITE"]);
        // The score from what is printed: clients ÷ Σ 0.2 · mean response time.
        let mean = |kind: &serde_json::Value| kind["response"]["mean_s"].as_f64().unwrap();
        let expected = clients / kinds.iter().map(|kind| 0.2 * mean(kind)).sum::<f64>();
        let score = point["score"].as_f64().unwrap();
        assert!((score / expected - 1.0).abs() < 1e-6, "{score} and {expected}");
        for kind in kinds {
            let part = |measure: &str| kind[measure]["mean"].as_f64().unwrap();
            assert!(part("queue_s") + part("service_s") <= mean(kind), "{kind}");
        }
    }
    // A busy machine can make a load point invalid: it is no part of the curve then, unless all are.
    let points = report["load_points"].as_array().unwrap();
    let is_valid = |point: &&serde_json::Value| point["verdict"]["state"] == "valid";
    let mut on_curve: Vec<_> = points.iter().filter(is_valid).collect();
    if on_curve.is_empty() {
        on_curve = points.iter().collect();
    }
    let summary = &report["score_summary"];
    assert_eq!(summary["n_load_points"], on_curve.len());
    assert_eq!(summary["greatest_load"]["score"], on_curve[on_curve.len() - 1]["score"]);
    for point in report["load_points"].as_array().unwrap() {
        let queue = &point["queue"];
        let service = &point["service_measure"];
        assert_eq!((&queue["n"], &service["n"]), (&point["total"]["n"], &point["total"]["n"]));
        let clients = point["load"]["users"].as_f64().unwrap();
        let expected = clients / point["total"]["response_s"]["mean"].as_f64().unwrap();
        let rate = point["rate_of_clients_per_s"].as_f64().unwrap();
        assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} and {expected}");
    }
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for heading in [
        "Statistics per kind of operation",
        "range of files",
        "Score of the suite",
        "Queue time in the server",
    ] {
        assert!(html.contains(heading), "{heading}");
    }
    for of_web in ["HTTP/1", "Per-file", "heads and bodies"] {
        assert!(!html.contains(of_web), "`{of_web}` in the report of an application server benchmark");
    }
}

/// Four files of 2 TiB each, for which no disk of a test machine has room.
#[test]
fn files_that_fill_the_disk_are_refused_before_the_load() {
    let fixture = Fixture::new();
    let arguments =
        ["--set", "range=1 TiB", "--load", "4", "--quick", "--monitor", "off", "--out", "run.plim"];
    fixture
        .run(&[&["run", "serverbench"][..], &arguments].concat())
        .expect(4)
        .expect_stderr("the files of 4 clients take 8.0 TiB (2.0 TiB each), more than nine tenths of the ")
        .expect_stderr("hint: free some disk space");
    assert!(!fixture.path("run.plim").exists());
}

/// Goal: the range follows from the limit that the kernel enforces, which is found where control groups are permitted.
#[test]
fn a_range_of_auto_follows_the_memory_limit_in_force() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &[]);
    let auto = ["--set", "range=auto", "--quick", "--load", "2", "--duration", "1", "--monitor", "off"];
    if observe::memory_limit_of(&[std::process::id()]).is_none() {
        let refused = |server: &[&str], hint: &str| {
            let arguments = [&["run", "serverbench", "--out", "none.plim"], server, &auto].concat();
            fixture.run(&arguments).expect(2).expect_stderr("server sets a limit").expect_stderr(hint);
        };
        refused(&["--target", &target], "hint: start the server with a limit, for example by `systemd-run");
        refused(&[], "hint: limit the server with `--sut-memory 512MiB`, or give a size");
        assert!(!fixture.path("none.plim").exists());
    }
    let limited = ["run", "serverbench", "--sut-memory", "128 MiB", "--out", "run.plim"];
    let ended = fixture.run(&[&limited[..], &auto].concat());
    if ended.stderr.contains("cannot enforce the memory limit") {
        // Control groups are not permitted here.
        return;
    }
    ended.assert_run();
    assert!(!ended.stderr.contains("does not bind"), "{}", ended.stderr);
    let report = fixture.report(&fixture.path("run.plim"));
    let workload = &report["plan"]["workload"]["app"];
    let memory = workload["auto_range"]["memory_bytes"].as_u64().unwrap();
    assert!(memory <= 128 << 20, "{memory}");
    assert_eq!(workload["range_bytes"], memory / 100 * 78 / 40 / 4096 * 4096);
    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    assert!(html.contains("0.78 of the server’s memory limit of"));
    fixture.run(&["audit", "run.plim"]).expect(0).expect_stdout("no differences found");
}

#[test]
fn a_running_server_is_named_by_its_target() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &[]);
    let arguments = ["run", "serverbench", "--target", &target, "--set", "suite=disk,net", "--out", "out"];
    let ended = fixture.run(&[&arguments[..], &SHORT, &["off"]].concat());
    ended.assert_run();
    for target in ["ftp://127.0.0.1:1/", "127.0.0.1:1"] {
        fixture
            .run(&["run", "serverbench", "--target", target, "--out", "x.plim"])
            .expect(2)
            .expect_stderr("expected `app://HOST:PORT`");
    }
    fixture
        .run(&["run", "serverbench", "--target", "app://127.0.0.1:1", "--out", "x.plim"])
        .expect(4)
        .expect_stderr("hint: start the server first, or omit `--target` for the built-in server");
    fixture
        .run(&["run", "serverbench", "--sut", "nginx", "--out", "x.plim"])
        .expect(2)
        .expect_stderr("this benchmark loads application servers");
    fixture.run(&["run", "serverbench", "--rate", "10", "--out", "x.plim"]).expect(2).expect_stderr("hint:");
}

#[test]
fn a_running_server_on_this_machine_is_watched() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &[]);
    assert_watched(&fixture, &target, "plimsoll (1 process)");
}

#[test]
fn a_running_server_may_have_an_ipv6_address() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &["--listen", "[::1]:0"]);
    assert!(target.starts_with("app://[::1]:"), "{target}");
    let arguments = ["run", "serverbench", "--target", &target, "--set", "suite=net", "--out", "run.plim"];
    fixture.run(&[&arguments[..], &SHORT, &["off"]].concat()).expect_run();
}

/// Returns the names of all counters of a load point.
fn counters(point: &serde_json::Value) -> Vec<&str> {
    let counters = point["counters"].as_array().unwrap().iter();
    counters.map(|one| one["counter"].as_str().unwrap()).collect()
}

#[test]
fn the_built_in_server_says_how_busy_it_is() {
    let fixture = Fixture::new();
    let arguments = ["run", "serverbench", "--quick", "--load", "2", "--duration", "2", "--set", "suite=net"];
    fixture.run(&[&arguments[..], &["--out", "run.plim"]].concat()).assert_run();
    let report = fixture.report(&fixture.path("run.plim"));
    let point = &report["load_points"][0];
    let names = counters(point);
    for name in ["workers", "busy", "queue", "queue_max", "connections", "requests", "refused"] {
        assert!(names.contains(&format!("service.{name}").as_str()), "service.{name} in {names:?}");
    }
    assert!(point["bottleneck"]["signs"]["workers busy"].as_f64().unwrap() < 0.9, "{point}");
}

/// Twelve clients for three threads, each of which is busy for 20 ms without a CPU or a disk. The name of the bottleneck, which
/// needs a quiet machine, is for `cargo xtask throttles`.
#[test]
fn busy_threads_and_a_queue_of_a_running_server_are_seen() {
    let fixture = Fixture::new();
    let (_server, target) = serve(&fixture, &["--fault", "slow"]);
    let monitor = target.replace("app://", "app=");
    let arguments = ["run", "serverbench", "--target", &target, "--monitor", &monitor, "--out", "run.plim"];
    let load = ["--quick", "--load", "1,12", "--duration", "3", "--set", "suite=net"];
    fixture.run(&[&arguments[..], &load].concat()).assert_run();
    let report = fixture.report(&fixture.path("run.plim"));
    let sign = |point: usize, name: &str| {
        let signs = &report["load_points"][point]["bottleneck"]["signs"];
        signs[name].as_f64().unwrap_or_else(|| panic!("{name} in {signs}"))
    };
    // One client keeps at most one of three threads busy, and nothing waits.
    assert!(sign(0, "workers busy") < 0.5 && sign(0, "requests queued") < 1.0, "{report}");
    assert!(sign(0, "workers busy") < sign(1, "workers busy"), "{report}");
    assert!(1.0 <= sign(1, "requests queued"), "{report}");
    // All of them, but for one that is read between two requests.
    assert!(0.8 <= sign(1, "workers busy"), "{report}");
}

/// A fault in every operation is found before the load.
#[test]
fn a_faulty_server_is_not_loaded() {
    for (fault, text) in [
        ("wrong-checksum", "the checksum of the reply does not match its payload"),
        ("short-reply", "the connection ended after 28 bytes of the reply"),
        ("closed-session", "the server closed the kept connection instead of replying"),
        ("wrong-block", "the reply has the wrong result"),
        ("wrong-times", "are longer than the response"),
        ("busy", "the server answered with status 1: its queue is full"),
        ("stall", "no complete reply within 1.00 s"),
    ] {
        let fixture = Fixture::new();
        let (_server, target) = serve(&fixture, &["--fault", fault]);
        let arguments = ["run", "serverbench", "--target", &target, "--time-limit", "1", "--out", "run.plim"];
        let ended = fixture.run(&[&arguments[..], &SHORT, &["off"]].concat());
        assert_ne!(ended.code, Some(0), "{fault}: {}", ended.stdout);
        assert!(ended.stderr.contains(text), "{fault}: {}", ended.stderr);
    }
}

/// One in twenty, and the probe has five: the load point is counted, invalid, and names the outcome.
#[test]
fn faults_under_load_are_named_outcomes() {
    for (fault, outcome) in
        [("wrong-checksum", "inconsistent"), ("busy", "busy"), ("wrong-block", "wrong bytes")]
    {
        let fixture = Fixture::new();
        let (_server, target) = serve(&fixture, &["--fault", &format!("{fault}:20")]);
        let arguments = ["run", "serverbench", "--target", &target, "--out", "run.plim"];
        let short =
            ["--quick", "--load", "1", "--duration", "2", "--set", "range=64 KiB", "--monitor", "off"];
        fixture.run(&[&arguments[..], &short].concat()).expect(3);
        let report = fixture.report(&fixture.path("run.plim")).to_string();
        assert!(report.contains(outcome), "{fault}: {report}");
    }
}

/// A run stops its server by a signal.
#[test]
fn a_server_that_is_told_to_stop_removes_its_files() {
    let fixture = Fixture::new();
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let mut command = fixture.command(&["serve", "app", "--directory", directory.path().to_str().unwrap()]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Kept open, so that only the signal ends it.
    let _input = server.stdin.take();
    let mut ready = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let n_files = || std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(n_files(), 1, "{ready}");
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    assert!(server.wait().unwrap().success());
    assert_eq!(n_files(), 0);
}

#[test]
fn mistakes_of_the_server_have_a_remedy() {
    let fixture = Fixture::new();
    let refused = |more: &[&str]| fixture.run(&[&["serve", "app"], more].concat());
    refused(&["--directory", "/dev/shm"]).expect(4).expect_stderr("hint: choose a directory on a disk");
    refused(&["--fault", "stal"]).expect(2).expect_stderr("did you mean `stall`?");
    for wrong in ["4095 B", "21 MiB"] {
        refused(&["--append-max", wrong]).expect(2).expect_stderr("expected a size from 4 KiB to 20 MiB");
    }
    for wrong in [["--threads", "257"], ["--threads", "0"], ["--cpu-allowance", "0"], ["--file-max", "many"]]
    {
        refused(&wrong).expect(2);
    }
}
