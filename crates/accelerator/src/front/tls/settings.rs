//! What an operator may set about TLS.

use std::path::PathBuf;

use units::Nanos;

/// The settings of all listeners that speak TLS; a plain value, replaced as a whole on reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The certificates, at least one. Of several for the same name that a client can check, the first is shown.
    pub certificates: Vec<CertificateFiles>,
    /// What clients get that name no host, or one that no certificate is for.
    pub unknown_names: UnknownNames,
    /// The oldest version that is spoken.
    pub version_min: TlsVersion,
    /// From the connection to the end of the handshake.
    pub handshake_timeout: Nanos,
}

impl Default for TlsSettings {
    fn default() -> TlsSettings {
        TlsSettings {
            certificates: Vec::new(),
            unknown_names: UnknownNames::default(),
            version_min: TlsVersion::default(),
            handshake_timeout: Nanos::from_secs(10),
        }
    }
}

/// A certificate and its key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, followed by those that lead to a root.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What becomes of clients that name no host, or one that no certificate is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownNames {
    /// They are shown the first certificate, and decide for themselves.
    #[default]
    FirstCertificate,
    /// The handshake ends with an alert.
    Refused,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// TLS 1.2
    #[default]
    Tls12,
    /// TLS 1.3
    Tls13,
}
