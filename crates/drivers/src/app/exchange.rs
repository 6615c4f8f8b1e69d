//! Sending a request and receiving the reply.

use http1::INTERIM_BYTES_MAX;

use super::AppContext;
use super::codec::{AppReply, RequestId};
use super::request::AppCall;
use crate::net::{OperationFailure, TcpTransport};

/// The most bytes of a reply without an end: more than interim responses, a head and the longest payload in chunks of a byte
/// have together, so that the limit of the part that has no end is met first.
const REPLY_BYTES_MAX: usize = 2 * INTERIM_BYTES_MAX;

/// Sends a request and receives the reply; returns the number of bytes that were sent, too.
pub(super) fn exchange(
    context: &AppContext,
    transport: TcpTransport,
    call: &AppCall,
    id: RequestId,
) -> impl Future<Output = Result<(TcpTransport, AppReply, u64), OperationFailure>> {
    let AppContext { codec, buffers, .. } = context;
    let write = move |buffer: &mut Vec<u8>| codec.write(call, id, buffer);
    let read = move |bytes: &[u8], has_ended| codec.read(bytes, has_ended, call, id);
    buffers.exchange(transport, write, REPLY_BYTES_MAX, read)
}
