//! The reasons for which a TLS connection cannot be made, besides the server's certificate.

use std::fmt;

use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};

/// A reason for which a TLS connection cannot be made, besides the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeProblem {
    /// The server asks for a client certificate, and there is none to show.
    NoIdentity,
    /// The server does not accept the client certificate that it was shown.
    IdentityRefused,
    /// The server has no version of TLS in common with this client, which has 1.2 and 1.3.
    OldVersion,
    /// The server does not answer in TLS.
    NotTls,
}

impl HandshakeProblem {
    /// Returns the problem that an error means; `None` if it is another one. `asked` is whether the server has asked for a
    /// client certificate, and `shown` whether there is one.
    pub(crate) fn of(error: &Error, asked: bool, shown: bool) -> Option<HandshakeProblem> {
        match error {
            Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13)
            | Error::AlertReceived(AlertDescription::ProtocolVersion) => Some(HandshakeProblem::OldVersion),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => Some(HandshakeProblem::NotTls),
            Error::AlertReceived(alert) if asked && is_about_identity(*alert) => {
                Some(if shown { HandshakeProblem::IdentityRefused } else { HandshakeProblem::NoIdentity })
            }
            _ => None,
        }
    }
}

/// Returns whether a server may mean the client's certificate by an alert (RFC 8446 section 6.2, RFC 5246 section 7.2.2).
fn is_about_identity(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::HandshakeFailure
    )
}

impl fmt::Display for HandshakeProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HandshakeProblem::NoIdentity => "the server asks for a client certificate",
            HandshakeProblem::IdentityRefused => "the server does not accept the client certificate",
            HandshakeProblem::OldVersion => "the server has neither TLS 1.2 nor TLS 1.3",
            HandshakeProblem::NotTls => "the server does not answer in TLS",
        })
    }
}
