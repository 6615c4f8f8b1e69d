//! Failures of transactions in words.

use std::io;

use model::Outcome;
use orders::wire::OrderEntryStatus;

use crate::net::OperationFailure;

/// Describes why a session could not be opened.
pub(super) fn opening(failure: &OperationFailure) -> String {
    format!("the session could not be opened: {}", self::failure(failure))
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
        Outcome::SessionLost => "the server closed the session in place of a reply".to_owned(),
        Outcome::Truncated => format!("the connection ended after {detail} bytes of the reply"),
        Outcome::MalformedHead => {
            "the reply is no frame of the protocol, or the answer to another request".to_owned()
        }
        Outcome::WrongLength => format!("the payload of the reply is not of the protocol, at byte {detail}"),
        Outcome::WrongChecksum => "the checksum of the reply is not that of its payload".to_owned(),
        Outcome::WrongBytes => format!("the output does not fit the input (code {detail})"),
        Outcome::Inconsistent => format!(
            "the server's times of queue and service, {detail} ns, are longer than the response, or go back"
        ),
        _ => io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}
