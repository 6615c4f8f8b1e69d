//! TLS and HTTP/2 with nothing installed: the built-in server behind runs that ask for them.

use crate::support::Lab;

/// Runs `web-modern` shortly against the built-in server, changed as `options` say; returns the lab with `run.plim`.
#[track_caller]
fn check(options: &[&str]) -> Lab {
    let lab = Lab::new();
    let run = ["run", "web-modern", "--quick", "--load", "1,2", "--duration", "1", "--out", "run.plim"];
    let ended = lab.run(&[&run[..], options].concat());
    // How the generator fares on a busy machine is no matter here.
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    lab.run(&["audit", "run.plim"]).expect(0);
    let report = lab.report(&lab.path("run.plim"));
    for point in report["load_points"].as_array().unwrap() {
        assert!(0 < point["total"]["n"].as_u64().unwrap(), "{point}");
        assert_eq!(point["total"]["errors"], 0, "{point}");
    }
    lab
}

fn transport(lab: &Lab) -> String {
    lab.fact(&lab.path("run.plim"), "Server", "transport").unwrap()
}

#[test]
fn the_built_in_server_runs_web_modern() {
    assert_eq!(transport(&check(&[])), "HTTP/2 over TLS");
}

#[test]
fn it_speaks_http1_over_tls_with_full_handshakes() {
    assert_eq!(transport(&check(&["--http", "1.1", "--tls", "full"])), "HTTP/1.1 over TLS");
}

#[test]
fn it_speaks_http2_without_tls() {
    check(&["--tls", "off", "--connection", "keep-alive", "--streams", "2"]);
}

#[test]
fn a_certificate_needs_its_key_and_both_have_to_be_there() {
    let lab = Lab::new();
    let serve = ["serve", "web", "one-object", "--tls-certificate", "none.pem"];
    lab.run(&serve).expect(2).says("--tls-key <FILE>");
    lab.run(&[&serve[..], &["--tls-key", "none.key"]].concat())
        .expect(4)
        .says("certificate `none.pem`: I/O error: No such file or directory");
}
