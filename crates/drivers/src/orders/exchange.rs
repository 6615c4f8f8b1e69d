//! Sending a request and receiving the reply.

use frame::REPLY_BYTES;
use orders::wire;
use units::Nanos;

use super::call::{FORMAT, OrderCall};
use crate::net::{ExchangeBuffers, OperationFailure, TcpTransport, frames};

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
    /// Bytes of header and payload.
    pub(super) bytes: u64,
}

impl OrderReply {
    /// Checks that the server's times are no longer than the response together.
    pub(super) fn check_times(&self, response: Nanos) -> Result<(), OperationFailure> {
        frames::check_times(self.queue, self.service, response)
    }
}

/// Sends a request with a number and receives the reply; returns the number of bytes that were sent, too.
pub(super) fn exchange(
    buffers: &ExchangeBuffers,
    transport: TcpTransport,
    call: &OrderCall<'_>,
    number: u64,
) -> impl Future<Output = Result<(TcpTransport, OrderReply, u64), OperationFailure>> {
    let request = (call.operation as u8, number);
    let write = move |buffer: &mut Vec<u8>| call.write(number, buffer);
    let read = move |bytes: &[u8], _| read(bytes, request);
    buffers.exchange(transport, write, REPLY_BYTES_MAX, read)
}

fn read(bytes: &[u8], request: (u8, u64)) -> Result<Option<OrderReply>, OperationFailure> {
    let Some((header, payload)) = frames::read(bytes, FORMAT)? else { return Ok(None) };
    // Without times the reply is at fault.
    let (queue, service) = header.stamps.times().unwrap_or_default();
    Ok(Some(OrderReply {
        fault: frames::fault(&header, payload, request),
        result: header.result,
        payload: payload.to_vec(),
        queue,
        service,
        bytes: bytes.len() as u64,
    }))
}
