//! Certificates by the server name of the client (SNI, RFC 6066 §3).

use std::collections::HashMap;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

use super::error::TlsError;
use super::settings::{CertificateFiles, TlsSettings, UnknownNames};

/// The certificates of all server names.
#[derive(Debug)]
pub(super) struct Certificates {
    /// The certificates by each name that they are valid for, in lower case; `*.example.org` covers one label more.
    by_name: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// The certificates for clients that name none of these.
    otherwise: Vec<Arc<CertifiedKey>>,
}

impl Certificates {
    /// Loads all files.
    pub(super) fn load(settings: &TlsSettings, provider: &CryptoProvider) -> Result<Certificates, TlsError> {
        let mut by_name: HashMap<String, Vec<Arc<CertifiedKey>>> = HashMap::new();
        let mut all = Vec::new();
        for files in &settings.certificates {
            let (certified, names) = read(files, provider)?;
            for name in names {
                by_name.entry(name).or_default().push(Arc::clone(&certified));
            }
            all.push(certified);
        }
        if all.is_empty() {
            return Err(TlsError::NoCertificate);
        }
        let otherwise = match settings.unknown_names {
            UnknownNames::FirstCertificate => all,
            UnknownNames::Refused => Vec::new(),
        };
        Ok(Certificates { by_name, otherwise })
    }

    /// Returns the certificates for a name: those with the exact name, else those with a matching wildcard.
    fn of_name(&self, name: &str) -> Option<&Vec<Arc<CertifiedKey>>> {
        let name = name.to_ascii_lowercase();
        let by_wildcard = || {
            let (_, parent) = name.split_once('.')?;
            self.by_name.get(&format!("*.{parent}"))
        };
        self.by_name.get(&name).or_else(by_wildcard)
    }
}

impl ResolvesServerCert for Certificates {
    /// Chooses the first certificate for the name whose signature algorithm the client supports.
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let fitting = hello.server_name().and_then(|name| self.of_name(name)).unwrap_or(&self.otherwise);
        let is_checked =
            |one: &&Arc<CertifiedKey>| one.key.choose_scheme(hello.signature_schemes()).is_some();
        fitting.iter().find(is_checked).cloned()
    }
}

/// Loads a certificate with its key, and the names that it is valid for.
fn read(
    files: &CertificateFiles,
    provider: &CryptoProvider,
) -> Result<(Arc<CertifiedKey>, Vec<String>), TlsError> {
    let CertificateFiles { certificate, key } = files;
    let unreadable = |what, path: &std::path::Path| {
        let path = path.to_owned();
        move |problem| TlsError::Unreadable { what, path, problem }
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(unreadable("certificate", certificate))?;
    let Some(first) = chain.first() else {
        return Err(TlsError::Empty(certificate.clone()));
    };
    let names = names_of(first);
    let secret = PrivateKeyDer::from_pem_file(key).map_err(unreadable("key", key))?;
    let certified = CertifiedKey::from_der(chain, secret, provider).map_err(|problem| {
        TlsError::Unusable { certificate: certificate.clone(), key: key.clone(), problem }
    })?;
    Ok((Arc::new(certified), names))
}

/// Returns the DNS names that a certificate is valid for, in lower case. A certificate that cannot be parsed has
/// none; it is refused with its key.
fn names_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    EndEntityCert::try_from(certificate)
        .map(|parsed| parsed.valid_dns_names().map(str::to_ascii_lowercase).collect())
        .unwrap_or_default()
}
