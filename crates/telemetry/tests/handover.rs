//! Metrics as a client and a collector receive them, over loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use model::{Flow, IntervalRecord, KindTotals, Load, LoadPoint, Phase};
use serde_json::Value;
use telemetry::{MonitoredRun, Telemetry, TelemetryError, TelemetryOptions};
use units::Nanos;

fn start(options: TelemetryOptions) -> Telemetry {
    let run = MonitoredRun {
        benchmark: "web96".to_owned(),
        version: 1,
        server: "nginx".to_owned(),
        transferred: vec![2],
        score_unit: "connections per second".to_owned(),
    };
    Telemetry::start(options, vec![run], || {}).unwrap()
}

fn scraped() -> Telemetry {
    start(TelemetryOptions { listen: Some("127.0.0.1:0".parse().unwrap()), ..TelemetryOptions::default() })
}

/// A second in which `n` operations succeeded.
fn second(n: u64) -> IntervalRecord {
    let mut kind = KindTotals::default();
    (0..n).for_each(|_| kind.response.record(1_000_000));
    IntervalRecord {
        phase: Phase::Steady,
        end: Nanos::from_secs(1),
        flow: Flow { ok: n, due: n, ..Flow::default() },
        kinds: vec![kind],
        ..IntervalRecord::empty(0, 0)
    }
}

fn send_request(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn scrape(address: SocketAddr) -> String {
    send_request(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
}

#[test]
fn a_scrape_shows_the_last_update() {
    let mut telemetry = scraped();
    let address = telemetry.address().unwrap();
    telemetry.load_point(LoadPoint { index: 0, load: Load::Users(20) });
    // No scrape for a long time: nothing is lost and no update waits.
    (0..1_000).for_each(|_| telemetry.interval(&second(3)));
    let response = scrape(address);
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(
        response.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{response}"
    );
    assert!(
        response.contains("plimsoll_operations_total{server=\"nginx\",outcome=\"ok\"} 3000\n"),
        "{response}"
    );
    assert!(response.contains("phase=\"steady\",load_point=\"1\",load=\"20 users\"} 1\n"), "{response}");
    assert_eq!(telemetry.end(), [""; 0]);
    assert!(TcpStream::connect(address).is_err(), "the endpoint is still there");
}

#[test]
fn only_metrics_are_served() {
    let telemetry = scraped();
    let address = telemetry.address().unwrap();
    for (request, status) in [
        ("GET / HTTP/1.0\r\n\r\n", "404 Not Found"),
        ("GET /metrics?name=x HTTP/1.0\r\n\r\n", "200 OK"),
        ("POST /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n", "405 Method Not Allowed"),
        ("nonsense\r\n\r\n", "400 Bad Request"),
        (&format!("GET /metrics HTTP/1.0\r\nX: {}", "x".repeat(8_192)), "431 "),
    ] {
        let response = send_request(address, request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{request:.40}: {response:.200}");
        assert!(response.contains("\r\nConnection: close\r\n"), "{response:.200}");
    }
    let head = send_request(address, "HEAD /metrics HTTP/1.0\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"), "{head}");
}

/// Sixteen slots: more silent connections must not block a scrape for ever, nor end the program.
#[test]
fn silent_connections_do_not_block_others() {
    let telemetry = scraped();
    let address = telemetry.address().unwrap();
    let silent: Vec<TcpStream> = (0..15).map(|_| TcpStream::connect(address).unwrap()).collect();
    let scrapes: Vec<_> = (0..40).map(|_| std::thread::spawn(move || scrape(address))).collect();
    for scrape in scrapes {
        assert!(scrape.join().unwrap().contains("plimsoll_operations_total"));
    }
    drop(silent);
    telemetry.end();
}

#[test]
fn an_address_in_use_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let options = TelemetryOptions { listen: Some(address), ..TelemetryOptions::default() };
    let error = Telemetry::start(options, Vec::new(), || {}).unwrap_err();
    assert!(matches!(error, TelemetryError::Listen { .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("metrics cannot be served at `{address}`: ")), "{error}");
}

/// Accepts one push, responds to it, and returns its head and body.
fn collector(response: &'static str) -> (TelemetryOptions, JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut came = Vec::new();
        let mut piece = [0; 4_096];
        loop {
            let n = stream.read(&mut piece).unwrap();
            assert_ne!(n, 0, "the push was truncated");
            came.extend_from_slice(&piece[..n]);
            let text = String::from_utf8_lossy(&came).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n")
                && let Ok(body) = serde_json::from_str(body)
            {
                stream.write_all(response.as_bytes()).unwrap();
                return (head.to_owned(), body);
            }
        }
    });
    (
        TelemetryOptions {
            push: Some(url.parse().unwrap()),
            program: "0.1.0".to_owned(),
            ..TelemetryOptions::default()
        },
        thread,
    )
}

#[test]
fn the_last_push_has_all_updates() {
    // The connection stays open although the request asks to close it.
    let (options, collector) = collector("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    let mut telemetry = start(options);
    telemetry.interval(&second(3));
    telemetry.interval(&second(4));
    assert_eq!(telemetry.warning(), None);
    assert_eq!(telemetry.end(), [""; 0]);
    let (head, body) = collector.join().unwrap();
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let operations = metrics.iter().find(|metric| metric["name"] == "plimsoll.operations").unwrap();
    assert_eq!(operations["sum"]["dataPoints"][0]["asInt"], "7");
}

#[test]
fn a_collector_that_refuses_is_a_warning() {
    let (options, collector) = collector("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    let url = options.push.clone().unwrap();
    let warnings = start(options).end();
    assert_eq!(
        warnings,
        [format!("metrics are not pushed to `{url}`: the collector responded with status 404")]
    );
    collector.join().unwrap();
}

#[test]
fn a_collector_that_is_not_there_is_a_warning() {
    // A port that has been used lately may have been given to another test by now.
    let url = "http://127.0.0.1:1/x";
    let warnings =
        start(TelemetryOptions { push: Some(url.parse().unwrap()), ..TelemetryOptions::default() }).end();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with(&format!("metrics are not pushed to `{url}`: ")), "{warnings:?}");
}
