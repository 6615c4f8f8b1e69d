//! Accepts connections, and answers on a fast path those whose first request is there already and remembered.
//!
//! Where a client opens a connection per request, its request has usually arrived when the connection is accepted. If
//! its head is remembered and the client does not keep the connection alive, the connection costs four system calls:
//! accept, receive, send, close; it is never registered with epoll, and no task is spawned for it. The kernel reports
//! a connection only once its first bytes are there; see [`socket_calls`](super::socket_calls).

use std::cell::{Cell, RefCell};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, acceptfrom_with, recv, send};
use socket2::Socket;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use super::connection::{AcceptedConnection, ListenerConfig, serve_connection};
use super::fast_path::ResponseBatch;
use super::http1::{ConnectionEvent, InitialState, Unsent};
use super::peer::Peer;
use super::socket::BACKLOG;
use super::worker::Worker;

/// The number of connections that are accepted before the accepted ones are served.
const ACCEPTS_PER_TURN: usize = 64;

/// The number of accept turns after a listener is closed: enough for a full backlog, but not for clients that keep
/// coming.
const DRAIN_TURNS_MAX: usize = BACKLOG as usize / ACCEPTS_PER_TURN;

/// The pause after the kernel ran out of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A listener of one worker with one or more sockets, until it is closed.
#[derive(Debug)]
pub(super) struct Listener {
    config: RefCell<Rc<ListenerConfig>>,
    is_closed: Cell<bool>,
    closing: Notify,
}

impl Listener {
    /// Makes a listener with these settings.
    pub(super) fn new(config: ListenerConfig) -> Listener {
        let config = RefCell::new(Rc::new(config));
        Listener { config, is_closed: Cell::new(false), closing: Notify::new() }
    }

    /// Changes the settings of connections to come.
    pub(super) fn change(&self, config: ListenerConfig) {
        self.config.replace(Rc::new(config));
    }

    /// Stops the listener after the connections in its backlog have been accepted.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.closing.notify_waiters();
    }

    /// Waits until it is closed.
    async fn closed(&self) {
        let closing = self.closing.notified();
        if !self.is_closed.get() {
            closing.await;
        }
    }
}

/// Accepts connections from one socket until the listener is closed, fairly with those that are open.
///
/// # Errors
/// If the socket cannot be registered.
pub(super) async fn accept_all(socket: Socket, listener: Rc<Listener>, worker: Rc<Worker>) -> io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the socket owns its descriptor, which is all that is needed"
    )]
    let socket = AsyncFd::with_interest(socket, Interest::READABLE)?;
    let accepting = async {
        loop {
            let Ok(mut guard) = socket.readable().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            match accept_some(socket.get_ref(), &listener, &worker) {
                Ok(()) => tokio::task::yield_now().await,
                Err(Errno::AGAIN) => guard.clear_ready(),
                // Descriptors or memory ran out, which may pass.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    };
    tokio::select! {
        biased;
        () = listener.closed() => {}
        () = accepting => {}
    }
    let _ = (0..DRAIN_TURNS_MAX).try_for_each(|_| accept_some(socket.get_ref(), &listener, &worker));
    Ok(())
}

/// Accepts waiting connections, up to a limit, and spawns a task for each that goes on after the fast path; `AGAIN`
/// when none is left.
fn accept_some(socket: &Socket, listener: &Listener, worker: &Rc<Worker>) -> Result<(), Errno> {
    for _ in 0..ACCEPTS_PER_TURN {
        let (socket, address) = match acceptfrom_with(socket, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(accepted) => accepted,
            Err(error) if is_given_up(error) => continue,
            Err(error) => return Err(error),
        };
        worker.opened();
        // A client that has left already may have no address any more.
        let Some(address) = address.and_then(|address| SocketAddr::try_from(address).ok()) else {
            worker.closed();
            continue;
        };
        let connection = AcceptedConnection { socket, address, config: Rc::clone(&listener.config.borrow()) };
        match try_fast_path(&connection, worker) {
            Some(start) => {
                tokio::task::spawn_local(serve_connection(connection, start, worker.track_connection()));
            }
            None => worker.closed(),
        }
    }
    Ok(())
}

/// Returns whether the client or the network gave a connection up before it was accepted (accept(2), Linux).
fn is_given_up(error: Errno) -> bool {
    matches!(
        error,
        Errno::INTR
            | Errno::CONNABORTED
            | Errno::PROTO
            | Errno::PERM
            | Errno::NETDOWN
            | Errno::NETUNREACH
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH
    )
}

/// Reads once, where the first byte belongs to an HTTP message, and answers requests whose heads are remembered.
/// Returns the state in which the connection goes on, if it does.
fn try_fast_path(connection: &AcceptedConnection, worker: &Worker) -> Option<InitialState> {
    if !connection.config.is_plain_for(connection.address) {
        return Some(InitialState::default());
    }
    let buffers = &mut *worker.buffers.borrow_mut();
    let filled = match recv(&connection.socket, &mut buffers.input[..], RecvFlags::empty()) {
        Ok((_, 0)) => return None,
        Ok((_, filled)) => filled,
        Err(Errno::AGAIN | Errno::INTR) => return Some(InitialState::default()),
        Err(_) => return None,
    };
    let peer = Peer { client: connection.address, scheme: connection.config.scheme() };
    let requests_max = worker.limits().requests_per_connection.unwrap_or(u64::MAX);
    let mut start = InitialState::default();
    let mut at = 0;
    loop {
        let rest = &buffers.input[at..filled];
        let left = requests_max.saturating_sub(start.answered + 1);
        let batch = worker.answer_remembered(&peer, rest, left, &mut buffers.output);
        if batch.responses == 0 {
            start.kept = rest.to_vec();
            start.event = (!rest.is_empty()).then_some(ConnectionEvent::Parse);
            return Some(start);
        }
        at += batch.consumed;
        start.answered += batch.responses;
        match send_batch(&connection.socket, &buffers.output, &batch) {
            Ok(sent) if sent < buffers.output.len() + batch.body.len() => {
                start.unsent = Unsent::of(&buffers.output, batch, sent);
                start.kept = buffers.input[at..filled].to_vec();
                start.event = Some(ConnectionEvent::Flush);
                return Some(start);
            }
            Ok(_) if batch.closes => return None,
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Sends as much of a batch of responses as the kernel takes at once.
fn send_batch(socket: &OwnedFd, output: &[u8], batch: &ResponseBatch) -> Result<usize, Errno> {
    let sent = if batch.body.is_empty() {
        send(socket, output, SendFlags::NOSIGNAL)
    } else {
        rustix::io::writev(socket, &[IoSlice::new(output), IoSlice::new(&batch.body)])
    };
    match sent {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        sent => sent,
    }
}
