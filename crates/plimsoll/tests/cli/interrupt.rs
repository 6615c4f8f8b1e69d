//! Ctrl-C, or a closed terminal: the run ends, and what it has is kept.

use rustix::process::Signal;

use crate::support::Lab;

#[test]
fn an_interrupted_run_is_kept_and_incomplete() {
    // Tests that `nohup` started pass its wish on: then a hang-up ends nothing.
    let signals = [Signal::INT, Signal::TERM].into_iter().chain((!ignores_hangup()).then_some(Signal::HUP));
    for signal in signals {
        let lab = Lab::new();
        let arguments = ["run", "webstone-1.1", "--load", "1,2", "--duration", "2", "--out", "run.plim"];
        let running = lab.start(&arguments);
        // The first load point is over, the second one goes on.
        running.wait_for("1/2  1 user");
        running.signal(signal);
        let ended = running.end().expect(130).says("Stopping").prints("INCOMPLETE");
        assert_eq!(ended.last_line(), "run.plim");
        let report = lab.report(&lab.path("run.plim"));
        assert_eq!(report["ending"]["kind"], "stopped");
        assert_eq!(report["ending"]["reason"], "interrupted by the user");
        assert!(report["load_points"][0]["verdict"]["state"] != "incomplete", "{report}");
        lab.run(&["audit", "run.plim"]).expect(0);
        lab.run(&["runs", "."]).expect(0).prints("stopped: interrupted by the user");
    }
}

pub fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 != 0
}

/// A server that never answers must not hold the user for the time limit of a minute.
#[test]
fn an_interrupt_ends_the_check_of_objects() {
    let lab = Lab::new();
    let (_server, address) = lab.serve(&["one-object", "--fault", "stall"]);
    let url = format!("http://{address}/");
    let running = lab.start(&["run", "one-object", "--target", &url, "--load", "1", "--out", "run.plim"]);
    running.wait_for("Checking objects of every kind");
    running.signal(Signal::INT);
    running.end().expect(130).says("interrupted before the first load point");
    assert!(!lab.path("run.plim").exists());
}

#[test]
fn half_a_calibration_is_not_stored() {
    let lab = Lab::new();
    let running = lab.start(&["calibrate", "--duration", "20 s"]);
    running.go_on_for(std::time::Duration::from_millis(1500));
    running.signal(Signal::INT);
    running.end().expect(130).says("the calibration was not stored");
    assert!(!lab.path("state/plimsoll/calibration.toml").exists());
}
