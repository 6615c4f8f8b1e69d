//! A stream with bytes put back that were read already.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that returns `prefix` first, then its own bytes; writes go straight through.
///
/// For code that must look at the first bytes of a connection before it knows which protocol reads them.
#[derive(Debug)]
pub(super) struct Rewind<S> {
    /// The bytes that were put back.
    prefix: Vec<u8>,
    /// The bytes of the prefix that have been returned.
    given: usize,
    stream: S,
}

impl<S> Rewind<S> {
    /// Puts bytes back in front of a stream.
    pub(super) fn new(prefix: Vec<u8>, stream: S) -> Rewind<S> {
        Rewind { prefix, given: 0, stream }
    }

    /// Returns the stream itself.
    pub(super) fn get_ref(&self) -> &S {
        &self.stream
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Rewind<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = &self.prefix[self.given..];
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.given += length;
        if self.given == self.prefix.len() {
            (self.prefix, self.given) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rewind<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn the_prefix_is_read_first_and_writes_pass_through() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(64);
            theirs.write_all(b" world").await.unwrap();
            let mut stream = Rewind::new(b"hello".to_vec(), ours);
            let mut start = [0; 3];
            stream.read_exact(&mut start).await.unwrap();
            assert_eq!(&start, b"hel");
            let mut rest = [0; 8];
            stream.read_exact(&mut rest).await.unwrap();
            assert_eq!(&rest, b"lo world");
            stream.write_all(b"back").await.unwrap();
            let mut back = [0; 4];
            theirs.read_exact(&mut back).await.unwrap();
            assert_eq!(&back, b"back");
        });
    }
}
