//! The settings of TLS.

use std::path::PathBuf;

use units::Nanos;

/// The settings of all listeners that speak TLS; a plain value, replaced as a whole on reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The certificates, at least one. Of several for one name, the first that the client supports is used.
    pub certificates: Vec<CertificateFiles>,
    /// The treatment of clients that name no host, or one without a certificate.
    pub unknown_names: UnknownNames,
    /// The oldest version that is accepted.
    pub version_min: MinTlsVersion,
    /// The longest time from the connection to the end of the handshake.
    pub handshake_timeout: Nanos,
}

impl Default for TlsSettings {
    fn default() -> TlsSettings {
        TlsSettings {
            certificates: Vec::new(),
            unknown_names: UnknownNames::default(),
            version_min: MinTlsVersion::default(),
            handshake_timeout: Nanos::from_secs(10),
        }
    }
}

/// A certificate and its key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, followed by its intermediate certificates.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// The treatment of clients that name no host, or one without a certificate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownNames {
    /// They get the first certificate, and decide for themselves.
    #[default]
    FirstCertificate,
    /// The handshake ends with an alert.
    Refused,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MinTlsVersion {
    /// TLS 1.2
    #[default]
    Tls12,
    /// TLS 1.3
    Tls13,
}
