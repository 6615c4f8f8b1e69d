//! Servers that were there already: their processes are found and watched.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use units::{Clock, Nanos, RealClock};

use crate::support::{
    ExitedCommand, Fixture, ManualServer, assert_half_is_left, free_port, in_own_network, program, wait_for,
};
use crate::users::OtherUser;

/// Starts nginx with a configuration of its own, which serves the files of a benchmark.
fn nginx(fixture: &Fixture, port: u16) -> ManualServer {
    let path = nginx_config(fixture, &format!("127.0.0.1:{port}"));
    let mut command = Command::new(program(&["nginx"]));
    command.arg("-c").arg(path);
    let server = ManualServer::start(command, "nginx", "nginx-light");
    let address: SocketAddr = ([127, 0, 0, 1], port).into();
    wait_for("nginx", || TcpStream::connect(address).is_ok());
    server
}

/// Writes a configuration with which nginx listens at an address and has two workers.
fn nginx_config(fixture: &Fixture, listen: &str) -> PathBuf {
    fixture.run(&["populate", "one-object", "--dir", "site"]).expect(0);
    let folder = fixture.path(".");
    // Its workers may otherwise run as a user who cannot enter the folder of a test.
    let user = if rustix::process::geteuid().is_root() { "user root; " } else { "" };
    let config = format!(
        "{user}daemon off; worker_processes 2; pid {0}/nginx.pid; error_log {0}/error.log;\n\
         events {{ worker_connections 128; }}\n\
         http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;\n\
         fastcgi_temp_path {0}/fastcgi; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;\n\
         server {{ listen {listen}; root {0}/site; }} }}\n",
        folder.display()
    );
    fixture.write("nginx.conf", &config)
}

fn run(fixture: &Fixture, port: u16, extra: &[&str]) -> ExitedCommand {
    fixture.run(&arguments(&format!("http://127.0.0.1:{port}/"), extra))
}

/// Seconds of a steady phase in which connections are counted, however many the machine has.
const COUNTED_SECONDS: &str = "5";

fn arguments<'a>(target: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    arguments_for("3", target, extra)
}

/// Returns the arguments of a run with so many seconds of load.
fn arguments_for<'a>(seconds: &'a str, target: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    let arguments = [
        "run",
        "one-object",
        "--target",
        target,
        "--load",
        "2",
        "--duration",
        seconds,
        "--settle",
        "0",
        "--out",
        "run.plim",
    ];
    [&arguments[..], extra].concat()
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
    let fixture = Fixture::new();
    let port = free_port();
    let _server = nginx(&fixture, port);
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

/// Goal: a server that may use one CPU alone has that limit, in the report and as a counter.
#[test]
fn the_cpus_that_a_server_may_use_are_a_limit_in_force() {
    let fixture = Fixture::new();
    let port = free_port();
    let config = nginx_config(&fixture, &format!("127.0.0.1:{port}"));
    let mut command = Command::new("taskset");
    command.args(["-c", "0"]).arg(program(&["nginx"])).arg("-c").arg(config);
    let _server = ManualServer::start(command, "taskset", "util-linux");
    wait_for("nginx", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    run(&fixture, port, &[]).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    let label = format!("port={port}");
    let allowed = metrics(&report, "sut.allowed_cpu");
    // A machine with one CPU restricts nothing.
    if 1 < std::thread::available_parallelism().unwrap().get() {
        assert_eq!(allowed, [(format!("{label} 0"), 1.0)]);
        let name = format!("{label}, limit in force: CPUs");
        let fact = fixture.fact(&fixture.path("run.plim"), "Watched processes", &name);
        assert_eq!(fact.as_deref(), Some("0, by the affinity of its processes"));
    }
}

/// A service that answers after 30 ms, as many requests at once as come.
const SLOW_SERVICE: &str = "\
import http.server, sys, time
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.03)
        self.send_response(200)
        self.send_header('Content-Length', '5')
        self.end_headers()
        self.wfile.write(b'slow\\n')
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
Server(('127.0.0.1', int(sys.argv[1])), Page).serve_forever()
";

/// The seconds of load in each run until connections were counted often enough, which is the first one unless the machine is
/// busy.
const ATTEMPTS: [&str; 3] = ["4", "8", "8"];

/// The number of connections in TIME-WAIT that are few.
const FEW_IN_TIME_WAIT: u64 = 2_000;

/// Returns the attempts with their seconds of load; each but the first waits until connections can be counted often.
fn attempts() -> impl Iterator<Item = (usize, &'static str)> {
    ATTEMPTS.into_iter().enumerate().inspect(|(attempt, _)| {
        if 0 < *attempt {
            wait_for_few_in_time_wait();
        }
    })
}

