//! A connection with a server: a record is sent, and one is received in its place.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::failure::NfsFailure;
use super::rpc::{self, ArrivingRecord, REPLY_HEAD_BYTES_MAX};
use crate::file::frame_buffer::{BufferPool, FrameBuffer};
use crate::net::TargetEndpoint;

/// The least room for what arrives.
const READ_BYTES_LEAST: usize = 1024;

/// The least room for what arrives where other replies may follow: those are taken apart, which copies what follows.
const READ_AHEAD_BYTES: usize = 8192;

/// A connection of one client. One call is in flight, but for what is sent and received by polling.
#[derive(Debug)]
pub(super) struct NfsConnection {
    stream: TcpStream,
    /// The record that arrives, as far as it has. It is kept where the one who waits for it gives up.
    arriving: Option<ArrivingRecord>,
    state: ConnectionState,
    /// The number of calls that were sent.
    pub(super) n_exchanges: u64,
}

/// The state of a connection between calls, which whoever waits may leave at any point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    /// Nothing is awaited.
    Ready,
    /// A part of a call may have been sent.
    Sending,
    /// A reply of at most so many bytes is awaited.
    Awaiting(usize),
}

impl NfsConnection {
    /// Connects.
    ///
    /// # Errors
    /// There is no connection.
    pub(super) async fn open(endpoint: &TargetEndpoint) -> Result<NfsConnection, NfsFailure> {
        let socket = endpoint.connect().await?;
        let stream = TcpStream::from_std(socket.into()).map_err(|error| of_io(&error))?;
        stream.set_nodelay(true).map_err(|error| of_io(&error))?;
        Ok(NfsConnection { stream, arriving: None, state: ConnectionState::Ready, n_exchanges: 0 })
    }

    /// Returns whether a reply is awaited that nobody waits for.
    pub(super) fn owes_reply(&self) -> bool {
        matches!(self.state, ConnectionState::Awaiting(_))
    }

