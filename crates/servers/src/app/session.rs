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
use std::sync::{Arc, Mutex, MutexGuard};

use frame::app::{DataSettings, FORMAT};
use frame::{REQUEST_BYTES, RequestHeader};
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::client_data::ClientData;

/// Room for the start of a request, in bytes; most requests are shorter.
const READ_BYTES: usize = 4096;

/// A connection of a client.
#[derive(Debug)]
pub(super) struct ClientConnection {
    pub(super) id: u64,
    pub(super) socket: OwnedFd,
    state: Mutex<ConnectionState>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    input: Vec<u8>,
    in_service: bool,
    /// Whether the socket was reported while a request was in service, or may have more than was read.
    has_more: bool,
    session: Option<Session>,
}

/// The session that `HELLO` has opened.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) data: Arc<Mutex<ClientData>>,
    /// The data that the client announced; `None` if it needs none.
    pub(super) settings: Option<DataSettings>,
    pub(super) is_prepared: bool,
}

/// The result of reading from a connection.
#[derive(Debug)]
pub(super) enum Arrival {
    /// Not all of a request.
    Incomplete,
    /// A request: its header, and the frame with its payload.
    Request(RequestHeader, Vec<u8>),
    /// The end, an error, or bytes that are no frame.
    End,
}

impl ClientConnection {
    /// Creates the connection of a socket that does not block.
    pub(super) fn new(id: u64, socket: OwnedFd) -> ClientConnection {
        ClientConnection { id, socket, state: Mutex::default() }
    }

    /// Reads until there is a request, or nothing more. `may_have_ended` is whether a read that leaves room does not show
    /// that the socket is empty.
    pub(super) fn read(&self, may_have_ended: bool) -> Arrival {
        let mut state = self.lock();
        if state.in_service {
            state.has_more = true;
            return Arrival::Incomplete;
        }
        let mut is_drained = false;
        loop {
            let missing = match state.take_request(!is_drained) {
                Taken::Arrival(arrival) => return arrival,
                Taken::Missing(_) if is_drained => return Arrival::Incomplete,
                Taken::Missing(bytes) => bytes,
            };
            let input = &mut state.input;
            input.reserve(missing);
            let room = input.capacity() - input.len();
            match rustix::io::read(&self.socket, spare_capacity(input)) {
                Ok(0) => return Arrival::End,
                Ok(n) => is_drained = n < room && !may_have_ended,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Arrival::Incomplete,
                Err(_) => return Arrival::End,
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
    pub(super) fn session(&self) -> Option<Session> {
        self.lock().session.clone()
    }

    /// Replaces the session.
    pub(super) fn set_session(&self, session: Session) {
        self.lock().session = Some(session);
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().expect("no thread panics with a connection")
    }
}

impl ConnectionState {
    /// Takes a whole request out of the input. `may_have_more` is whether the socket may not be empty.
    fn take_request(&mut self, may_have_more: bool) -> Taken {
        let header = match RequestHeader::read(&self.input, FORMAT) {
            Ok(Some(header)) => header,
            Ok(None) => return Taken::Missing(READ_BYTES),
            Err(_) => return Taken::Arrival(Arrival::End),
        };
        let length = REQUEST_BYTES + header.payload_bytes as usize;
        if self.input.len() < length {
            return Taken::Missing(length - self.input.len());
        }
        let rest = self.input.split_off(length);
        let frame = std::mem::replace(&mut self.input, rest);
        self.in_service = true;
        self.has_more = may_have_more || !self.input.is_empty();
        Taken::Arrival(Arrival::Request(header, frame))
    }
}

/// The result of looking for a request in the input.
enum Taken {
    /// A request, or bytes that are no frame.
    Arrival(Arrival),
    /// Too little: so many bytes should be read.
    Missing(usize),
}
