//! `kill -9` and full disks: the records so far are kept, readable and marked as incomplete.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::Fixture;

/// Returns the number of recorded seconds of all load points.
fn n_seconds(report: &Value) -> usize {
    let points = report["load_points"].as_array().unwrap();
    points.iter().map(|point| point["timeline"]["at_s"].as_array().unwrap().len()).sum()
}

/// Checks the file of a killed run and returns its number of seconds.
#[track_caller]
fn check(fixture: &Fixture, run: &Path) -> usize {
    let name = run.to_str().unwrap();
    fixture
        .run(&["report", name, "--format", "text"])
        .expect(0)
        .expect_stdout("INCOMPLETE")
        .expect_stdout("the run file has no end");
    fixture.run(&["audit", name]).expect(0);
    let report = fixture.report(run);
    assert_eq!(report["verdict"]["state"], "incomplete");
    assert_eq!(report["ending"]["kind"], "missing");
    n_seconds(&report)
}

/// Kills runs some time after their load began; the exact moments differ between machines, which is intended.
#[track_caller]
fn kill_after(milliseconds: &[u64]) {
    for after in milliseconds.iter().copied().map(Duration::from_millis) {
        let fixture = Fixture::new();
        let run = fixture.path("run.plim");
        let alone = fixture.path("alone.plim");
        let arguments = ["run", "webstone-1.1", "--load", "1,2,3", "--duration", "2", "--out", "run.plim"];
        let running = fixture.start(&arguments);
        running.wait_for("Server: ");
        running.keep_running_for(after);
        // Seconds read while recording, before the kill, are still there afterwards.
        let before = if run.exists() { n_seconds(&fixture.report(&run)) } else { 0 };
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        if !run.exists() {
            assert!(after < Duration::from_secs(1), "there should be a run file after {after:?}");
            continue;
        }
        fs::copy(&run, &alone).unwrap();
        let n = check(&fixture, &run);
        assert!(before <= n, "{before} seconds before the kill after {after:?}, {n} after it");
        let n_alone = check(&fixture, &alone);
        assert!(n_alone <= n, "{n_alone} {n}");
    }
}

#[test]
fn a_run_killed_early_leaves_a_readable_file() {
    kill_after(&[0, 60, 370, 1010]);
}

#[test]
fn a_run_killed_late_leaves_a_readable_file() {
    kill_after(&[1490, 2120, 2930, 3350]);
}

/// A disk of 96 KiB is full after some seconds: a tmpfs in its own mount namespace, so that nothing is left behind; if
/// that is not permitted, a file size limit of 72 KiB.
#[test]
fn a_full_disk_ends_a_run_whose_file_is_readable() {
    let fixture = Fixture::new();
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
    let ended = fixture.shell(line).expect(0).expect_stdout("exit 4\n").expect_stdout("audit 0\n");
    assert_eq!(ended.stdout.matches("INCOMPLETE").count(), 2, "{}", ended.stdout);
    // The run itself knows the reason, which could no longer be written to its file.
    let ended =
        ended.expect_stdout("the run was stopped: ").expect_stdout("or the disk was full (rule `ending`)");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{}", ended.stderr);
    assert!(
        ended.stderr.contains("the disk that holds `full/run.plim` is full\nhint: free some space")
            || ended.stderr.contains("recording in `full/run.plim`"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_disk_that_is_full_from_the_start_is_reported_before_any_load() {
    let fixture = Fixture::new();
    let line =
        r#"bash -c "trap '' XFSZ; ulimit -f 4; exec \"$plimsoll\" run one-object --load 1 --out run.plim""#;
    let ended = fixture.shell(line).expect(4);
    assert!(ended.stderr.contains("error: creating `run.plim`"), "{}", ended.stderr);
    assert!(!fixture.path("run.plim").exists());
    assert_eq!(ended.stdout, "");
}
