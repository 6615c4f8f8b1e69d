//! Requests and replies as frames.

use frame::app::{AppOperation, AppStatus, FORMAT, fill_payload};
use frame::{Crc32c, FrameError, REPLY_BYTES, REQUEST_BYTES, ReplyHeader, RequestHeader};
use model::Outcome;

use super::codec::AppReply;
use super::request::{AppCall, RequestPayload};
use crate::net::OperationFailure;

// Codes of `malformed head`: no frame, one of another version, or one that answers another request.
const OTHER_BYTES: u64 = 1;
const OTHER_VERSION: u64 = 2;
const OTHER_REQUEST: u64 = 3;

/// Writes a request to the end of an empty buffer.
pub(super) fn write(call: &AppCall, number: u64, buffer: &mut Vec<u8>) {
    buffer.resize(REQUEST_BYTES, 0);
    match call.payload {
        RequestPayload::None => {}
        RequestPayload::Data(settings) => buffer.extend(settings.to_bytes()),
        RequestPayload::Message { seed, bytes } => {
            buffer.resize(REQUEST_BYTES + bytes as usize, 0);
            fill_payload(seed.into(), &mut buffer[REQUEST_BYTES..]);
        }
        RequestPayload::Rounds(rounds) => buffer.extend(rounds.to_le_bytes()),
    }
    let (head, payload) = buffer.split_at_mut(REQUEST_BYTES);
    let header = RequestHeader {
        operation: call.operation as u8,
        flags: 0,
        number,
        argument: call.argument,
        payload_bytes: payload.len() as u32,
        checksum: Crc32c::of(payload),
    };
    head.copy_from_slice(&header.to_bytes(FORMAT));
}

/// Reads the reply to a request; `None` if more bytes must arrive.
pub(super) fn read(
    bytes: &[u8],
    operation: AppOperation,
    number: u64,
) -> Result<Option<AppReply>, OperationFailure> {
    let header = match ReplyHeader::read(bytes, FORMAT) {
        Ok(Some(header)) => header,
        Ok(None) => return Ok(None),
        Err(FrameError::Payload { found, .. }) => {
            return Err(OperationFailure::new(Outcome::WrongLength, found.into()));
        }
        Err(FrameError::Magic) => return Err(OperationFailure::new(Outcome::MalformedHead, OTHER_BYTES)),
        Err(FrameError::Version { .. }) => {
            return Err(OperationFailure::new(Outcome::MalformedHead, OTHER_VERSION));
        }
    };
    let payload = &bytes[REPLY_BYTES..];
    let length = header.payload_bytes as usize;
    if length < payload.len() {
        // Nothing was asked for that these bytes could be.
        return Err(OperationFailure::new(Outcome::WrongLength, bytes.len() as u64));
    }
    if payload.len() < length {
        return Ok(None);
    }
    let times = header.stamps.times();
    Ok(Some(AppReply {
        fault: fault(&header, payload, operation, number),
        result: Some(header.result),
        payload: payload.to_vec(),
        queue: times.map(|(queue, _)| queue),
        service: times.map(|(_, service)| service),
        bytes: bytes.len() as u64,
        keeps_alive: true,
    }))
}

/// Returns the failure that a reply states, or what shows that it is no reply to the request.
fn fault(
    header: &ReplyHeader,
    payload: &[u8],
    operation: AppOperation,
    number: u64,
) -> Option<OperationFailure> {
    let (outcome, detail) = if header.operation != operation as u8 || header.number != number {
        (Outcome::MalformedHead, OTHER_REQUEST)
    } else if header.status == AppStatus::Busy as u16 {
        (Outcome::Busy, header.status.into())
    } else if header.status != AppStatus::Ok as u16 {
        (Outcome::WrongStatus, header.status.into())
    } else if Crc32c::of(payload) != header.checksum {
        (Outcome::WrongChecksum, header.checksum.into())
    } else if header.stamps.times().is_none() {
        (Outcome::Inconsistent, 0)
    } else {
        return None;
    };
    Some(OperationFailure::new(outcome, detail))
}
