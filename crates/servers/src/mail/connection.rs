//! A connection: lines and bytes of its client, replies that wait to be sent.
//!
//! Replies are sent when there is nothing more to be read, so that those to commands which came together go together. A
//! connection that waits keeps little memory.

use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::worker::Worker;

/// Bytes read at first: most commands are shorter. Further readings have room for more if they are not.
const READ_BYTES: usize = 512;

/// Bytes read at most.
const READ_BYTES_MAX: usize = 64 << 10;

/// Bytes of replies that are sent before there are more.
const OUTPUT_BYTES: usize = 64 << 10;

/// Capacity that a buffer keeps while a connection waits.
const KEPT_BYTES: usize = 1024;

/// Longest time in which a client takes some replies; one that does not read loses its connection.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest time in which what a client sends is read behind the end of its session, and how often.
const END_TIMEOUT: Duration = Duration::from_secs(1);
const READS_AFTER_END: usize = 2000;

/// A connection of a client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    worker: Rc<Worker>,
    input: Vec<u8>,
    /// The begin of what has not been taken from the input.
    at: usize,
    read_bytes: usize,
    output: Vec<u8>,
}

/// A reason for which a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// The client or the network ended it.
    Closed,
    /// It was idle for too long.
    Idle,
    /// A line is too long.
    LineTooLong,
}

impl Connection {
    /// Wraps a socket.
    pub(super) fn new(stream: TcpStream, worker: Rc<Worker>) -> Connection {
        Connection { stream, worker, input: Vec::new(), at: 0, read_bytes: READ_BYTES, output: Vec::new() }
    }

    /// Returns the thread that serves it.
    pub(super) fn worker(&self) -> &Rc<Worker> {
        &self.worker
    }

    /// Returns the replies that wait, to whose end further ones are appended.
    pub(super) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Appends a text to the replies.
    pub(super) fn put(&mut self, text: &str) {
        self.output.extend_from_slice(text.as_bytes());
    }

    /// Appends a line and its end to the replies.
    pub(super) fn put_line(&mut self, line: &str) {
        self.put(line);
        self.put("\r\n");
    }

    /// Appends the rest of the next line, with its end, to a line that has at most so many bytes. If there are no replies to
    /// be sent, it need not be waited for to the end: the next call goes on with the same line.
    ///
    /// # Errors
    /// The connection ends, or the line is too long.
    pub(super) async fn read_line(
        &mut self,
        line: &mut Vec<u8>,
        bytes_max: usize,
    ) -> Result<(), ConnectionEnd> {
        loop {
            let input = &self.input[self.at..];
            let end = input.iter().position(|byte| *byte == b'\n');
            let n = end.map_or(input.len(), |end| end + 1);
            if bytes_max < line.len() + n {
                return Err(ConnectionEnd::LineTooLong);
            }
            line.extend_from_slice(&input[..n]);
            self.at += n;
            if end.is_some() {
                return Ok(());
            }
            self.read_more().await?;
        }
    }

    /// Returns the bytes that have come and were not taken: at least one.
    ///
    /// # Errors
    /// The connection ends.
    pub(super) async fn read_some(&mut self) -> Result<&[u8], ConnectionEnd> {
        if self.at == self.input.len() {
            self.read_more().await?;
        }
        Ok(&self.input[self.at..])
    }

    /// Takes bytes of those that have come.
    pub(super) fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.input.len());
    }

    /// Sends the replies if there are many.
    ///
    /// # Errors
    /// The connection ends.
    pub(super) async fn flush_some(&mut self) -> Result<(), ConnectionEnd> {
        if OUTPUT_BYTES <= self.output.len() {
            self.flush().await?;
            self.worker.settle();
        }
        Ok(())
    }

    /// Sends the replies. If that is not waited for to the end, the connection cannot be used any more.
    ///
    /// # Errors
    /// The connection ends.
    pub(super) async fn flush(&mut self) -> Result<(), ConnectionEnd> {
        if self.output.is_empty() {
            return Ok(());
        }
        let is_sent = timeout(SEND_TIMEOUT, self.stream.write_all(&self.output)).await;
        clear(&mut self.output);
        match is_sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(ConnectionEnd::Closed),
        }
    }

    /// Sends the replies, and reads and forgets what the client sends until it ends the connection.
    pub(super) async fn read_to_end(&mut self) -> ConnectionEnd {
        loop {
            self.at = self.input.len();
            if let Err(end) = self.read_more().await {
                return end;
            }
        }
    }

    /// Sends the replies and ends the connection. What its client still sends is read for a moment: else the system would
    /// tell it of a reset, and it might never see the last reply.
    pub(super) async fn close(mut self) {
        if self.flush().await.is_err() || self.stream.shutdown().await.is_err() {
            return;
        }
        let read = async {
            for _ in 0..READS_AFTER_END {
                self.input.clear();
                self.input.reserve(READ_BYTES);
                if !matches!(self.stream.read_buf(&mut self.input).await, Ok(n) if 0 < n) {
                    break;
                }
            }
        };
        // A client that goes on is told of the reset.
        let _ = timeout(END_TIMEOUT, read).await;
    }

    /// Sends the replies, and waits for more bytes.
    async fn read_more(&mut self) -> Result<(), ConnectionEnd> {
        if !self.output.is_empty() {
            self.flush().await?;
            // The next bytes begin a command.
            self.read_bytes = READ_BYTES;
        }
        self.worker.settle();
        self.input.drain(..self.at);
        self.at = 0;
        if self.input.is_empty() {
            clear(&mut self.input);
        }
        self.input.reserve(self.read_bytes);
        let n = match timeout(self.worker.idle_timeout(), self.stream.read_buf(&mut self.input)).await {
            Ok(Ok(n)) if 0 < n => n,
            Ok(_) => return Err(ConnectionEnd::Closed),
            Err(_) => return Err(ConnectionEnd::Idle),
        };
        if self.read_bytes <= n {
            self.read_bytes = (8 * self.read_bytes).min(READ_BYTES_MAX);
        }
        Ok(())
    }
}

/// Empties a buffer, and gives it up if it is large. One that shrinks would leave a hole in the heap behind it, for which the
/// next large buffer is too large.
pub(super) fn clear(buffer: &mut Vec<u8>) {
    if KEPT_BYTES < buffer.capacity() {
        *buffer = Vec::new();
    } else {
        buffer.clear();
    }
}
