//! Faults of file servers under load: each is a finding of its own, and nothing is touched that no run has made.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Fixture, Leftovers, RunningCommand, Samba, wait_for};

/// A load point with small workspaces, long enough for a fault.
const LONG: [&str; 11] = [
    "--quick",
    "--load",
    "2",
    "--duration",
    "5",
    "--settle",
    "0.2",
    "--set",
    "workspace=15 MiB",
    "--monitor",
    "off",
];

/// Starts a run on a share, and waits until its clients make files.
fn start(samba: &Samba, out: &str) -> RunningCommand {
    let target = samba.target();
    let arguments = [&["run", "netbench", "--target", &*target, "--out", out], &LONG[..]].concat();
    let running = samba.fixture.start_with(&arguments, &[("PLIMSOLL_PASSWORD", samba.sut.password())]);
    wait_for_load(&samba.share());
    running
}

/// Waits until clients have made files in the share at this path.
fn wait_for_load(share: &Path) {
    let made = share.join("plimsoll-files/private/c0/new");
    wait_for("files that clients make", || {
        std::fs::read_dir(&made).is_ok_and(|mut entries| entries.next().is_some())
    });
}

/// Checks that operations of a run failed, and that its report names the error.
fn check_error(fixture: &Fixture, out: &str, name: &str) {
    let total = fixture.report(&fixture.path(out))["load_points"][0]["total"].take();
    assert!(0 < total["errors"].as_u64().unwrap(), "{total}");
    let html = fixture.run(&["report", out, "--out", "-"]).expect(0).stdout;
    assert!(html.contains(name), "`{name}` expected in {total}");
}

/// Runs at the same time as another one are refused, until its end; then the server is killed.
#[test]
fn a_second_run_on_a_share_is_refused_and_a_killed_server_is_named() {
    let samba = Samba::start("");
    std::fs::write(samba.share().join("precious"), "x").unwrap();
    let running = start(&samba, "killed.plim");
    samba
        .run("netbench", &[&LONG[..], &["--out", "refused.plim"]].concat())
        .expect(4)
        .expect_stderr("another run uses `plimsoll-files`")
        .expect_stderr("hint: wait until that run has ended");
    assert!(!samba.fixture.path("refused.plim").exists());
    samba.kill();
    running.end().expect(3);
    check_error(&samba.fixture, "killed.plim", "refused");
    assert!(samba.share().join("precious").exists());
}

#[test]
fn a_share_that_becomes_read_only_is_named() {
    let samba = Samba::start("");
    let running = start(&samba, "run.plim");
    samba.make_read_only();
    running.end().expect(3);
    check_error(&samba.fixture, "run.plim", "STATUS_");
}

/// A file system in memory that is mounted in place of a share until it is dropped.
struct SmallDisk(PathBuf);

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// The files before load fit on the disk, and what clients make does not.
#[test]
fn a_disk_that_fills_under_load_is_named() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let samba = Samba::start("");
    let share = samba.share();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=43m,mode=0755", "none"]).arg(&share).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return;
    }
    let _disk = SmallDisk(share.clone());
    std::fs::write(share.join("precious"), "x").unwrap();
    start(&samba, "run.plim").end().assert_run_or(&["errors", "storage"]);
    check_error(&samba.fixture, "run.plim", "STATUS_DISK_FULL");
    let left: Vec<_> = std::fs::read_dir(&share).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["precious"]);
}

/// Kills the processes whose command line has a text; returns whether there were any.
fn kill_processes_of(text: &str) -> bool {
    let mut is_any = false;
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| String::from_utf8_lossy(&line).contains(text)) {
            is_any |= kill_process(pid, Signal::KILL).is_ok();
        }
    }
    is_any
}

#[test]
fn a_started_samba_that_is_killed_ends_the_run_and_nothing_is_left() {
    let fixture = Fixture::new();
    let arguments = [&["run", "netbench", "--sut", "samba", "--out", "run.plim"], &LONG[..]].concat();
    let running = fixture.start(&arguments);
    running.wait_for("Server: ");
    let pid = running.pid();
    let of_run = format!("plimsoll-sut-{pid}-");
    wait_for("a load point", || fixture.path("run.plim").exists());
    running.keep_running_for(std::time::Duration::from_secs(4));
    assert!(kill_processes_of(&of_run), "the server is there");
    let ended = running.end();
    let leftovers = Leftovers::of(pid, "http://127.0.0.1:1/");
    leftovers.expect_none();
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert!(ended.stderr.contains("Samba"), "{ended:?}");
}
