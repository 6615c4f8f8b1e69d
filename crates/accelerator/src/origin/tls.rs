//! Trusted certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::servers::OriginSettingsError;
use super::settings::OriginTlsSettings;

/// The trust stores of common systems, all certificates in one file.
const SYSTEM_FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt", // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",   // Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",             // openSUSE
    "/etc/ssl/cert.pem",                  // Alpine, the BSDs, macOS
];

/// Makes the TLS configuration towards servers: HTTP/1.1, TLS 1.2 and 1.3.
pub(super) fn client_config(settings: &OriginTlsSettings) -> Result<Arc<ClientConfig>, OriginSettingsError> {
    let roots = match &settings.ca_file {
        Some(path) => named_roots(path)?,
        None => system_roots()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring has what both versions need");
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Reads the certificates of the operator's file; each must be valid, and there must be one.
fn named_roots(path: &Path) -> Result<RootCertStore, OriginSettingsError> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| unreadable(path, &error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| unreadable(path, &error))?;
        roots.add(certificate).map_err(|error| unreadable(path, &error))?;
    }
    if roots.is_empty() {
        return Err(unreadable(path, &"there is none"));
    }
    Ok(roots)
}

/// Reads the system's certificates, as many as are valid: some systems have one that is not.
fn system_roots() -> Result<RootCertStore, OriginSettingsError> {
    let readable = |path: &&str| CertificateDer::pem_file_iter(path).ok();
    let certificates = SYSTEM_FILES.iter().find_map(readable);
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.into_iter().flatten().filter_map(Result::ok));
    if roots.is_empty() {
        return Err(OriginSettingsError::NoSystemCertificates);
    }
    Ok(roots)
}

fn unreadable(path: &Path, reason: &dyn std::fmt::Display) -> OriginSettingsError {
    OriginSettingsError::CaFile { path: PathBuf::from(path), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: Option<&str>) -> Result<Arc<ClientConfig>, OriginSettingsError> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("ca.pem");
        if let Some(text) = text {
            std::fs::write(&path, text).expect("written");
        }
        client_config(&OriginTlsSettings { ca_file: Some(path), server_name: None })
    }

    #[test]
    fn a_file_without_a_valid_certificate_is_refused() {
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for text in [None, Some(""), Some("none"), Some(broken)] {
            assert!(matches!(config(text), Err(OriginSettingsError::CaFile { .. })), "{text:?}");
        }
    }

    #[test]
    fn a_certificate_file_is_read() {
        let made = rcgen::generate_simple_self_signed(["a".to_owned()]).expect("a certificate");
        let config = config(Some(&made.cert.pem())).expect("good");
        assert_eq!(config.alpn_protocols, [b"http/1.1"]);
    }
}
