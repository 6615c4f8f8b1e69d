//! Errors of work beside the users of a database.

use std::io;
use std::time::Duration;

use model::Outcome;
use thiserror::Error;
use units::Nanos;

use super::failure::{
    CLEAR_PASSWORD, NO_PASSWORD, NO_TLS, NOT_MARIADB, OTHER_AUTHENTICATION, SqlFailure, SqlStateCode,
};
use crate::net::CertificateProblem;

/// The attempt that comes first.
pub(crate) const CONNECTING: &str = "connecting";

/// The longest that a connection may take to be made.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(20);

/// The cause for which there is no session with a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionProblem {
    /// It asks for a password, and there is none.
    NoPassword,
    /// It does not let this user in, or not with this password.
    Denied,
    /// It has no such database.
    NoDatabase,
    /// It has no connection left.
    Full,
    /// It offers no TLS.
    NoTls,
    /// It asks for an authentication method that Plimsoll does not support.
    Authentication,
    /// It asks for the password in clear, over a connection that others can read.
    ClearPassword,
    /// It is another product.
    OtherProduct,
    /// It does not speak the protocol, or ends the connection.
    Protocol,
    /// It did not answer in time.
    Slow,
    /// Another problem.
    Other,
}

impl SessionProblem {
    fn of(failure: &SqlFailure) -> SessionProblem {
        let operation = failure.operation();
        match (failure, operation.outcome, operation.detail) {
            (_, Outcome::Busy, _) => SessionProblem::Full,
            (SqlFailure::Refused(refusal), _, _) if refusal.state.class() == 28 => SessionProblem::Denied,
            (SqlFailure::Refused(refusal), _, _) if refusal.state == SqlStateCode::NO_DATABASE => {
                SessionProblem::NoDatabase
            }
            (_, Outcome::MalformedHead, NO_PASSWORD) => SessionProblem::NoPassword,
            (_, Outcome::MalformedHead, NO_TLS) => SessionProblem::NoTls,
            (_, Outcome::MalformedHead, OTHER_AUTHENTICATION) => SessionProblem::Authentication,
            (_, Outcome::MalformedHead, CLEAR_PASSWORD) => SessionProblem::ClearPassword,
            (_, Outcome::MalformedHead, NOT_MARIADB) => SessionProblem::OtherProduct,
            (_, Outcome::MalformedHead | Outcome::SessionLost | Outcome::Truncated | Outcome::Reset, _) => {
                SessionProblem::Protocol
            }
            _ => SessionProblem::Other,
        }
    }
}

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
    /// There is no session.
    #[error("connecting: {text}")]
    NoSession {
        /// The cause.
        problem: SessionProblem,
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
    #[error("the schema `{0}` was not created by Plimsoll and is left unchanged")]
    NotOurs(&'static str),
    /// The caller has stopped the loading.
    #[error("the loading has been stopped")]
    Stopped,
}

impl DatabaseError {
    /// Returns the cause for which there is no session, as far as it is one.
    pub fn session_problem(&self) -> SessionProblem {
        match self {
            DatabaseError::NoSession { problem, .. } => *problem,
            DatabaseError::Slow { .. } => SessionProblem::Slow,
            _ => SessionProblem::Other,
        }
    }

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
    let text = failure.describe();
    match outcome {
        Outcome::Refused | Outcome::Unreachable => DatabaseError::Unreachable { outcome, text },
        _ => DatabaseError::NoSession { problem: SessionProblem::of(&failure), text },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::failure::{OTHER_BYTES, Refusal};

    #[test]
    fn each_cause_without_a_session_has_its_own_problem() {
        let refused = |state| {
            SqlFailure::Refused(Refusal {
                state: SqlStateCode::of(state),
                is_fatal: true,
                message: String::new(),
            })
        };
        for (failure, problem) in [
            (refused("28P01"), SessionProblem::Denied),
            (refused("28000"), SessionProblem::Denied),
            (refused("3D000"), SessionProblem::NoDatabase),
            (refused("53300"), SessionProblem::Full),
            (refused("08004"), SessionProblem::Full),
            (refused("57P03"), SessionProblem::Other),
            (SqlFailure::malformed(NO_PASSWORD), SessionProblem::NoPassword),
            (SqlFailure::malformed(NO_TLS), SessionProblem::NoTls),
            (SqlFailure::OtherAuthentication("dialog".to_owned()), SessionProblem::Authentication),
            (SqlFailure::malformed(CLEAR_PASSWORD), SessionProblem::ClearPassword),
            (SqlFailure::malformed(NOT_MARIADB), SessionProblem::OtherProduct),
            (SqlFailure::malformed(OTHER_BYTES), SessionProblem::Protocol),
            (SqlFailure::closed(), SessionProblem::Protocol),
            (SqlFailure::ended(false), SessionProblem::Protocol),
        ] {
            assert_eq!(unconnected(failure.clone(), None).session_problem(), problem, "{failure:?}");
        }
    }
}
