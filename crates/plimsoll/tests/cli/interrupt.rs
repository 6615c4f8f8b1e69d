//! Ctrl-C, or a closed terminal: the run stops and keeps its records.

use rustix::process::Signal;

use crate::support::Fixture;

#[test]
fn an_interrupted_run_is_kept_and_incomplete() {
    // Under `nohup`, child processes ignore SIGHUP too.
    let signals = [Signal::INT, Signal::TERM].into_iter().chain((!ignores_hangup()).then_some(Signal::HUP));
    for signal in signals {
        let fixture = Fixture::new();
        let arguments = ["run", "webstone-1.1", "--load", "1,2", "--duration", "2", "--out", "run.plim"];
        let running = fixture.start(&arguments);
        // The first load point is finished, the second is running.
        running.wait_for("1/2  1 client");
        running.signal(signal);
        let ended = running.end().expect(130).expect_stderr("Stopping").expect_stdout("INCOMPLETE");
        assert_eq!(ended.last_line(), "run.plim");
        let report = fixture.report(&fixture.path("run.plim"));
        assert_eq!(report["ending"]["kind"], "stopped");
        assert_eq!(report["ending"]["reason"], "interrupted by the user");
        assert!(report["load_points"][0]["verdict"]["state"] != "incomplete", "{report}");
        fixture.run(&["audit", "run.plim"]).expect(0);
        fixture.run(&["runs", "."]).expect(0).expect_stdout("stopped: interrupted by the user");
    }
}

pub(crate) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 != 0
}

/// A server that never answers must not make the user wait for the time limit of a minute.
#[test]
fn an_interrupt_stops_the_check_of_objects() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["one-object", "--fault", "stall"]);
    let url = format!("http://{address}/");
    let running = fixture.start(&["run", "one-object", "--target", &url, "--load", "1", "--out", "run.plim"]);
    running.wait_for("Fetching ");
    running.signal(Signal::INT);
    running.end().expect(130).expect_stderr("interrupted before the first load point");
    assert!(!fixture.path("run.plim").exists());
}

#[test]
fn an_incomplete_calibration_is_not_stored() {
    let fixture = Fixture::new();
    let running = fixture.start(&["calibrate", "--duration", "20 s"]);
    running.keep_running_for(std::time::Duration::from_millis(1500));
    running.signal(Signal::INT);
    running.end().expect(130).expect_stderr("the calibration was interrupted; nothing of it is stored");
    assert!(!fixture.path("state/plimsoll/calibration.toml").exists());
}
