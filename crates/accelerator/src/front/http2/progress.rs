//! A stream that tells how far it has got, and has what comes looked at.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::inspector::Inspector;

/// Fewer bytes than these to the client are no progress: pings and settings of our own take less.
const PROGRESS_BYTES: u64 = 1024;

/// Bytes that have gone over a connection so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// From the client.
    pub(super) read: u64,
    /// To the client, as far as the kernel, or TLS, has taken them.
    pub(super) written: u64,
}

impl Moved {
    /// Tells whether the client has taken something of a reply since then. Answers to its pings and settings do not
    /// count: they are as long as what they answer.
    pub(super) fn has_replied_since(self, before: Moved) -> bool {
        PROGRESS_BYTES + (self.read - before.read) <= self.written - before.written
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub(super) struct Progress<S> {
    stream: S,
    moved: Rc<Cell<Moved>>,
    inspector: Inspector,
}

impl<S> Progress<S> {
    pub(super) fn new(stream: S, moved: Rc<Cell<Moved>>, inspector: Inspector) -> Progress<S> {
        Progress { stream, moved, inspector }
    }

    fn note_written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            let moved = self.moved.get();
            self.moved.set(Moved { written: moved.written + bytes as u64, ..moved });
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Progress<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let (bytes, moved) = (buffer.filled().len() - before, self.moved.get());
        self.moved.set(Moved { read: moved.read + bytes as u64, ..moved });
        match self.inspector.look(&buffer.filled()[before..]) {
            Ok(()) => polled,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Progress<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_written(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.note_written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
