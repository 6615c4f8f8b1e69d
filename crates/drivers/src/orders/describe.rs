//! Failures of transactions in words.

use engine::SessionError;
use model::Outcome;
use orders::wire::OrderEntryStatus;

use crate::net::{OperationFailure, frames};

/// Returns the error of a session that could not be opened.
pub(super) fn opening(failure: &OperationFailure) -> SessionError {
    SessionError::Exchange(self::failure(failure))
}

/// Describes the failure of a transaction.
pub(super) fn failure(failure: &OperationFailure) -> String {
    let detail = failure.detail;
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy => {
            let status = u16::try_from(detail).ok().and_then(OrderEntryStatus::from_number);
            let meaning = status.map(|status| format!(": {}", status.describe())).unwrap_or_default();
            format!("the server answered with status {detail}{meaning}")
        }
        Outcome::WrongLength => format!("the payload of the reply violates the protocol at byte {detail}"),
        Outcome::WrongBytes => format!("the output does not fit the input (code {detail})"),
        _ => frames::describe(failure),
    }
}
