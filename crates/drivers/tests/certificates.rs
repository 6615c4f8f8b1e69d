//! Which certificates are accepted from a server that was there already, and what is said of the others.

mod common;

use std::io::{Read, Write};
use std::rc::Rc;
use std::sync::Arc;

use common::{Bench, Peer, SMALL, accept, connection, origin, protocol, read_request, right_reply, workload};
use drivers::web::{Authorities, CertificateProblem, TlsDriver, Trust};
use model::{Connection, Outcome, Protocol, Tls};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
    date_time_ymd,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate with its key, for a server.
struct Shown {
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

fn issued(authority: &CertifiedIssuer<'static, KeyPair>, params: &CertificateParams) -> Shown {
    let key = key();
    let certificate = params.signed_by(&key, authority).unwrap().der().clone();
    Shown { certificate, key }
}

fn self_signed(params: CertificateParams) -> Shown {
    let key = key();
    Shown { certificate: params.self_signed(&key).unwrap().der().clone(), key }
}

fn trust(certificates: &[&CertificateDer<'_>]) -> Trust {
    Trust::Authorities(Authorities::new(certificates.iter().map(|one| one.to_vec())).unwrap())
}

fn config(shown: &Shown) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let key = PrivateKeyDer::try_from(shown.key.serialize_der()).unwrap();
    let config = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![shown.certificate.clone()], key).unwrap())
}

/// Asks a server that shows this certificate, twice over connections of their own; returns how the first request ended,
/// and what was wrong with the certificate.
fn ask(shown: &Shown, trust: &Trust) -> (Outcome, String, Option<CertificateProblem>) {
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
    let protocol = Protocol { tls: Tls::Full, ..protocol(Connection::PerRequest) };
    let origin = origin(peer.address, &protocol, &workload(), trust);
    let (outcome, text) = Bench::with(TlsDriver::new(Rc::clone(&origin))).run(async |bench| {
        let first = bench.told(SMALL).await;
        assert_eq!(bench.told(SMALL).await, first, "what was found out is true of the next connection, too");
        first
    });
    (outcome, text, origin.certificate_problem())
}

#[track_caller]
fn accepts(shown: &Shown, trust: &Trust) {
    let (outcome, text, problem) = ask(shown, trust);
    assert_eq!((outcome, problem), (Outcome::Ok, None), "{text}");
}

#[track_caller]
fn refuses(shown: &Shown, trust: &Trust, said: &str) {
    let (outcome, text, problem) = ask(shown, trust);
    assert_eq!(outcome, Outcome::TlsFailed, "{text}");
    assert_eq!(problem.expect("it is said what is wrong").to_string(), said);
    assert_eq!(text, format!("GET /small.html: tls failed: certificate not accepted: {said}"));
    // Anyone who accepts any accepts this one.
    accepts(shown, &Trust::Any);
}

#[test]
fn a_certificate_of_a_trusted_authority_with_the_right_name_is_accepted() {
    let authority = authority("one");
    accepts(&issued(&authority, &params(&["localhost", "other.test"])), &trust(&[authority.der()]));
}

#[test]
fn what_is_wrong_with_a_certificate_is_said() {
    let authority = authority("one");
    let trusted = trust(&[authority.der()]);
    let mut expired = params(&["localhost"]);
    (expired.not_before, expired.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    let (_, _, problem) = ask(&issued(&authority, &expired), &trusted);
    // A quarter of a century ago, in days; today's date is not for a test to know.
    assert!(matches!(problem, Some(CertificateProblem::Expired(9000..))), "{problem:?}");
    let mut early = params(&["localhost"]);
    (early.not_before, early.not_after) = (date_time_ymd(4000, 1, 1), date_time_ymd(4001, 1, 1));
    let (_, _, problem) = ask(&issued(&authority, &early), &trusted);
    assert!(matches!(problem, Some(CertificateProblem::NotYetValid(_))), "{problem:?}");
    let wrong_name = issued(&authority, &params(&["a.test", "b.test"]));
    refuses(&wrong_name, &trusted, "it is for `a.test`, `b.test`, not for `localhost`");
    let other = self::authority("another");
    let unknown = issued(&other, &params(&["localhost"]));
    refuses(&unknown, &trusted, "its issuer is unknown: its chain ends at none of 1 authorities");
    let own = self_signed(params(&["localhost"]));
    refuses(&own, &trusted, "it is self-signed, and nobody vouches for it");
}

/// Goal: a self-signed certificate is its own authority, whether it says that it is one (as `openssl req -x509` makes it)
/// or not; its name counts all the same.
#[test]
fn a_self_signed_certificate_is_accepted_where_it_is_given_as_an_authority() {
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
        assert!(outcome == Outcome::TlsFailed && problem.is_some(), "{is_ca:?}: {text}");
    }
}

#[test]
fn authorities_are_read_from_text() {
    let authority = authority("one");
    let text = format!("# a comment\n{}\n{}", authority.pem(), self::authority("another").pem());
    let read = Authorities::from_pem(text.as_bytes()).unwrap();
    accepts(&issued(&authority, &params(&["localhost"])), &Trust::Authorities(read));
    for nothing in ["", "no certificate", &key().serialize_pem()] {
        let error = Authorities::from_pem(nothing.as_bytes()).unwrap_err();
        assert_eq!(error, "there is no certificate in it (PEM)");
    }
    assert_eq!(Authorities::new([b"no certificate".to_vec()]), None);
}
