//! Client certificates, which a client shows to servers that ask for one.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::client::ResolvesClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys, SignatureScheme};

/// A reason why texts are not a client certificate with its private key.
#[derive(Debug, thiserror::Error)]
pub enum ClientIdentityError {
    /// The certificate is malformed.
    #[error("the certificate cannot be read: {0}")]
    Certificate(pem::Error),
    /// There is no certificate.
    #[error("there is no certificate (PEM)")]
    NoCertificate,
    /// There is no private key that can be read.
    #[error("there is no private key (PEM)")]
    NoKey,
    /// The private key is encrypted.
    #[error("the private key is encrypted\nhint: decrypt it with `openssl pkey -in FILE -out FILE`")]
    EncryptedKey,
    /// Certificate and private key do not belong together.
    #[error("the private key belongs to another certificate")]
    OtherKey,
    /// The private key is of a kind that is not supported, or malformed.
    #[error("the private key cannot be used: {0}")]
    Key(Error),
}

/// A client certificate with its chain and its private key, which is never shown.
#[derive(Clone)]
pub struct ClientIdentity {
    pair: Arc<CertifiedKey>,
    /// Both as they were read.
    pem: Arc<[Vec<u8>; 2]>,
}

impl ClientIdentity {
    /// Reads a certificate, with those of its chain behind it, and its private key (PEM).
    ///
    /// # Errors
    /// One of them is missing or cannot be used, or they do not belong together.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<ClientIdentity, ClientIdentityError> {
        let pem = Arc::new([certificate.to_owned(), key.to_owned()]);
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(ClientIdentityError::Certificate)?;
        if chain.is_empty() {
            return Err(ClientIdentityError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| no_key(key))?;
        match CertifiedKey::from_der(chain, key, &ring::default_provider()) {
            Ok(pair) => Ok(ClientIdentity { pair: Arc::new(pair), pem }),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(ClientIdentityError::OtherKey),
            Err(error) => Err(ClientIdentityError::Key(error)),
        }
    }

    /// Returns the certificate and the key (PEM), for the encrypted link to a load agent.
    pub fn pem(&self) -> [&[u8]; 2] {
        let [certificate, key] = &*self.pem;
        [certificate, key]
    }
}

/// Returns why a text has no private key that can be read.
fn no_key(text: &[u8]) -> ClientIdentityError {
    let is_encrypted = text.windows(9).any(|part| part == b"ENCRYPTED");
    if is_encrypted { ClientIdentityError::EncryptedKey } else { ClientIdentityError::NoKey }
}

/// Two are equal if their certificates are: these name the key.
impl PartialEq for ClientIdentity {
    fn eq(&self, other: &ClientIdentity) -> bool {
        self.pair.cert == other.pair.cert
    }
}

impl Eq for ClientIdentity {}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientIdentity")
    }
}

/// The answer to servers that ask for a client certificate, which notes that one has asked.
#[derive(Debug)]
pub(super) struct IdentityAnswer {
    identity: Option<ClientIdentity>,
    is_asked: AtomicBool,
}

impl IdentityAnswer {
    pub(super) fn new(identity: Option<ClientIdentity>) -> IdentityAnswer {
        IdentityAnswer { identity, is_asked: AtomicBool::new(false) }
    }

    /// Returns whether a server has asked for a certificate.
    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// Returns whether there is a certificate to show.
    pub(super) fn has_identity(&self) -> bool {
        self.identity.is_some()
    }
}

impl ResolvesClientCert for IdentityAnswer {
    /// The names of authorities are not compared: a server may accept more than it lists, and says so if it does not.
    fn resolve(&self, _: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.is_asked.store(true, Ordering::Relaxed);
        let ClientIdentity { pair, .. } = self.identity.as_ref()?;
        pair.key.choose_scheme(schemes).map(|_| Arc::clone(pair))
    }

    fn has_certs(&self) -> bool {
        self.has_identity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: what is missing is named, and nothing of a key is repeated.
    #[test]
    fn a_certificate_needs_its_own_key() {
        let made = |name: &str| {
            let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
            (made.cert.pem(), made.signing_key.serialize_pem())
        };
        let ((one, one_key), (_, other_key)) = (made("one"), made("other"));
        let read = |certificate: &str, key: &str| {
            let read = ClientIdentity::from_pem(certificate.as_bytes(), key.as_bytes());
            read.map(|read| format!("{read:?}")).map_err(|error| error.to_string())
        };
        assert_eq!(read(&one, &one_key).unwrap(), "ClientIdentity");
        let both = format!("{one}{one_key}");
        assert_eq!(read(&both, &both).unwrap(), "ClientIdentity", "both in one file");
        let encrypted = one_key.replace("PRIVATE", "ENCRYPTED PRIVATE");
        for (certificate, key, expected) in [
            (one.as_str(), other_key.as_str(), "the private key belongs to another certificate"),
            ("", &one_key, "there is no certificate (PEM)"),
            (&one, "", "there is no private key (PEM)"),
            (&one, &one, "there is no private key (PEM)"),
            (
                &one,
                &encrypted,
                "the private key is encrypted\nhint: decrypt it with `openssl pkey -in FILE -out FILE`",
            ),
        ] {
            assert_eq!(read(certificate, key).unwrap_err(), expected);
        }
    }
}
