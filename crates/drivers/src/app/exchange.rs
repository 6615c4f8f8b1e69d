//! Sending a request and receiving the reply.

use std::cell::RefCell;

use frame::app::FORMAT;
use frame::{FrameError, REPLY_BYTES, ReplyHeader};
use model::Outcome;

use super::AppContext;
use super::request::AppFrame;
use crate::net::OperationFailure;
use crate::net::tcp::TcpTransport;

/// Size of the read buffer that all sessions of a thread use in turn: most replies fit.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The read buffer of a thread.
#[derive(Debug)]
pub(super) struct ReplyBuffer(RefCell<Vec<u8>>);

impl Default for ReplyBuffer {
    fn default() -> ReplyBuffer {
        ReplyBuffer(RefCell::new(vec![0; READ_BUFFER_BYTES]))
    }
}

/// A complete reply. Its payload is its own, because it is checked while others read; most have none.
#[derive(Debug)]
pub(super) struct ReceivedReply {
    pub(super) header: ReplyHeader,
    pub(super) payload: Vec<u8>,
}

impl ReceivedReply {
    /// Returns the bytes of header and payload.
    pub(super) fn bytes(&self) -> u64 {
        (REPLY_BYTES + self.payload.len()) as u64
    }
}

/// Sends a request and receives the reply; returns the bytes that were sent, too.
pub(super) async fn exchange(
    context: &AppContext,
    transport: TcpTransport,
    frame: &AppFrame,
    number: u64,
) -> Result<(TcpTransport, ReceivedReply, u64), OperationFailure> {
    let (rest, sent_bytes) = {
        // All users of the thread write into one buffer.
        let buffer = &mut *context.frame.borrow_mut();
        frame.write(number, buffer);
        (transport.send_now(buffer)?, buffer.len() as u64)
    };
    let transport = match rest {
        Some(rest) => transport.send_rest(rest).await?,
        None => transport,
    };
    let reply = receive(&context.received.0, &transport).await?;
    Ok((transport, reply, sent_bytes))
}

async fn receive(
    buffer: &RefCell<Vec<u8>>,
    transport: &TcpTransport,
) -> Result<ReceivedReply, OperationFailure> {
    let mut arrived = Vec::new();
    loop {
        let read = transport.read(buffer, &[]).await?;
        let buffer = buffer.borrow();
        let part = &buffer[..read.bytes];
        // Most replies arrive at once, and then only the payload is copied.
        let whole = if arrived.is_empty() {
            split(part)?
        } else {
            arrived.extend_from_slice(part);
            split(&arrived)?
        };
        if let Some(reply) = whole {
            return Ok(reply);
        }
        if arrived.is_empty() {
            arrived.extend_from_slice(part);
        }
        if read.is_end {
            let outcome = if arrived.is_empty() { Outcome::SessionLost } else { Outcome::Truncated };
            return Err(OperationFailure::new(outcome, arrived.len() as u64));
        }
    }
}

/// Returns the reply that the bytes are; `None` if more must arrive.
fn split(bytes: &[u8]) -> Result<Option<ReceivedReply>, OperationFailure> {
    let header = match ReplyHeader::read(bytes, FORMAT) {
        Ok(Some(header)) => header,
        Ok(None) => return Ok(None),
        Err(FrameError::Payload { found, .. }) => {
            return Err(OperationFailure::new(Outcome::WrongLength, found.into()));
        }
        Err(FrameError::Magic | FrameError::Version { .. }) => {
            return Err(OperationFailure::new(Outcome::MalformedHead, 0));
        }
    };
    let payload = &bytes[REPLY_BYTES..];
    let length = header.payload_bytes as usize;
    if length < payload.len() {
        // Nothing was asked for that these bytes could be.
        return Err(OperationFailure::new(Outcome::WrongLength, bytes.len() as u64));
    }
    let is_complete = payload.len() == length;
    Ok(is_complete.then(|| ReceivedReply { header, payload: payload.to_vec() }))
}
