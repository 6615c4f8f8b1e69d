//! Errors of work beside the users of a database.

use std::io;
use std::time::Duration;

use model::Outcome;
use thiserror::Error;
use units::Nanos;

use super::failure::SqlFailure;
use crate::net::CertificateProblem;

/// The attempt that comes first.
pub(crate) const CONNECTING: &str = "connecting";

/// The longest that a connection may take to be made.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(20);

/// A reason why the data cannot be loaded, used or checked.
#[derive(Debug, Error)]
pub enum DatabaseError {
    /// The system refused a runtime.
    #[error("cannot connect: {0}")]
    System(io::Error),
    /// The server refused, or the session was lost.
    #[error("{doing}: {text}")]
    Failed {
        /// The attempt: `loading`.
        doing: &'static str,
        /// The reason.
        text: String,
    },
    /// There is no connection.
    #[error("connecting: {text}")]
    Unreachable {
        /// Refused, or unreachable.
        outcome: Outcome,
        /// The reason.
        text: String,
    },
    /// The certificate of the server is not accepted.
    #[error("its certificate is not accepted: {0}")]
    Certificate(CertificateProblem),
    /// It took too long.
    #[error("{doing}: no answer within {waited}")]
    Slow {
        /// The attempt.
        doing: &'static str,
        /// The time waited.
        waited: Nanos,
    },
    /// There is a schema of this name, one of ours, which is not ours.
    #[error("there is a schema `{0}` that Plimsoll has not made; it stays as it is")]
    NotOurs(&'static str),
    /// The caller has stopped the loading.
    #[error("the loading has been stopped")]
    Stopped,
}

impl DatabaseError {
    /// Returns how a failure becomes the error of an attempt.
    pub(crate) fn of(doing: &'static str) -> impl Fn(SqlFailure) -> DatabaseError {
        move |failure| DatabaseError::Failed { doing, text: failure.describe() }
    }
}

/// Waits for an attempt, at most for a time.
///
/// # Errors
/// It took longer.
pub(crate) async fn within<T>(
    doing: &'static str,
    waited: Duration,
    attempt: impl Future<Output = T>,
) -> Result<T, DatabaseError> {
    let slow =
        || DatabaseError::Slow { doing, waited: Nanos(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX)) };
    tokio::time::timeout(waited, attempt).await.map_err(|_| slow())
}

/// Returns the error of an attempt to connect.
pub(crate) fn unconnected(failure: SqlFailure, problem: Option<CertificateProblem>) -> DatabaseError {
    let outcome = failure.operation().outcome;
    if let (Outcome::TlsFailed, Some(problem)) = (outcome, problem) {
        return DatabaseError::Certificate(problem);
    }
    match DatabaseError::of(CONNECTING)(failure) {
        DatabaseError::Failed { text, .. } if matches!(outcome, Outcome::Refused | Outcome::Unreachable) => {
            DatabaseError::Unreachable { outcome, text }
        }
        other => other,
    }
}
