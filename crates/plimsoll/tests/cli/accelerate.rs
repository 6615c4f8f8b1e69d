//! `accelerate`: the real accelerator in front of a real web server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Fixture, RunningCommand};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// An HTTP response.
#[derive(Debug)]
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the `Cache-Status` without the cache's name and the time to live.
    fn cache(&self) -> String {
        let status = self.header("cache-status").unwrap_or_default();
        let parts = status.split("; ").skip(1).filter(|part| !part.starts_with("ttl="));
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// Sends a request with header lines and body, and reads the response up to the end of the connection.
fn ask(address: &str, first: &str, lines: &str, body: &str) -> Response {
    ask_for("site.example", address, first, lines, body)
}

/// Sends a request to the admin interface.
fn ask_admin(admin: &str, first: &str, lines: &str, body: &str) -> Response {
    ask_for(admin, admin, first, lines, body)
}

fn get_admin(admin: &str, path: &str) -> Response {
    ask_admin(admin, &format!("GET {path}"), "", "")
}

fn ask_for(host: &str, address: &str, first: &str, lines: &str, body: &str) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let head = format!("{first} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{lines}{length}\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    read(stream)
}

fn read(mut stream: TcpStream) -> Response {
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    let text = String::from_utf8(received).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Response { status, head: head.to_owned(), body: body.to_owned() }
}

fn get(address: &str, path: &str) -> Response {
    ask(address, &format!("GET {path}"), "", "")
}

/// Retries until the condition holds.
#[track_caller]
fn eventually(holds: impl Fn() -> bool) {
    assert!((0..1_000).any(|_| holds()));
}

/// A running accelerator and its addresses.
struct Accelerator {
    running: RunningCommand,
    address: String,
    admin: String,
}

/// Starts an accelerator with a configuration, in the file `a.toml`.
fn accelerate(fixture: &Fixture, arguments: &[&str], config: &str) -> Accelerator {
    fixture.write("a.toml", config);
    let fixed = ["accelerate", "--json", "--config", "a.toml", "--listen", "127.0.0.1:0"];
    let running = fixture.start(&[&fixed[..], arguments].concat());
    let ready = running.ready();
    let address = ready["address"].as_str().unwrap().to_owned();
    let admin = ready["admin"].as_str().unwrap_or_default().to_owned();
    Accelerator { running, address, admin }
}

const CONFIG: &str = "
    workers = 2
    [cache]
    default-lifetime = \"1 h\"
    [admin]
    listen = \"127.0.0.1:0\"
    token-file = \"token\"
    [access-log]
    file = \"access.log\"
    form = \"json\"
";

#[test]
fn a_page_is_fetched_once_until_it_is_purged_and_requests_are_counted_and_logged() {
    let fixture = Fixture::new();
    fixture.write("token", TOKEN);
    let (_server, origin) = fixture.serve(&["one-object"]);
    let accelerator = accelerate(&fixture, &["--origin", &format!("http://{origin}")], CONFIG);
    let Accelerator { address, admin, .. } = &accelerator;
    let page = |expected: &str| {
        let reply = get(address, "/one.html");
        assert_eq!((reply.status, reply.cache().as_str()), (200, expected), "{}", reply.head);
        reply.body
    };
    let expected = get(&origin, "/one.html").body;
    assert_eq!(page("fwd=uri-miss; stored"), expected);
    assert_eq!(page("hit"), expected);
    assert_eq!(page("hit"), expected);

    let order = r#"{"url": "http://site.example/one.html"}"#;
    let purge =
        |token: &str| ask_admin(admin, "POST /purge", &format!("Authorization: bearer {token}\r\n"), order);
    assert_eq!((purge("wrong").status, page("hit")), (401, expected.clone()));
    let purged = purge(TOKEN);
    assert_eq!((purged.status, purged.body.as_str()), (200, "{\n  \"purged\": 1\n}\n"));
    assert_eq!(page("fwd=uri-miss; stored"), expected);

    // A reply is counted when it has been sent, which the client may notice first.
    eventually(|| get_admin(admin, "/metrics").body.contains("{class=\"2xx\"} 5\n"));
    let metrics = get_admin(admin, "/metrics").body;
    for line in [
        "plimsoll_accelerator_replies_total{path=\"memory\",reason=\"fresh\"} 3",
        "plimsoll_accelerator_replies_total{path=\"miss\",reason=\"uri-miss\"} 2",
        "plimsoll_accelerator_objects 1",
        "plimsoll_accelerator_changes_total{change=\"purged\"} 1",
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
    let status: Value = serde_json::from_str(&get_admin(admin, "/status.json").body).unwrap();
    assert_eq!((&status["replies"], &status["hit_ratio"]), (&json!(5), &json!(0.6)));
    assert_eq!(status["hottest"][0]["url"], "http://site.example/one.html");
    assert!(get_admin(admin, "/").body.contains("60.0 % of 5 responses"));
    assert_eq!(get(address, "/metrics").status, 404, "not served to clients");

    accelerator.running.signal(Signal::TERM);
    accelerator.running.end().expect(0);
    let log = std::fs::read_to_string(fixture.path("access.log")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut paths: Vec<&str> = lines.iter().map(|line| line["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths[..5], ["memory", "memory", "memory", "miss", "miss"]);
    assert_eq!(lines.len(), 6, "{log}");
    // Each worker writes its own lines, in no particular order.
    let page = lines.iter().find(|line| line["path"] == "miss" && line["target"] == "/one.html").unwrap();
    let logged = ["method", "host", "status", "body_bytes"].map(|key| page[key].clone());
    assert_eq!(logged, [json!("GET"), json!("site.example"), json!(200), json!(1024)]);
}

#[test]
fn prefilled_pages_are_hits_at_once() {
    let fixture = Fixture::new();
    fixture.write("token", TOKEN);
    let (_server, origin) = fixture.serve(&["one-object"]);
    let accelerator = accelerate(&fixture, &["--origin", &format!("http://{origin}")], CONFIG);
    let order = r#"{"urls": ["http://site.example/one.html", "nonsense"]}"#;
    let lines = format!("Authorization: Bearer {TOKEN}\r\n");
    let filled: Value =
        serde_json::from_str(&ask_admin(&accelerator.admin, "POST /prefill", &lines, order).body).unwrap();
    assert_eq!((&filled["stored"], &filled["failed"][0]["url"]), (&json!(1), &json!("nonsense")));
    assert_eq!(get(&accelerator.address, "/one.html").cache(), "hit");
}

#[test]
fn a_reload_keeps_the_cache_and_an_invalid_configuration_changes_nothing() {
    let fixture = Fixture::new();
    let (_server, origin) = fixture.serve(&["one-object"]);
    let config =
        |name: &str| format!("name = \"{name}\"\nworkers = 1\n[cache]\ndefault-lifetime = \"1 h\"\n");
    let accelerator = accelerate(&fixture, &["--origin", &format!("http://{origin}")], &config("before"));
    let name = || {
        let reply = get(&accelerator.address, "/one.html");
        assert_eq!(reply.status, 200);
        reply.header("cache-status").unwrap().to_owned()
    };
    assert!(name().starts_with("before; fwd=uri-miss; stored; ttl="), "{}", name());
    fixture.write("a.toml", &config("after"));
    accelerator.running.signal(Signal::HUP);
    accelerator.running.wait_for("The configuration has been reloaded.");
    // Each worker switches to it on its own.
    eventually(|| name().starts_with("after; hit"));

    fixture.write("a.toml", "name = \"wrong\"\nworkers = \"many\"\n");
    accelerator.running.signal(Signal::HUP);
    let said = accelerator.running.wait_for("the configuration was not reloaded");
    assert!(said.contains("`a.toml:2:11`"), "{said}");
    assert!(name().starts_with("after; hit"), "{}", name());

    // A port in use by another process.
    fixture.write("a.toml", &format!("{}[admin]\nlisten = \"{origin}\"\n", config("taken")));
    accelerator.running.signal(Signal::HUP);
    let said = accelerator.running.wait_for("the configuration was not reloaded");
    assert!(said.contains("the admin page cannot listen on"), "{said}");
    assert!(name().starts_with("after; hit"), "{}", name());
}

#[test]
fn objects_on_disk_are_served_after_a_kill_and_after_a_stop_without_the_origin() {
    let fixture = Fixture::new();
    let (server, origin) = fixture.serve(&["one-object"]);
    let config = "
        workers = 1
        [cache]
        default-lifetime = \"1 h\"
        [disk]
        folder = \"cache\"
        size = \"64 MiB\"
    ";
    let start = || {
        let arguments = ["--origin", &format!("http://{origin}"), "--admin", "127.0.0.1:0"];
        accelerate(&fixture, &arguments, config)
    };
    let expected = get(&origin, "/one.html").body;
    let page = |accelerator: &Accelerator, path: &str, cache: &str| {
        let reply = get(&accelerator.address, path);
        assert_eq!((reply.status, reply.cache().as_str()), (200, cache), "{}", reply.head);
        assert_eq!(reply.body, expected);
    };
    let counts = |accelerator: &Accelerator, sample: &str| {
        let sample = format!("plimsoll_accelerator_{sample}\n");
        eventually(|| get_admin(&accelerator.admin, "/metrics").body.contains(&sample));
    };

    let killed = start();
    page(&killed, "/one.html", "fwd=uri-miss; stored");
    counts(&killed, "disk_operations_total{operation=\"written\"} 1");
    // Dropping it kills it with SIGKILL.
    drop(killed);

    let stopped = start();
    page(&stopped, "/one.html", "hit");
    counts(&stopped, "replies_total{path=\"disk\",reason=\"fresh\"} 1");
    // Pending writes are finished before it exits.
    page(&stopped, "/one.html?2", "fwd=uri-miss; stored");
    stopped.running.signal(Signal::TERM);
    stopped.running.end().expect(0);

    drop(server);
    let last = start();
    page(&last, "/one.html", "hit");
    page(&last, "/one.html?2", "hit");
    counts(&last, "replies_total{path=\"disk\",reason=\"fresh\"} 2");
    counts(&last, "disk_operations_total{operation=\"torn\"} 0");
}

#[test]
fn requests_in_flight_are_answered_before_it_stops() {
    let fixture = Fixture::new();
    let origin = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", origin.local_addr().unwrap());
    let accelerator = accelerate(&fixture, &["--origin", &url], "workers = 1\n");
    let (requested, is_requested) = channel();
    let (finish, may_finish) = channel::<()>();
    std::thread::spawn(move || {
        let (mut stream, _) = origin.accept().unwrap();
        let mut piece = [0; 4_096];
        let n = stream.read(&mut piece).unwrap();
        requested.send(String::from_utf8_lossy(&piece[..n]).into_owned()).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst").unwrap();
        may_finish.recv().unwrap();
        stream.write_all(b"-last").unwrap();
        // The connection stays open; the accelerator must stop all the same.
        let _ = stream.read(&mut piece);
    });
    let mut client = TcpStream::connect(&accelerator.address).unwrap();
    client.write_all(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    assert!(is_requested.recv().unwrap().starts_with("GET /slow HTTP/1.1\r\n"));
    accelerator.running.signal(Signal::TERM);
    accelerator.running.wait_for("Stopping after the requests in flight.");
    finish.send(()).unwrap();
    let reply = read(client);
    assert_eq!((reply.status, reply.body.as_str()), (200, "first-last"));
    accelerator.running.end().expect(0);
    assert!(TcpStream::connect(&accelerator.address).is_err(), "it no longer listens");
}

#[test]
fn a_second_signal_stops_it_immediately() {
    let fixture = Fixture::new();
    let origin = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", origin.local_addr().unwrap());
    let accelerator = accelerate(&fixture, &["--origin", &url], "workers = 1\n");
    let mut client = TcpStream::connect(&accelerator.address).unwrap();
    client.write_all(b"GET /never HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    // The request has reached the origin, which never answers.
    let (_waiting, _) = origin.accept().unwrap();
    accelerator.running.signal(Signal::TERM);
    accelerator.running.wait_for("Stopping");
    accelerator.running.signal(Signal::INT);
    accelerator.running.end().expect(130);
}

#[test]
fn an_unreachable_origin_is_an_error_response_and_a_warning() {
    let fixture = Fixture::new();
    let nobody = || TcpListener::bind("127.0.0.1:0").unwrap();
    // Both at once, so that their ports differ.
    let one = nobody();
    let other = nobody();
    let origins = [one, other].map(|listener| format!("http://{}", listener.local_addr().unwrap()));
    let config = "workers = 1\n[admin]\nlisten = \"127.0.0.1:0\"\n[origin.health]\nfall = 1\n";
    let accelerator = accelerate(&fixture, &["--origin", &origins[0], "--origin", &origins[1]], config);
    let reply = get(&accelerator.address, "/");
    assert!(matches!(reply.status, 502 | 503) && reply.body.contains("<html"), "{reply:?}");
    let said = accelerator.running.wait_for("is down");
    let is_down = |origin: &str| {
        let server = origin.trim_start_matches("http://");
        said.starts_with(&format!("warning: server `{server}` is down: "))
    };
    assert!(origins.iter().any(|origin| is_down(origin)), "{said}");
    // The last one stays up: it is tried for every request.
    let status: Value = serde_json::from_str(&get_admin(&accelerator.admin, "/status.json").body).unwrap();
    let n_up = status["servers"].as_array().unwrap().iter().filter(|server| server["is_up"] == true).count();
    assert_eq!(n_up, 1, "{status}");
}

#[test]
fn the_admin_interface_changes_nothing_without_a_token() {
    let fixture = Fixture::new();
    let accelerator =
        accelerate(&fixture, &["--origin", "http://127.0.0.1:1", "--admin", "127.0.0.1:0"], "workers = 1\n");
    let admin = &accelerator.admin;
    let status = |first: &str, lines: &str, body: &str| ask_admin(admin, first, lines, body).status;
    assert_eq!(get_admin(admin, "/healthz").body, "ok\n");
    for (path, code) in [("/", 200), ("/status.json", 200), ("/metrics", 200), ("/x", 404), ("/purge", 405)] {
        assert_eq!(get_admin(admin, path).status, code, "{path}");
    }
    assert_eq!(get_admin(admin, "/purge").header("allow"), Some("POST"));
    let shown = "Authorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(status("POST /purge", shown, r#"{"all": true}"#), 403);
    assert_eq!(status("DELETE /", "", ""), 403);
    // DNS rebinding and cross-site request forgery.
    let get_as = |host: &str, path: &str| ask_for(host, admin, &format!("GET {path}"), "", "");
    for path in ["/", "/status.json", "/metrics"] {
        let refused = get_as("evil.test", path);
        assert_eq!(refused.status, 421, "{path}");
        assert!(refused.body.contains("found `evil.test`") && !refused.body.contains("hottest"), "{path}");
        assert_eq!(get_as("localhost", path).status, 200, "{path}");
    }
    assert_eq!(status("GET /", "Origin: http://evil.test\r\n", ""), 403);
    assert_eq!(status("GET /", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: cors\r\n", ""), 403);
    assert_eq!(get_as("evil.test", "/healthz").body, "ok\n");
    let head = ask_admin(admin, "HEAD /status.json", "", "");
    assert!(head.status == 200 && head.body.is_empty(), "{head:?}");
    let mut stream = TcpStream::connect(admin).unwrap();
    stream.write_all(b"nonsense\r\n\r\n").unwrap();
    assert_eq!(read(stream).status, 400);
}

#[test]
fn a_service_manager_is_notified_of_readiness_and_stopping() {
    let fixture = Fixture::new();
    let socket = UnixDatagram::bind(fixture.path("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let arguments = ["accelerate", "--origin", "http://127.0.0.1:1", "--listen", "127.0.0.1:0"];
    let mut command = fixture.command(&arguments);
    command.env("NOTIFY_SOCKET", fixture.path("notify"));
    let pipes = || std::process::Stdio::piped();
    let running = RunningCommand::new(
        command.stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn().unwrap(),
        &fixture.path("."),
    );
    let notification = || {
        let mut text = [0; 64];
        let n = socket.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..n]).into_owned()
    };
    assert_eq!(notification(), "READY=1");
    running.signal(Signal::TERM);
    assert_eq!(notification(), "STOPPING=1");
    running.end().expect(0);
}

#[test]
fn a_configuration_can_be_checked_without_starting() {
    let fixture = Fixture::new();
    let check = |text: &str| {
        fixture.write("a.toml", text);
        fixture.run(&["accelerate", "--config", "a.toml", "--check"])
    };
    check("[[origin.server]]\nurl = \"http://127.0.0.1:1\"\n")
        .expect(0)
        .expect_stderr("The configuration is valid.");
    let ended = check("[[origin.server]]\nurl = \"http://127.0.0.1:1\"\n[cache]\nby-pass = []\n").expect(2);
    insta::assert_snapshot!(ended.stderr, @r"
    error: unknown key `by-pass` in `cache`
     --> a.toml:4:1
      |
    4 | by-pass = []
      | ^^^^^^^ not a key of the configuration
      |
      = hint: did you mean `bypass`?
    ");
    let ended = check("name = \"a\"\n").expect(2);
    insta::assert_snapshot!(ended.stderr, @r#"
    error: no origin server is given
    hint: name it by `--origin http://HOST:PORT`, or in the file: `[[origin.server]]` with `url = "…"`
    "#);
    let certificate = "[[tls.certificate]]\nchain = \"no.pem\"\nkey = \"no.pem\"\n";
    let ended = check(&format!("[[origin.server]]\nurl = \"http://127.0.0.1:1\"\n{certificate}")).expect(2);
    insta::assert_snapshot!(ended.stderr, @"error: `[tls]`: certificate `no.pem`: I/O error: No such file or directory (os error 2)");
}

#[test]
fn failures_to_start_have_a_message_and_an_exit_code() {
    let fixture = Fixture::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let _taken = TcpListener::bind(taken).unwrap();
    let taken = taken.to_string();
    let listening = ["accelerate", "--origin", "http://127.0.0.1:1", "--listen", &taken];
    fixture.run(&listening).expect(4).expect_stderr(&format!("error: cannot listen on {taken}: "));
    fixture.run(&["accelerate"]).expect(2).expect_stderr("--origin <URL>");
    fixture
        .run(&["accelerate", "--origin", "127.0.0.1"])
        .expect(2)
        .expect_stderr("expected `http://host:port`");
    fixture
        .run(&["accelerate", "--config", "none.toml"])
        .expect(2)
        .expect_stderr("`none.toml` cannot be read");
    let open = ["accelerate", "--origin", "http://127.0.0.1:1", "--admin", "0.0.0.0:0"];
    fixture.run(&open).expect(2).expect_stderr("anybody could use the admin page at `0.0.0.0:0`\nhint: ");
}
