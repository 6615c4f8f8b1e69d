//! Servers with a certificate of their own.

use std::net::TcpStream;
use std::sync::Arc;

use drivers::Trust;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

/// The server's side of a TLS connection.
pub(crate) type TlsStream = StreamOwned<ServerConnection, TcpStream>;

/// A certificate created for a test, with its key.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    /// Both in PEM, for servers that read them from files.
    pub pem: [String; 2],
}

impl Identity {
    pub(crate) fn create() -> Identity {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let pem = [made.cert.pem(), made.signing_key.serialize_pem()];
        Identity { certificate: made.cert.der().clone(), key, pem }
    }

    /// Returns trust in this certificate only.
    pub(crate) fn trust(&self) -> Trust {
        Trust::Certificate(self.certificate.to_vec())
    }

    /// Returns the configuration of a server with this certificate.
    pub(crate) fn config(
        &self,
        version: &'static SupportedProtocolVersion,
        alpn: &[&[u8]],
    ) -> Arc<ServerConfig> {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let mut config = builder
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key())
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

/// Wraps an accepted connection in TLS.
pub(crate) fn accept(stream: TcpStream, config: &Arc<ServerConfig>) -> TlsStream {
    StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), stream)
}
