//! TLS: the server's configuration, and HTTP/1 over it.

use std::io::{self, IoSlice};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::server::TlsStream;

use super::metered_stream::MeteredStream;
use super::options::Identity;
use super::socket::ByteStream;

/// ALPN protocol id of HTTP/2 (RFC 7301).
pub(super) const ALPN_HTTP2: &[u8] = b"h2";

/// ALPN protocol id of HTTP/1.1, which is also spoken if nothing was negotiated.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// Loads certificate and key.
///
/// Sessions are resumed by tickets only, which need no state in the server.
pub(super) fn server_config(identity: &Identity, http2: bool) -> io::Result<ServerConfig> {
    let Identity { certificate, key } = identity;
    let certificates = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| invalid(format!("certificate `{}`: {error}", certificate.display())))?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| invalid(format!("key `{}`: {error}", key.display())))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| invalid(format!("certificate `{}` and its key: {error}", certificate.display())))?;
    config.ticketer = ring::Ticketer::new().map_err(|error| invalid(format!("TLS tickets: {error}")))?;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    let protocols: &[&[u8]] = if http2 { &[ALPN_HTTP2, ALPN_HTTP1] } else { &[ALPN_HTTP1] };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

impl ByteStream for TlsStream<MeteredStream> {
    const IS_METERED: bool = true;

    async fn read(&mut self, input: &mut Vec<u8>) -> io::Result<usize> {
        self.read_buf(input).await
    }

    /// Records are not buffered: encrypted data is written to the kernel before more is encrypted.
    async fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let taken = self.write_vectored(parts).await?;
        self.flush().await?;
        Ok(taken)
    }

    async fn shut_down(&mut self) -> io::Result<()> {
        self.shutdown().await
    }

    async fn end(&mut self) -> io::Result<()> {
        self.shutdown().await
    }

    fn reset(self) -> io::Result<()> {
        self.get_ref().0.set_reset()
    }
}