    /// Sends a call whose reply has at most so many bytes besides its head.
    ///
    /// # Errors
    /// The connection is lost, or the call before it was cut off.
    pub(super) async fn send(
        &mut self,
        mut frame: FrameBuffer,
        answer_bytes_max: usize,
        pool: &BufferPool,
    ) -> Result<(), NfsFailure> {
        if self.state != ConnectionState::Ready {
            return Err(NfsFailure::ended(0));
        }
        rpc::seal(&mut frame)?;
        self.state = ConnectionState::Sending;
        self.n_exchanges += 1;
        let mut n_sent = 0;
        while n_sent < frame.len() {
            match self.stream.try_write(&frame.filled()[n_sent..]) {
                Ok(n) => n_sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stream.writable().await.map_err(|error| of_io(&error))?;
                }
                Err(error) => return Err(of_io(&error)),
            }
        }
        pool.give(frame);
        self.state = ConnectionState::Awaiting(REPLY_HEAD_BYTES_MAX + answer_bytes_max);
        Ok(())
    }

    /// Receives the reply that is awaited.
    ///
    /// # Errors
    /// The connection is lost, or the server breaks the protocol.
    pub(super) async fn receive(&mut self, pool: &BufferPool) -> Result<ArrivingRecord, NfsFailure> {
        let ConnectionState::Awaiting(bytes_max) = self.state else { return Err(NfsFailure::ended(0)) };
        poll_fn(|context| self.poll_receive(pool, bytes_max, context)).await?;
        self.state = ConnectionState::Ready;
        self.arriving.take().ok_or_else(|| NfsFailure::ended(0))
    }

    /// Reads what has arrived until the reply is complete.
    fn poll_receive(
        &mut self,
        pool: &BufferPool,
        bytes_max: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), NfsFailure>> {
        loop {
            let missing = self.arriving.as_mut().map(|record| record.missing(bytes_max)).transpose()?;
            if missing == Some(0) {
                return Poll::Ready(Ok(()));
            }
            let least = missing.unwrap_or(0).max(READ_BYTES_LEAST);
            ready!(self.poll_read(pool, (least, usize::MAX), context))?;
        }
    }

    /// Receives the next reply of at most so many bytes besides its head, where several are awaited.
    ///
    /// # Errors
    /// The connection is lost, or the server breaks the protocol.
    pub(super) fn poll_next(
        &mut self,
        pool: &BufferPool,
        answer_bytes_max: usize,
        context: &mut Context<'_>,
    ) -> Poll<Result<ArrivingRecord, NfsFailure>> {
        let bytes_max = REPLY_HEAD_BYTES_MAX + answer_bytes_max;
        loop {
            let missing =
                self.arriving.as_mut().map(|record| record.missing_of_first(bytes_max)).transpose()?;
            if missing == Some(0)
                && let Some(mut whole) = self.arriving.take()
            {
                self.arriving = whole.split(pool);
                return Poll::Ready(Ok(whole));
            }
            let least = missing.unwrap_or(0).max(READ_AHEAD_BYTES);
            ready!(self.poll_read(pool, (least, least), context))?;
        }
    }

    /// Sends what can be sent of a complete record behind the first bytes, which have gone. Returns how much has gone then; with
    /// a rest, the task is woken when there is room.
    ///
    /// # Errors
    /// The connection is lost.
    pub(super) fn poll_send(
        &self,
        frame: &FrameBuffer,
        mut n_sent: usize,
        context: &mut Context<'_>,
    ) -> Result<usize, NfsFailure> {
        while n_sent < frame.len() {
            match self.stream.try_write(&frame.filled()[n_sent..]) {
                Ok(n) => n_sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.stream.poll_write_ready(context) {
                        Poll::Ready(ready) => ready.map_err(|error| of_io(&error))?,
                        Poll::Pending => break,
                    }
                }
                Err(error) => return Err(of_io(&error)),
            }
        }
        Ok(n_sent)
    }

    /// Reads once into a buffer with room for at least so many bytes, and at most so many of them. It is taken out of the pool
    /// no earlier than that: who waits has none.
    fn poll_read(
        &mut self,
        pool: &BufferPool,
        (least, most): (usize, usize),
        context: &mut Context<'_>,
    ) -> Poll<Result<(), NfsFailure>> {
        if self.arriving.is_none() {
            ready!(self.stream.poll_read_ready(context)).map_err(|error| of_io(&error))?;
        }
        let record = self.arriving.get_or_insert_with(|| ArrivingRecord::new(pool.take()));
        let room = record.buffer.room(least);
        let n_room = room.len().min(most);
        let mut room = ReadBuf::new(&mut room[..n_room]);
        // Unlike a read that is tried, one that does not fill the room tells the runtime that the socket is empty: the next reply
        // is waited for without a read in vain.
        match Pin::new(&mut self.stream).poll_read(context, &mut room) {
            Poll::Ready(read) => read.map_err(|error| of_io(&error))?,
            Poll::Pending => {
                if !record.has_begun()
                    && let Some(unused) = self.arriving.take()
                {
                    pool.give(unused.buffer);
                }
                return Poll::Pending;
            }
        }
        let n_read = room.filled().len();
        if n_read == 0 {
            return Poll::Ready(Err(NfsFailure::ended(record.buffer.len())));
        }
        record.buffer.advance(n_read);
        Poll::Ready(Ok(()))
    }

    /// Sends calls whose replies nobody will read, as far as that can be done without waiting.
    pub(super) fn send_last(&mut self, frames: [FrameBuffer; 2]) {
        if self.state != ConnectionState::Ready {
            return;
        }
        for mut frame in frames {
            // The connection ends with this, whatever becomes of it.
            if rpc::seal(&mut frame).is_err() || self.stream.try_write(frame.filled()).is_err() {
                return;
            }
        }
    }
}

fn of_io(error: &io::Error) -> NfsFailure {
    Errno::from_io_error(error).unwrap_or(Errno::IO).into()
}
