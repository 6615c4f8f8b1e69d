//! The reactor: one thread that accepts connections, reads requests and puts them into the queue.
//!
//! Sockets are registered once and reported once per change (edge-triggered), so that a request costs no call of
//! `epoll_ctl`.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use frame::{ReplyHeader, RequestHeader, ServerStamps};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::SocketFlags;
use socket2::Socket;
use units::{Clock, Nanos};

use super::connection::{ClientConnection, ReadResult};
use super::requests::{FrameRequest, send_without_waiting};
use super::server::SharedState;
use super::service::FrameService;
use crate::allowance::SharedThrottle;
use crate::listener::{ACCEPT_PAUSE, is_exhausted};

/// The events of the listener and of the waker; connections have larger numbers.
const LISTENER: u64 = 0;
const WAKER: u64 = 1;
const FIRST_CONNECTION: u64 = 2;

/// Events that are taken at once.
const EVENTS: usize = 256;

/// Connections accepted before requests are read.
const ACCEPTS_PER_TURN: usize = 64;

/// The reactor's part of a server.
pub(super) struct Reactor<S: FrameService> {
    shared: Arc<SharedState<S>>,
    epoll: OwnedFd,
    listener: Socket,
    connections: HashMap<u64, Arc<ClientConnection<S::Session>>>,
    next: u64,
    /// Whether accepting failed for lack of descriptors, and is to be tried again.
    is_exhausted: bool,
}

impl<S: FrameService> Reactor<S> {
    /// Creates the reactor of a listener.
    pub(super) fn new(shared: Arc<SharedState<S>>, listener: Socket) -> io::Result<Reactor<S>> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, &shared.waker, EventData::new_u64(WAKER), EventFlags::IN)?;
        let connections = HashMap::new();
        Ok(Reactor { shared, epoll, listener, connections, next: FIRST_CONNECTION, is_exhausted: false })
    }

    /// Accepts and reads until the server is to stop.
    ///
    /// # Errors
    /// The listener or the event queue fails.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let mut throttle = shared.throttle.as_ref().map(SharedThrottle::thread);
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        while !shared.is_stopping.load(Ordering::Relaxed) {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), self.timeout().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.is_exhausted {
                self.accept()?;
            }
            for event in &events {
                let id = event.data.u64();
                let flags = event.flags;
                match id {
                    LISTENER => self.accept()?,
                    WAKER => self.resume(),
                    _ => {
                        self.read(id, flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR))
                    }
                }
            }
            if let Some(throttle) = &mut throttle {
                throttle.settle();
            }
        }
        Ok(())
    }

    fn timeout(&self) -> Option<Timespec> {
        let pause = Timespec { tv_sec: 0, tv_nsec: ACCEPT_PAUSE.subsec_nanos().into() };
        self.is_exhausted.then_some(pause)
    }

    fn accept(&mut self) -> io::Result<()> {
        self.is_exhausted = false;
        for _ in 0..ACCEPTS_PER_TURN {
            match rustix::net::accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.add(socket)?,
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) if is_exhausted(error) => {
                    self.is_exhausted = true;
                    return Ok(());
                }
                // Errors of one connection, which its client has given up (accept(2)).
                Err(Errno::BADF | Errno::FAULT | Errno::INVAL | Errno::NOTSOCK) => {
                    return Err(io::Error::other("the listener failed"));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<()> {
        if self.shared.connections_max <= self.connections.len() {
            // Closed at once: its client is told by that.
            return Ok(());
        }
        let id = self.next;
        self.next += 1;
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, EventData::new_u64(id), flags)?;
        self.connections.insert(id, Arc::new(ClientConnection::new(id, socket, S::PROTOCOL.format)));
        self.shared.connections.store(self.connections.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Reads on where a reply was sent while more had arrived.
    fn resume(&mut self) {
        let mut count = [0; 8];
        // An error means that there was nothing to be read.
        let _ = rustix::io::read(&self.shared.waker, &mut count);
        let resumed = std::mem::take(&mut *self.shared.resumed.lock().expect("no thread panics with it"));
        resumed.into_iter().for_each(|id| self.read(id, true));
    }

    fn read(&mut self, id: u64, may_have_ended: bool) {
        let Some(connection) = self.connections.get(&id) else { return };
        match connection.read(may_have_ended) {
            ReadResult::Incomplete => {}
            ReadResult::Request(header, frame) => self.enqueue(Arc::clone(connection), header, frame),
            ReadResult::End => {
                self.connections.remove(&id);
                self.shared.connections.store(self.connections.len(), Ordering::Relaxed);
            }
        }
    }

    /// Puts a request into the queue. A request for the load of the server does not wait there.
    fn enqueue(&self, connection: Arc<ClientConnection<S::Session>>, header: RequestHeader, frame: Vec<u8>) {
        let received = self.shared.clock.now();
        if header.operation == S::PROTOCOL.stats {
            return self.report(&connection, &header, received);
        }
        let lane = self.shared.service.lane(header.operation);
        let request = FrameRequest { connection, header, frame, received };
        if let Err(request) = self.shared.queue.push(lane, request) {
            let busy = request.header.reply(S::PROTOCOL.busy, 0);
            self.answer(&request.connection, busy, &[], received);
        }
    }

    /// Answers with the load of the server.
    fn report(&self, connection: &ClientConnection<S::Session>, header: &RequestHeader, received: Nanos) {
        let mut payload = Vec::new();
        let is_plain = (header.flags, header.argument, header.payload_bytes) == (0, 0, 0);
        let status = if is_plain { 0 } else { S::PROTOCOL.bad_request };
        if is_plain {
            self.shared.service.write_load(&self.shared.load(), &mut payload);
        }
        self.answer(connection, header.reply(status, 0), &payload, received);
    }

    /// Sends a reply that needed no service, and goes on.
    fn answer(
        &self,
        connection: &ClientConnection<S::Session>,
        reply: ReplyHeader,
        payload: &[u8],
        received: Nanos,
    ) {
        let now = received.0;
        let stamps = ServerStamps { received: now, started: now, ended: now };
        let header = ReplyHeader { stamps, ..reply.with_payload(payload) };
        send_without_waiting(connection, &[&header.to_bytes(S::PROTOCOL.format), payload].concat());
        self.shared.go_on(connection);
    }
}
