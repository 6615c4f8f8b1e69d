//! Frames of the protocols that our own servers speak, and what is wrong with those of a server.

use std::io;

use frame::{
    Crc32c, FrameError, FrameFormat, REPLY_BYTES, REQUEST_BYTES, ReplyHeader, RequestHeader, STATUS_OK,
};
use model::Outcome;
use units::Nanos;

use super::failure::OperationFailure;

/// The status of a full queue, which has the same number in all of these protocols.
const STATUS_BUSY: u16 = 1;

// Codes of `malformed head`: no frame, one of another version, or one that answers another request.
const OTHER_BYTES: u64 = 1;
const OTHER_VERSION: u64 = 2;
const OTHER_REQUEST: u64 = 3;

// Codes of `inconsistent`.
const TIMES_GO_BACK: u32 = 1;
const TIMES_TOO_LONG: u32 = 2;
const WRONG_CHECKSUM: u32 = 3;

// Details of `inconsistent`, beside times that are too long: no response is so short.
const BACKWARD_TIMES: u64 = 0;
const OTHER_CHECKSUM: u64 = 1;

/// Writes the header of a request before its payload, which stands in the buffer behind room for the header.
pub(crate) fn write_header(
    format: FrameFormat,
    (operation, number, argument): (u8, u64, u64),
    buffer: &mut [u8],
) {
    let (head, payload) = buffer.split_at_mut(REQUEST_BYTES);
    let header = RequestHeader { operation, number, argument, ..RequestHeader::default() };
    head.copy_from_slice(&header.with_payload(payload).to_bytes(format));
}

/// Reads a reply from all bytes that have arrived; `None` if more must.
///
/// # Errors
/// The bytes are no reply, or more than one.
pub(crate) fn read(
    bytes: &[u8],
    format: FrameFormat,
) -> Result<Option<(ReplyHeader, &[u8])>, OperationFailure> {
    let header = match ReplyHeader::read(bytes, format) {
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
    Ok((payload.len() == length).then_some((header, payload)))
}

/// Returns the failure that a reply states, or what shows that it is no reply to the request with this operation and
/// number.
pub(crate) fn fault(
    header: &ReplyHeader,
    payload: &[u8],
    (operation, number): (u8, u64),
) -> Option<OperationFailure> {
    let (outcome, detail) = if header.operation != operation || header.number != number {
        (Outcome::MalformedHead, OTHER_REQUEST)
    } else if header.status == STATUS_BUSY {
        (Outcome::Busy, header.status.into())
    } else if header.status != STATUS_OK {
        (Outcome::WrongStatus, header.status.into())
    } else if Crc32c::of(payload) != header.checksum {
        (Outcome::Inconsistent, OTHER_CHECKSUM)
    } else if header.stamps.times().is_none() {
        (Outcome::Inconsistent, BACKWARD_TIMES)
    } else {
        return None;
    };
    Some(OperationFailure::new(outcome, detail))
}

/// Checks that the times in the queue and of service, in ns, are no longer than the response together.
///
/// # Errors
/// They are longer.
pub(crate) fn check_times(queue: u64, service: u64, response: Nanos) -> Result<(), OperationFailure> {
    let sum = queue.saturating_add(service);
    if sum <= response.0 { Ok(()) } else { Err(OperationFailure::new(Outcome::Inconsistent, sum)) }
}

/// Returns the code of a failure, as the pages of the benchmarks list them: the status of the reply, or the number of what
/// is wrong with its head or its times. 0 without one.
pub(crate) fn code(failure: &OperationFailure) -> u32 {
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy | Outcome::MalformedHead => {
            u32::try_from(failure.detail).unwrap_or(0)
        }
        Outcome::Inconsistent => match failure.detail {
            BACKWARD_TIMES => TIMES_GO_BACK,
            OTHER_CHECKSUM => WRONG_CHECKSUM,
            _ => TIMES_TOO_LONG,
        },
        _ => 0,
    }
}

/// Describes a failure of the connection or of the frame.
pub(crate) fn describe(failure: &OperationFailure) -> String {
    let detail = failure.detail;
    match failure.outcome {
        Outcome::SessionLost => {
            "the server closed the kept connection instead of replying, and transactions are not retried: raise \
             the server's limits on idle connections and on requests per connection"
                .to_owned()
        }
        Outcome::Truncated => format!("the connection ended after {detail} bytes of the reply"),
        Outcome::MalformedHead => {
            "the reply is not a frame of the protocol, or it answers another request".to_owned()
        }
        Outcome::Inconsistent if detail == OTHER_CHECKSUM => {
            "the checksum of the reply does not match its payload".to_owned()
        }
        Outcome::Inconsistent => format!(
            "the server's times of queue and service, {detail} ns, are longer than the response, or go back"
        ),
        _ => io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}
