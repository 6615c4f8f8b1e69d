//! Writing to clients: as much as they take, as fast as they must.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use super::connection::Connection;
use crate::front::peer::Wire;

/// The most bytes handed over at once before other connections get their turn; some 80 µs of work.
const WRITE_BYTES_MAX: usize = 512 * 1024;

/// What became of a first attempt to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// All of it was taken.
    All,
    /// So many bytes were taken; there is no room for more yet, or it is the turn of others.
    Partly(usize),
}

/// Hands over as much of a head and a body as is taken at once.
pub(super) fn send_now<W: Wire>(
    wire: &mut W,
    context: &mut Context<'_>,
    head: &[u8],
    body: &[u8],
) -> io::Result<Sent> {
    let sent = match poll_write(wire, context, head, body) {
        Poll::Ready(sent) => sent?,
        Poll::Pending => return Ok(Sent::Partly(0)),
    };
    if sent < head.len() + body.len() {
        return Ok(Sent::Partly(sent));
    }
    match Pin::new(wire).poll_flush(context) {
        Poll::Ready(flushed) => flushed.map(|()| Sent::All),
        Poll::Pending => Ok(Sent::Partly(sent)),
    }
}

/// Writes once: one part by itself costs less than two.
#[inline]
fn poll_write<W: Wire>(
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

impl<W: Wire> Connection<W> {
    /// Sends a head and a body, as far as patience with the client reaches.
    pub(super) async fn send(&mut self, mut head: &[u8], mut body: &[u8]) -> io::Result<()> {
        while !(head.is_empty() && body.is_empty()) {
            let sent = self.send_some(head, body).await?;
            let of_head = sent.min(head.len());
            self.body_out += (sent - of_head) as u64;
            (head, body) = (&head[of_head..], &body[sent - of_head..]);
            if WRITE_BYTES_MAX <= sent {
                tokio::task::yield_now().await;
            }
        }
        let flushed = self.flush().await;
        self.watch.unlimited();
        flushed
    }

    async fn send_some(&mut self, head: &[u8], body: &[u8]) -> io::Result<usize> {
        let writing = poll_fn(|context| poll_write(&mut self.wire, context, head, body));
        let sent = self.watch.bear(&mut self.patience, writing).await??;
        self.patience.moved(sent);
        self.bytes_out += sent as u64;
        if sent == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(sent) }
    }

    /// Sees to it that what was written is on its way.
    async fn flush(&mut self) -> io::Result<()> {
        let flushing = poll_fn(|context| Pin::new(&mut self.wire).poll_flush(context));
        self.watch.keep(flushing).await?
    }
}
