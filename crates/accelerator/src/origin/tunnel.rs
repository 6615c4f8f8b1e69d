//! A connection that has gone over to another protocol.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;

use super::stream::Stream;

/// The bytes of a connection after a 101, both ways. Closed when dropped.
#[derive(Debug)]
pub struct OriginTunnel {
    /// What came together with the head.
    leftover: Bytes,
    stream: Stream,
    /// As long as it is open it takes a place with the server.
    _place: OwnedSemaphorePermit,
}

impl OriginTunnel {
    pub(super) fn new(leftover: Bytes, stream: Stream, place: OwnedSemaphorePermit) -> OriginTunnel {
        OriginTunnel { leftover, stream, _place: place }
    }
}

impl AsyncRead for OriginTunnel {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.leftover.is_empty() {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        let length = this.leftover.len().min(buffer.remaining());
        buffer.put_slice(&this.leftover[..length]);
        this.leftover.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for OriginTunnel {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
