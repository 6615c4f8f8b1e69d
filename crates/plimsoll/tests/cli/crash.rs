//! `kill -9` and full disks: what was recorded stays, opens and is incomplete.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::Lab;

/// Returns how many seconds a run file has, of all load points.
fn n_seconds(report: &Value) -> usize {
    let points = report["load_points"].as_array().unwrap();
    points.iter().map(|point| point["timeline"]["at_s"].as_array().unwrap().len()).sum()
}

/// Opens what a killed run left, and returns how many seconds are in it.
#[track_caller]
fn check(lab: &Lab, run: &Path) -> usize {
    let name = run.to_str().unwrap();
    lab.run(&["report", name, "--format", "text"])
        .expect(0)
        .prints("INCOMPLETE")
        .prints("the run file has no ending");
    lab.run(&["audit", name]).expect(0);
    let report = lab.report(run);
    assert_eq!(report["verdict"]["state"], "incomplete");
    assert_eq!(report["ending"]["kind"], "missing");
    n_seconds(&report)
}

/// Kills runs some time after their load began; the moments differ between machines, and are meant to.
#[track_caller]
fn kill_after(milliseconds: &[u64]) {
    for after in milliseconds.iter().copied().map(Duration::from_millis) {
        let lab = Lab::new();
        let (run, alone) = (lab.path("run.plim"), lab.path("alone.plim"));
        let arguments = ["run", "webstone-1.1", "--load", "1,2,3", "--duration", "2", "--out", "run.plim"];
        let running = lab.start(&arguments);
        running.wait_for("Server: ");
        running.go_on_for(after);
        // What is there before the kill, read while it is recorded into, is there after it.
        let before = match run.exists() {
            true => n_seconds(&lab.report(&run)),
            false => 0,
        };
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        if !run.exists() {
            assert!(after < Duration::from_secs(1), "there should be a run file after {after:?}");
            continue;
        }
        fs::copy(&run, &alone).unwrap();
        let n = check(&lab, &run);
        assert!(before <= n, "{before} seconds before the kill after {after:?}, {n} after it");
        let n_alone = check(&lab, &alone);
        assert!(n_alone <= n, "{n_alone} {n}");
    }
}

#[test]
fn a_run_killed_early_leaves_a_file_that_opens() {
    kill_after(&[0, 60, 370, 1010]);
}

#[test]
fn a_run_killed_late_leaves_a_file_that_opens() {
    kill_after(&[1490, 2120, 2930, 3350]);
}

/// A disk of 96 KiB is full after some seconds: a file system of its own, made in a name space of its own so that
/// nothing is left behind; where that is not permitted, files that may not grow beyond 72 KiB.
#[test]
fn a_full_disk_ends_a_run_whose_file_still_opens() {
    let lab = Lab::new();
    let line = r#"
        run() { "$plimsoll" run webstone-1.1 --load 1,2,3,4 --duration 3 --out full/run.plim; echo "exit $?"; }
        look() { "$plimsoll" report full/run.plim --format text; "$plimsoll" audit full/run.plim; echo "audit $?"; }
        export -f run look
        mkdir full
        if unshare -rm mount -t tmpfs -o size=96k tmpfs full 2>/dev/null; then
            unshare -rm bash -c 'mount -t tmpfs -o size=96k tmpfs full && run && look'
        else
            bash -c "trap '' XFSZ; ulimit -f 72; run"; look
        fi"#;
    let ended = lab.shell(line).expect(0).prints("exit 4\n").prints("audit 0\n");
    assert_eq!(ended.stdout.matches("INCOMPLETE").count(), 2, "{}", ended.stdout);
    // The run itself knows why; its file could not take that any more.
    let ended = ended.prints("the run was stopped: ").prints("or the disk was full (rule `ending`)");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("the disk that holds `full/run.plim` is full\nhint: make room")
            || ended.stderr.contains("recording in `full/run.plim`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told_before_any_load() {
    let lab = Lab::new();
    let line =
        r#"bash -c "trap '' XFSZ; ulimit -f 4; exec \"$plimsoll\" run one-object --load 1 --out run.plim""#;
    let ended = lab.shell(line).expect(4);
    assert!(ended.stderr.contains("error: creating `run.plim`"), "{}", ended.stderr);
    assert!(!lab.path("run.plim").exists());
    assert_eq!(ended.stdout, "");
}
