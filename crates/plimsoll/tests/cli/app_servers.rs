//! Application servers over HTTP: those of the recipes, compared with the built-in one, and one that runs already.

use std::process::Command;
use std::sync::Once;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Fixture, ManualServer, assert_watched, free_port, wait_for};

const SERVERS: [&str; 3] = ["python", "node", "go"];

/// Arguments for a load point of a second with files of the shortest range.
const SHORT: [&str; 9] =
    ["--quick", "--load", "2", "--duration", "1", "--set", "range=64 KiB", "--monitor", "off"];

fn run(fixture: &Fixture, arguments: &[&str]) -> crate::support::ExitedCommand {
    compile_library_of_go();
    fixture.run(&[&["run", "serverbench"], arguments, &SHORT, &["--out", "runs"]].concat())
}

/// Has the part of Go's library that the server needs compiled into this user's cache: tests that begin at the same time would
/// each compile all of it.
fn compile_library_of_go() {
    static COMPILED: Once = Once::new();
    COMPILED.call_once(|| {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateways/app.go");
        let mut build = Command::new("go");
        build.args(["build", "-o", "/dev/null", program]);
        let status = build.env("CGO_ENABLED", "0").env("GOPROXY", "off").env("GOTOOLCHAIN", "local").status();
        assert!(status.is_ok_and(|status| status.success()), "Go compiles its library");
    });
}

/// Returns the kinds of operations of a run's only load point, all of which succeeded.
fn kinds(fixture: &Fixture, server: &str) -> Vec<Value> {
    let report = fixture.report(&fixture.path(&format!("runs/{server}.plim")));
    let point = &report["load_points"][0];
    assert_eq!(point["total"]["errors"], 0, "{server}: {report}");
    point["kinds"].as_array().unwrap().clone()
}

#[test]
fn servers_in_other_languages_are_compared_with_the_built_in_one() {
    let fixture = Fixture::new();
    let arguments = ["--sut", "built-in,python,node,go", "--set", "suite=net"];
    let ended = run(&fixture, &arguments).expect_measured();
    for server in [&["built-in"][..], &SERVERS].concat() {
        fixture.run(&["audit", &format!("runs/{server}.plim")]).expect(0);
        // On a busy machine a kind may have no turn; each was performed once before the load.
        let measured: Vec<Value> =
            kinds(&fixture, server).into_iter().filter(|kind| 0 < kind["n"].as_u64().unwrap()).collect();
        assert!(!measured.is_empty(), "{server}");
        for kind in measured {
            let is_known = |measure: &str| kind[measure]["mean"].is_number();
            // A time that a server does not state is not known.
            assert_eq!(is_known("queue_s"), ["built-in", "python"].contains(&server), "{server}: {kind}");
            assert!(is_known("service_s") && is_known("sent_bytes"), "{server}: {kind}");
        }
    }
    let modified = |server: &str| {
        let report = fixture.report(&fixture.path(&format!("runs/{server}.plim")));
        report["modifications"].as_array().unwrap().iter().any(|one| one["what"] == "protocol")
    };
    assert_eq!(["built-in", "go"].map(modified), [false, true]);
    assert!(ended.stdout.contains("protocol binary → http"), "{}", ended.stdout);
    assert!(fixture.path("runs/comparison.html").is_file());
}

/// Every kind is performed once before the load, and checked: the arithmetic of each language is right.
#[test]
fn servers_in_other_languages_compute_and_keep_files() {
    let fixture = Fixture::new();
    for suite in ["sys", "disk"] {
        let arguments = ["--sut", &SERVERS.join(","), "--set", &format!("suite={suite}")];
        run(&fixture, &arguments).expect_measured();
        SERVERS.iter().for_each(|server| drop(kinds(&fixture, server)));
        std::fs::remove_dir_all(fixture.path("runs")).unwrap();
    }
}

