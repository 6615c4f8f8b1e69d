//! Failures of transactions in words.

use std::io;

use frame::app::AppStatus;
use http1::reason_phrase;
use model::{AppProtocol, Outcome};

use crate::net::OperationFailure;

/// Describes why a session could not be opened.
pub(super) fn opening(failure: &OperationFailure, protocol: AppProtocol) -> String {
    format!("the session could not be opened: {}", self::failure(failure, protocol))
}

/// Describes the failure of a transaction.
pub(super) fn failure(failure: &OperationFailure, protocol: AppProtocol) -> String {
    let detail = failure.detail;
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy => {
            format!("the server answered with status {detail}{}", status_meaning(detail, protocol))
        }
        Outcome::SessionLost => "the server closed the session in place of a reply".to_owned(),
        Outcome::Truncated => format!("the connection ended after {detail} bytes of the reply"),
        Outcome::MalformedHead => match protocol {
            AppProtocol::Binary => "the reply is no frame of the protocol, or the answer to another request",
            AppProtocol::Http => "the reply is not HTTP/1, or its `Server-Timing` has a wrong duration",
        }
        .to_owned(),
        Outcome::OversizedHead => {
            format!("the head of the reply, interim ones included, is too long: {detail} bytes have arrived")
        }
        Outcome::MalformedBody => "the chunks of the reply are malformed".to_owned(),
        Outcome::WrongLength => format!("the reply has another length than was asked for: {detail} bytes"),
        Outcome::WrongChecksum => match protocol {
            AppProtocol::Binary => "the checksum of the reply is not that of its payload".to_owned(),
            AppProtocol::Http => format!("the server found another checksum of the message: {detail}"),
        },
        Outcome::WrongBytes => format!("the reply has the wrong result {detail:#x}, or a wrong payload"),
        Outcome::Inconsistent => {
            format!(
                "the server's times of queue and service, {detail} ns, are longer than the response, or go back"
            )
        }
        _ => io::Error::from_raw_os_error(detail as i32).to_string(),
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
