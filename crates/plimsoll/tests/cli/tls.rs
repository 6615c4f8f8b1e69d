//! TLS and HTTP/2 with the built-in server.

use crate::support::Fixture;

/// Records a short run of `web-modern` with `options` on the built-in server; returns the fixture with `run.plim`.
#[track_caller]
fn check(options: &[&str]) -> Fixture {
    let fixture = Fixture::new();
    let run = ["run", "web-modern", "--quick", "--load", "1,2", "--duration", "1", "--out", "run.plim"];
    let ended = fixture.run(&[&run[..], options].concat());
    // The verdict may suffer on a busy machine.
    ended.assert_run();
    fixture.run(&["audit", "run.plim"]).expect(0);
    let report = fixture.report(&fixture.path("run.plim"));
    for point in report["load_points"].as_array().unwrap() {
        assert!(0 < point["total"]["n"].as_u64().unwrap(), "{point}");
        assert_eq!(point["total"]["errors"], 0, "{point}");
    }
    fixture
}

fn transport(fixture: &Fixture) -> String {
    fixture.fact(&fixture.path("run.plim"), "Server", "transport").unwrap()
}

#[test]
fn the_built_in_server_runs_web_modern() {
    assert_eq!(transport(&check(&[])), "TLS over TCP, with HTTP/2");
}

#[test]
fn the_built_in_server_supports_http1_over_tls() {
    assert_eq!(transport(&check(&["--http", "1.1", "--tls", "full"])), "TLS over TCP");
}

#[test]
fn the_built_in_server_supports_http2_without_tls() {
    check(&["--tls", "off", "--connection", "keep-alive", "--streams", "2"]);
}

#[test]
fn a_certificate_needs_its_key_and_both_must_exist() {
    let fixture = Fixture::new();
    let serve = ["serve", "web", "one-object", "--tls-certificate", "none.pem"];
    fixture.run(&serve).expect(2).expect_stderr("--tls-key <FILE>");
    fixture
        .run(&[&serve[..], &["--tls-key", "none.key"]].concat())
        .expect(4)
        .expect_stderr("certificate `none.pem`: I/O error: No such file or directory");
}

/// Writes a self-signed certificate for `names` and its key into the fixture's directory; it is valid from the year
/// `not_before`.
pub(crate) fn certificate(fixture: &Fixture, names: &[&str], not_before: i32) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = rcgen::CertificateParams::new(names).unwrap();
    params.not_before = rcgen::date_time_ymd(not_before, 1, 1);
    params.not_after = rcgen::date_time_ymd(if not_before < 2010 { not_before + 1 } else { 4000 }, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    std::fs::write(fixture.path("server.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(fixture.path("server.key"), key.serialize_pem()).unwrap();
}

const SERVE: [&str; 5] = ["one-object", "--tls-certificate", "server.pem", "--tls-key", "server.key"];

/// Runs against a running server with that certificate.
fn target(fixture: &Fixture, address: &str, options: &[&str]) -> crate::support::ExitedCommand {
    let url = format!("https://{}/", address.replace("127.0.0.1", "localhost"));
    let run = ["run", "one-object", "--load", "1", "--duration", "1", "--out", "run.plim", "--target", &url];
    fixture.run(&[&run[..], options].concat())
}

#[test]
fn an_untrusted_certificate_is_refused_before_load() {
    let fixture = Fixture::new();
    certificate(&fixture, &["localhost"], 2020);
    let (_server, address) = fixture.serve(&SERVE);
    target(&fixture, &address, &[])
        .expect(4)
        .expect_stderr("is not accepted: it is self-signed and not a trusted authority")
        .expect_stderr("hint: `--ca FILE` accepts the certificate in FILE (PEM); `--insecure` accepts any, and the result notes it");
    assert!(!fixture.path("run.plim").exists());
}

#[test]
fn an_expired_certificate_or_a_wrong_name_is_refused_before_load() {
    for (names, year, said) in [
        (["localhost"], 2000, "is not accepted: it expired "),
        (["a.test"], 2020, "it is for `a.test`, not for `localhost`"),
    ] {
        let fixture = Fixture::new();
        certificate(&fixture, &names, year);
        let (_server, address) = fixture.serve(&SERVE);
        target(&fixture, &address, &["--ca", "server.pem"])
            .expect(4)
            .expect_stderr(said)
            .expect_stderr("hint: ");
        assert!(!fixture.path("run.plim").exists());
    }
}

/// Goal: with `--ca`, a self-signed server is tested normally; with `--insecure`, every form of the result notes it.
#[test]
fn a_self_signed_server_is_tested_with_its_authority_or_marked_as_unverified() {
    let fixture = Fixture::new();
    certificate(&fixture, &["localhost"], 2020);
    let (_server, address) = fixture.serve(&SERVE);
    let remark = "the server's certificate was not verified";
    for (options, fact) in [
        (&["--ca", "server.pem"][..], "verified: name, dates, and an authority given with `--ca`"),
        (&["--insecure"], "not verified (`--insecure`): any certificate was accepted"),
    ] {
        let ended = target(&fixture, &address, options);
        ended.assert_run();
        let run = fixture.path("run.plim");
        assert_eq!(fixture.fact(&run, "System under test", "certificate").unwrap(), fact);
        let report = fixture.report(&run);
        assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{ended:?}");
        let is_insecure = options == ["--insecure"];
        assert_eq!(report["verdict"].to_string().contains(remark), is_insecure, "{}", report["verdict"]);
        assert_eq!(format!("{ended:?}").contains("not verified (`--insecure`)"), is_insecure, "{ended:?}");
        std::fs::remove_file(run).unwrap();
    }
}

#[test]
fn certificate_flags_need_a_tls_target() {
    let fixture = Fixture::new();
    fixture.run(&["run", "one-object", "--insecure"]).expect(2).expect_stderr("--target");
    fixture
        .run(&["run", "one-object", "--target", "http://127.0.0.1:1/", "--insecure"])
        .expect(2)
        .expect_stderr("`--ca` and `--insecure` require TLS, but the target does not use it");
    fixture
        .run(&["run", "one-object", "--target", "https://127.0.0.1:1/", "--ca", "none.pem"])
        .expect(2)
        .expect_stderr("authorities `none.pem`: No such file or directory");
}
