//! Servers with injected faults.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::Fixture;

#[test]
fn a_wrong_body_is_detected_before_any_load() {
    for (fault, text) in [
        ("wrong-bytes=/file5k.html", "GET /file5k.html: wrong byte at position 2560 of the body"),
        ("wrong-length=/file3k.html", "GET /file3k.html: body of 3073 bytes, expected 3072"),
        ("truncated=/file2k.html", "GET /file2k.html: connection ended after 1024 bytes"),
        ("wrong-status=/file1k.html", "GET /file1k.html: status 500, expected 200"),
    ] {
        let fixture = Fixture::new();
        let (_server, address) = fixture.serve(&["webstone-1.1", "--fault", fault]);
        let url = format!("http://{address}/");
        let ended = fixture
            .run(&["run", "webstone-1.1", "--target", &url, "--load", "1", "--out", "run.plim"])
            .expect(4);
        assert!(ended.stderr.contains(text), "{fault}: {}", ended.stderr);
        assert!(!fixture.path("run.plim").exists());
    }
}

/// The server stops for one of five seconds: operations due in that second wait up to a second, 0.5 s on average, which
/// is a fifth of all; the median operation is not affected.
#[test]
fn a_pause_counts_from_when_operations_were_due() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["one-object", "--fault", "freeze=3+1"]);
    let url = format!("http://{address}/");
    let arguments =
        ["--rate", "500", "--in-flight-max", "50", "--settle", "1 s", "--duration", "5", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", "one-object", "--target", &url], &arguments[..]].concat());
    ended.assert_run();
    let report = fixture.report(&fixture.path("run.plim"));
    let quantile = |what: &str, q: f64| {
        let list = report["load_points"][0][what]["percentiles"].as_array().unwrap().clone();
        let found = list.into_iter().find(|one| one["q"].as_f64() == Some(q)).unwrap();
        found["value_s"].as_f64().unwrap()
    };
    let p99 = quantile("response", 0.99);
    let service = quantile("service", 0.5);
    assert!((0.5..2.0).contains(&p99), "p99 from the due time {p99} s");
    assert!(service < 0.1, "median service time {service} s");
    // At most 50 of 2,500 operations were in flight when the server froze: too few for the service time's p90.
    assert!(quantile("service", 0.9) < p99 / 2.0);
}

/// Goal: the death of a server ends the run. Several load points are left when it dies: on a busy machine this test may learn
/// late that the first one is over.
#[test]
fn a_server_that_dies_ends_the_run() {
    let fixture = Fixture::new();
    let load = ["--load", "1,2,3,4,5,6,7,8", "--duration", "1", "--out", "run.plim"];
    let running = fixture.start(&[&["run", "webstone-1.1"], &load[..]].concat());
    running.wait_for("1/8  1 client");
    let server = child_of(running.pid());
    kill_process(Pid::from_raw(server).unwrap(), Signal::KILL).unwrap();
    let ended = running.end().expect(4).expect_stdout("INCOMPLETE");
    assert!(
        ended.stderr.contains("error: Plimsoll's built-in web server ended unexpectedly: signal 9"),
        "{ended:?}"
    );
    assert_eq!(ended.last_line(), "run.plim");
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["ending"]["reason"], "Plimsoll's built-in web server ended unexpectedly: signal 9");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// A target that stops causes errors, which make the run invalid.
#[test]
fn a_target_that_dies_makes_the_run_invalid() {
    let fixture = Fixture::new();
    let (server, address) = fixture.serve(&["one-object"]);
    let url = format!("http://{address}/");
    let arguments =
        ["run", "one-object", "--target", &url, "--load", "1,2", "--settle", "0", "--duration", "1"];
    let running = fixture.start(&[&arguments[..], &["--out", "run.plim"]].concat());
    running.wait_for("1/2  1 user");
    server.signal(Signal::KILL);
    running.end().expect(3).expect_stderr("first `refused`").expect_stdout("(rule `errors`)");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

#[test]
fn invalid_faults_are_refused() {
    let fixture = Fixture::new();
    let serve = |arguments: &[&str]| fixture.run(&[&["serve", "web", "one-object"], arguments].concat());
    serve(&["--fault", "slow"])
        .expect(2)
        .expect_stderr("unknown fault `slow`")
        .expect_stderr("hint: the faults are");
    serve(&["--fault", "freeze=x"]).expect(2).expect_stderr("freeze=AT+LENGTH");
    serve(&["--cpu-allowance", "0"]).expect(2).expect_stderr("from 0.01 to 1");
    serve(&["--listen", "192.0.2.1:0"]).expect(4).expect_stderr("web server at 192.0.2.1:0");
}

fn child_of(pid: u32) -> i32 {
    let children = std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let text = children.collect::<Vec<_>>().join(" ");
    text.split_whitespace().next().expect("a child").parse().unwrap()
}
