//! Client certificates: shown to a server that asks for one, and what is said where there is none or another is wanted.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::rc::Rc;
use std::sync::Arc;

use drivers::web::{Target, TargetAccess, TlsDriver, WebContext, WebContextOptions};
use drivers::{ClientIdentity, HandshakeProblem, TargetPolicy, Trust};
use model::{ConnectionLifetime, Outcome, Secrets, Tls, WebProtocol, WebWorkload};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::common::{
    Fixture, Peer, SMALL, TlsStream, accept, clock, connection, protocol, read_request, right_reply, workload,
};

/// An authority that issues client certificates.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn create(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn identity(&self) -> ClientIdentity {
        let key = KeyPair::generate().unwrap();
        let made =
            CertificateParams::new(vec!["client".to_owned()]).unwrap().signed_by(&key, &self.0).unwrap();
        ClientIdentity::from_pem(made.pem().as_bytes(), key.serialize_pem().as_bytes()).unwrap()
    }

    /// Returns the configuration of a server that wants a certificate of this authority.
    fn server(&self, version: &'static SupportedProtocolVersion) -> Arc<ServerConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .unwrap();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
        let builder =
            ServerConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
        let builder = builder.with_client_cert_verifier(clients);
        Arc::new(builder.with_single_cert(vec![own.cert.der().clone()], key).unwrap())
    }
}

/// Answers one request, or ends the connection so that its alert arrives.
fn serve(mut stream: TlsStream) {
    match stream.conn.complete_io(&mut stream.sock) {
        Ok(_) => {
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
        }
        Err(_) => {
            let _ = stream.conn.write_tls(&mut stream.sock);
        }
    }
    let _ = stream.sock.shutdown(Shutdown::Write);
    let _ = stream.sock.read_to_end(&mut Vec::new());
}

/// Makes one request to such a server; returns the outcome, its description, and the problem that is found.
fn ask(
    config: Arc<ServerConfig>,
    identity: Option<ClientIdentity>,
) -> (Outcome, String, Option<HandshakeProblem>) {
    let peer = Peer::start(vec![connection(move |stream| serve(accept(stream, &config)))]);
    let access = TargetAccess { identity, ..TargetAccess::default() };
    let target = Target { host: "localhost".to_owned(), port: peer.address.port(), secure: true, access };
    let protocol = WebProtocol { tls: Tls::Full, ..protocol(ConnectionLifetime::PerRequest) };
    let web = WebContext::new(WebContextOptions {
        target: &target,
        address: peer.address,
        policy: TargetPolicy,
        workload: &WebWorkload { protocol, ..workload() },
        secrets: &Secrets::default(),
        source_addresses: &[],
        trust: &Trust::Any,
        clock: clock(),
    })
    .unwrap();
    let fixture = Fixture::with(TlsDriver::new(Rc::clone(&web)));
    let (outcome, text) = fixture.run(async |fixture| fixture.get_described(SMALL).await);
    (outcome, text, web.handshake_problem())
}

#[test]
fn a_server_that_asks_for_a_client_certificate_gets_the_one_that_is_given() {
    let ours = Authority::create("ours");
    let theirs = Authority::create("theirs");
    for version in [&TLS12, &TLS13] {
        let (outcome, text, problem) = ask(ours.server(version), Some(ours.identity()));
        assert_eq!((outcome, problem), (Outcome::Ok, None), "{version:?}: {text}");
        let (outcome, text, problem) = ask(ours.server(version), None);
        assert_eq!(
            (outcome, problem),
            (Outcome::TlsFailed, Some(HandshakeProblem::NoIdentity)),
            "{version:?}: {text}"
        );
        assert_eq!(text, "GET /small.html: tls failed: the server asks for a client certificate");
        let (outcome, text, problem) = ask(ours.server(version), Some(theirs.identity()));
        let refused = Some(HandshakeProblem::IdentityRefused);
        assert_eq!((outcome, problem), (Outcome::TlsFailed, refused), "{version:?}: {text}");
        assert_eq!(text, "GET /small.html: tls failed: the server does not accept the client certificate");
    }
}
