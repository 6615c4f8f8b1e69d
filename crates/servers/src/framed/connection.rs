//! A connection: the bytes that have arrived on it, and the session of its client.
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | reading | bytes, no whole request | reading | |
//! | reading | a whole request | in service | it goes to the queue |
//! | reading | the end, or no frame | closed | |
//! | in service | anything on the socket | in service | remembered: the socket is reported once per change |
//! | in service | the reply is sent | reading | reads on at once if something was remembered |

use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard};

use frame::{FrameFormat, REQUEST_BYTES, RequestHeader};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// Room for the start of a request, in bytes; most requests are shorter.
const READ_BYTES: usize = 4096;

/// A connection of a client, whose session has the state `T`.
#[derive(Debug)]
pub(crate) struct ClientConnection<T> {
    pub(super) id: u64,
    pub(super) socket: OwnedFd,
    format: FrameFormat,
    state: Mutex<ConnectionState<T>>,
}

#[derive(Debug)]
struct ConnectionState<T> {
    input: Vec<u8>,
    in_service: bool,
    /// Whether the socket was reported while a request was in service, or may have more than was read.
    has_more: bool,
    session: Option<T>,
}

/// The result of reading from a connection.
#[derive(Debug)]
pub(super) enum ReadResult {
    /// Not all of a request.
    Incomplete,
    /// A request: its header, and the frame with its payload.
    Request(RequestHeader, Vec<u8>),
    /// The end, an error, or bytes that are no frame.
    End,
}

impl<T: Clone> ClientConnection<T> {
    /// Creates the connection of a socket that does not block.
    pub(super) fn new(id: u64, socket: OwnedFd, format: FrameFormat) -> ClientConnection<T> {
        let state = ConnectionState { input: Vec::new(), in_service: false, has_more: false, session: None };
        ClientConnection { id, socket, format, state: Mutex::new(state) }
    }

    /// Reads until there is a request, or nothing more. `may_have_ended` is whether a read that leaves room does not show
    /// that the socket is empty.
    pub(super) fn read(&self, may_have_ended: bool) -> ReadResult {
        let mut state = self.lock();
        if state.in_service {
            state.has_more = true;
            return ReadResult::Incomplete;
        }
        let mut is_drained = false;
        loop {
            let missing = match state.take_request(self.format, !is_drained) {
                Taken::Arrival(arrival) => return arrival,
                Taken::Missing(_) if is_drained => return ReadResult::Incomplete,
                Taken::Missing(bytes) => bytes,
            };
            let input = &mut state.input;
            input.reserve(missing);
            let room = input.capacity() - input.len();
            match rustix::io::read(&self.socket, spare_capacity(input)) {
                Ok(0) => return ReadResult::End,
                Ok(n) => is_drained = n < room && !may_have_ended,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return ReadResult::Incomplete,
                Err(_) => return ReadResult::End,
            }
        }
    }

    /// Goes on after a reply; returns whether there may be more to read.
    pub(super) fn complete(&self) -> bool {
        let mut state = self.lock();
        state.in_service = false;
        std::mem::take(&mut state.has_more)
    }

    /// Returns the session, if there is one.
    pub(crate) fn session(&self) -> Option<T> {
        self.lock().session.clone()
    }

    /// Replaces the session.
    pub(crate) fn set_session(&self, session: T) {
        self.lock().session = Some(session);
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState<T>> {
        self.state.lock().expect("no thread panics with a connection")
    }
}

impl<T> ConnectionState<T> {
    /// Takes a whole request out of the input. `may_have_more` is whether the socket may not be empty.
    fn take_request(&mut self, format: FrameFormat, may_have_more: bool) -> Taken {
        let header = match RequestHeader::read(&self.input, format) {
            Ok(Some(header)) => header,
            Ok(None) => return Taken::Missing(READ_BYTES),
            Err(_) => return Taken::Arrival(ReadResult::End),
        };
        let length = REQUEST_BYTES + header.payload_bytes as usize;
        if self.input.len() < length {
            return Taken::Missing(length - self.input.len());
        }
        let rest = self.input.split_off(length);
        let frame = std::mem::replace(&mut self.input, rest);
        self.in_service = true;
        self.has_more = may_have_more || !self.input.is_empty();
        Taken::Arrival(ReadResult::Request(header, frame))
    }
}

/// The result of looking for a request in the input.
enum Taken {
    /// A request, or bytes that are no frame.
    Arrival(ReadResult),
    /// Too little: so many bytes should be read.
    Missing(usize),
}
