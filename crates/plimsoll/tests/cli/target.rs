//! `--target`: a server that is already there, and where load may not go.

use std::net::TcpListener;

use crate::support::{Lab, Website, free_port};

fn run(lab: &Lab, url: &str) -> crate::support::Ended {
    lab.run(&[
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
fn a_server_that_is_there_is_loaded() {
    let lab = Lab::new();
    let (server, address) = lab.serve(&["webstone-1.1"]);
    let ended = run(&lab, &format!("http://{address}/"));
    ended.assert_run();
    lab.run(&["audit", "run.plim"]).expect(0);
    let report = lab.report(&lab.path("run.plim"));
    assert_eq!(report["load_points"][1]["total"]["errors"], 0);
    assert!(0 < report["load_points"][1]["total"]["n"].as_u64().unwrap());
    let fact = lab.fact(&lab.path("run.plim"), "System under test", "server").unwrap();
    assert!(fact.contains("not started by this run"), "{fact}");
    // The end of its input is the end of the server.
    server.end().expect(0);
}

#[test]
fn a_populated_folder_served_by_another_server_is_right() {
    let lab = Lab::new();
    lab.run(&["populate", "webstone-1.1", "--dir", "site"]).expect(0);
    let website = Website::start(&lab.path("site"));
    let ended = run(&lab, &website.url);
    ended.assert_run();
    assert_eq!(lab.report(&lab.path("run.plim"))["load_points"][1]["total"]["errors"], 0);
}

#[test]
fn a_server_with_other_files_is_not_loaded() {
    let lab = Lab::new();
    let (_server, address) = lab.serve(&["webstone-2.0.1"]);
    run(&lab, &format!("http://{address}/"))
        .expect(4)
        .says("objects are not served as the benchmark has them:")
        .says("GET /file2k.html: status 404, expected 200")
        .says("hint: lay the files out with `plimsoll populate");
    assert!(!lab.path("run.plim").exists());
}

#[test]
fn a_target_needs_no_scheme() {
    let lab = Lab::new();
    let (_server, address) = lab.serve(&["webstone-1.1"]);
    let dry = ["run", "webstone-1.1", "--dry-run", "--target"];
    lab.run(&[&dry[..], &[&address.to_string()]].concat()).expect(0);
    run(&lab, &format!("localhost:{}", free_port())).expect(4).says("no connection to http://localhost:");
}

/// An `https://` target is spoken to over TLS without more words, and a contradiction is told before anything is.
#[test]
fn the_scheme_of_a_target_decides_on_tls() {
    let lab = Lab::new();
    let dry = |arguments: &[&str]| {
        let words = ["run", "one-object", "--dry-run", "--json", "--target"];
        lab.run(&[&words[..], arguments].concat())
    };
    let plan = dry(&["https://127.0.0.1:8443"]).expect(0).json();
    assert_eq!(plan["plan"]["protocol"]["tls"], "resumed");
    let plan = dry(&["https://127.0.0.1:8443", "--tls", "full"]).expect(0).json();
    assert_eq!(plan["plan"]["protocol"]["tls"], "full");
    dry(&["https://127.0.0.1:8443", "--tls", "off"]).expect(2).says("wants TLS, the plan has none");
    dry(&["127.0.0.1:8080", "--tls", "full"]).expect(2).says("is without TLS, the plan wants it");
}

#[test]
fn a_url_in_the_place_of_a_benchmark_is_understood() {
    let lab = Lab::new();
    lab.run(&["run", "http://127.0.0.1:8085/about"])
        .expect(2)
        .says("error: expected a benchmark, found the URL `http://127.0.0.1:8085/about`")
        .says("`plimsoll run BENCHMARK --target http://127.0.0.1:8085/`")
        .says("list `/about` in a definition");
}

#[test]
fn nobody_there_is_told_as_such() {
    let lab = Lab::new();
    run(&lab, &format!("http://127.0.0.1:{}/", free_port()))
        .expect(4)
        .says("error: no connection to http://127.0.0.1:")
        .says("Connection refused")
        .says("hint: start the server first");
    assert!(!lab.path("run.plim").exists());
}

/// Refused by address, before any connection: the last one would otherwise be a listener on this machine.
#[test]
fn load_goes_to_loopback_and_private_addresses_only() {
    let lab = Lab::new();
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    for url in [
        "http://169.254.169.254/",
        "http://8.8.8.8/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fe80::1]/",
        "http://0.0.0.0/",
        &format!("http://0.0.0.0:{port}/"),
    ] {
        let ended = run(&lab, url)
            .expect(7)
            .says("error: the target policy does not allow")
            .says("hint: load goes to");
        assert_eq!(ended.stdout, "", "{url}");
        assert!(!lab.path("run.plim").exists());
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a connection was made");
}

#[test]
fn what_is_no_target_is_a_mistake_of_usage() {
    let lab = Lab::new();
    for (url, text) in [
        ("ftp://127.0.0.1/", "only `http://` and `https://` targets are supported"),
        ("http://127.0.0.1:0/", "expected a port from 1 to 65535"),
        ("http://user@127.0.0.1/", "a target has no user name"),
        ("http://127.0.0.1/site", "a target has no path"),
    ] {
        run(&lab, url).expect(2).says(text);
    }
    lab.run(&["run", "one-object", "--target", "http://127.0.0.1/", "--sut", "nginx"]).expect(2);
}
