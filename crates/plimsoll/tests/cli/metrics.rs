//! `--prometheus` and `--otlp`: live metrics of a run.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Fixture, free_port};

const RUN: [&str; 8] = ["run", "one-object", "--settle", "0", "--load", "2", "--out", "run.plim"];

/// Starts a collector; returns its URL and the bodies that are pushed to it.
fn collector() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, pushes) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut received = Vec::new();
            let mut piece = [0; 4_096];
            while let Ok(n @ 1..) = stream.read(&mut piece) {
                received.extend_from_slice(&piece[..n]);
                let text = String::from_utf8_lossy(&received).into_owned();
                let body = text.split_once("\r\n\r\n").map(|(_, body)| serde_json::from_str(body));
                if let Some(Ok(body)) = body {
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
                    let _ = sender.send(body);
                    break;
                }
            }
        }
    });
    (url, pushes)
}

fn scrape(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: plimsoll\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Returns the value of a series; `None` if it is not there.
fn value(scrape: &str, series: &str) -> Option<f64> {
    let line = scrape.lines().find_map(|line| line.strip_prefix(series))?;
    line.trim().parse().ok()
}

/// The addresses are refused before anything is started or sent.
#[test]
fn link_local_observers_are_refused() {
    let fixture = Fixture::new();
    for (option, value) in [
        ("--otlp", "http://169.254.169.254/v1/metrics"),
        ("--otlp", "http://2852039166:4318"),
        ("--otlp", "http://[::ffff:169.254.169.254]:4318"),
        ("--otlp", "http://[fe80::1]:4318"),
        ("--monitor", "prometheus=http://169.254.169.254/metrics"),
        ("--monitor", "prometheus=http://0xa9fea9fe/metrics"),
        ("--monitor", "ssh=root@169.254.169.254"),
    ] {
        for dry in [&["--dry-run"][..], &[]] {
            let ended = fixture.run(&[&RUN[..], &[option, value], dry].concat()).expect(7);
            ended
                .expect_stderr("a link-local address, where cloud machines keep their metadata")
                .expect_stderr("hint: ");
            assert!(!fixture.path("run.plim").exists());
        }
    }
    // Public collectors are allowed; a dry run sends nothing.
    let public = ["--otlp", "http://134744072:4318", "--dry-run"];
    fixture.run(&[&RUN[..], &public].concat()).expect(0);
}

/// A collector whose reply contains control characters and is very long.
#[test]
fn messages_of_a_collector_are_escaped_and_truncated() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut piece = [0; 65_536];
            let _ = stream.read(&mut piece);
            let said = format!(r"\u001b[31mRED\u001b]0;owned\u0007\nerror: forged {}", "x".repeat(30_000));
            let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{said}"}}}}"#);
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(format!("HTTP/1.1 103 Early Hints\r\n\r\n{head}{body}").as_bytes());
        }
    });
    let fixture = Fixture::new();
    let ended = fixture.run(&[&RUN[..], &["--duration", "1", "--otlp", &url]].concat());
    let line = ended.stderr.lines().find(|line| line.contains("rejected some metrics")).expect("a warning");
    assert!(line.contains(r"\u{1b}[31mRED\u{1b}]0;owned\u{7}\nerror: forged x"), "{line}");
    assert!(line.len() < 600, "{line}");
    assert!(
        !ended.stderr.contains('\u{1b}') && !ended.stderr.contains("\nerror: forged"),
        "{}",
        ended.stderr
    );
}

#[test]
fn metrics_are_served_during_the_run_and_pushed_at_its_end() {
    let fixture = Fixture::new();
    let (url, pushes) = collector();
    let metrics = ["--duration", "3", "--prometheus", "127.0.0.1:0", "--otlp", &url];
    let run = fixture.start(&[&RUN[..], &metrics].concat());
    let line = run.wait_for("metrics ");
    let address = line.trim().trim_start_matches("metrics").trim().trim_start_matches("http://");
    let address = address.trim_end_matches("/metrics");
    run.wait_for("Server: ");
    // The end of the first second of load is not announced.
    let ok = "plimsoll_operations_total{server=\"built-in\",outcome=\"ok\"}";
    let seen = loop {
        let seen = scrape(address);
        if value(&seen, ok).is_some_and(|n| 0.0 < n) {
            break seen;
        }
        run.keep_running_for(Duration::from_millis(50));
    };
    assert_eq!(value(&seen, "plimsoll_users{server=\"built-in\"}"), Some(2.0), "{seen}");
    assert_eq!(
        value(&seen, "plimsoll_response_seconds_count{server=\"built-in\"}"),
        value(&seen, ok),
        "{seen}"
    );
    assert!(seen.contains("benchmark=\"one-object\"") && seen.contains("load=\"2 users\""), "{seen}");

    let ended = run.end();
    ended.assert_run();
    assert!(TcpStream::connect(address).is_err(), "the endpoint is still there");
    let last = pushes.try_iter().last().expect("a push at the end");
    let metrics = last["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let operations = metrics.iter().find(|metric| metric["name"] == "plimsoll.operations").unwrap();
    let pushed: u64 = operations["sum"]["dataPoints"][0]["asInt"].as_str().unwrap().parse().unwrap();
    // The metrics include ramps and drain.
    let report = fixture.report(&fixture.path("run.plim"));
    let reported = report["load_points"][0]["total"]["n"].as_u64().unwrap();
    assert!(reported <= pushed, "{pushed} pushed, {reported} reported");

    // The score is that of the report, with its unit.
    let score = metrics.iter().find(|metric| metric["name"] == "plimsoll.score").unwrap();
    let point = &score["gauge"]["dataPoints"][0];
    assert_eq!(point["asDouble"], report["load_points"][0]["score"]);
    let unit = &report["plan"]["catalog"]["words"]["score"];
    let attributes = point["attributes"].as_array().unwrap();
    assert!(attributes.iter().any(|one| one["key"] == "unit" && one["value"]["stringValue"] == *unit));
}

#[test]
fn an_unreachable_collector_is_only_a_warning() {
    let fixture = Fixture::new();
    let url = format!("http://127.0.0.1:{}/v1/metrics", free_port());
    let ended = fixture.run(&[&RUN[..], &["--duration", "1", "--otlp", &url]].concat());
    ended.assert_run();
    let warning = format!("warning: metrics are not pushed to `{url}`: ");
    assert_eq!(ended.stderr.matches(&warning).count(), 1, "{}", ended.stderr);
}

#[test]
fn invalid_observers_are_reported_before_the_run() {
    let fixture = Fixture::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, said) in [
        (["--prometheus", &address], format!("error: metrics cannot be served at `{address}`: ")),
        (["--prometheus", "9464"], "invalid socket address".to_owned()),
        (["--otlp", "https://collector/v1/metrics"], "plain HTTP only, found `https://collector".to_owned()),
        (["--otlp", "collector:4318"], "expected `http://HOST:4318/v1/metrics`".to_owned()),
    ] {
        fixture.run(&[&RUN[..], &arguments].concat()).expect(2).expect_stderr(&said);
        assert!(!fixture.path("run.plim").exists());
    }
}
