//! A connection with an open session: frames are sent and received without a copy.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::Errno;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use super::error::SmbSessionError;
use super::failure::{SmbFailure, Violation};
use super::frame::{BufferPool, FRAME_HEAD_BYTES, FrameBuffer, frame_length};
use super::login::{LOGIN_BYTES_MAX, LoginStep, SmbLogin};
use super::session::SmbSession;
use super::target::SmbTarget;
use super::wire::{Request, SmbReply};
use crate::net::TargetEndpoint;

/// The attempt to connect, as errors name it.
const CONNECTING: &str = "connecting";

/// The least room for what arrives.
pub(super) const READ_BYTES_LEAST: usize = 1024;

/// A connection with an open session.
#[derive(Debug)]
pub(super) struct SmbConnection {
    pub(super) stream: TcpStream,
    pub(super) session: Box<SmbSession>,
    /// The number of frames with requests that were sent.
    pub(super) n_exchanges: u64,
}

/// Frames that have arrived, and how much of them was taken.
#[derive(Debug)]
pub(super) struct ArrivedFrames {
    pub(super) buffer: FrameBuffer,
    pub(super) n_taken: usize,
}

/// A function that takes a frame, and says whether it was the last that is awaited.
type TakeFrame<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<bool, SmbFailure>;

impl SmbConnection {
    /// Connects, and opens a session with the share.
    ///
    /// # Errors
    /// There is no connection, or no session.
    pub(super) async fn open(
        endpoint: &TargetEndpoint,
        target: &SmbTarget,
        pool: &BufferPool,
    ) -> Result<SmbConnection, SmbSessionError> {
        let connecting = SmbSessionError::of(CONNECTING);
        let socket = endpoint.connect().await.map_err(|errno| connecting(errno.into()))?;
        let mut stream = TcpStream::from_std(socket.into()).map_err(|error| connecting(of_io(&error)))?;
        stream.set_nodelay(true).map_err(|error| connecting(of_io(&error)))?;
        let session = open_session(&mut stream, target, pool).await?;
        Ok(SmbConnection { stream, session, n_exchanges: 0 })
    }

    /// Begins a frame of requests in a buffer of the pool.
    pub(super) fn begin(&mut self, pool: &BufferPool) -> FrameBuffer {
        let mut frame = pool.take();
        self.session.begin(&mut frame);
        frame
    }

