//! Failures as the library reports them.

use std::error::Error as _;
use std::io;

use model::Outcome;
use rustix::io::Errno;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity};

use crate::database::failure::{
    NO_PASSWORD, OTHER_AUTHENTICATION, OTHER_BYTES, Refusal, SqlFailure, SqlStateCode,
};
use crate::net::OperationFailure;

impl From<Error> for SqlFailure {
    fn from(error: Error) -> SqlFailure {
        if let Some(refused) = error.as_db_error() {
            return SqlFailure::Refused(refusal(refused));
        }
        let io = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        match io.and_then(Errno::from_io_error) {
            Some(errno) => SqlFailure::Lost(errno.into()),
            None if error.is_closed() => SqlFailure::closed(),
            None if io.is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof) => {
                SqlFailure::Lost(OperationFailure::new(Outcome::Truncated, 0))
            }
            None => SqlFailure::Lost(OperationFailure::new(Outcome::MalformedHead, malformed(&error))),
        }
    }
}

/// Returns the code of an error that is none of the connection. The library tells these apart by their texts only.
fn malformed(error: &Error) -> u64 {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    match error.to_string() {
        text if text.contains("password missing") || cause.contains("password missing") => NO_PASSWORD,
        text if text.starts_with("authentication error") => OTHER_AUTHENTICATION,
        _ => OTHER_BYTES,
    }
}

fn refusal(refused: &DbError) -> Refusal {
    let is_fatal = match refused.parsed_severity() {
        Some(severity) => matches!(severity, Severity::Fatal | Severity::Panic),
        None => refused.severity() != "ERROR",
    };
    let state = SqlStateCode::of(refused.code().code());
    Refusal { state, is_fatal, message: refused.message().to_owned() }
}
