//! Errors of certificates.

use std::path::PathBuf;

use thiserror::Error;

/// The reason for which TLS cannot be set up with these settings.
#[derive(Debug, Error)]
pub enum TlsError {
    /// No certificate is set.
    #[error("no certificate is given\nhint: a listener with TLS needs a certificate and its key, in PEM")]
    NoCertificate,
    /// A file cannot be read, or contains nothing of the kind.
    #[error("{what} `{path}`: {problem}", path = .path.display())]
    Unreadable {
        /// The expected content.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The problem with it.
        problem: rustls::pki_types::pem::Error,
    },
    /// The file has no certificate.
    #[error("certificate `{path}`: no certificate found\nhint: it must be in PEM, `-----BEGIN CERTIFICATE-----`", path = .0.display())]
    Empty(PathBuf),
    /// The certificate cannot be parsed, or the key does not belong to it.
    #[error("certificate `{certificate}` with key `{key}`: {problem}", certificate = .certificate.display(), key = .key.display())]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The problem with them.
        problem: rustls::Error,
    },
    /// The library refuses the settings.
    #[error("TLS cannot be set up: {0}")]
    Library(#[from] rustls::Error),
}
