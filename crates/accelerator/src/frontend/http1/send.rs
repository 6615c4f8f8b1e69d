//! Writing to clients, with a minimum rate.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use units::Nanos;

use super::connection::Http1Connection;
use crate::frontend::ClientLimits;
use crate::frontend::deadline::DeadlineElapsed;
use crate::frontend::min_rate::MinRateDeadline;
use crate::frontend::peer::ClientStream;

/// The most bytes that are written before other connections are served; some 80 µs of work.
const WRITE_BYTES_MAX: usize = 512 * 1024;

/// A response that is being sent.
#[derive(Debug)]
pub(super) struct OutgoingResponse {
    /// The limit on the time that the client takes to receive it.
    min_rate: MinRateDeadline,
    /// Bytes sent so far.
    pub(super) bytes: u64,
    /// Bytes of its content among them.
    pub(super) body_bytes: u64,
}

impl OutgoingResponse {
    /// Makes a response of which nothing is sent yet.
    pub(super) fn new(limits: &ClientLimits) -> OutgoingResponse {
        let min_rate = MinRateDeadline::new(limits.write_timeout, limits.rate_min);
        OutgoingResponse { min_rate, bytes: 0, body_bytes: 0 }
    }
}

/// The progress of a first attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendProgress {
    /// All bytes were taken.
    All,
    /// This many bytes were taken; the socket is full, or it is other connections' turn.
    Partly(usize),
}

/// Writes as much of a head and a body as is taken at once.
pub(super) fn send_now<W: ClientStream>(
    wire: &mut W,
    context: &mut Context<'_>,
    head: &[u8],
    body: &[u8],
) -> io::Result<SendProgress> {
    let sent = match poll_write(wire, context, head, body) {
        Poll::Ready(sent) => sent?,
        Poll::Pending => return Ok(SendProgress::Partly(0)),
    };
    if sent < head.len() + body.len() {
        return Ok(SendProgress::Partly(sent));
    }
    match Pin::new(wire).poll_flush(context) {
        Poll::Ready(flushed) => flushed.map(|()| SendProgress::All),
        Poll::Pending => Ok(SendProgress::Partly(sent)),
    }
}

/// Writes once: one part by itself costs less than two.
#[inline]
fn poll_write<W: ClientStream>(
    wire: &mut W,
    context: &mut Context<'_>,
    head: &[u8],
    body: &[u8],
) -> Poll<io::Result<usize>> {
    let body = &body[..body.len().min(WRITE_BYTES_MAX)];
    let wire = Pin::new(wire);
    match (head, body) {
        (head, []) => wire.poll_write(context, head),
        ([], body) => wire.poll_write(context, body),
        (head, body) => wire.poll_write_vectored(context, &[IoSlice::new(head), IoSlice::new(body)]),
    }
}

impl<W: ClientStream> Http1Connection<W> {
    /// Sends a head and a body, within the client's minimum rate.
    pub(super) async fn send(&mut self, mut head: &[u8], mut body: &[u8]) -> io::Result<()> {
        while !(head.is_empty() && body.is_empty()) {
            let sent = self.send_some(head, body).await?;
            let of_head = sent.min(head.len());
            self.outgoing.body_bytes += (sent - of_head) as u64;
            (head, body) = (&head[of_head..], &body[sent - of_head..]);
            if WRITE_BYTES_MAX <= sent {
                tokio::task::yield_now().await;
            }
        }
        let flushed = self.flush().await;
        self.deadline.clear();
        flushed
    }

    async fn send_some(&mut self, head: &[u8], body: &[u8]) -> io::Result<usize> {
        let sent = self.within_rate(|wire, context| poll_write(wire, context, head, body)).await?;
        self.outgoing.bytes += sent as u64;
        if sent == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(sent) }
    }

    /// Flushes what was written.
    async fn flush(&mut self) -> io::Result<()> {
        self.within_rate(|wire, context| Pin::new(wire).poll_flush(context)).await
    }

    /// Waits for the client to take something, within its minimum rate.
    async fn within_rate<T>(
        &mut self,
        mut write: impl FnMut(&mut W, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> io::Result<T> {
        loop {
            let writing = poll_fn(|context| write(&mut self.wire, context));
            match self.deadline.wait_until_look(&mut self.outgoing.min_rate, writing).await {
                Ok(written) => return written,
                Err(DeadlineElapsed) => self.check_rate()?,
            }
        }
    }

    /// Looks at what has left this machine; a client that is too slow is cut off.
    fn check_rate(&mut self) -> io::Result<()> {
        let left = self.outgoing.bytes as i64 - self.wire.unacknowledged() as i64;
        self.outgoing.min_rate.note_left(left);
        if self.outgoing.min_rate.remaining() != Nanos::ZERO {
            return Ok(());
        }
        self.wire.reset_on_close();
        Err(io::ErrorKind::TimedOut.into())
    }
}
