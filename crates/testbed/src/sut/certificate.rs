//! The self-signed certificate of one run.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};

/// The names under which clients reach the server.
const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];

/// A self-signed certificate for 127.0.0.1 and `localhost` with a P-256 key.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    /// The certificate in PEM.
    pub pem: String,
    /// The certificate in DER.
    pub der: CertificateDer<'static>,
    /// Its key in PEM.
    pub key_pem: String,
}

impl Certificate {
    /// Creates a new certificate.
    ///
    /// # Errors
    /// The system's random number generator failed.
    pub(super) fn create() -> Result<Certificate, rcgen::Error> {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
        let parameters = CertificateParams::new(NAMES.map(str::to_owned).to_vec())?;
        let certificate = parameters.self_signed(&key)?;
        Ok(Certificate {
            pem: certificate.pem(),
            der: certificate.der().clone(),
            key_pem: key.serialize_pem(),
        })
    }

    /// Returns the configuration of a client that trusts only this certificate and offers `protocols` by
    /// ALPN.
    pub(super) fn client_config(&self, protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, rustls::Error> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_in_pem_and_der_and_differ() {
        let one = Certificate::create().unwrap();
        assert!(one.pem.starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(one.key_pem.starts_with("-----BEGIN PRIVATE KEY-----"));
        assert_ne!(one.der, Certificate::create().unwrap().der);
        assert_eq!(one.client_config(&[b"h2"]).unwrap().alpn_protocols, [b"h2"]);
    }
}
