//! Why certificates cannot be used.

use std::path::PathBuf;

use thiserror::Error;

/// Why TLS cannot be offered with these settings.
#[derive(Debug, Error)]
pub enum TlsError {
    /// No certificate is set.
    #[error("no certificate is given\nhint: a listener with TLS needs a certificate and its key, in PEM")]
    NoCertificate,
    /// A file cannot be read, or has nothing of the kind.
    #[error("{what} `{path}`: {problem}", path = .path.display())]
    Unreadable {
        /// What it should be.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: rustls::pki_types::pem::Error,
    },
    /// The file has no certificate.
    #[error("certificate `{path}`: no certificate found\nhint: it has to be in PEM, `-----BEGIN CERTIFICATE-----`", path = .0.display())]
    Empty(PathBuf),
    /// The certificate cannot be understood, or the key is another's.
    #[error("certificate `{certificate}` with key `{key}`: {problem}", certificate = .certificate.display(), key = .key.display())]
    Unusable {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What is wrong with them.
        problem: rustls::Error,
    },
    /// The library refuses what every certificate needs.
    #[error("TLS cannot be set up: {0}")]
    Library(#[from] rustls::Error),
}
