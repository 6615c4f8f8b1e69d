//! Accepting connections, and answering at once those that ask at once for what is remembered.
//!
//! Where a client makes a connection for each request, its request is usually there when the connection is accepted. If
//! its head is remembered and the client wants no second one, the connection costs four kernel calls: accept, receive,
//! send, close; it is never registered with epoll, and no task is made for it. That it is there is seen to by the kernel,
//! see [`deferred`](super::deferred).

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, acceptfrom_with, recv, send};
use socket2::Socket;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;

use super::entrance::{Gate, enter};
use super::hits::Batch;
use super::http1::{Start, Unsent};
use super::listener::BACKLOG;
use super::peer::Peer;
use super::worker::Worker;

/// How many connections are accepted before those accepted get their turn.
const ACCEPTS_PER_TURN: usize = 64;

/// How often they are accepted once the door is closed: those whom the kernel has let in by then, but not all who come
/// meanwhile.
const LAST_TURNS: usize = BACKLOG as usize / ACCEPTS_PER_TURN;

/// How long nothing is accepted after the kernel ran out of descriptors or memory.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A listener of one worker, as long as it is wanted.
#[derive(Debug)]
pub(super) struct Door {
    gate: RefCell<Rc<Gate>>,
    closing: Notify,
}

impl Door {
    /// Makes the door of a listener.
    pub(super) fn new(gate: Gate) -> Door {
        Door { gate: RefCell::new(Rc::new(gate)), closing: Notify::new() }
    }

    /// Treats connections to come in another way.
    pub(super) fn change(&self, gate: Gate) {
        self.gate.replace(Rc::new(gate));
    }

    /// Accepts who is waiting, and then nobody any more.
    pub(super) fn close(&self) {
        self.closing.notify_one();
    }
}

/// Accepts connections until the door is closed.
///
/// # Errors
/// If the listener cannot be waited for.
pub(super) async fn accept_all(listener: Socket, door: Rc<Door>, worker: Rc<Worker>) -> io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the socket owns its descriptor, which is all that is asked"
    )]
    let listener = AsyncFd::with_interest(listener, Interest::READABLE)?;
    let accepting = async {
        loop {
            accept_turn(&listener, &door, &worker).await;
        }
    };
    tokio::select! {
        biased;
        () = door.closing.notified() => {}
        () = accepting => {}
    }
    let _ = (0..LAST_TURNS).try_for_each(|_| accept_some(listener.get_ref(), &door, &worker));
    Ok(())
}

/// Waits for connections and accepts some.
async fn accept_turn(listener: &AsyncFd<Socket>, door: &Door, worker: &Rc<Worker>) {
    let Ok(mut guard) = listener.readable().await else {
        return tokio::time::sleep(ACCEPT_PAUSE).await;
    };
    match accept_some(listener.get_ref(), door, worker) {
        Ok(()) => tokio::task::yield_now().await,
        Err(Errno::AGAIN) => guard.clear_ready(),
        // Descriptors or memory ran out, which may pass.
        Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
    }
}

/// Accepts what is there, up to a limit; `AGAIN` when nothing is left.
fn accept_some(listener: &Socket, door: &Door, worker: &Rc<Worker>) -> Result<(), Errno> {
    for _ in 0..ACCEPTS_PER_TURN {
        match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok((socket, address)) => {
                worker.opened();
                let address = address.and_then(|address| SocketAddr::try_from(address).ok());
                // A client that has left already may have no address any more.
                let Some(address) = address else {
                    worker.closed();
                    continue;
                };
                welcome(Young { socket, address, gate: Rc::clone(&door.gate.borrow()) }, worker);
            }
            // The client, or the network under it, gave up before we came (accept(2), Linux).
            Err(
                Errno::INTR
                | Errno::CONNABORTED
                | Errno::PROTO
                | Errno::PERM
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH,
            ) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A connection that was accepted just now.
#[derive(Debug)]
struct Young {
    socket: OwnedFd,
    address: SocketAddr,
    gate: Rc<Gate>,
}

fn welcome(connection: Young, worker: &Rc<Worker>) {
    let start = match connection.gate.is_plain_for(connection.address) {
        true => look(&connection, worker),
        false => Some(Start::default()),
    };
    match start {
        Some(start) => admit(connection, start, worker),
        None => worker.closed(),
    }
}

/// Gives a connection a task of its own.
fn admit(connection: Young, start: Start, worker: &Rc<Worker>) {
    let Young { socket, address, gate } = connection;
    let attendance = worker.attend();
    match tokio::net::TcpStream::from_std(TcpStream::from(socket)) {
        Ok(stream) => drop(tokio::task::spawn_local(enter(stream, address, gate, start, attendance))),
        Err(_) => worker.refused("not-registered"),
    }
}

/// Reads once, and answers what is remembered. Returns how the connection goes on, if it does.
fn look(connection: &Young, worker: &Rc<Worker>) -> Option<Start> {
    let buffers = &mut *worker.buffers.borrow_mut();
    let filled = match recv(&connection.socket, &mut buffers.input[..], RecvFlags::empty()) {
        Ok((_, 0)) => return None,
        Ok((_, filled)) => filled,
        Err(Errno::AGAIN | Errno::INTR) => return Some(Start::default()),
        Err(_) => return None,
    };
    let peer = Peer { client: connection.address, scheme: connection.gate.scheme() };
    let requests_max = worker.limits().requests_per_connection.unwrap_or(u64::MAX);
    let mut start = Start::default();
    let mut at = 0;
    loop {
        let (rest, left) = (&buffers.input[at..filled], requests_max.saturating_sub(start.answered + 1));
        let batch = worker.answer_remembered(&peer, rest, left, &mut buffers.output);
        if batch.replies == 0 {
            start.kept = rest.to_vec();
            return Some(start);
        }
        at += batch.consumed;
        start.answered += batch.replies;
        match hand_over(&connection.socket, &buffers.output, &batch) {
            Ok(sent) if sent < buffers.output.len() + batch.body.len() => {
                start.unsent = Unsent::of(&buffers.output, batch, sent);
                start.kept = buffers.input[at..filled].to_vec();
                return Some(start);
            }
            Ok(_) if batch.closes => return None,
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// Sends as much of some replies as is taken at once.
fn hand_over(socket: &OwnedFd, output: &[u8], batch: &Batch) -> Result<usize, Errno> {
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
