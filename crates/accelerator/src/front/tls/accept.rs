//! The handshake, and what it is done with at the moment.

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
use super::settings::{TlsSettings, TlsVersion};

/// What is agreed on for HTTP/2 (ALPN, RFC 9113 §3.2).
const ALPN_HTTP2: &[u8] = b"h2";

/// The same for HTTP/1.1 (RFC 7301 §6); also spoken where nothing is agreed on.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// What all threads do handshakes with. Reloading concerns those to come; who is connected stays so.
#[derive(Debug)]
pub struct Tls {
    provider: Arc<CryptoProvider>,
    ticketer: Arc<dyn ProducesTickets>,
    current: Mutex<Arc<Current>>,
}

/// What holds until the next reload.
#[derive(Debug)]
struct Current {
    /// For listeners that speak HTTP/1 only.
    http1: Arc<ServerConfig>,
    /// For those that speak HTTP/2 too.
    http2: Arc<ServerConfig>,
    handshake_timeout: Nanos,
}

/// A connection after its handshake.
#[derive(Debug)]
pub struct Accepted<S> {
    /// The connection.
    pub stream: TlsStream<S>,
    /// Whether the client speaks HTTP/2; else HTTP/1.
    pub is_http2: bool,
}

/// Why a handshake came to nothing.
#[derive(Debug, Error)]
pub enum HandshakeFailure {
    /// It took too long.
    #[error("TLS handshake did not end within the time limit")]
    TimedOut,
    /// The client said something wrong, refused what it was shown, or left.
    #[error("TLS handshake: {0}")]
    Failed(#[from] io::Error),
}

impl HandshakeFailure {
    /// Returns its name, for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            HandshakeFailure::TimedOut => "tls-timeout",
            HandshakeFailure::Failed(_) => "tls-handshake",
        }
    }
}

impl Tls {
    /// Reads the certificates.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, or do not belong together; see [`TlsError`].
    pub fn load(settings: &TlsSettings) -> Result<Tls, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let ticketer = ring::Ticketer::new()?;
        let current = Mutex::new(Arc::new(Current::new(settings, &provider, &ticketer)?));
        Ok(Tls { provider, ticketer, current })
    }

    /// Reads the certificates again, which may be others; tickets of before are still taken.
    ///
    /// # Errors
    ///
    /// As [`Tls::load`]; then everything stays as it was.
    pub fn reload(&self, settings: &TlsSettings) -> Result<(), TlsError> {
        let current = Arc::new(Current::new(settings, &self.provider, &self.ticketer)?);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// Does the handshake on a connection that was just made; `http2` if that may be agreed on.
    ///
    /// # Errors
    ///
    /// See [`HandshakeFailure`]; the client has been told by an alert as far as TLS has one.
    pub async fn accept<S>(&self, stream: S, http2: bool) -> Result<Accepted<S>, HandshakeFailure>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let current = Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner));
        let config = if http2 { &current.http2 } else { &current.http1 };
        let handshake = TlsAcceptor::from(Arc::clone(config)).accept(stream);
        let within = tokio::time::timeout(Duration::from_nanos(current.handshake_timeout.0), handshake);
        let stream = within.await.map_err(|_| HandshakeFailure::TimedOut)??;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(ALPN_HTTP2);
        Ok(Accepted { stream, is_http2 })
    }
}

impl Current {
    fn new(
        settings: &TlsSettings,
        provider: &Arc<CryptoProvider>,
        ticketer: &Arc<dyn ProducesTickets>,
    ) -> Result<Current, TlsError> {
        let versions: &[&SupportedProtocolVersion] = match settings.version_min {
            TlsVersion::Tls12 => &[&TLS13, &TLS12],
            TlsVersion::Tls13 => &[&TLS13],
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
        Ok(Current {
            http1: Arc::new(http1),
            http2: Arc::new(http2),
            handshake_timeout: settings.handshake_timeout,
        })
    }
}
