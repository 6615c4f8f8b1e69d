//! Sessions that cannot be opened, and why.

use model::Outcome;
use thiserror::Error;

use super::failure::{NfsFailure, Violation};
use super::status::NfsStatus;
use super::target::NfsVersion;

/// A reason for which a client cannot work in an export.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NfsSessionError {
    /// The server does not speak the version.
    #[error(
        "the server does not speak {0}\nhint: choose another by `--set dialect=v4.1` or `--set dialect=v3`"
    )]
    VersionRefused(NfsVersion),
    /// The server has no service that mounts exports.
    #[error(
        "the server's port mapper knows no service that mounts exports of NFS 3\nhint: use `dialect=v4.1`"
    )]
    NoMountService,
    /// The server lets nobody in from here, or not this user.
    #[error(
        "the server does not let user {uid} of this machine work in `{path}`: {status}\nhint: let this machine mount the export for reading and writing; one that accepts only ports below 1024, which Plimsoll does not use, needs the option `insecure`"
    )]
    Denied {
        /// The path of the export and of the folder in it.
        path: String,
        /// The number of the user.
        uid: u32,
        /// The server's status.
        status: String,
    },
    /// The server exports no such path, or it has no such folder.
    #[error(
        "the server has no `{0}` to work in\nhint: `showmount -e` lists the exports of a server of NFS 3"
    )]
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

/// An attempt, as errors name it, in a version.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) doing: &'static str,
    pub(super) version: NfsVersion,
}

impl Attempt {
    /// Makes the error of an attempt that failed.
    pub(super) fn error(self, failure: NfsFailure) -> NfsSessionError {
        let Attempt { doing, version } = self;
        let text = failure.describe(version);
        match failure.outcome {
            Outcome::Refused | Outcome::Unreachable => {
                NfsSessionError::Unreachable { outcome: failure.outcome, text }
            }
            _ if failure.is(Violation::NoVersion)
                || failure.is(Violation::NoProgram)
                || failure.is_status(NfsStatus::MINOR_VERS_MISMATCH) =>
            {
                NfsSessionError::VersionRefused(version)
            }
            outcome => NfsSessionError::Failed { doing, text, outcome, code: failure.code },
        }
    }
}

impl NfsSessionError {
    /// Returns the failure that an operation has which needed the session.
    pub(super) fn into_failure(self) -> NfsFailure {
        let (outcome, code) = match self {
            NfsSessionError::Unreachable { outcome, .. } => (outcome, 0),
            NfsSessionError::Failed { outcome, code, .. } => (outcome, code),
            NfsSessionError::Slow(_) => (Outcome::TimedOut, 0),
            NfsSessionError::VersionRefused(_) | NfsSessionError::NoMountService => (Outcome::WrongStatus, 0),
            NfsSessionError::Denied { .. } => (Outcome::Denied, NfsStatus::ACCESS.0),
            NfsSessionError::NoFolder(_) => (Outcome::Gone, NfsStatus::NOENT.0),
        };
        NfsFailure { outcome, code, detail: code.into(), ends_session: true, is_fault: true }
    }
}
