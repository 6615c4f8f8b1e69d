//! A protocol family beside the web, from definition to audit, against a server that Plimsoll did not start.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::Value;

use crate::support::{ExitedCommand, Fixture};

/// An echo server: a thread per connection, until its client closes it.
struct EchoServer {
    address: SocketAddr,
}

impl EchoServer {
    /// Starts a server that sends back what it receives, each byte changed by `change`.
    fn start(change: fn(u8) -> u8) -> EchoServer {
        EchoServer::with_room(usize::MAX, change)
    }

    /// Starts one that accepts so many connections and refuses all others.
    fn with_room(n_connections: usize, change: fn(u8) -> u8) -> EchoServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().take(n_connections) {
                let stream = stream.unwrap();
                std::thread::spawn(move || echo(stream, change));
            }
        });
        EchoServer { address }
    }

    fn target(&self) -> String {
        self.address.to_string()
    }
}

fn echo(mut stream: TcpStream, change: fn(u8) -> u8) {
    stream.set_nodelay(true).unwrap();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = stream.read(&mut buffer) {
        buffer[..n].iter_mut().for_each(|byte| *byte = change(*byte));
        if stream.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

fn same(byte: u8) -> u8 {
    byte
}

fn run(fixture: &Fixture, server: &EchoServer, out: &str, more: &[&str]) -> ExitedCommand {
    let target = server.target();
    let arguments = ["run", "echo", "--target", &target, "--monitor", "off", "--out", out];
    fixture.run(&[&arguments, more].concat())
}

const QUICK: [&str; 5] = ["--quick", "--load", "2,4", "--duration", "2"];

#[test]
fn a_run_is_recorded_reported_compared_and_audited() {
    let fixture = Fixture::new();
    let server = EchoServer::start(same);
    let ended = run(&fixture, &server, "one.plim", &QUICK).expect_run();
    for word in ["messages per second", "terminals"] {
        assert!(ended.stdout.contains(word), "`{word}` in {}", ended.stdout);
    }
    let report = fixture.report(&fixture.path("one.plim"));
    for point in report["load_points"].as_array().unwrap() {
        let kinds = point["kinds"].as_array().unwrap();
        let names: Vec<&str> = kinds.iter().map(|kind| kind["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["short", "long"]);
        let n = |kind: usize| kinds[kind]["n"].as_u64().unwrap();
        assert!(n(1) * 4 < n(0) && 0 < n(1), "nine in ten are short: {} and {}", n(0), n(1));
        for (kind, bytes) in [(0, 64.0 + 4.0), (1, 16_384.0 + 4.0)] {
            for measure in ["sent_bytes", "received_bytes"] {
                assert_eq!(kinds[kind][measure]["mean"], bytes);
            }
        }
        let total = &point["total"];
        assert_eq!(total["errors"], 0);
        assert_eq!(total["bytes_moved"]["total"], 2 * (n(0) * 68 + n(1) * 16_388));
        let first_byte = &point["first_byte"];
        assert_eq!(first_byte["n"], total["n"]);
        assert!(first_byte["percentiles"][0]["value_s"].as_f64().unwrap() < 1.0, "{first_byte}");
        for of_web in
            ["body_throughput_kb_per_s", "in_flight_body_bytes", "receive_mean_s", "connect", "pages_per_min"]
        {
            assert_eq!(point.get(of_web), None);
        }
        assert_eq!(total.get("pages"), None);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/report.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(testkit::schema_faults(&schema, &report), [""; 0]);
    exports_name_what_the_family_measures(&fixture);
    fixture.run(&["audit", "one.plim"]).expect(0).expect_stdout("no differences found");

    let html = std::fs::read_to_string(fixture.path("one.html")).unwrap();
    for heading in ["Statistics per kind of operation", "Workload", "Method"] {
        assert!(html.contains(heading), "{heading}");
    }
    for of_web in ["HTTP", "Per-file", "file set", "reply bytes", "heads and bodies", "Pages per minute"] {
        assert!(!html.contains(of_web), "`{of_web}` in the report of an echo benchmark");
    }

    run(&fixture, &server, "two.plim", &QUICK).expect_run();
    let compared = fixture.run(&["compare", "one.plim", "two.plim", "--json"]);
    let comparison: Value = compared.json();
    assert_eq!(comparison["runs"].as_array().map(Vec::len), Some(2), "{comparison}");
}

fn exports_name_what_the_family_measures(fixture: &Fixture) {
    let table = |arguments: &[&str]| -> Vec<Vec<String>> {
        let text = fixture.run(arguments).expect(0).stdout;
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let results = table(&["report", "one.plim", "--format", "csv", "--out", "-"]);
    let column = |name: &str| results[0].iter().position(|column| column == name);
    let field = |name: &str| &results[1][column(name).unwrap_or_else(|| panic!("no `{name}`"))];
    for name in ["sent_bytes_mean", "received_bytes_mean", "first_byte_mean_s", "first_byte_p50_s"] {
        assert!(0.0 < field(name).parse::<f64>().unwrap(), "{name}");
    }
    assert_eq!((field("first_byte_n"), field("errors_wrong_bytes").as_str()), (field("n_ok"), "0"));
    for refused in ["errors_denied", "errors_conflict", "errors_gone", "errors_full"] {
        assert_eq!(field(refused), "0", "{refused}");
    }
    let of_web = ["connect_n", "errors_wrong_status", "errors_tls_failed", "errors_http2_failed"];
    for name in
        of_web.into_iter().chain(["pages_per_min", "body_throughput_kb_per_s", "in_flight_body_bytes"])
    {
        assert_eq!(column(name), None, "{name}");
    }

    let intervals = table(&["export", "one.plim", "--format", "csv"]);
    let [sent, received, ok] = ["sent_bytes", "received_bytes", "n_ok"].map(|name| {
        let column = intervals[0].iter().position(|column| column == name).unwrap();
        intervals[1..].iter().map(|row| row[column].parse::<u64>().unwrap()).sum::<u64>()
    });
    assert!(sent == received && 68 * ok <= sent, "{sent} and {received} bytes of {ok} messages");
    assert!(intervals[0].iter().any(|name| name == "first_byte_mean_s"));
    assert!(intervals[0].iter().all(|name| name != "reply_bytes"), "{:?}", intervals[0]);

    let lines = fixture.run(&["export", "one.plim", "--format", "ndjson"]).expect(0).stdout;
    let of = |kind: &str| -> Value {
        let line = lines.lines().find(|line| line.contains(&format!("\"type\":\"{kind}\"")));
        serde_json::from_str(line.unwrap_or_else(|| panic!("no {kind}"))).unwrap()
    };
    assert!(of("detail")["first_byte"]["mean_ns"].is_number());
    assert_eq!(of("interval").get("pages"), None);
}

/// Each load point needs a connection for its probe and one for each of its two checks; the first needs two for its users.
/// The second's users are all refused, and then also its last check: a listener that closed while some of them connect
/// would leave others in its backlog, whose sessions seem open.
#[test]
fn a_load_point_for_which_not_all_users_have_a_session_is_not_valid() {
    let fixture = Fixture::new();
    let server = EchoServer::with_room(7, same);
    run(&fixture, &server, "full.plim", &QUICK);
    let report = fixture.report(&fixture.path("full.plim"));
    let points = report["load_points"].as_array().unwrap();
    let of = |point: usize| -> Vec<(&str, &str, bool)> {
        let checks = points[point]["checks"].as_array().unwrap().iter();
        let text =
            |value: &'static str, check: &Value| check[value].as_str().unwrap().to_owned().leak() as &str;
        checks.map(|one| (text("moment", one), text("name", one), one["holds"] == true)).collect()
    };
    assert_eq!(of(0), [("before", "messages come back", true), ("after", "messages come back", true)]);
    let before = [("before", "messages come back", true), ("before", "sessions opened", false)];
    assert_eq!(of(1), [&before[..], &[("after", "messages come back", false)]].concat());
    let check = &points[1]["checks"][1];
    assert_eq!((&check["moment"], &check["name"]), (&"before".into(), &"sessions opened".into()));
    let found = check["found"].as_str().unwrap();
    assert!(found.contains(" of 4 users have none: ") && check["holds"] == false, "{check}");
    let rules: Vec<&str> = points[1]["verdict"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains(&"consistency"), "{rules:?}");
    let html = std::fs::read_to_string(fixture.path("full.html")).unwrap();
    assert!(html.contains("Checks of the system under test"));
    fixture.run(&["audit", "full.plim"]).expect(0);
    let lines = fixture.run(&["export", "full.plim", "--format", "ndjson"]).expect(0).stdout;
    assert!(lines.contains("\"type\":\"check\""), "a line for the check");
}

#[test]
fn an_open_loop_and_a_search_know_the_family() {
    let fixture = Fixture::new();
    let server = EchoServer::start(same);
    let open = ["--rate", "200,400", "--duration", "2", "--ramp-up", "0", "--settle", "0"];
    run(&fixture, &server, "open.plim", &open).expect_run();
    let search = ["--find-max", "--max-load", "8", "--limit", "p99<10s", "--duration", "1", "--ramp-up", "0"];
    let ended = run(&fixture, &server, "search.plim", &[&search[..], &["--settle", "0"]].concat());
    let report = fixture.report(&fixture.path("search.plim"));
    assert_eq!(report["ending"]["kind"], "complete", "{}", ended.stdout);
    assert!(!report["plan"]["search"].is_null());
}

#[test]
fn settings_of_the_family_are_run_in_turns_and_compared() {
    let fixture = Fixture::new();
    let server = EchoServer::start(same);
    let turns =
        ["--load", "2", "--duration", "2", "--ramp-up", "0", "--settle", "0", "--set", "bytes=16 B,4 KiB"];
    let ended = run(&fixture, &server, "turns", &turns);
    assert!(matches!(ended.code, Some(0 | 3)), "{}", ended.stderr);
    let mut sent = Vec::new();
    for entry in std::fs::read_dir(fixture.path("turns")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "plim") {
            let report = fixture.report(&path);
            sent.push(report["load_points"][0]["total"]["sent_bytes"]["max"].as_f64().unwrap());
            let modified = report["modifications"].to_string();
            assert!(modified.contains("message length"), "{modified}");
        }
    }
    sent.sort_by(f64::total_cmp);
    assert_eq!(sent, [20.0, 4100.0]);
    assert!(fixture.path("turns/comparison.html").is_file(), "{}", ended.stderr);
    fixture
        .run(&["show", "echo"])
        .expect(0)
        .expect_stdout("bytes        64 B, 16.0 KiB (length of every message: a size such as");
}

#[test]
fn a_server_that_changes_bytes_is_not_loaded() {
    let fixture = Fixture::new();
    let server = EchoServer::start(|byte| byte ^ 1);
    let ended = run(&fixture, &server, "wrong.plim", &QUICK);
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("other bytes came back"), "{}", ended.stderr);
    assert!(!fixture.path("wrong.plim").exists());
}

#[test]
fn what_belongs_to_another_family_is_refused() {
    let fixture = Fixture::new();
    let server = EchoServer::start(same);
    let refused = |more: &[&str], text: &str| {
        let ended = run(&fixture, &server, "no.plim", more);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(text), "`{text}` expected in:\n{}", ended.stderr);
    };
    for (flag, setting) in [
        (&["--http", "2"][..], "http"),
        (&["--set", "http=2"], "http"),
        (&["--keep-alive"], "connection"),
        (&["--filelist", "mine.txt"], "filelist"),
        (&["--pick", "file=uniform"], "pick.file"),
    ] {
        refused(flag, &format!("echo benchmarks have no setting `{setting}`"));
        refused(flag, "hint: it is a setting of web benchmarks; there is `bytes`, `time-limit`");
    }
    let started = fixture.run(&["run", "echo", "--sut", "nginx"]);
    assert_eq!(started.code, Some(2), "{}", started.stderr);
    assert!(
        started.stderr.contains("this benchmark loads echo servers, but Plimsoll starts none"),
        "{}",
        started.stderr
    );
    let url = fixture.run(&["run", "echo", "--target", "http://127.0.0.1/"]);
    assert!(url.stderr.contains("expected `HOST:PORT`"), "{}", url.stderr);
    fixture.run(&["show", "echo"]).expect(0).expect_stdout("90.00 %  short");
}

/// Goal: `doctor` asks the family: what concerns web servers or their files is not checked for an echo server.
#[test]
fn doctor_checks_what_the_family_needs() {
    let fixture = Fixture::new();
    let names = |benchmark: &str| -> Vec<String> {
        let ended = fixture.run(&["doctor", benchmark, "--json"]);
        let checks = ended.json();
        let names = checks["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let of_servers = ["space for the file set", "own folders", "CPU quota", "TIME-WAIT entries"];
    let echo = names("echo");
    assert!(echo.iter().all(|name| !of_servers.contains(&name.as_str())), "{echo:?}");
    let web = names("webstone-2.0.1");
    assert!(of_servers[..3].iter().all(|name| web.iter().any(|found| found == name)), "{web:?}");
    let text = fixture.run(&["doctor", "echo"]).stdout;
    assert!(text.contains("Plimsoll starts no echo servers"), "{text}");
    let text = fixture.run(&["doctor", "web96"]).stdout;
    assert!(text.contains("servers                web: ") && text.contains("installed"), "{text}");
}
