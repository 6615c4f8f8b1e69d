//! A stream that counts its bytes and has them inspected.

use std::cell::{Cell, RefCell};
use std::fmt;
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

/// A gauge of what a connection has sent.
pub(super) struct SendGauge {
    byte_counts: Rc<Cell<ByteCounts>>,
    unacknowledged: Box<dyn Fn() -> u64>,
}

impl SendGauge {
    /// Returns how far the bytes to the client that have left this machine have come. `None` if all have left, so that
    /// a stream that waits does so because its own window is closed, unless it `has_moved`.
    pub(super) fn left(&self, has_moved: bool) -> Option<i64> {
        let unacknowledged = (self.unacknowledged)();
        (has_moved || unacknowledged != 0)
            .then(|| self.byte_counts.get().written as i64 - unacknowledged as i64)
    }
}

impl fmt::Debug for SendGauge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SendGauge").field("byte_counts", &self.byte_counts).finish_non_exhaustive()
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub(super) struct MeteredStream<S> {
    /// Shared with the gauge; `h2` gives no access to the stream that it owns.
    stream: Rc<RefCell<S>>,
    byte_counts: Rc<Cell<ByteCounts>>,
    inspector: FrameInspector,
}

impl<S> MeteredStream<S> {
    pub(super) fn new(
        stream: S,
        byte_counts: Rc<Cell<ByteCounts>>,
        inspector: FrameInspector,
    ) -> MeteredStream<S> {
        MeteredStream { stream: Rc::new(RefCell::new(stream)), byte_counts, inspector }
    }

    /// Makes a gauge of what is sent; `unacknowledged` returns the bytes that the kernel has taken, but not the client.
    pub(super) fn gauge(&self, unacknowledged: fn(&S) -> u64) -> SendGauge
    where
        S: 'static,
    {
        let stream = Rc::clone(&self.stream);
        SendGauge {
            byte_counts: Rc::clone(&self.byte_counts),
            unacknowledged: Box::new(move || unacknowledged(&stream.borrow())),
        }
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
        let polled = Pin::new(&mut *self.stream.borrow_mut()).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        let byte_counts = self.byte_counts.get();
        self.byte_counts.set(ByteCounts { read: byte_counts.read + bytes as u64, ..byte_counts });
        match self.inspector.inspect(&buffer.filled()[before..]) {
            Ok(()) => polled,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.stream.borrow_mut()).poll_write(context, bytes);
        self.note_written(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.stream.borrow_mut()).poll_write_vectored(context, parts);
        self.note_written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream.borrow_mut()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream.borrow_mut()).poll_shutdown(context)
    }
}