#[test]
fn files_are_written_through_or_past_the_page_cache_where_a_language_can() {
    let fixture = Fixture::new();
    for (servers, io) in [("python,node,go", "durable"), ("python,go", "direct")] {
        let settings = ["--sut", servers, "--set", "suite=disk", "--set", "cold=true"];
        run(&fixture, &[&settings[..], &["--set", &format!("io={io}")]].concat()).expect_measured();
        servers.split(',').for_each(|server| drop(kinds(&fixture, server)));
        std::fs::remove_dir_all(fixture.path("runs")).unwrap();
    }
    let refused = ["run", "serverbench", "--sut", "node", "--set", "suite=disk", "--set", "io=direct"];
    fixture
        .run(&[&refused[..], &SHORT, &["--out", "run.plim"]].concat())
        .expect(4)
        .expect_stderr("the server answered with status 501: Not Implemented");
}

/// The directory of all servers that a run starts, in memory in a mount namespace of its own, where that is permitted.
#[test]
fn files_in_memory_are_refused_before_a_server_is_started() {
    let fixture = Fixture::new();
    let line = r#"
        run() {
            mount -t tmpfs tmpfs /var/tmp
            "$plimsoll" run serverbench --sut built-in,python --set suite=disk --load 1 --quick --out runs
            echo "exit $?"
        }
        export -f run
        if unshare -rm mount -t tmpfs tmpfs /var/tmp 2>/dev/null; then unshare -rm bash -c run; fi"#;
    let ended = fixture.shell(line).expect(0);
    if ended.stdout.is_empty() {
        // Mounts are not permitted here.
        return;
    }
    let refusal = "is on tmpfs; client files must be on a disk\nhint: mount a disk there, or load files";
    assert_eq!(ended.stderr.matches(refusal).count(), 2, "{}", ended.stderr);
    let ended = ended.expect_stdout("exit 4\n");
    assert!(!ended.stderr.contains("starting"), "{}", ended.stderr);
}

/// Starts the Python server, which has no files yet, on a port; returns it with the directory of its files.
fn python_by_hand(port: u16) -> (ManualServer, TempDir) {
    let files = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateways/app.py");
    let mut command = Command::new("/usr/bin/python3");
    command.args([program, "127.0.0.1", &port.to_string(), files.path().to_str().unwrap()]);
    let server = ManualServer::start(command, "python3", "python3");
    wait_for("the server", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    (server, files)
}

#[test]
fn a_running_server_is_loaded_over_http() {
    let fixture = Fixture::new();
    let port = free_port();
    let _server = python_by_hand(port);
    let target = format!("http://127.0.0.1:{port}");
    let arguments = ["run", "serverbench", "--target", &target, "--set", "suite=disk", "--out", "run.plim"];
    fixture.run(&[&arguments[..], &SHORT].concat()).expect_measured();
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{report}");
}

/// Goal: an application server on this machine is found, watched, and left the CPUs that a web server would be.
#[test]
fn a_server_started_by_hand_is_watched_as_a_web_server_is() {
    let fixture = Fixture::new();
    let port = free_port();
    let _server = python_by_hand(port);
    let target = format!("http://127.0.0.1:{port}");
    assert_watched(&fixture, &target, "python3 (1 process)");
}

#[test]
fn the_protocol_follows_from_the_server() {
    let fixture = Fixture::new();
    let refused = |arguments: &[&str]| run(&fixture, arguments).expect(2);
    refused(&["--set", "protocol=http"])
        .expect_stderr("built-in speaks `binary`, which contradicts `protocol=http`")
        .expect_stderr("hint: leave `protocol` out");
    refused(&["--sut", "go", "--set", "protocol=binary"]).expect_stderr("go speaks `http`");
    refused(&["--target", "app://127.0.0.1:1", "--set", "protocol=http"]).expect_stderr("speaks `binary`");
    refused(&["--target", "https://127.0.0.1:1"]).expect_stderr("expected `app://HOST:PORT`");
}
