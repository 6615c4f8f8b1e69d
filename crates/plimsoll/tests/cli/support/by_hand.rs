//! Servers that a test started by hand, outside of any recipe.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use units::{Clock, Nanos, RealClock};

use super::fixture::Fixture;

/// The longest that a server may take until it answers.
const READY_MAX: Nanos = Nanos::from_secs(20);

/// A server that a test started by hand; it ends with the value.
pub(crate) struct ManualServer(pub Child);

impl ManualServer {
    #[track_caller]
    pub(crate) fn start(mut command: Command, program: &str, package: &str) -> ManualServer {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        ManualServer(
            spawned.unwrap_or_else(|why| {
                panic!("{program}: {why}; install it with `apt-get install {package}`")
            }),
        )
    }
}

impl Drop for ManualServer {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

#[track_caller]
pub(crate) fn wait_for(what: &str, is_ready: impl Fn() -> bool) {
    wait_within(READY_MAX, what, is_ready);
}

/// Waits for at most so long; returns how long it took.
#[track_caller]
pub(crate) fn wait_within(longest: Nanos, what: &str, is_ready: impl Fn() -> bool) -> Nanos {
    let clock = RealClock::start();
    while !is_ready() {
        assert!(clock.now() < longest, "{what} does not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
    clock.now()
}

/// Loads an application server that was there already, and checks that its processes are counted, as the report describes
/// them, and that the load generator left it at least half of the CPUs.
#[track_caller]
pub(crate) fn assert_watched(fixture: &Fixture, target: &str, processes: &str) {
    let load = ["--set", "suite=net", "--quick", "--load", "2", "--duration", "3", "--out", "run.plim"];
    fixture.run(&[&["run", "serverbench", "--target", target][..], &load].concat()).expect_measured();
    let run = fixture.path("run.plim");
    let report = fixture.report(&run);
    let cpus = report["load_points"][0]["sut"]["cpus"].as_f64();
    assert!(cpus.is_some_and(|cpus| 0.0 < cpus), "{}", report["load_points"][0]["sut"]);
    let (_, port) = target.rsplit_once(':').unwrap();
    let fact = fixture.fact(&run, "Watched processes", &format!("port={port}"));
    assert_eq!(fact.as_deref(), Some(processes));
    assert_half_is_left(&report);
}

/// Checks that the load generator left at least half of the CPUs to a server on this machine.
#[track_caller]
pub(crate) fn assert_half_is_left(report: &Value) {
    let half = std::thread::available_parallelism().unwrap().get() / 2;
    let load_threads = report["plan"]["agents"][0]["threads"].as_u64().unwrap() as usize;
    assert!(load_threads <= half.max(1), "{load_threads} load threads");
}

/// Returns the path of a program that is installed under one of these names.
pub(crate) fn program(names: &[&str]) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin"];
    let all = names.iter().flat_map(|name| folders.map(|folder| Path::new(folder).join(name)));
    all.into_iter().find(|path| path.exists()).unwrap_or_else(|| PathBuf::from(names[0]))
}
