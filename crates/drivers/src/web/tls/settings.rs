//! Whom to trust, how connections begin, and how many did in which way.

use std::cell::Cell;
use std::sync::Arc;

use model::{HttpVersion, Protocol, Tls};
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, HandshakeKind, SignatureScheme};

use super::tickets::Tickets;
use crate::policy::bare_host;
use crate::web::target::Target;

/// Which certificate a server may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Exactly this one (DER): the one that the server was given for the run.
    Certificate(Vec<u8>),
    /// Any: who the server is, is not known; it still has to prove that it holds the key of what it shows. For
    /// servers that were there already, and to be said so in the result.
    Any,
}

/// How many TLS handshakes were made, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandshakeCounts {
    /// With certificates and signatures.
    pub full: u64,
    /// That resumed an earlier session.
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

/// How the connections of an origin begin.
#[derive(Debug)]
pub(crate) struct TlsSettings {
    pub(crate) name: ServerName<'static>,
    config: Arc<ClientConfig>,
    resumes: bool,
}

impl TlsSettings {
    /// Makes the settings for a target; `None` without TLS.
    pub(crate) fn new(
        target: &Target,
        protocol: &Protocol,
        trust: &Trust,
    ) -> Result<Option<TlsSettings>, String> {
        if protocol.tls == Tls::Off {
            return Ok(None);
        }
        let host = bare_host(&target.host).unwrap_or(&target.host).to_owned();
        let name = ServerName::try_from(host).map_err(|error| format!("`{}`: {error}", target.host))?;
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier { trust: trust.clone(), provider: Arc::clone(&provider) };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth();
        config.resumption = Resumption::disabled();
        let alpn: &[u8] = if protocol.http == HttpVersion::Http2 { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![alpn.to_vec()];
        Ok(Some(TlsSettings { name, config: Arc::new(config), resumes: protocol.tls == Tls::Resumed }))
    }

    /// Returns the settings of one user, whose sessions are its own.
    pub(crate) fn of_user(&self) -> Arc<ClientConfig> {
        if !self.resumes {
            return Arc::clone(&self.config);
        }
        let mut config = ClientConfig::clone(&self.config);
        config.resumption = Resumption::store(Arc::new(Tickets::default()));
        Arc::new(config)
    }
}

/// Checks certificates by comparison: no chain, no names, no dates, which would cost time and say nothing about a
/// certificate that was made for the run.
#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match &self.trust {
            Trust::Certificate(der) if der[..] != end_entity[..] => {
                Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
            }
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
