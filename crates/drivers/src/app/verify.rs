//! The checks of a reply: it is the answer to the request, has the right content, and times that can be.

use frame::app::{AppOperation, AppStatus, fill_payload};
use frame::{Crc32c, ReplyHeader};
use model::{AppRequest, AppTransaction, Outcome};
use units::Nanos;

use super::AppContext;
use super::exchange::ReceivedReply;
use super::request::content_seed;
use crate::net::OperationFailure;

/// Checks that a reply is the answer to a request, and a success.
pub(super) fn header(
    header: &ReplyHeader,
    operation: AppOperation,
    number: u64,
) -> Result<(), OperationFailure> {
    if header.operation != operation as u8 || header.number != number {
        return Err(OperationFailure::new(Outcome::MalformedHead, header.number));
    }
    match header.status {
        status if status == AppStatus::Ok as u16 => Ok(()),
        status if status == AppStatus::Busy as u16 => {
            Err(OperationFailure::new(Outcome::Busy, status.into()))
        }
        status => Err(OperationFailure::new(Outcome::WrongStatus, status.into())),
    }
}

/// Checks payload and result.
pub(super) fn content(
    context: &AppContext,
    request: &AppRequest,
    argument: u64,
    reply: &ReceivedReply,
) -> Result<(), OperationFailure> {
    let ReceivedReply { header, payload } = reply;
    if Crc32c::of(payload) != header.checksum {
        return Err(OperationFailure::new(Outcome::WrongChecksum, header.checksum.into()));
    }
    let (payload_bytes, result) = match request.transaction {
        AppTransaction::ClientServer => (0, Some(request.bytes.into())),
        AppTransaction::ServerClient => (request.bytes, Some(request.bytes.into())),
        AppTransaction::Process => (0, context.results.get(argument as usize).copied()),
        AppTransaction::Append => (0, None),
        _ => (0, Some(argument)),
    };
    if header.payload_bytes != payload_bytes {
        return Err(OperationFailure::new(Outcome::WrongLength, header.payload_bytes.into()));
    }
    if result.is_some_and(|result| result != header.result) {
        return Err(OperationFailure::new(Outcome::WrongBytes, header.result));
    }
    match payload.is_empty() || *payload == expected_payload(request) {
        true => Ok(()),
        false => Err(OperationFailure::new(Outcome::WrongBytes, header.result)),
    }
}

fn expected_payload(request: &AppRequest) -> Vec<u8> {
    let mut payload = vec![0; request.bytes as usize];
    fill_payload(content_seed(request).into(), &mut payload);
    payload
}

/// Returns the time in the queue and the time of service, in ns, which together are no longer than the response.
pub(super) fn times(header: &ReplyHeader, response: Nanos) -> Result<(u64, u64), OperationFailure> {
    let times = header.stamps.times();
    let fits =
        |&(queue, service): &(u64, u64)| queue.checked_add(service).is_some_and(|sum| sum <= response.0);
    times.filter(fits).ok_or_else(|| {
        let sum = times.map_or(0, |(queue, service)| queue.saturating_add(service));
        OperationFailure::new(Outcome::Inconsistent, sum)
    })
}

/// Returns the protocol's own code of a failure: the status of the reply, if that is what is wrong.
pub(super) fn code(failure: &OperationFailure) -> u32 {
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy => u32::try_from(failure.detail).unwrap_or(0),
        _ => 0,
    }
}
