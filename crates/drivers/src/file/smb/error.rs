//! Sessions that cannot be opened, and why.

use model::Outcome;
use thiserror::Error;

use super::failure::{SmbFailure, Violation};
use super::status::{self, NtStatus};
use super::target::SmbDialect;

/// A reason for which there is no session with a share. Those that follow from the options are found before a run, from
/// the server's answer to `NEGOTIATE`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SmbSessionError {
    /// The server does not speak the dialect.
    #[error(
        "the server does not speak {0}\nhint: `smbclient -m` or the server's settings tell which dialects it has"
    )]
    DialectRefused(SmbDialect),
    /// The server chose a dialect that was not offered.
    #[error("the server chose dialect 0x{found:04x}, and only {offered} was offered")]
    OtherDialect {
        /// The dialect that was offered.
        offered: SmbDialect,
        /// The number of the dialect that it chose.
        found: u16,
    },
    /// The server wants signatures, and the options have none.
    #[error("the server requires signatures\nhint: use `signing = on`")]
    SigningRequired,
    /// The server cannot encrypt, or not by AES-128-GCM, and the options have encryption.
    #[error("the server does not offer encryption by AES-128-GCM\nhint: use `encryption = off`")]
    NoEncryption,
    /// The server wants encryption, and the options have none.
    #[error("the server requires encryption\nhint: use `encryption = on`, with dialect 3.1.1")]
    EncryptionRequired,
    /// The server authenticates by Kerberos only.
    #[error(
        "the server offers Kerberos and no NTLM, and Plimsoll has no Kerberos\nhint: allow NTLM for this account"
    )]
    KerberosOnly,
    /// The server let the account in as a guest, without its password.
    #[error(
        "the server let `{0}` in as a guest, and results would be those of another account\nhint: give the account a password there, and set `map to guest = never`"
    )]
    Guest(String),
    /// The server does not let the account in.
    #[error("the server does not let `{user}` in: {status}\nhint: check user and password")]
    Denied {
        /// The user.
        user: String,
        /// The server's status.
        status: String,
    },
    /// The server has no such share.
    #[error("the server has no share `{0}`")]
    NoShare(String),
    /// The share is not one of files.
    #[error("`{0}` is no share of files")]
    NotFiles(String),
    /// The account may not use the share.
    #[error(
        "`{user}` may not use the share `{share}`: {status}\nhint: a share that requires encryption answers like this, too"
    )]
    ShareDenied {
        /// The user.
        user: String,
        /// The share.
        share: String,
        /// The server's status.
        status: String,
    },
    /// There is no such folder in the share.
    #[error("the share has no folder `{0}`")]
    NoFolder(String),
    /// There is no connection.
    #[error("{text}")]
    Unreachable {
        /// Refused, or unreachable.
        outcome: Outcome,
        /// The reason.
        text: String,
    },
    /// It took too long.
    #[error("no session within {0}")]
    Slow(units::Nanos),
    /// The server broke the protocol, or refused for another reason.
    #[error("{doing}: {text}")]
    Failed {
        /// The attempt.
        doing: &'static str,
        /// The reason.
        text: String,
        /// The failure's outcome.
        outcome: Outcome,
        /// The failure's code.
        code: u32,
    },
}

impl SmbSessionError {
    /// Makes the error of an attempt that failed.
    pub(super) fn of(doing: &'static str) -> impl Fn(SmbFailure) -> SmbSessionError {
        move |failure| match failure.outcome {
            Outcome::Refused | Outcome::Unreachable => {
                SmbSessionError::Unreachable { outcome: failure.outcome, text: failure.describe() }
            }
            outcome => {
                SmbSessionError::Failed { doing, text: failure.describe(), outcome, code: failure.code }
            }
        }
    }

    /// Makes the error of a server that broke the protocol.
    pub(super) fn violation(doing: &'static str, violation: Violation) -> SmbSessionError {
        SmbSessionError::of(doing)(SmbFailure::violation(violation, 0))
    }

    /// Makes the error of an account that is not let in.
    pub(super) fn denied(user: &str, found: NtStatus) -> SmbSessionError {
        SmbSessionError::Denied { user: user.to_owned(), status: status::text(found) }
    }

    /// Returns the failure that an operation has which needed the session.
    pub(super) fn into_failure(self) -> SmbFailure {
        let (outcome, code) = match self {
            SmbSessionError::Unreachable { outcome, .. } => (outcome, 0),
            SmbSessionError::Failed { outcome, code, .. } => (outcome, code),
            SmbSessionError::Slow(_) => (Outcome::TimedOut, 0),
            SmbSessionError::DialectRefused(_)
            | SmbSessionError::OtherDialect { .. }
            | SmbSessionError::NoEncryption
            | SmbSessionError::KerberosOnly
            | SmbSessionError::NotFiles(_) => (Outcome::WrongStatus, 0),
            SmbSessionError::SigningRequired
            | SmbSessionError::EncryptionRequired
            | SmbSessionError::Guest(_)
            | SmbSessionError::Denied { .. }
            | SmbSessionError::ShareDenied { .. } => (Outcome::Denied, NtStatus::ACCESS_DENIED.0),
            SmbSessionError::NoShare(_) => (Outcome::Gone, NtStatus::BAD_NETWORK_NAME.0),
            SmbSessionError::NoFolder(_) => (Outcome::Gone, NtStatus::OBJECT_NAME_NOT_FOUND.0),
        };
        SmbFailure { outcome, code, detail: code.into(), ends_session: true, is_fault: true }
    }
}
