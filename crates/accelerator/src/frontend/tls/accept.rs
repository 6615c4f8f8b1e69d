//! The TLS handshake, and the certificates that it uses.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{NoServerSessionStorage, ProducesTickets, ResolvesServerCert};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use units::Nanos;

use super::certificates::Certificates;
use super::error::TlsError;
use super::settings::{MinTlsVersion, TlsSettings};
use crate::message::DisconnectReason;

/// The ALPN name of HTTP/2 (RFC 9113 §3.2).
const ALPN_HTTP2: &[u8] = b"h2";

/// The ALPN name of HTTP/1.1 (RFC 7301 §6), which is also spoken where nothing is agreed on.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// The TLS setup of all threads. A reload concerns handshakes to come; established connections stay.
#[derive(Debug)]
pub struct TlsContext {
    provider: Arc<CryptoProvider>,
    ticketer: Arc<dyn ProducesTickets>,
    current: Mutex<Arc<LoadedTls>>,
}

/// The configuration until the next reload.
#[derive(Debug)]
struct LoadedTls {
    /// For listeners that offer HTTP/1 only.
    http1: Arc<ServerConfig>,
    /// For listeners that offer HTTP/2 too.
    http2: Arc<ServerConfig>,
    handshake_timeout: Nanos,
}

/// A connection after its handshake.
#[derive(Debug)]
pub struct AcceptedTls<S> {
    /// The connection.
    pub stream: TlsStream<S>,
    /// Whether the client speaks HTTP/2; else HTTP/1.
    pub is_http2: bool,
}

/// The reason for which a handshake failed.
#[derive(Debug, Error)]
pub enum HandshakeFailure {
    /// It took too long.
    #[error("TLS handshake was not complete within the time limit")]
    TimedOut,
    /// The client sent something invalid, rejected the certificate, or left.
    #[error("TLS handshake: {0}")]
    Failed(#[from] io::Error),
}

impl HandshakeFailure {
    /// Returns the reason, for metrics.
    pub fn reason(&self) -> DisconnectReason {
        match self {
            HandshakeFailure::TimedOut => DisconnectReason::TlsTimeout,
            HandshakeFailure::Failed(_) => DisconnectReason::TlsHandshake,
        }
    }
}

impl TlsContext {
    /// Loads the certificates.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or do not belong together; see [`TlsError`].
    pub fn load(settings: &TlsSettings) -> Result<TlsContext, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let ticketer = ring::Ticketer::new()?;
        let current = Mutex::new(Arc::new(LoadedTls::new(settings, &provider, &ticketer)?));
        Ok(TlsContext { provider, ticketer, current })
    }

    /// Loads the certificates again, from other files perhaps; session tickets issued before are still accepted.
    ///
    /// # Errors
    ///
    /// As [`TlsContext::load`]; then everything stays as it was.
    pub fn reload(&self, settings: &TlsSettings) -> Result<(), TlsError> {
        let current = Arc::new(LoadedTls::new(settings, &self.provider, &self.ticketer)?);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// Returns the longest time for a handshake.
    pub fn handshake_timeout(&self) -> Nanos {
        self.current().handshake_timeout
    }

    fn current(&self) -> Arc<LoadedTls> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Performs the handshake on a new connection; `http2` if the listener offers it.
    ///
    /// # Errors
    ///
    /// See [`HandshakeFailure`]; the client has been told by an alert as far as TLS has one.
    pub async fn accept<S>(&self, stream: S, http2: bool) -> Result<AcceptedTls<S>, HandshakeFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let current = self.current();
        let config = if http2 { &current.http2 } else { &current.http1 };
        let handshake = TlsAcceptor::from(Arc::clone(config)).accept(stream);
        let within = tokio::time::timeout(Duration::from_nanos(current.handshake_timeout.0), handshake);
        let stream = within.await.map_err(|_| HandshakeFailure::TimedOut)??;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(ALPN_HTTP2);
        Ok(AcceptedTls { stream, is_http2 })
    }
}

impl LoadedTls {
    fn new(
        settings: &TlsSettings,
        provider: &Arc<CryptoProvider>,
        ticketer: &Arc<dyn ProducesTickets>,
    ) -> Result<LoadedTls, TlsError> {
        let versions: &[&SupportedProtocolVersion] = match settings.version_min {
            MinTlsVersion::Tls12 => &[&TLS13, &TLS12],
            MinTlsVersion::Tls13 => &[&TLS13],
        };
        let certificates: Arc<dyn ResolvesServerCert> = Arc::new(Certificates::load(settings, provider)?);
        let mut http1 = ServerConfig::builder_with_provider(Arc::clone(provider))
            .with_protocol_versions(versions)?
            .with_no_client_auth()
            .with_cert_resolver(certificates);
        http1.ticketer = Arc::clone(ticketer);
        http1.session_storage = Arc::new(NoServerSessionStorage {});
        http1.alpn_protocols = vec![ALPN_HTTP1.to_vec()];
        let mut http2 = http1.clone();
        http2.alpn_protocols = vec![ALPN_HTTP2.to_vec(), ALPN_HTTP1.to_vec()];
        Ok(LoadedTls {
            http1: Arc::new(http1),
            http2: Arc::new(http2),
            handshake_timeout: settings.handshake_timeout,
        })
    }
}
