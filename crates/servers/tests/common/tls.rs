//! A certificate for each test program, and blocking clients that trust nothing else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, LazyLock};

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion};
use servers::web::Identity;

use super::Client;

pub(crate) type TlsClient = Client<StreamOwned<ClientConnection, TcpStream>>;

struct Made {
    /// Keeps the files alive.
    _folder: tempfile::TempDir,
    identity: Identity,
    certificate: CertificateDer<'static>,
}

static MADE: LazyLock<Made> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let identity = Identity { certificate: folder.path().join("cert"), key: folder.path().join("key") };
    std::fs::write(&identity.certificate, made.cert.pem()).unwrap();
    std::fs::write(&identity.key, made.signing_key.serialize_pem()).unwrap();
    Made { _folder: folder, identity, certificate: made.cert.der().clone() }
});

pub(crate) fn identity() -> Identity {
    MADE.identity.clone()
}

/// Returns a client's configuration: its ALPN protocols, and one version of TLS or all. It caches sessions.
pub(crate) fn config(alpn: &[&str], version: Option<&'static SupportedProtocolVersion>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(MADE.certificate.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let versions: &[_] = version.as_ref().map_or(rustls::ALL_VERSIONS, std::slice::from_ref);
    let builder = builder.with_protocol_versions(versions).unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

/// The name in the certificate.
pub(crate) fn name() -> ServerName<'static> {
    ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST))
}

/// Connects; the handshake happens with the first request.
pub(crate) fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> TlsClient {
    let stream = Client::connect(address).stream;
    let session = ClientConnection::new(Arc::clone(config), name()).unwrap();
    Client::over(StreamOwned::new(session, stream))
}
