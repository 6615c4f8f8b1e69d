//! One connection to a server.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::stream::Stream;

/// A connection, and what has come over it and is not yet taken.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) buffer: BytesMut,
}

impl Connection {
    /// Makes a connection over which nothing has come.
    pub(super) fn new(stream: Stream) -> Connection {
        Connection { stream, buffer: BytesMut::new() }
    }

    /// Tells whether the connection is as it should be while nobody uses it.
    pub(super) fn is_quiet(&self) -> bool {
        self.buffer.is_empty() && self.stream.is_quiet()
    }
}

/// Reads what is there, about `room` bytes at most, behind what the buffer has; zero if the other side has ended.
pub(super) async fn read_more<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    room: usize,
) -> io::Result<usize> {
    // What is left of the last piece of memory is used up first, unless that would make for many small reads.
    if buffer.capacity() - buffer.len() < room / 4 {
        buffer.reserve(room);
    }
    stream.read_buf(buffer).await
}
