//! The configuration of TLS clients.

use std::sync::Arc;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ResolvesClientCert, Resumption, VerifierBuilderError};
use rustls::crypto::ring;
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, Error};

use super::certificate::{CertificateProblem, CertificateVerifier, Trust};
use super::handshake_problem::HandshakeProblem;
use super::identity::{ClientIdentity, IdentityAnswer};
use super::lookup_host;

/// A reason why there is no configuration of TLS clients for a host.
#[derive(Debug, thiserror::Error)]
pub enum ClientTlsError {
    /// The host is no name for a certificate.
    #[error("`{host}`: {error}")]
    Host {
        /// The host.
        host: String,
        /// The mistake in it.
        error: InvalidDnsNameError,
    },
    /// No authority can be used.
    #[error(transparent)]
    Authorities(#[from] VerifierBuilderError),
    /// The versions of the protocol cannot be used.
    #[error(transparent)]
    Versions(#[from] Error),
}

/// The configuration that all connections of a load thread to one server share.
#[derive(Debug)]
pub(crate) struct ClientTls {
    pub(crate) name: ServerName<'static>,
    /// Without resumption of sessions.
    pub(crate) config: Arc<ClientConfig>,
    verifier: Arc<CertificateVerifier>,
    answer: Arc<IdentityAnswer>,
}

impl ClientTls {
    /// Creates the configuration for a host; `identity` is shown to a server that asks for it, and `protocols` are those that
    /// the application speaks (ALPN).
    ///
    /// # Errors
    /// The host is no name for a certificate, or no authority can be used.
    pub(crate) fn new(
        host: &str,
        trust: &Trust,
        identity: Option<&ClientIdentity>,
        protocols: &[&[u8]],
    ) -> Result<ClientTls, ClientTlsError> {
        let name = lookup_host(host).unwrap_or(host).to_owned();
        let name = ServerName::try_from(name)
            .map_err(|error| ClientTlsError::Host { host: host.to_owned(), error })?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(CertificateVerifier::new(trust, Arc::clone(&provider))?);
        let answer = Arc::new(IdentityAnswer::new(identity.cloned()));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&verifier) as Arc<dyn ServerCertVerifier>)
            .with_client_cert_resolver(Arc::clone(&answer) as Arc<dyn ResolvesClientCert>);
        config.resumption = Resumption::disabled();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(ClientTls { name, config: Arc::new(config), verifier, answer })
    }

    /// Returns the problem of the last certificate that was refused.
    pub(crate) fn problem(&self) -> Option<CertificateProblem> {
        self.verifier.problem()
    }

    /// Returns the problem that an error of a connection means; `None` if it is another one.
    pub(crate) fn problem_of(&self, error: &Error) -> Option<HandshakeProblem> {
        HandshakeProblem::of(error, self.answer.is_asked(), self.answer.has_identity())
    }

    /// Returns the likely reason why a server ends connections without an answer: it has asked for a client certificate.
    pub(crate) fn problem_of_end(&self) -> Option<HandshakeProblem> {
        let is_unanswered = self.answer.is_asked() && !self.answer.has_identity();
        is_unanswered.then_some(HandshakeProblem::NoIdentity)
    }
}
