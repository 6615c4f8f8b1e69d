//! The body of an HTTP/1 request, read from its framing, and the interim responses sent meanwhile.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};

use bytes::Bytes;
use http1::{BodyReader, Framing};
use tokio::io::ReadBuf;

use super::connection::Http1Connection;
use super::head::write_interim;
use crate::frontend::min_rate::MinRateDeadline;
use crate::frontend::peer::ClientStream;
use crate::message::{BodyError, ClientVersion, Interim, RequestBody};

/// The body that follows the head that was parsed last.
#[derive(Debug)]
pub(super) struct IncomingBody<'a, W> {
    connection: &'a mut Http1Connection<W>,
    reader: BodyReader,
    /// The version of the client; only HTTP/1.1 has interim responses (RFC 9110 §15.2).
    version: ClientVersion,
    /// Whether the client waits for 100 (Continue).
    expects_continue: bool,
    /// Whether an interim response could not be sent completely, so that nothing can follow it.
    is_broken: bool,
    /// The bytes of the connection's input that belong to the body and have been returned.
    taken: usize,
    bytes: u64,
    bytes_max: u64,
    min_rate: MinRateDeadline,
}

impl<'a, W: ClientStream> IncomingBody<'a, W> {
    /// Makes the body that begins after the head.
    pub(super) fn new(
        connection: &'a mut Http1Connection<W>,
        framing: Framing,
        version: ClientVersion,
        expects_continue: bool,
    ) -> IncomingBody<'a, W> {
        let limits = connection.worker.limits();
        IncomingBody {
            connection,
            reader: BodyReader::new(framing),
            version,
            expects_continue,
            is_broken: false,
            taken: 0,
            bytes: 0,
            bytes_max: limits.body_bytes_max,
            min_rate: MinRateDeadline::new(limits.body_timeout, limits.rate_min),
        }
    }

    /// Returns whether nothing can be sent to the client any more.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Ends the body and leaves what follows it to the next request. Returns whether the whole body was read.
    pub(super) fn end(self) -> bool {
        self.connection.kept.drain(..self.taken);
        self.reader.is_done() && self.bytes <= self.bytes_max
    }

    /// Takes the content that has arrived.
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

    /// Sends an interim response.
    async fn send_head(&mut self, head: &[u8]) -> Result<(), BodyError> {
        self.expects_continue = false;
        self.connection.send(head, &[]).await.map_err(|_| {
            self.is_broken = true;
            BodyError::Truncated
        })
    }

    /// Reads more input; all input before was taken.
    async fn read(&mut self) -> Result<(), BodyError> {
        if self.expects_continue {
            self.send_head(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        self.taken = 0;
        let Http1Connection { wire, worker, deadline, kept, .. } = &mut *self.connection;
        kept.clear();
        let reading = poll_fn(|context| {
            let input = &mut worker.buffers.borrow_mut().input;
            let mut room = ReadBuf::new(input);
            let read = ready!(Pin::new(&mut *wire).poll_read(context, &mut room));
            kept.extend_from_slice(room.filled());
            Poll::Ready(read.map(|()| room.filled().len()))
        });
        let read = deadline.wait_at_min_rate(&mut self.min_rate, reading).await;
        deadline.clear();
        match read.map_err(|_elapsed| BodyError::TimedOut)? {
            Ok(0) | Err(_) => Err(BodyError::Truncated),
            Ok(read) => {
                self.min_rate.note_received(read);
                Ok(())
            }
        }
    }
}

impl<W: ClientStream> RequestBody for IncomingBody<'_, W> {
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
        let expects_continue = self.expects_continue && interim.status != 100;
        let mut head = Vec::new();
        write_interim(&mut head, &interim);
        self.send_head(&head).await?;
        self.expects_continue = expects_continue;
        Ok(())
    }
}
