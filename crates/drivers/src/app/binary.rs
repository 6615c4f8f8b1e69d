//! Requests and replies as frames.

use frame::REQUEST_BYTES;
use frame::app::{AppOperation, FORMAT, fill_payload};

use super::codec::AppReply;
use super::request::{AppCall, RequestPayload};
use crate::net::{OperationFailure, frames};

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
    frames::write_header(FORMAT, (call.operation as u8, number, call.argument), buffer);
}

/// Reads the reply to a request; `None` if more bytes must arrive.
pub(super) fn read(
    bytes: &[u8],
    operation: AppOperation,
    number: u64,
) -> Result<Option<AppReply>, OperationFailure> {
    let Some((header, payload)) = frames::read(bytes, FORMAT)? else { return Ok(None) };
    let times = header.stamps.times();
    Ok(Some(AppReply {
        fault: frames::fault(&header, payload, (operation as u8, number)),
        result: Some(header.result),
        payload: payload.to_vec(),
        queue: times.map(|(queue, _)| queue),
        service: times.map(|(_, service)| service),
        bytes: bytes.len() as u64,
        keeps_alive: true,
    }))
}
