//! A stream that counts its bytes and has them inspected.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::inspector::FrameInspector;

/// The fewest bytes to the client that count as progress: pings and settings take less.
const PROGRESS_BYTES: u64 = 1024;

/// The bytes transferred over a connection so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ByteCounts {
    /// From the client.
    pub(super) read: u64,
    /// To the client, as far as the kernel, or TLS, has taken them.
    pub(super) written: u64,
}

impl ByteCounts {
    /// Returns whether the client has taken some of a response since then. Answers to its pings and settings do not
    /// count: they are as long as what they answer.
    pub(super) fn has_sent_since(self, before: ByteCounts) -> bool {
        PROGRESS_BYTES + (self.read - before.read) <= self.written - before.written
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub(super) struct MeteredStream<S> {
    stream: S,
    byte_counts: Rc<Cell<ByteCounts>>,
    inspector: FrameInspector,
}

impl<S> MeteredStream<S> {
    pub(super) fn new(
        stream: S,
        byte_counts: Rc<Cell<ByteCounts>>,
        inspector: FrameInspector,
    ) -> MeteredStream<S> {
        MeteredStream { stream, byte_counts, inspector }
    }

    fn note_written(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            let byte_counts = self.byte_counts.get();
            self.byte_counts.set(ByteCounts { written: byte_counts.written + bytes as u64, ..byte_counts });
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let (bytes, byte_counts) = (buffer.filled().len() - before, self.byte_counts.get());
        self.byte_counts.set(ByteCounts { read: byte_counts.read + bytes as u64, ..byte_counts });
        match self.inspector.inspect(&buffer.filled()[before..]) {
            Ok(()) => polled,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
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
