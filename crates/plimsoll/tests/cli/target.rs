//! `--target`: a server that is already running, and addresses that are refused.

use std::net::TcpListener;

use crate::support::{Fixture, Website, free_port};

fn run(fixture: &Fixture, url: &str) -> crate::support::ExitedCommand {
    fixture.run(&[
        "run",
        "webstone-1.1",
        "--target",
        url,
        "--load",
        "1,2",
        "--duration",
        "1",
        "--out",
        "run.plim",
    ])
}

#[test]
fn a_running_server_is_tested() {
    let fixture = Fixture::new();
    let (server, address) = fixture.serve(&["webstone-1.1"]);
    let ended = run(&fixture, &format!("http://{address}/"));
    ended.assert_run();
    fixture.run(&["audit", "run.plim"]).expect(0);
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["load_points"][1]["total"]["errors"], 0);
    assert!(0 < report["load_points"][1]["total"]["n"].as_u64().unwrap());
    let fact = fixture.fact(&fixture.path("run.plim"), "System under test", "server").unwrap();
    assert!(fact.contains("not started by this run"), "{fact}");
    // The server exits when its standard input is closed.
    server.end().expect(0);
}

#[test]
fn a_populated_directory_served_by_another_server_passes_the_checks() {
    let fixture = Fixture::new();
    fixture.run(&["populate", "webstone-1.1", "--dir", "site"]).expect(0);
    let website = Website::start(&fixture.path("site"));
    let ended = run(&fixture, &website.url);
    ended.assert_run();
    assert_eq!(fixture.report(&fixture.path("run.plim"))["load_points"][1]["total"]["errors"], 0);
}

#[test]
fn a_server_with_other_files_is_refused() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["webstone-2.0.1"]);
    run(&fixture, &format!("http://{address}/"))
        .expect(4)
        .expect_stderr("objects are not served as the benchmark defines them:")
        .expect_stderr("GET /file2k.html: status 404, expected 200")
        .expect_stderr("hint: create the files with `plimsoll populate");
    assert!(!fixture.path("run.plim").exists());
}

#[test]
fn a_target_needs_no_scheme() {
    let fixture = Fixture::new();
    let (_server, address) = fixture.serve(&["webstone-1.1"]);
    let dry = ["run", "webstone-1.1", "--dry-run", "--target"];
    fixture.run(&[&dry[..], &[&address.to_string()]].concat()).expect(0);
    run(&fixture, &format!("localhost:{}", free_port()))
        .expect(4)
        .expect_stderr("no connection to http://localhost:");
}

/// An `https://` target implies TLS, and a contradiction is reported first.
#[test]
fn the_scheme_of_a_target_determines_tls() {
    let fixture = Fixture::new();
    let dry = |arguments: &[&str]| {
        let words = ["run", "one-object", "--dry-run", "--json", "--target"];
        fixture.run(&[&words[..], arguments].concat())
    };
    let plan = dry(&["https://127.0.0.1:8443"]).expect(0).json();
    assert_eq!(plan["plan"]["workload"]["web"]["protocol"]["tls"], "resumed");
    let plan = dry(&["https://127.0.0.1:8443", "--tls", "full"]).expect(0).json();
    assert_eq!(plan["plan"]["workload"]["web"]["protocol"]["tls"], "full");
    dry(&["https://127.0.0.1:8443", "--tls", "off"])
        .expect(2)
        .expect_stderr("uses TLS, but the plan does not");
    dry(&["127.0.0.1:8080", "--tls", "full"]).expect(2).expect_stderr("does not use TLS, but the plan does");
}

#[test]
fn a_url_in_place_of_a_benchmark_has_a_helpful_message() {
    let fixture = Fixture::new();
    fixture
        .run(&["show", "http://127.0.0.1:8085/about"])
        .expect(2)
        .expect_stderr("error: expected a benchmark, found the URL `http://127.0.0.1:8085/about`")
        .expect_stderr("hint: `plimsoll run URL` loads a page of a running server");
}

#[test]
fn a_refused_connection_is_reported() {
    let fixture = Fixture::new();
    run(&fixture, &format!("http://127.0.0.1:{}/", free_port()))
        .expect(4)
        .expect_stderr("error: no connection to http://127.0.0.1:")
        .expect_stderr("Connection refused")
        .expect_stderr("hint: start the server first");
    assert!(!fixture.path("run.plim").exists());
}

/// Targets are refused by address, before any connection: at the last one, this machine listens.
#[test]
fn load_goes_to_loopback_and_private_addresses_only() {
    let fixture = Fixture::new();
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in [
        "http://169.254.169.254/",
        "http://8.8.8.8/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        "http://[::]/",
        &format!("http://0.0.0.0:{port}/"),
    ] {
        let hint = match url {
            url if url.contains("0.0.0.0") => "hint: did you mean `127.0.0.1`?",
            url if url.contains("[::]") => "hint: did you mean `[::1]`?",
            _ => "hint: Plimsoll sends load to",
        };
        let ended = run(&fixture, url)
            .expect(7)
            .expect_stderr("error: the target policy does not allow")
            .expect_stderr(hint);
        assert_eq!(ended.stdout, "", "{url}");
        assert!(!fixture.path("run.plim").exists());
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a connection was made");
}

#[test]
fn an_invalid_target_is_a_usage_error() {
    let fixture = Fixture::new();
    for (url, text) in [
        ("ftp://127.0.0.1/", "only `http://` and `https://` targets are supported"),
        ("http://127.0.0.1:0/", "expected a port from 1 to 65535"),
        ("http://user@127.0.0.1/", "expected no user name"),
        ("http://127.0.0.1/site", "expected no path"),
    ] {
        run(&fixture, url).expect(2).expect_stderr(text);
    }
    fixture.run(&["run", "one-object", "--target", "http://127.0.0.1/", "--sut", "nginx"]).expect(2);
}
