//! A request and its reply, which may arrive in pieces, whatever their protocol.

use std::cell::RefCell;

use model::Outcome;

use super::failure::OperationFailure;
use super::tcp::TcpTransport;

/// Size of the read buffer that all sessions of a thread use in turn: most replies fit.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The buffers of a load thread for requests and replies, which all of its sessions use in turn.
#[derive(Debug)]
pub(crate) struct ExchangeBuffers {
    /// The request to be sent.
    request: RefCell<Vec<u8>>,
    received: RefCell<Vec<u8>>,
}

impl Default for ExchangeBuffers {
    fn default() -> ExchangeBuffers {
        ExchangeBuffers { request: RefCell::default(), received: RefCell::new(vec![0; READ_BUFFER_BYTES]) }
    }
}

impl ExchangeBuffers {
    /// Sends the request that `write` appends to an empty buffer, and receives the reply; returns the number of bytes that
    /// were sent, too.
    ///
    /// `decode` gets all bytes that have arrived and whether the connection has ended, and returns `None` if more must
    /// arrive; it fails once more than `bytes_max` of them are no reply.
    pub(crate) async fn exchange<T>(
        &self,
        transport: TcpTransport,
        write: impl FnOnce(&mut Vec<u8>),
        bytes_max: usize,
        decode: impl Fn(&[u8], bool) -> Result<Option<T>, OperationFailure>,
    ) -> Result<(TcpTransport, T, u64), OperationFailure> {
        let (rest, sent_bytes) = {
            let buffer = &mut *self.request.borrow_mut();
            buffer.clear();
            write(buffer);
            (transport.send_now(buffer)?, buffer.len() as u64)
        };
        let transport = match rest {
            // Boxed because it is rare, and the task of every user has room for the largest of its states.
            Some(rest) => Box::pin(transport.send_rest(rest)).await?,
            None => transport,
        };
        let reply = self.receive(&transport, bytes_max, decode).await?;
        Ok((transport, reply, sent_bytes))
    }

    async fn receive<T>(
        &self,
        transport: &TcpTransport,
        bytes_max: usize,
        decode: impl Fn(&[u8], bool) -> Result<Option<T>, OperationFailure>,
    ) -> Result<T, OperationFailure> {
        let mut arrived = Vec::new();
        loop {
            let read = transport.read(&self.received, &[]).await?;
            let buffer = self.received.borrow();
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
                // A reset that arrived with the last bytes has to be queried.
                transport.error()?;
                let outcome = if arrived.is_empty() { Outcome::SessionLost } else { Outcome::Truncated };
                return Err(OperationFailure::new(outcome, arrived.len() as u64));
            }
            if bytes_max < arrived.len() {
                return Err(OperationFailure::new(Outcome::MalformedHead, 0));
            }
        }
    }
}
