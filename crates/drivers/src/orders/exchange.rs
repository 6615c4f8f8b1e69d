//! Sending a request and receiving the reply.

use frame::REPLY_BYTES;
use orders::wire;
use units::Nanos;

use super::OrderContext;
use super::call::{FORMAT, OrderCall};
use crate::net::{OperationFailure, TcpTransport, frames};

/// The most bytes of a reply.
const REPLY_BYTES_MAX: usize = REPLY_BYTES + wire::PAYLOAD_MAX as usize;

/// A complete reply. Its payload is its own, because it is read while others arrive.
#[derive(Debug)]
pub(super) struct OrderReply {
    /// The failure that it states, or a fault in itself.
    pub(super) fault: Option<OperationFailure>,
    pub(super) result: u64,
    pub(super) payload: Vec<u8>,
    /// The time in the queue, in ns.
    pub(super) queue: u64,
    /// The time of service, in ns.
    pub(super) service: u64,
    /// Bytes of the request, header and payload.
    pub(super) sent_bytes: u64,
    /// Bytes of the reply, header and payload.
    pub(super) received_bytes: u64,
}

impl OrderReply {
    /// Checks that the server's times are no longer than the response together.
    pub(super) fn check_times(&self, response: Nanos) -> Result<(), OperationFailure> {
        frames::check_times(self.queue, self.service, response)
    }
}

/// Sends a request with a number and receives the reply.
pub(super) async fn exchange(
    context: &OrderContext,
    transport: TcpTransport,
    call: &OrderCall<'_>,
    number: u64,
) -> Result<(TcpTransport, OrderReply), OperationFailure> {
    let (rest, sent_bytes) = {
        // All users of the thread write into one buffer.
        let buffer = &mut *context.request.borrow_mut();
        call.write(number, buffer);
        (transport.send_now(buffer)?, buffer.len() as u64)
    };
    let transport = match rest {
        Some(rest) => transport.send_rest(rest).await?,
        None => transport,
    };
    let operation = call.operation as u8;
    let read = |bytes: &[u8], _| read(bytes, (operation, number), sent_bytes);
    let reply = context.received.receive(&transport, REPLY_BYTES_MAX, read).await?;
    Ok((transport, reply))
}

fn read(bytes: &[u8], request: (u8, u64), sent_bytes: u64) -> Result<Option<OrderReply>, OperationFailure> {
    let Some((header, payload)) = frames::read(bytes, FORMAT)? else { return Ok(None) };
    // Without times the reply is at fault.
    let (queue, service) = header.stamps.times().unwrap_or_default();
    Ok(Some(OrderReply {
        fault: frames::fault(&header, payload, request),
        result: header.result,
        payload: payload.to_vec(),
        queue,
        service,
        sent_bytes,
        received_bytes: bytes.len() as u64,
    }))
}
