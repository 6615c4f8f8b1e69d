//! Sending a request and receiving the reply.

use std::cell::RefCell;

use http1::INTERIM_BYTES_MAX;
use model::Outcome;

use super::AppContext;
use super::codec::{AppReply, RequestId};
use super::request::AppCall;
use crate::net::OperationFailure;
use crate::net::tcp::TcpTransport;

/// Size of the read buffer that all sessions of a thread use in turn: most replies fit.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The most bytes of a reply without an end: those of all interim responses that HTTP may have.
const REPLY_BYTES_MAX: usize = INTERIM_BYTES_MAX;

/// The read buffer of a thread.
#[derive(Debug)]
pub(super) struct ReplyBuffer(RefCell<Vec<u8>>);

impl Default for ReplyBuffer {
    fn default() -> ReplyBuffer {
        ReplyBuffer(RefCell::new(vec![0; READ_BUFFER_BYTES]))
    }
}

/// Sends a request and receives the reply; returns the bytes that were sent, too.
pub(super) async fn exchange(
    context: &AppContext,
    transport: TcpTransport,
    call: &AppCall,
    id: RequestId,
) -> Result<(TcpTransport, AppReply, u64), OperationFailure> {
    let (rest, sent_bytes) = {
        // All users of the thread write into one buffer.
        let buffer = &mut *context.request.borrow_mut();
        context.codec.write(call, id, buffer);
        (transport.send_now(buffer)?, buffer.len() as u64)
    };
    let transport = match rest {
        Some(rest) => transport.send_rest(rest).await?,
        None => transport,
    };
    let read = |bytes: &[u8], has_ended| context.codec.read(bytes, has_ended, call, id);
    let reply = receive(&context.received.0, &transport, read).await?;
    Ok((transport, reply, sent_bytes))
}

async fn receive(
    buffer: &RefCell<Vec<u8>>,
    transport: &TcpTransport,
    decode: impl Fn(&[u8], bool) -> Result<Option<AppReply>, OperationFailure>,
) -> Result<AppReply, OperationFailure> {
    let mut arrived = Vec::new();
    loop {
        let read = transport.read(buffer, &[]).await?;
        let buffer = buffer.borrow();
        let part = &buffer[..read.bytes];
        // Most replies arrive at once, and then only the payload is copied.
        let whole = if arrived.is_empty() {
            decode(part, read.is_end)?
        } else {
            arrived.extend_from_slice(part);
            decode(&arrived, read.is_end)?
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
        if REPLY_BYTES_MAX < arrived.len() {
            return Err(OperationFailure::new(Outcome::MalformedHead, 0));
        }
    }
}
