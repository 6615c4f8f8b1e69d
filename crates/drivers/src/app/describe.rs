//! Failures of transactions in words.

use engine::SessionError;
use frame::app::AppStatus;
use http1::reason_phrase;
use model::{AppProtocol, Outcome};

use crate::net::{OperationFailure, frames};

/// Returns the error of a session that could not be opened.
pub(super) fn opening(failure: &OperationFailure, protocol: AppProtocol) -> SessionError {
    SessionError::Exchange(self::failure(failure, protocol))
}

/// Describes the failure of a transaction.
pub(super) fn failure(failure: &OperationFailure, protocol: AppProtocol) -> String {
    let detail = failure.detail;
    match (failure.outcome, protocol) {
        (Outcome::WrongStatus | Outcome::Busy, _) => {
            format!("the server answered with status {detail}{}", status_meaning(detail, protocol))
        }
        (Outcome::MalformedHead, AppProtocol::Http) => {
            "the reply is not HTTP/1, or its `Server-Timing` has a wrong duration".to_owned()
        }
        (Outcome::OversizedHead, _) => {
            format!("the head of the reply, interim ones included, is too long: {detail} bytes have arrived")
        }
        (Outcome::MalformedBody, _) => "the chunks of the reply are malformed".to_owned(),
        (Outcome::WrongLength, _) => {
            format!("the reply has another length than was asked for: {detail} bytes")
        }
        (Outcome::WrongBytes, _) => format!("the reply has the wrong result {detail:#x}, or a wrong payload"),
        _ => frames::describe(failure),
    }
}

/// Returns what a status means, after a colon; empty if it is not known.
fn status_meaning(status: u64, protocol: AppProtocol) -> String {
    let status = u16::try_from(status).ok();
    let meaning = match protocol {
        AppProtocol::Binary => status.and_then(AppStatus::from_number).map(AppStatus::describe),
        AppProtocol::Http => status.map(reason_phrase).filter(|phrase| !phrase.is_empty()),
    };
    meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default()
}
