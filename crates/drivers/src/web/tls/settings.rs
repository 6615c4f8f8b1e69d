//! Configuration of TLS clients, and counts of handshakes.

use std::cell::Cell;
use std::sync::Arc;

use model::{HttpVersion, Tls, WebProtocol};
use rustls::client::Resumption;
use rustls::{ClientConfig, HandshakeKind};

use super::tickets::TicketStore;
use crate::net::{CertificateProblem, ClientTls, ClientTlsError, Trust};
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
    pub(crate) client: ClientTls,
    resumes: bool,
}

impl TlsSettings {
    /// Creates the configuration for a target; `None` without TLS.
    pub(crate) fn new(
        target: &Target,
        protocol: &WebProtocol,
        trust: &Trust,
    ) -> Result<Option<TlsSettings>, ClientTlsError> {
        if protocol.tls == Tls::Off {
            return Ok(None);
        }
        let alpn: &[u8] = if protocol.http == HttpVersion::Http2 { b"h2" } else { b"http/1.1" };
        let client = ClientTls::new(&target.host, trust, target.access.identity.as_ref(), &[alpn])?;
        Ok(Some(TlsSettings { client, resumes: protocol.tls == Tls::Resumed }))
    }

    /// Returns the problem of the last certificate that was refused.
    pub(crate) fn problem(&self) -> Option<CertificateProblem> {
        self.client.problem()
    }

    /// Returns the configuration of one user, who has sessions of its own.
    pub(crate) fn for_user(&self) -> Arc<ClientConfig> {
        if !self.resumes {
            return Arc::clone(&self.client.config);
        }
        let mut config = ClientConfig::clone(&self.client.config);
        config.resumption = Resumption::store(Arc::new(TicketStore::default()));
        Arc::new(config)
    }
}
