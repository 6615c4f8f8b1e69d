//! The body of a request, taken out of its framing, and the interim responses that go the other way.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};

use bytes::Bytes;
use http1::{BodyReader, Framing};
use tokio::io::ReadBuf;

use super::connection::Connection;
use super::head::{Expectation, write_interim};
use crate::front::patience::Patience;
use crate::front::peer::Wire;
use crate::message::{BodyError, ClientVersion, Interim, RequestBody};

/// The body that follows the head which was read last.
#[derive(Debug)]
pub(super) struct IncomingBody<'a, W> {
    connection: &'a mut Connection<W>,
    reader: BodyReader,
    /// What the client speaks; only HTTP/1.1 has interim responses (RFC 9110 §15.2).
    version: ClientVersion,
    /// Whether the client waits to be told to go on.
    is_waited_for: bool,
    /// Whether an interim response could not be sent: what was sent of it may not be followed by anything.
    is_broken: bool,
    /// How much of what the connection has kept belongs to the body and has been given.
    taken: usize,
    bytes: u64,
    bytes_max: u64,
    patience: Patience,
}

impl<'a, W: Wire> IncomingBody<'a, W> {
    /// Begins with the first byte after the head.
    pub(super) fn new(
        connection: &'a mut Connection<W>,
        framing: Framing,
        version: ClientVersion,
        expectation: Expectation,
    ) -> IncomingBody<'a, W> {
        let limits = connection.worker.limits();
        IncomingBody {
            connection,
            reader: BodyReader::new(framing),
            version,
            is_waited_for: expectation == Expectation::Continue,
            is_broken: false,
            taken: 0,
            bytes: 0,
            bytes_max: limits.body_bytes_max,
            patience: Patience::new(limits.body_timeout, limits.rate_min),
        }
    }

    /// Tells whether nothing can be sent to the client any more.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Ends: what follows the body is left for the next request. Returns whether all of the body has been taken.
    pub(super) fn end(self) -> bool {
        self.connection.kept.drain(..self.taken);
        self.reader.is_done() && self.bytes <= self.bytes_max
    }

    /// Takes all content that is there.
    fn take(&mut self) -> Result<Vec<u8>, BodyError> {
        let mut content = Vec::new();
        loop {
            let rest = &self.connection.kept[self.taken..];
            if rest.is_empty() || self.reader.is_done() {
                break;
            }
            let piece = self.reader.read(rest).map_err(|error| BodyError::Malformed(error.to_string()))?;
            content.extend_from_slice(&rest[piece.data]);
            self.taken += piece.consumed;
        }
        self.bytes = self.bytes.saturating_add(content.len() as u64);
        if self.bytes_max < self.bytes { Err(BodyError::TooLong(self.bytes_max)) } else { Ok(content) }
    }

    /// Sends an interim response, such as the one that the client waits for.
    async fn tell(&mut self, head: &[u8]) -> Result<(), BodyError> {
        self.is_waited_for = false;
        self.connection.send(head, &[]).await.map_err(|_| {
            self.is_broken = true;
            BodyError::Truncated
        })
    }

    /// Waits for more; everything that was kept has been taken.
    async fn read(&mut self) -> Result<(), BodyError> {
        if self.is_waited_for {
            self.tell(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        self.taken = 0;
        let Connection { wire, worker, watch, kept, .. } = &mut *self.connection;
        kept.clear();
        let reading = poll_fn(|context| {
            let input = &mut worker.buffers.borrow_mut().input;
            let mut room = ReadBuf::new(input);
            let read = ready!(Pin::new(&mut *wire).poll_read(context, &mut room));
            kept.extend_from_slice(room.filled());
            Poll::Ready(read.map(|()| room.filled().len()))
        });
        let read = watch.bear(&mut self.patience, reading).await;
        watch.unlimited();
        match read.map_err(|_elapsed| BodyError::TimedOut)? {
            Ok(0) | Err(_) => Err(BodyError::Truncated),
            Ok(read) => {
                self.patience.moved(read);
                Ok(())
            }
        }
    }
}

impl<W: Wire> RequestBody for IncomingBody<'_, W> {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let content = self.take()?;
            if !content.is_empty() {
                return Ok(Some(content.into()));
            }
            if self.reader.is_done() {
                return Ok(None);
            }
            self.read().await?;
        }
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        if self.version != ClientVersion::Http11 || self.is_broken {
            return Ok(());
        }
        let is_waited_for = self.is_waited_for && interim.status != 100;
        let mut head = Vec::new();
        write_interim(&mut head, &interim);
        self.tell(&head).await?;
        self.is_waited_for = is_waited_for;
        Ok(())
    }
}
