//! Servers that were there already: their processes are found and watched.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use units::{Clock, Nanos, RealClock};

use crate::support::{Ended, Fixture, free_port};

/// The longest that a server may take until it answers.
const READY_MAX: Nanos = Nanos::from_secs(20);

/// A server that a test started by hand, outside of any recipe; it ends with the value.
struct ByHand(Child);

impl ByHand {
    #[track_caller]
    fn start(mut command: Command, program: &str, package: &str) -> ByHand {
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        ByHand(
            spawned.unwrap_or_else(|why| {
                panic!("{program}: {why}; install it with `apt-get install {package}`")
            }),
        )
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        // It may have ended by itself.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

#[track_caller]
fn wait_for(what: &str, is_ready: impl Fn() -> bool) {
    let clock = RealClock::start();
    while !is_ready() {
        assert!(clock.now() < READY_MAX, "{what} does not come up");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn program(names: &[&str]) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin"];
    let all = names.iter().flat_map(|name| folders.map(|folder| Path::new(folder).join(name)));
    all.into_iter().find(|path| path.exists()).unwrap_or_else(|| PathBuf::from(names[0]))
}

/// Starts nginx with a configuration of its own, which serves the files of a benchmark.
fn nginx(fixture: &Fixture, port: u16, extra: &str) -> ByHand {
    fixture.run(&["populate", "one-object", "--dir", "site"]).expect(0);
    let folder = fixture.path(".");
    let config = format!(
        "daemon off; worker_processes 2; pid {0}/nginx.pid; error_log {0}/error.log;\n\
         events {{ worker_connections 128; }}\n\
         http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;\n\
         fastcgi_temp_path {0}/fastcgi; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;\n\
         server {{ listen 127.0.0.1:{port}; root {0}/site; {extra} }} }}\n",
        folder.display()
    );
    let path = fixture.write("nginx.conf", &config);
    let mut command = Command::new(program(&["nginx"]));
    command.arg("-c").arg(path).arg("-p").arg(&folder);
    // Its workers may run as a user who cannot enter the folder of a test.
    if rustix::process::geteuid().is_root() {
        command.args(["-g", "user root;"]);
    }
    let server = ByHand::start(command, "nginx", "nginx-light");
    let address: SocketAddr = ([127, 0, 0, 1], port).into();
    wait_for("nginx", || TcpStream::connect(address).is_ok());
    server
}

fn run(fixture: &Fixture, port: u16, extra: &[&str]) -> Ended {
    let target = format!("http://127.0.0.1:{port}/");
    let arguments = [
        "run",
        "one-object",
        "--target",
        &target,
        "--load",
        "2",
        "--duration",
        "3",
        "--settle",
        "0",
        "--out",
        "run.plim",
    ];
    fixture.run(&[&arguments[..], extra].concat())
}

/// Returns the metrics of a counter at the only load point, by instance.
fn metrics(report: &Value, counter: &str) -> Vec<(String, f64)> {
    let resources = report["load_points"][0]["counters"].as_array().unwrap();
    let of = |one: &&Value| one["counter"] == counter;
    let text = |one: &Value| {
        (one["instance"].as_str().unwrap_or_default().to_owned(), one["value"].as_f64().unwrap_or(-1.0))
    };
    resources.iter().filter(of).map(text).collect()
}

#[test]
fn a_server_started_by_hand_is_found_and_its_processes_are_counted() {
    let (fixture, port) = (Fixture::new(), free_port());
    let _server = nginx(&fixture, port, "");
    run(&fixture, port, &[]).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    let label = format!("port={port}");
    let of = |counter| {
        let all = metrics(&report, counter);
        all.iter().find(|(instance, _)| *instance == label).unwrap_or_else(|| panic!("{counter}: {all:?}")).1
    };
    assert!(
        0.0 < report["load_points"][0]["sut"]["cpus"].as_f64().unwrap(),
        "{}",
        report["load_points"][0]["sut"]
    );
    assert_eq!(of("sut.processes"), 3.0);
    assert_eq!(of("sut.threads"), 3.0);
    // Of a CPU, in µs per second.
    assert!(1_000.0 < of("sut.cpu") && of("sut.cpu") < 2e6, "{}", of("sut.cpu"));
    assert!(0.0 < of("sut.run_delay") && 0.0 < of("sut.open_files"));
    let fact = fixture.fact(&fixture.path("run.plim"), "Watched processes", &label).unwrap();
    assert_eq!(fact, "nginx (3 processes)");
}

#[test]
fn selected_processes_that_do_not_exist_are_refused() {
    let fixture = Fixture::new();
    let port = free_port();
    run(&fixture, port, &["--watch", "unit=no-such-unit"])
        .expect(2)
        .expect_stderr(
            "error: watched processes `unit=no-such-unit.service`: no process belongs to this unit",
        )
        .expect_stderr("hint: `systemctl status no-such-unit.service`");
    run(&fixture, port, &["--watch", "8080"]).expect(2).expect_stderr("hint: did you mean `port=8080`?");
    run(&fixture, port, &["--watch", "pid=2", "--monitor", "off"])
        .expect(2)
        .expect_stderr("`--monitor off` monitors nothing");
    assert!(!fs::exists(fixture.path("run.plim")).unwrap());
}
