//! A connection that was upgraded to another protocol.

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
    /// The bytes that came together with the head.
    leftover: Bytes,
    stream: Stream,
    /// The permit that the tunnel holds while it is open.
    _permit: OwnedSemaphorePermit,
}

impl OriginTunnel {
    pub(super) fn new(leftover: Bytes, stream: Stream, permit: OwnedSemaphorePermit) -> OriginTunnel {
        OriginTunnel { leftover, stream, _permit: permit }
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