/// Waits until few connections are in TIME-WAIT, where they stay for a minute after their end: counts of connections are the
/// rarer the more of them other tests and the last attempt have left. Those of other tests may go on coming.
fn wait_for_few_in_time_wait() {
    let clock = RealClock::start();
    let n_waiting = || {
        let text = fs::read_to_string("/proc/thread-self/net/sockstat").unwrap_or_default();
        let (_, rest) = text.split_once(" tw ")?;
        rest.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    while n_waiting().is_some_and(|n| FEW_IN_TIME_WAIT <= n) && clock.now() < Nanos::from_secs(60) {
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// The number of counts of connections in a load point that are enough to tell what held the operations.
const READINGS_MIN: u64 = 3;

/// Starts nginx as a proxy in front of a slow service on port `behind`.
fn slow_proxy(fixture: &Fixture, port: u16, behind: u16) -> [ManualServer; 2] {
    let mut command = Command::new("python3");
    command.arg("-c").arg(SLOW_SERVICE).arg(behind.to_string());
    let service = ManualServer::start(command, "python3", "python3");
    wait_for("the service", || TcpStream::connect(("127.0.0.1", behind)).is_ok());
    let config = fs::read_to_string(nginx_config(fixture, &format!("127.0.0.1:{port}"))).unwrap();
    let site = format!("root {}/site;", fixture.path(".").display());
    assert!(config.contains(&site), "{config}");
    let proxy = format!("location / {{ proxy_pass http://127.0.0.1:{behind}; }}");
    let config = fixture.write("proxy.conf", &config.replace(&site, &proxy));
    let mut command = Command::new(program(&["nginx"]));
    command.arg("-c").arg(config);
    let server = ManualServer::start(command, "nginx", "nginx-light");
    wait_for("nginx", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    [server, service]
}

/// Goal: what a server waits for is found by its connections, watched without being named, and told from a lock.
#[test]
fn a_slow_service_behind_the_server_is_found_and_named() {
    in_own_network(find_a_slow_service);
}

fn find_a_slow_service() {
    let fixture = Fixture::new();
    let port = free_port();
    let behind = free_port();
    let _running = slow_proxy(&fixture, port, behind);
    let target = format!("http://127.0.0.1:{port}/");
    let mut out = String::new();
    let mut report = Value::Null;
    for (attempt, seconds) in attempts() {
        out = format!("run{attempt}.plim");
        let arguments =
            ["run", &target, "--load", "1,8", "--duration", seconds, "--settle", "1", "--out", &out];
        fixture.run(&arguments).expect_measured();
        report = fixture.report(&fixture.path(&out));
        let counters = report["load_points"][1]["counters"].as_array().unwrap().iter();
        let mut connections = counters.filter(|one| one["counter"] == "sut.service_connections");
        if connections.any(|one| one["readings"].as_u64().is_some_and(|n| READINGS_MIN <= n)) {
            break;
        }
    }
    let point = &report["load_points"][1];
    let of = |counter: &str, instance: &str| {
        let all = point["counters"].as_array().unwrap();
        let found = all.iter().find(|one| one["counter"] == counter && one["instance"] == instance);
        found.and_then(|one| one["value"].as_f64())
    };
    assert!(of("sut.service_connections", &behind.to_string()).is_some_and(|n| 4.0 < n), "{point}");
    assert_eq!(of("sut.processes", &format!("port={behind}")), Some(1.0));
    let told = format!("back end port={behind} (1 process) was found by the server’s connections to it");
    fixture.run(&["export", &out, "--format", "ndjson"]).expect(0).expect_stdout(&told);
    assert!(of("tcp.accept_queue_max", &behind.to_string()).is_some());
    assert_eq!(point["bottleneck"]["name"], "slow downstream service", "{}", point["bottleneck"]);
    assert_eq!(point["bottleneck"]["service"], format!("port {behind}").as_str());
}

/// A shell on this machine in place of `ssh` and another machine.
const SSH: &str = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift 2; exec \"$@\"\n";

/// Starts a process that holds a socket and does nothing.
fn holder(socket: OwnedFd) -> ManualServer {
    ManualServer(Command::new("sleep").arg("600").stdin(socket).spawn().unwrap())
}

/// Goal: through ssh, back ends are found and watched as groups of that machine: one to which another process is connected
/// already, which is listed, and one to which the server is connected during the run, which is told. The server is seen from
/// here, too.
#[test]
fn a_back_end_on_a_machine_of_ssh_is_found_and_told() {
    in_own_network(find_a_back_end_by_ssh);
}

fn find_a_back_end_by_ssh() {
    let fixture = Fixture::new();
    let port = free_port();
    let behind = free_port();
    let _running = slow_proxy(&fixture, port, behind);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = holder(TcpStream::connect(address).unwrap().into());
    let _connected = holder(listener.into());
    let ssh = fixture.write("bin/ssh", SSH);
    fs::set_permissions(ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", fixture.path("bin").display(), std::env::var("PATH").unwrap());
    let target = format!("http://127.0.0.1:{port}/");
    let selectors = [format!("sut.invalid/port={port}"), format!("sut.invalid/pid={}", client.0.id())];
    let mut out = String::new();
    let mut processes = None;
    let mut report = Value::Null;
    for (attempt, seconds) in attempts() {
        out = format!("run{attempt}.plim");
        let load = ["run", &target, "--load", "2", "--duration", seconds, "--settle", "0", "--out", &out];
        let watch = ["--watch", &selectors[0], "--watch", &selectors[1]];
        let monitor = [&["--monitor", "ssh=me@sut.invalid"][..], &watch].concat();
        let mut command = fixture.command(&[&load[..], &monitor].concat());
        command.env("PATH", &path);
        fixture.end(command).expect_measured();
        report = fixture.report(&fixture.path(&out));
        processes = value_on(&report, "me@sut.invalid", "sut.processes", &format!("port={behind}"));
        if processes.is_some() {
            break;
        }
    }
    assert_eq!(processes, Some(1.0), "{report}");
    let of = |counter: &str, port: u16| value_on(&report, "me@sut.invalid", counter, &port.to_string());
    assert!(of("sut.service_connections", behind).is_some_and(|n| 0.0 < n), "{report}");
    assert!(of("tcp.accept_queue", behind).is_some() && of("tcp.accept_queue", port).is_some());
    let listed = format!("port={} on another machine", address.port());
    let fact = fixture.fact(&fixture.path(&out), "Watched processes", &listed);
    assert_eq!(fact.as_deref(), Some("1 process"));
    let told = format!("back end port={behind} on another machine (1 process) was found");
    fixture.run(&["export", &out, "--format", "ndjson"]).expect(0).expect_stdout(&told);
}

/// A group of CPU time of version 1 that a test made; it goes with the value, after its processes.
struct CpuGroup([PathBuf; 2]);

impl CpuGroup {
    /// Makes a group that may use a tenth of a CPU; `None` where this user may not.
    fn limited(name: &str) -> Option<CpuGroup> {
        let group = CpuGroup(["cpu", "cpuacct"].map(|one| Path::new("/sys/fs/cgroup").join(one).join(name)));
        group.0.iter().try_for_each(fs::create_dir).ok()?;
        fs::write(group.0[0].join("cpu.cfs_period_us"), "20000").ok()?;
        fs::write(group.0[0].join("cpu.cfs_quota_us"), "2000").ok()?;
        Some(group)
    }

    fn admit(&self, pid: u32) {
        self.0.iter().for_each(|one| fs::write(one.join("cgroup.procs"), pid.to_string()).unwrap());
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        let clock = RealClock::start();
        let mut is_left = |one: &PathBuf| fs::remove_dir(one).is_err() && one.exists();
        // The kernel takes a moment until an ended process has left.
        while self.0.iter().any(&mut is_left) && clock.now() < Nanos::from_secs(2) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Goal: the quota of a server that somebody else started is read, told, and named when it is used up.
#[test]
fn a_quota_that_nobody_told_is_a_limit_in_force_and_the_bottleneck() {
    let fixture = Fixture::new();
    let port = free_port();
    let Some(group) = CpuGroup::limited(&format!("plimsoll-test-quota-{}", std::process::id())) else {
        println!("skipped: this user may not make control groups of version 1");
        return;
    };
    let config = nginx_config(&fixture, &format!("127.0.0.1:{port}"));
    let mut command = Command::new("sh");
    command.args(["-c", "read go; exec \"$0\" -c \"$1\""]).arg(program(&["nginx"])).arg(config);
    let mut server = ManualServer(command.stdin(Stdio::piped()).spawn().unwrap());
    group.admit(server.0.id());
    server.0.stdin.take().unwrap().write_all(b"go\n").unwrap();
    wait_for("nginx", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    run(&fixture, port, &[]).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    let label = format!("port={port}");
    assert_eq!(metrics(&report, "sut.cpu_quota"), [(label.clone(), 100_000.0)]);
    let name = format!("{label}, limit in force: CPU quota");
    let fact = fixture.fact(&fixture.path("run.plim"), "Watched processes", &name).unwrap();
    assert!(fact.starts_with("0.1 CPUs, set by control group /plimsoll-test-quota-"), "{fact}");
    let bottleneck = &report["load_points"][0]["bottleneck"];
    assert_eq!(bottleneck["name"], "processor", "{bottleneck}");
    drop(server);
    drop(group);
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
    run(&fixture, port, &["--watch", "sut/port=8080"])
        .expect(2)
        .expect_stderr("error: `--watch sut/port=8080`: this machine is not monitored")
        .expect_stderr("hint: add `--monitor ssh=USER@sut`");
    assert!(!fs::exists(fixture.path("run.plim")).unwrap());
}

/// Goal: a back end that listens on a Unix socket is a group of its own, with its accept queue.
#[test]
fn a_back_end_on_a_unix_socket_is_watched_beside_the_server() {
    let fixture = Fixture::new();
    let port = free_port();
    let _server = nginx(&fixture, port);
    let socket = fixture.path("fpm.sock");
    let pool = format!(
        "[global]\ndaemonize = no\nerror_log = {}\n[www]\nlisten = {}\nlisten.backlog = 77\nuser = root\n\
         pm = static\npm.max_children = 2\n",
        fixture.path("fpm.log").display(),
        socket.display()
    );
    let mut command =
        Command::new(program(&["php-fpm8.4", "php-fpm8.3", "php-fpm8.2", "php-fpm8.1", "php-fpm"]));
    command.arg("--nodaemonize").arg("--fpm-config").arg(fixture.write("fpm.conf", &pool));
    if rustix::process::geteuid().is_root() {
        command.arg("--allow-to-run-as-root");
    }
    let back_end = ManualServer::start(command, "php-fpm", "php-fpm");
    wait_for("php-fpm", || std::os::unix::net::UnixStream::connect(&socket).is_ok());
    let selector = format!("pid={}", back_end.0.id());
    let target = format!("http://127.0.0.1:{port}/");
    let arguments = arguments_for(COUNTED_SECONDS, &target, &["--watch", &selector]);
    fixture.run(&arguments).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    let of = |counter: &str, instance: &str| {
        metrics(&report, counter).into_iter().find(|(known, _)| known == instance).map(|(_, value)| value)
    };
    assert_eq!(of("sut.processes", &selector), Some(3.0));
    assert_eq!(of("sut.processes", &format!("port={port}")), Some(3.0));
    assert!(of("tcp.accept_queue_max", &port.to_string()).is_some_and(|most| 2.0 < most));
    assert_eq!(of("unix.accept_queue", &socket.display().to_string()), Some(0.0));
    assert_eq!(of("unix.accept_queue_max", &socket.display().to_string()), Some(77.0));
    assert!(of("sut.connections", &port.to_string()).is_some());
}

/// Starts nginx in a network namespace of its own, with a link to this machine; only root can. Returns its address. The
/// link goes with the namespace, which goes with the server.
fn nginx_apart(fixture: &Fixture, port: u16) -> (ManualServer, String) {
    let config = nginx_config(fixture, &format!("0.0.0.0:{port}"));
    // The shell waits until its network is set up.
    let line = format!("read go; exec {} -c {}", program(&["nginx"]).display(), config.display());
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", &line]).stdin(Stdio::piped());
    let mut server = ManualServer(command.spawn().unwrap());
    let pid = server.0.id();
    let own = fs::read_link("/proc/self/ns/net").unwrap();
    wait_for("the namespace", || fs::read_link(format!("/proc/{pid}/ns/net")).is_ok_and(|link| link != own));
    let subnet = format!("10.{}.{}", 200 + pid / 250 % 50, pid % 250);
    let link = format!("plw{pid}");
    let setup = format!(
        "set -e; ip link add {link} type veth peer name eth0 netns {pid}; ip addr add {subnet}.1/30 dev {link}; \
         ip link set {link} up; nsenter -t {pid} -n sh -ec 'ip link set lo up; ip addr add {subnet}.2/30 dev eth0; \
         ip link set eth0 up'"
    );
    assert!(Command::new("sh").args(["-c", &setup]).status().unwrap().success(), "{setup}");
    server.0.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let address = format!("{subnet}.2:{port}");
    wait_for("nginx", || TcpStream::connect(&address).is_ok());
    (server, address)
}

/// Returns the value of a series of a machine at the only load point.
fn value_on(report: &Value, machine: &str, counter: &str, instance: &str) -> Option<f64> {
    let counters = report["load_points"][0]["counters"].as_array().unwrap();
    let found = counters
        .iter()
        .find(|one| one["machine"] == machine && one["counter"] == counter && one["instance"] == instance);
    found.and_then(|one| one["value"].as_f64())
}

/// Goal: a server in a network namespace of its own, as in a container, is found by its address, and the counters of its
/// namespace are read. Only root can make one.
#[test]
fn a_server_in_another_network_namespace_is_watched() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let fixture = Fixture::new();
    let port = free_port();
    let (_server, address) = nginx_apart(&fixture, port);
    fixture.run(&arguments(&format!("http://{address}/"), &[])).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    let label = format!("port={port}");
    assert_half_is_left(&report);
    assert!(metrics(&report, "sut.cpu").iter().any(|(instance, cpu)| *instance == label && 0.0 < *cpu));
    let machine = format!("network of {label}");
    let inside = |counter: &str, instance: &str| value_on(&report, &machine, counter, instance);
    assert_eq!(inside("net.route", "eth0"), Some(1.0));
    assert!(inside("net.sent_bytes", "eth0").is_some_and(|rate| 0.0 < rate));
    assert!(inside("tcp.segments_sent", "").is_some_and(|rate| 0.0 < rate));
    assert!(inside("tcp.accept_queue_max", &port.to_string()).is_some_and(|most| 2.0 < most));
}

/// Goal: servers in different network namespaces are watched at once, each with the counters of its own, and the load
/// arrives in one of them. Only root can make them.
#[test]
fn servers_in_several_network_namespaces_are_watched_at_once() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let fixtures = [Fixture::new(), Fixture::new()];
    let ports = [free_port(), free_port()];
    let (_server, address) = nginx_apart(&fixtures[0], ports[0]);
    let (behind, _) = nginx_apart(&fixtures[1], ports[1]);
    let selector = format!("pid={}", behind.0.id());
    let target = format!("http://{address}/");
    fixtures[0].run(&arguments(&target, &["--watch", &selector])).expect_measured();
    let report = fixtures[0].report(&fixtures[0].path("run.plim"));
    let labels = [format!("port={}", ports[0]), selector];
    for (label, port, arrives) in [(&labels[0], ports[0], Some(1.0)), (&labels[1], ports[1], None)] {
        let machine = format!("network of {label}");
        let inside = |counter: &str, instance: &str| value_on(&report, &machine, counter, instance);
        assert_eq!(inside("net.route", "eth0"), arrives, "{label}");
        assert!(inside("tcp.segments_sent", "").is_some(), "{label}");
        assert!(inside("tcp.accept_queue_max", &port.to_string()).is_some_and(|most| 2.0 < most), "{label}");
        assert_eq!(value_on(&report, "this machine", "sut.processes", label), Some(3.0));
        let fact = fixtures[0].fact(
            &fixtures[0].path("run.plim"),
            "Watched processes",
            &format!("{label}, network"),
        );
        assert_eq!(fact.as_deref(), Some("a network namespace of its own"));
    }
}

/// Goal: a user who may not look into the server's processes learns which conclusions that rules out.
#[test]
fn another_user_sees_what_can_be_read_and_is_told_the_rest() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let fixture = Fixture::new();
    let port = free_port();
    let server = nginx(&fixture, port);
    let user = OtherUser::new(54_323);
    let target = format!("http://127.0.0.1:{port}/");
    let ended = user.run(&arguments(&target, &[])).expect_measured();
    let said = "belongs to another user";
    let ended = ended.expect_stderr(said).expect_stderr("`--watch pid=NUMBER`");
    drop(ended);
    let run = user.fixture.path("run.plim");
    let fact = |section: &str, name: &str| user.fixture.fact(&run, section, name).unwrap_or_default();
    assert!(fact("Watched processes", "server").contains(said), "{}", fact("Watched processes", "server"));
    fs::remove_file(&run).unwrap();
    let selector = format!("pid={}", server.0.id());
    user.run(&arguments(&target, &["--watch", &selector])).expect_measured();
    let report = user.fixture.report(&run);
    let of = |counter| metrics(&report, counter).iter().any(|(instance, _)| *instance == selector);
    assert!(of("sut.cpu") && of("sut.run_delay") && of("sut.threads") && of("sut.open_files"));
    assert!(!of("sut.read_bytes"));
    assert!(fact("Watched processes", &format!("{selector}, not seen: disk bytes")).contains("/proc/PID/io"));
    assert!(fact("Watched processes", &format!("{selector}, not seen: wait channels")).contains("lock"));
}
