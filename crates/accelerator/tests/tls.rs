//! TLS from the clients' view: certificates by server name, ALPN, and reloads.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use accelerator::frontend::tls::{
    AcceptedTls, CertificateFiles, HandshakeFailure, MinTlsVersion, TlsContext, TlsError, TlsSettings,
    UnknownNames,
};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind, RootCertStore, SupportedProtocolVersion};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use units::Nanos;

/// A folder of certificates.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn files(&self, file: &str) -> CertificateFiles {
        let path = |kind: &str| self.0.path().join(format!("{file}.{kind}"));
        CertificateFiles { certificate: path("crt"), key: path("key") }
    }

    /// Makes a certificate for these names and writes it to a file, replacing an older one.
    fn make(&self, file: &str, names: &[&str]) -> CertificateDer<'static> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let CertificateFiles { certificate, key } = self.files(file);
        fs::write(certificate, made.cert.pem()).unwrap();
        fs::write(key, made.signing_key.serialize_pem()).unwrap();
        made.cert.der().clone()
    }

    fn settings(&self, files: &[&str]) -> TlsSettings {
        let certificates = files.iter().map(|file| self.files(file)).collect();
        TlsSettings { certificates, ..TlsSettings::default() }
    }
}

const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

/// Makes a client that trusts these certificates, speaks these versions and offers these protocols.
fn client(
    trusted: &[&CertificateDer<'static>],
    versions: &[&'static SupportedProtocolVersion],
    alpn: &[&str],
) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in trusted {
        roots.add((*certificate).clone()).unwrap();
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// Both ends of a connection after the handshake.
struct Pair {
    client: TlsStream<DuplexStream>,
    server: AcceptedTls<DuplexStream>,
}

impl Pair {
    /// Returns the certificate that the client was shown.
    fn shown(&self) -> &CertificateDer<'static> {
        &self.client.get_ref().1.peer_certificates().unwrap()[0]
    }
}

/// Performs the handshake. The error is the client's, or the server's if the client noticed none.
async fn connect(
    tls: &TlsContext,
    config: &Arc<ClientConfig>,
    name: &str,
    http2: bool,
) -> Result<Pair, String> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connecting = TlsConnector::from(Arc::clone(config)).connect(name, near);
    let (client, server) = tokio::join!(connecting, tls.accept(far, http2));
    let client = client.map_err(|error| error.to_string())?;
    Ok(Pair { client, server: server.map_err(|error| error.to_string())? })
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

#[test]
fn each_server_name_gets_its_certificate() {
    let folder = Folder::new();
    let one = folder.make("one", &["example.org", "www.example.org"]);
    let wild = folder.make("wild", &["*.example.org", "*.Example.net"]);
    let tls = TlsContext::load(&folder.settings(&["one", "wild"])).unwrap();
    let config = client(&[&one, &wild], BOTH, &[]);
    run(async {
        let cases = [
            ("example.org", &one),
            ("EXAMPLE.org", &one),
            ("www.example.org", &one),
            ("mail.example.org", &wild),
            ("a.example.net", &wild),
        ];
        for (name, certificate) in cases {
            let pair = connect(&tls, &config, name, false).await.unwrap();
            assert_eq!(pair.shown(), certificate, "{name}");
        }
    });
}

#[test]
fn unknown_names_get_the_first_certificate_or_an_alert() {
    let folder = Folder::new();
    let first = folder.make("first", &["first.example"]);
    let second = folder.make("second", &["second.example", "*.second.example"]);
    let settings = folder.settings(&["first", "second"]);
    let config = client(&[&first, &second], BOTH, &[]);
    run(async {
        let tls = TlsContext::load(&settings).unwrap();
        for name in ["other.example", "a.b.second.example", "192.0.2.1"] {
            let error = connect(&tls, &config, name, false).await.err().unwrap();
            assert!(
                error.contains("not valid for name") && error.contains("first.example"),
                "{name}: {error}"
            );
        }
        let strict = TlsSettings { unknown_names: UnknownNames::Refused, ..settings };
        tls.reload(&strict).unwrap();
        for name in ["other.example", "192.0.2.1"] {
            let error = connect(&tls, &config, name, false).await.err().unwrap();
            assert!(error.contains("AccessDenied") || error.contains("UnrecognisedName"), "{name}: {error}");
        }
        assert!(connect(&tls, &config, "second.example", false).await.is_ok());
    });
}

#[test]
fn http2_is_negotiated_where_both_offer_it() {
    let folder = Folder::new();
    let certificate = folder.make("one", &["localhost"]);
    let tls = TlsContext::load(&folder.settings(&["one"])).unwrap();
    run(async {
        let cases: [(&[&str], bool, bool); 6] = [
            (&["h2", "http/1.1"], true, true),
            (&["http/1.1", "h2"], true, true),
            (&["h2"], true, true),
            (&["http/1.1"], true, false),
            (&[], true, false),
            (&["h2", "http/1.1"], false, false),
        ];
        for (offered, http2, is_http2) in cases {
            let config = client(&[&certificate], BOTH, offered);
            let pair = connect(&tls, &config, "localhost", http2).await.unwrap();
            assert_eq!(pair.server.is_http2, is_http2, "{offered:?} {http2}");
        }
        let config = client(&[&certificate], BOTH, &["h2"]);
        let error = connect(&tls, &config, "localhost", false).await.err().unwrap();
        assert!(error.contains("NoApplicationProtocol"), "{error}");
    });
}

#[test]
fn reload_affects_new_connections_and_a_bad_one_none() {
    let folder = Folder::new();
    let old = folder.make("one", &["localhost"]);
    let settings = folder.settings(&["one"]);
    let tls = TlsContext::load(&settings).unwrap();
    run(async {
        let mut before = connect(&tls, &client(&[&old], BOTH, &[]), "localhost", false).await.unwrap();
        let new = folder.make("one", &["localhost"]);
        assert!(
            connect(&tls, &client(&[&old], BOTH, &[]), "localhost", false).await.is_ok(),
            "not reloaded yet"
        );
        tls.reload(&settings).unwrap();
        let config = client(&[&new], BOTH, &[]);
        assert_eq!(connect(&tls, &config, "localhost", false).await.unwrap().shown(), &new);
        fs::write(folder.files("one").key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
            .unwrap();
        assert!(tls.reload(&settings).is_err());
        assert!(connect(&tls, &config, "localhost", false).await.is_ok(), "all stays as it was");
        before.client.write_all(b"ping").await.unwrap();
        let mut bytes = [0; 4];
        before.server.stream.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"ping", "who was connected still is");
    });
}

/// Goal: tickets outlive a reload, over either version.
#[test]
fn sessions_are_resumed_across_a_reload() {
    let folder = Folder::new();
    let certificate = folder.make("one", &["localhost"]);
    let settings = folder.settings(&["one"]);
    for version in [&TLS12, &TLS13] {
        let tls = TlsContext::load(&settings).unwrap();
        let mut config = (*client(&[&certificate], &[version], &[])).clone();
        config.resumption = Resumption::in_memory_sessions(8);
        let config = Arc::new(config);
        run(async {
            for kind in [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed] {
                let mut pair = connect(&tls, &config, "localhost", false).await.unwrap();
                // The frames with the tickets of TLS 1.3 are read together with the first byte after them.
                pair.server.stream.write_all(b"x").await.unwrap();
                pair.server.stream.flush().await.unwrap();
                assert_eq!(pair.client.read_u8().await.unwrap(), b'x');
                assert_eq!(pair.client.get_ref().1.handshake_kind(), Some(kind), "{version:?}");
                tls.reload(&settings).unwrap();
            }
        });
    }
}

#[test]
fn versions_below_the_minimum_are_refused() {
    let folder = Folder::new();
    let certificate = folder.make("one", &["localhost"]);
    let settings = TlsSettings { version_min: MinTlsVersion::Tls13, ..folder.settings(&["one"]) };
    let tls = TlsContext::load(&settings).unwrap();
    run(async {
        let error =
            connect(&tls, &client(&[&certificate], &[&TLS12], &[]), "localhost", false).await.err().unwrap();
        assert!(error.contains("ProtocolVersion"), "{error}");
        assert!(connect(&tls, &client(&[&certificate], BOTH, &[]), "localhost", false).await.is_ok());
    });
}

#[test]
fn stalled_and_invalid_handshakes_end() {
    let folder = Folder::new();
    folder.make("one", &["localhost"]);
    let mut settings = folder.settings(&["one"]);
    settings.handshake_timeout = Nanos::from_millis(30);
    let tls = TlsContext::load(&settings).unwrap();
    run(async {
        let (_silent, far) = tokio::io::duplex(1024);
        let failure = tls.accept(far, true).await.unwrap_err();
        assert!(matches!(failure, HandshakeFailure::TimedOut));
        let (mut near, far) = tokio::io::duplex(1024);
        near.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").await.unwrap();
        let failure = tls.accept(far, true).await.unwrap_err();
        assert_eq!(failure.reason().name(), "tls-handshake");
        let (near, far) = tokio::io::duplex(1024);
        drop(near);
        assert_eq!(tls.accept(far, true).await.unwrap_err().reason().name(), "tls-handshake");
    });
}

#[test]
fn unusable_certificate_files_are_named() {
    let folder = Folder::new();
    folder.make("one", &["localhost"]);
    folder.make("two", &["localhost"]);
    let problem = |certificate: PathBuf, key: PathBuf| {
        let certificates = vec![CertificateFiles { certificate, key }];
        TlsContext::load(&TlsSettings { certificates, ..TlsSettings::default() }).unwrap_err().to_string()
    };
    let one = folder.files("one");
    let two = folder.files("two");
    let absent = folder.0.path().join("none.crt");
    let text = problem(absent.clone(), one.key.clone());
    assert!(text.starts_with("certificate `") && text.contains("none.crt"), "{text}");
    let text = problem(one.certificate.clone(), absent);
    assert!(text.starts_with("key `"), "{text}");
    let text = problem(one.key.clone(), one.key.clone());
    assert!(text.contains("no certificate found"), "{text}");
    let text = problem(one.certificate, two.key);
    assert!(text.contains("one.crt") && text.contains("two.key"), "{text}");
    assert!(matches!(TlsContext::load(&TlsSettings::default()), Err(TlsError::NoCertificate)));
}
