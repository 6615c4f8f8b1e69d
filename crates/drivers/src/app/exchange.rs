//! Sending a request and receiving the reply.

use http1::INTERIM_BYTES_MAX;

use super::AppContext;
use super::codec::{AppReply, RequestId};
use super::request::AppCall;
use crate::net::{OperationFailure, TcpTransport};

/// The most bytes of a reply without an end: more than interim responses, a head and the longest payload in chunks of a byte
/// have together, so that the limit of the part that has no end is met first.
const REPLY_BYTES_MAX: usize = 2 * INTERIM_BYTES_MAX;

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
    let reply = context.received.receive(&transport, REPLY_BYTES_MAX, read).await?;
    Ok((transport, reply, sent_bytes))
}
