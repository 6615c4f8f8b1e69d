//! Certificates that are accepted from a server not started by the run, and the problems reported for others.

use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use drivers::web::TlsDriver;
use drivers::{Authorities, CertificateProblem, Trust};
use model::{ConnectionLifetime, Outcome, Tls, WebProtocol};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::common::{
    Fixture, Peer, SMALL, accept, connection, context, protocol, read_request, right_reply, workload,
};

/// A server's certificate with its key.
struct ServerCertificate {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

fn key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap()
}

fn params(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, "a server");
    params
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, key()).unwrap()
}

fn issued(authority: &CertifiedIssuer<'static, KeyPair>, params: &CertificateParams) -> ServerCertificate {
    let key = key();
    let certificate = params.signed_by(&key, authority).unwrap().der().clone();
    ServerCertificate { certificate, key }
}

fn self_signed(params: CertificateParams) -> ServerCertificate {
    let key = key();
    ServerCertificate { certificate: params.self_signed(&key).unwrap().der().clone(), key }
}

fn trust(certificates: &[&CertificateDer<'_>]) -> Trust {
    Trust::Authorities(Authorities::new(certificates.iter().map(|one| one.to_vec())).unwrap())
}

fn config(shown: &ServerCertificate) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let key = PrivateKeyDer::try_from(shown.key.serialize_der()).unwrap();
    let config = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![shown.certificate.clone()], key).unwrap())
}

/// Requests twice over separate connections from a server with this certificate; returns the outcome of the
/// first request and the problem of the certificate.
fn ask(shown: &ServerCertificate, trust: &Trust) -> (Outcome, String, Option<CertificateProblem>) {
    let config = config(shown);
    let script = || {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            if stream.conn.complete_io(&mut stream.sock).is_err() {
                return;
            }
            if !read_request(&mut stream).is_empty() {
                stream.write_all(&right_reply(SMALL, "")).unwrap();
            }
            stream.conn.send_close_notify();
            let _ = stream.flush();
            let _ = stream.sock.read_to_end(&mut Vec::new());
        })
    };
    let peer = Peer::start(vec![script(), script()]);
    let protocol = WebProtocol { tls: Tls::Full, ..protocol(ConnectionLifetime::PerRequest) };
    let web = context(peer.address, &protocol, &workload(), trust);
    let (outcome, text) = Fixture::with(TlsDriver::new(Rc::clone(&web))).run(async |fixture| {
        let first = fixture.get_described(SMALL).await;
        assert_eq!(
            fixture.get_described(SMALL).await,
            first,
            "the result is the same on the next connection"
        );
        first
    });
    (outcome, text, web.certificate_problem())
}

#[track_caller]
fn accepts(shown: &ServerCertificate, trust: &Trust) {
    let (outcome, text, problem) = ask(shown, trust);
    assert_eq!((outcome, problem), (Outcome::Ok, None), "{text}");
}

#[track_caller]
fn refuses(shown: &ServerCertificate, trust: &Trust, said: &str) {
    let (outcome, text, problem) = ask(shown, trust);
    assert_eq!(outcome, Outcome::TlsFailed, "{text}");
    assert_eq!(problem.expect("a problem is reported").to_string(), said);
    assert_eq!(text, format!("GET /small.html: tls failed: certificate not accepted: {said}"));
    // Trusting any certificate accepts this one too.
    accepts(shown, &Trust::Any);
}

#[test]
fn a_certificate_of_a_trusted_authority_with_the_right_name_is_accepted() {
    let authority = authority("one");
    accepts(&issued(&authority, &params(&["localhost", "other.test"])), &trust(&[authority.der()]));
}

#[test]
fn problems_of_certificates_are_reported() {
    let authority = authority("one");
    let trusted = trust(&[authority.der()]);
    let mut expired = params(&["localhost"]);
    (expired.not_before, expired.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    let (_, _, problem) = ask(&issued(&authority, &expired), &trusted);
    // About a quarter of a century ago, in days; a test must not depend on today's date.
    assert!(matches!(problem, Some(CertificateProblem::Expired(9000..))), "{problem:?}");
    let mut early = params(&["localhost"]);
    (early.not_before, early.not_after) = (date_time_ymd(4000, 1, 1), date_time_ymd(4001, 1, 1));
    let (_, _, problem) = ask(&issued(&authority, &early), &trusted);
    assert!(matches!(problem, Some(CertificateProblem::NotYetValid(_))), "{problem:?}");
    let wrong_name = issued(&authority, &params(&["a.test", "b.test"]));
    refuses(&wrong_name, &trusted, "it is for `a.test`, `b.test`, not for `localhost`");
    let other = self::authority("another");
    let unknown = issued(&other, &params(&["localhost"]));
    refuses(
        &unknown,
        &trusted,
        "its issuer is unknown: its chain ends at none of the trusted authorities (1)",
    );
    let own = self_signed(params(&["localhost"]));
    refuses(&own, &trusted, "it is self-signed and not a trusted authority");
}

/// Goal: a self-signed certificate can be its own authority, whether it claims to be one (as from `openssl
/// req -x509`) or not; its name is checked all the same.
#[test]
fn a_self_signed_certificate_is_accepted_if_trusted_as_an_authority() {
    for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let with = |names: &[&str]| {
            let mut params = params(names);
            params.is_ca = is_ca;
            self_signed(params)
        };
        let shown = with(&["localhost"]);
        accepts(&shown, &trust(&[&shown.certificate]));
        let other = with(&["a.test"]);
        let (outcome, text, problem) = ask(&other, &trust(&[&other.certificate]));
        let problem = problem.map(|problem| problem.to_string());
        let expected = "it is for `a.test`, not for `localhost`";
        assert_eq!((outcome, problem.as_deref()), (Outcome::TlsFailed, Some(expected)), "{is_ca:?}: {text}");
    }
}

/// Goal: a common name is no name, as in browsers, and the message says so rather than what `--ca` is for.
#[test]
fn a_certificate_without_a_subject_alternative_name_is_told() {
    let expected =
        "it contains no `subjectAltName` to compare with `localhost`, and a common name does not count";
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        let mut params = params(&[]);
        params.is_ca = is_ca;
        let shown = self_signed(params);
        refuses(&shown, &trust(&[&shown.certificate]), expected);
    }
    let authority = authority("one");
    refuses(&issued(&authority, &params(&[])), &trust(&[authority.der()]), expected);
}

#[test]
fn authorities_are_parsed_from_pem() {
    let authority = authority("one");
    let text = format!("# a comment\n{}\n{}", authority.pem(), self::authority("another").pem());
    let read = Authorities::from_pem(text.as_bytes()).unwrap();
    accepts(&issued(&authority, &params(&["localhost"])), &Trust::Authorities(read));
    for nothing in ["", "no certificate", &key().serialize_pem()] {
        let error = Authorities::from_pem(nothing.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "it contains no certificate (PEM)");
    }
    assert_eq!(Authorities::new([b"no certificate".to_vec()]), None);
}
