//! Requests of a service thread, one after the other, and their replies.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use frame::{Crc32c, REPLY_BYTES, REQUEST_BYTES, RequestHeader, ServerStamps};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use units::{Clock, Nanos};

use super::connection::ClientConnection;
use super::fault::{FrameFaultAction, SLOW, SentPart};
use super::server::SharedState;
use super::service::FrameService;
use crate::allowance::{SharedThrottle, ThreadThrottle};

/// Longest time without progress of a reply; a client that does not read loses its connection.
const SEND_SECONDS_MAX: i64 = 5;

/// A request on its way through the server; its session has the state `T`.
#[derive(Debug)]
pub(crate) struct FrameRequest<T> {
    pub(crate) connection: Arc<ClientConnection<T>>,
    pub(crate) header: RequestHeader,
    /// Header and payload.
    pub(super) frame: Vec<u8>,
    /// The moment at which it was complete.
    pub(super) received: Nanos,
}

/// The requests of a service thread.
pub(crate) struct Requests<'s, S: FrameService> {
    shared: &'s SharedState<S>,
    lane: usize,
    throttle: Option<ThreadThrottle>,
    /// Whether a request has been taken, which the next call completes.
    has_taken: bool,
    /// The beginning of its service.
    started: Nanos,
    /// The fault that it meets.
    fault: Option<FrameFaultAction>,
    /// The reply: room for its header, and the payload.
    reply: Vec<u8>,
}

impl<T> FrameRequest<T> {
    /// Returns the payload.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.frame[REQUEST_BYTES..]
    }

    /// Returns whether the payload has the checksum that the header states.
    pub(crate) fn has_right_checksum(&self) -> bool {
        Crc32c::of(self.payload()) == self.header.checksum
    }
}

impl<'s, S: FrameService> Requests<'s, S> {
    /// Creates the calling thread's part.
    pub(super) fn new(shared: &'s SharedState<S>, lane: usize) -> Requests<'s, S> {
        let throttle = shared.throttle.as_ref().map(SharedThrottle::thread);
        let has_taken = false;
        let started = Nanos::ZERO;
        let fault = None;
        Requests { shared, lane, throttle, has_taken, started, fault, reply: Vec::new() }
    }

    /// Returns the next request, and waits while there is none; `None` once the server is to stop.
    pub(crate) fn next_request(&mut self) -> Option<FrameRequest<S::Session>> {
        self.settle();
        let request = self.shared.queue.next(self.lane, self.has_taken)?;
        self.has_taken = true;
        // A pause before the start is a part of the wait.
        if let Some(throttle) = &mut self.throttle {
            throttle.begin();
        }
        self.started = self.shared.clock.now();
        let is_measured = (S::PROTOCOL.is_measured)(request.header.operation);
        self.fault = is_measured.then(|| self.shared.faults.next()).flatten();
        self.reply.clear();
        self.reply.resize(REPLY_BYTES, 0);
        Some(request)
    }

    /// Returns whether the server is to stop, so that a long operation had better end.
    pub(crate) fn is_stopping(&self) -> bool {
        self.shared.is_stopping.load(Ordering::Relaxed)
    }

    /// Returns the status with which a fault refuses the request.
    pub(crate) fn refusal(&self) -> Option<u16> {
        match self.fault {
            Some(FrameFaultAction::Status(status)) => Some(status),
            _ => None,
        }
    }

    /// Returns the reply so far, to whose end the service appends its payload.
    pub(crate) fn reply(&mut self) -> &mut Vec<u8> {
        &mut self.reply
    }

    /// Sends the reply to the request that was taken last: the result of its operation, or the status that says why it
    /// has none.
    pub(crate) fn answer(&mut self, request: FrameRequest<S::Session>, result: Result<u64, u16>) {
        let (status, result) = match result {
            Ok(result) => (0, result),
            Err(status) => {
                self.reply.truncate(REPLY_BYTES);
                (status, 0)
            }
        };
        if self.fault == Some(FrameFaultAction::Slow) {
            thread::sleep(SLOW);
        }
        let ended = self.shared.clock.now();
        let mut header = request.header.reply(status, result).with_payload(&self.reply[REPLY_BYTES..]);
        header.stamps =
            ServerStamps { received: request.received.0, started: self.started.0, ended: ended.0 };
        let delivery = self.fault.map_or(SentPart::Whole, |fault| fault.change(&mut header, &mut self.reply));
        self.reply[..REPLY_BYTES].copy_from_slice(&header.to_bytes(S::PROTOCOL.format));
        self.deliver(&request.connection, delivery);
        if request.header.operation == S::PROTOCOL.bye {
            close(&request.connection);
        }
        self.shared.go_on(&request.connection);
    }

    fn deliver(&mut self, connection: &ClientConnection<S::Session>, delivery: SentPart) {
        match delivery {
            SentPart::Whole => send_reply(connection, &self.reply),
            SentPart::Garbage => {
                self.reply.fill(b'?');
                send_reply(connection, &self.reply);
            }
            SentPart::Start(bytes) => {
                send_reply(connection, &self.reply[..bytes]);
                close(connection);
            }
            SentPart::Nothing => {}
        }
    }

    fn settle(&mut self) {
        if let Some(throttle) = &mut self.throttle {
            throttle.settle();
        }
    }
}

/// Sends a reply; closes the connection if the client does not take it.
fn send_reply<T>(connection: &ClientConnection<T>, mut reply: &[u8]) {
    while !reply.is_empty() {
        match send(&connection.socket, reply, SendFlags::NOSIGNAL) {
            Ok(sent) => reply = &reply[sent..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if is_writable(connection) => {}
            Err(_) => return close(connection),
        }
    }
}

/// Sends a short reply; closes the connection if there is no room for it at once.
pub(super) fn send_without_waiting<T>(connection: &ClientConnection<T>, reply: &[u8]) {
    if send(&connection.socket, reply, SendFlags::NOSIGNAL) != Ok(reply.len()) {
        close(connection);
    }
}

/// Waits until the socket takes bytes; returns whether it does.
fn is_writable<T>(connection: &ClientConnection<T>) -> bool {
    let limit = Timespec { tv_sec: SEND_SECONDS_MAX, tv_nsec: 0 };
    let mut sockets = [PollFd::new(&connection.socket, PollFlags::OUT)];
    matches!(poll(&mut sockets, Some(&limit)), Ok(1) | Err(Errno::INTR))
}

/// Ends the connection; the reactor hears of it as of an end by the client.
fn close<T>(connection: &ClientConnection<T>) {
    // It may have ended already.
    let _ = shutdown(&connection.socket, Shutdown::Both);
}
