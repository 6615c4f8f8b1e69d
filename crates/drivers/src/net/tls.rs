//! The configuration of TLS clients.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;

use super::certificate::{CertificateProblem, CertificateVerifier, Trust};
use super::lookup_host;

/// The configuration that all connections of a load thread to one server share.
#[derive(Debug)]
pub(crate) struct ClientTls {
    pub(crate) name: ServerName<'static>,
    /// Without resumption of sessions.
    pub(crate) config: Arc<ClientConfig>,
    verifier: Arc<CertificateVerifier>,
}

impl ClientTls {
    /// Creates the configuration for a host; `protocols` are those that the application speaks (ALPN).
    ///
    /// # Errors
    /// The host is no name for a certificate, or no authority can be used: the reason.
    pub(crate) fn new(host: &str, trust: &Trust, protocols: &[&[u8]]) -> Result<ClientTls, String> {
        let name = lookup_host(host).unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(|error| format!("`{host}`: {error}"))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(CertificateVerifier::new(trust, Arc::clone(&provider))?);
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(ClientTls { name, config: Arc::new(config), verifier })
    }

    /// Returns the problem of the last certificate that was refused.
    pub(crate) fn problem(&self) -> Option<CertificateProblem> {
        self.verifier.problem()
    }
}
