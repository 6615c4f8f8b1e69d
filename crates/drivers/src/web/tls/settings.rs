//! Configuration of TLS clients, and counts of handshakes.

use std::cell::Cell;
use std::sync::Arc;

use model::{HttpVersion, Tls, WebProtocol};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, HandshakeKind};

use super::certificate::{CertificateProblem, CertificateVerifier, Trust};
use super::tickets::TicketStore;
use crate::net::lookup_host;
use crate::web::target::Target;

/// Numbers of TLS handshakes, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandshakeCounts {
    /// Full handshakes, with certificates and signatures.
    pub full: u64,
    /// Handshakes that resumed a session.
    pub resumed: u64,
}

impl HandshakeCounts {
    pub(crate) fn count(counts: &Cell<HandshakeCounts>, kind: Option<HandshakeKind>) {
        let mut new = counts.get();
        match kind {
            Some(HandshakeKind::Resumed) => new.resumed += 1,
            _ => new.full += 1,
        }
        counts.set(new);
    }
}

/// The TLS configuration of a context.
#[derive(Debug)]
pub(crate) struct TlsSettings {
    pub(crate) name: ServerName<'static>,
    config: Arc<ClientConfig>,
    verifier: Arc<CertificateVerifier>,
    resumes: bool,
}

impl TlsSettings {
    /// Creates the configuration for a target; `None` without TLS.
    pub(crate) fn new(
        target: &Target,
        protocol: &WebProtocol,
        trust: &Trust,
    ) -> Result<Option<TlsSettings>, String> {
        if protocol.tls == Tls::Off {
            return Ok(None);
        }
        let host = lookup_host(&target.host).unwrap_or(&target.host).to_owned();
        let name = ServerName::try_from(host).map_err(|error| format!("`{}`: {error}", target.host))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(CertificateVerifier::new(trust, Arc::clone(&provider))?);
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let alpn: &[u8] = if protocol.http == HttpVersion::Http2 { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![alpn.to_vec()];
        let resumes = protocol.tls == Tls::Resumed;
        Ok(Some(TlsSettings { name, config: Arc::new(config), verifier, resumes }))
    }

    /// Returns the problem of the last certificate that was refused.
    pub(crate) fn problem(&self) -> Option<CertificateProblem> {
        self.verifier.problem()
    }

    /// Returns the configuration of one user, who has sessions of its own.
    pub(crate) fn for_user(&self) -> Arc<ClientConfig> {
        if !self.resumes {
            return Arc::clone(&self.config);
        }
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::store(Arc::new(TicketStore::default()));
        Arc::new(config)
    }
}