    /// Writes a chain of requests, none of which writes data.
    ///
    /// # Errors
    /// The server has not granted the credits that they cost.
    pub(super) fn compose(
        &mut self,
        requests: &[Request<'_>],
        pool: &BufferPool,
    ) -> Result<FrameBuffer, SmbFailure> {
        let mut frame = pool.take();
        self.session.compose(requests, &mut frame)?;
        Ok(frame)
    }

    /// Sends a frame of requests, and passes each reply with the index of its request.
    ///
    /// # Errors
    /// The connection is lost, the server breaks the protocol, or `each` fails.
    pub(super) async fn exchange(
        &mut self,
        frame: FrameBuffer,
        pool: &BufferPool,
        each: &mut dyn FnMut(usize, SmbReply<'_>) -> Result<(), SmbFailure>,
    ) -> Result<(), SmbFailure> {
        self.n_exchanges += 1;
        send(&self.stream, frame, pool).await?;
        let bytes_max = self.session.reply_bytes_max();
        let session = &mut self.session;
        receive(&mut self.stream, pool, bytes_max, &mut |frame| session.take(frame, each)).await
    }
}

async fn open_session(
    stream: &mut TcpStream,
    target: &SmbTarget,
    pool: &BufferPool,
) -> Result<Box<SmbSession>, SmbSessionError> {
    let connecting = SmbSessionError::of(CONNECTING);
    let mut login = SmbLogin::new(target);
    let mut frame = pool.take();
    login.begin(&mut frame)?;
    loop {
        send(stream, frame, pool).await.map_err(&connecting)?;
        let mut next = pool.take();
        let mut step = Ok(LoginStep::Await);
        let mut take = |reply: &mut [u8]| {
            step = login.take(reply, &mut next);
            Ok(!matches!(step, Ok(LoginStep::Await)))
        };
        receive(stream, pool, LOGIN_BYTES_MAX, &mut take).await.map_err(&connecting)?;
        match step? {
            LoginStep::Send | LoginStep::Await => frame = next,
            LoginStep::Open(session) => return Ok(session),
        }
    }
}

/// Sends a frame, and gives its buffer back.
async fn send(stream: &TcpStream, frame: FrameBuffer, pool: &BufferPool) -> Result<(), SmbFailure> {
    let mut n_sent = 0;
    while n_sent < frame.len() {
        match stream.try_write(&frame.filled()[n_sent..]) {
            Ok(n) => n_sent += n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                stream.writable().await.map_err(|error| of_io(&error))?;
            }
            Err(error) => return Err(of_io(&error)),
        }
    }
    pool.give(frame);
    Ok(())
}

/// Receives frames until `take` has had the last one, each of at most so many bytes.
async fn receive(
    stream: &mut TcpStream,
    pool: &BufferPool,
    bytes_max: usize,
    take: TakeFrame<'_>,
) -> Result<(), SmbFailure> {
    let mut arrived = None;
    poll_fn(|context| poll_receive(stream, pool, bytes_max, &mut arrived, take, context)).await?;
    if let Some(arrived) = arrived {
        pool.give(arrived.buffer);
    }
    Ok(())
}

/// Reads what has arrived into a buffer, which is taken out of the pool no earlier: who waits has none.
fn poll_receive(
    stream: &mut TcpStream,
    pool: &BufferPool,
    bytes_max: usize,
    arrived: &mut Option<ArrivedFrames>,
    take: TakeFrame<'_>,
    context: &mut Context<'_>,
) -> Poll<Result<(), SmbFailure>> {
    loop {
        if arrived.is_none() {
            ready!(stream.poll_read_ready(context)).map_err(|error| of_io(&error))?;
        }
        let held = arrived.get_or_insert_with(|| ArrivedFrames { buffer: pool.take(), n_taken: 0 });
        let missing = missing_bytes(held, bytes_max)?;
        let mut room = ReadBuf::new(held.buffer.room(missing.max(READ_BYTES_LEAST)));
        match Pin::new(&mut *stream).poll_read(context, &mut room) {
            Poll::Ready(read) => read.map_err(|error| of_io(&error))?,
            Poll::Pending => {
                if held.buffer.len() == 0
                    && let Some(unused) = arrived.take()
                {
                    pool.give(unused.buffer);
                }
                return Poll::Pending;
            }
        }
        let n_read = room.filled().len();
        if n_read == 0 {
            return Poll::Ready(Err(SmbFailure::ended(held.buffer.len() - held.n_taken)));
        }
        held.buffer.advance(n_read);
        if take_frames(held, bytes_max, take)? {
            return Poll::Ready(Ok(()));
        }
    }
}

/// Returns how many bytes of the next frame have not arrived, as far as its length is known.
pub(super) fn missing_bytes(arrived: &ArrivedFrames, bytes_max: usize) -> Result<usize, SmbFailure> {
    let bytes = &arrived.buffer.filled()[arrived.n_taken..];
    let length = frame_length(bytes, bytes_max)?.unwrap_or(0);
    Ok((FRAME_HEAD_BYTES + length).saturating_sub(bytes.len()))
}

/// Takes the frames that have arrived as a whole. Returns whether the last one was among them.
fn take_frames(
    arrived: &mut ArrivedFrames,
    bytes_max: usize,
    take: TakeFrame<'_>,
) -> Result<bool, SmbFailure> {
    loop {
        let bytes = &mut arrived.buffer.filled_mut()[arrived.n_taken..];
        let Some(length) = frame_length(bytes, bytes_max)? else { return Ok(false) };
        let end = FRAME_HEAD_BYTES + length;
        let Some(frame) = bytes.get_mut(FRAME_HEAD_BYTES..end) else { return Ok(false) };
        let is_last = take(frame)?;
        arrived.n_taken += end;
        let n_more = arrived.buffer.len() - arrived.n_taken;
        if is_last {
            // Nothing was asked for that these bytes could answer.
            let more = SmbFailure::violation(Violation::OtherMessage, n_more as u64);
            return if n_more == 0 { Ok(true) } else { Err(more) };
        }
    }
}

pub(super) fn of_io(error: &io::Error) -> SmbFailure {
    Errno::from_io_error(error).unwrap_or(Errno::IO).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
    }

    /// Goal: frames are taken whole, however they arrive; the last one ends it.
    #[test]
    fn frames_are_taken_when_they_are_whole() {
        let all = [frame(b"interim"), frame(b"last")].concat();
        for cut in 0..all.len() {
            let mut arrived = ArrivedFrames { buffer: FrameBuffer::default(), n_taken: 0 };
            let mut taken = Vec::new();
            let mut take = |frame: &mut [u8]| {
                taken.push(frame.to_vec());
                Ok(frame == b"last")
            };
            arrived.buffer.put(&all[..cut]);
            assert_eq!(take_frames(&mut arrived, 100, &mut take), Ok(false), "{cut}");
            let missing = missing_bytes(&arrived, 100).unwrap();
            assert!(0 < missing && missing <= all.len() - cut, "{cut}: {missing}");
            arrived.buffer.put(&all[cut..]);
            assert_eq!(take_frames(&mut arrived, 100, &mut take), Ok(true), "{cut}");
            assert_eq!(taken, [b"interim".to_vec(), b"last".to_vec()], "{cut}");
        }
    }

    #[test]
    fn bytes_behind_the_last_frame_are_not_awaited() {
        let mut arrived = ArrivedFrames { buffer: FrameBuffer::default(), n_taken: 0 };
        arrived.buffer.put(&[frame(b"last"), vec![0; 3]].concat());
        let taken = take_frames(&mut arrived, 100, &mut |_| Ok(true));
        assert_eq!(taken, Err(SmbFailure::violation(Violation::OtherMessage, 3)));
    }
}
