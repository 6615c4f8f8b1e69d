//! TLS and HTTP/2 with nothing installed: the built-in server behind runs that ask for them.

use crate::support::Lab;

/// Runs `web-modern` shortly against the built-in server, changed as `options` say; returns the lab with `run.plim`.
#[track_caller]
fn check(options: &[&str]) -> Lab {
    let lab = Lab::new();
    let run = ["run", "web-modern", "--quick", "--load", "1,2", "--duration", "1", "--out", "run.plim"];
    let ended = lab.run(&[&run[..], options].concat());
    // How the generator fares on a busy machine is no matter here.
    ended.assert_run();
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
    assert_eq!(transport(&check(&[])), "TLS over TCP, with HTTP/2");
}

#[test]
fn it_speaks_http1_over_tls_with_full_handshakes() {
    assert_eq!(transport(&check(&["--http", "1.1", "--tls", "full"])), "TLS over TCP");
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

/// A certificate for names with its key in a lab's folder, signed by itself, from `not_before` on for a year.
fn certificate(lab: &Lab, names: &[&str], not_before: i32) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = rcgen::CertificateParams::new(names).unwrap();
    params.not_before = rcgen::date_time_ymd(not_before, 1, 1);
    params.not_after = rcgen::date_time_ymd(if not_before < 2010 { not_before + 1 } else { 4000 }, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    std::fs::write(lab.path("server.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(lab.path("server.key"), key.serialize_pem()).unwrap();
}

const SERVE: [&str; 5] = ["one-object", "--tls-certificate", "server.pem", "--tls-key", "server.key"];

/// Runs against a server of that certificate that was there already.
fn target(lab: &Lab, address: &str, options: &[&str]) -> crate::support::Ended {
    let url = format!("https://{}/", address.replace("127.0.0.1", "localhost"));
    let run = ["run", "one-object", "--load", "1", "--duration", "1", "--out", "run.plim", "--target", &url];
    lab.run(&[&run[..], options].concat())
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused_before_load() {
    let lab = Lab::new();
    certificate(&lab, &["localhost"], 2020);
    let (_server, address) = lab.serve(&SERVE);
    target(&lab, &address, &[])
        .expect(4)
        .says("is not accepted: it is self-signed, and nobody vouches for it")
        .says("hint: `--ca FILE` accepts the certificate in FILE (PEM); `--insecure` accepts any, and the result says so");
    assert!(!lab.path("run.plim").exists());
}

#[test]
fn a_certificate_that_has_expired_or_another_name_is_refused_before_load() {
    for (names, year, said) in [
        (["localhost"], 2000, "is not accepted: it expired "),
        (["a.test"], 2020, "it is for `a.test`, not for `localhost`"),
    ] {
        let lab = Lab::new();
        certificate(&lab, &names, year);
        let (_server, address) = lab.serve(&SERVE);
        target(&lab, &address, &["--ca", "server.pem"]).expect(4).says(said).says("hint: ");
        assert!(!lab.path("run.plim").exists());
    }
}

/// Goal: with its authority named, a server is measured as any; without a look at it, every form of the result says so.
#[test]
fn a_server_is_measured_by_its_authority_or_unverified_and_then_said_to_be() {
    let lab = Lab::new();
    certificate(&lab, &["localhost"], 2020);
    let (_server, address) = lab.serve(&SERVE);
    let remark = "the server's certificate was not verified";
    for (options, fact) in [
        (&["--ca", "server.pem"][..], "verified: name, dates, and an authority given with `--ca`"),
        (&["--insecure"], "not verified (`--insecure`): any certificate was accepted"),
    ] {
        let ended = target(&lab, &address, options);
        ended.assert_run();
        let run = lab.path("run.plim");
        assert_eq!(lab.fact(&run, "System under test", "certificate").unwrap(), fact);
        let report = lab.report(&run);
        assert_eq!(report["load_points"][0]["total"]["errors"], 0, "{ended:?}");
        let is_insecure = options == ["--insecure"];
        assert_eq!(report["verdict"].to_string().contains(remark), is_insecure, "{}", report["verdict"]);
        assert_eq!(format!("{ended:?}").contains("not verified (`--insecure`)"), is_insecure, "{ended:?}");
        std::fs::remove_file(run).unwrap();
    }
}

#[test]
fn flags_about_certificates_need_a_target_that_has_one() {
    let lab = Lab::new();
    lab.run(&["run", "one-object", "--insecure"]).expect(2).says("--target");
    lab.run(&["run", "one-object", "--target", "http://127.0.0.1:1/", "--insecure"])
        .expect(2)
        .says("`--ca` and `--insecure` concern TLS, and the target is without it");
    lab.run(&["run", "one-object", "--target", "https://127.0.0.1:1/", "--ca", "none.pem"])
        .expect(2)
        .says("authorities `none.pem`: No such file or directory");
}
