//! A connection to a server.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::stream::Stream;

/// A connection, and the bytes received over it that are not yet consumed.
#[derive(Debug)]
pub(super) struct OriginConnection {
    pub(super) stream: Stream,
    pub(super) buffer: BytesMut,
}

impl OriginConnection {
    /// Makes a connection over which nothing was received.
    pub(super) fn new(stream: Stream) -> OriginConnection {
        OriginConnection { stream, buffer: BytesMut::new() }
    }

    /// Returns whether an idle connection is still usable.
    pub(super) fn is_reusable(&self) -> bool {
        self.buffer.is_empty() && self.stream.is_reusable()
    }
}

/// Reads about `room` bytes at most, behind those in the buffer; returns zero if the other side has closed.
pub(super) async fn read_more<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    room: usize,
) -> io::Result<usize> {
    // The rest of the last allocation is used up first, unless that would make for many small reads.
    if buffer.capacity() - buffer.len() < room / 4 {
        buffer.reserve(room);
    }
    stream.read_buf(buffer).await
}
