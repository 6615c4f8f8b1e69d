//! Accepting connections, and answering at once those that ask at once for what is remembered.
//!
//! Where a client makes a connection for each request, its request is usually there when the connection is accepted. If
//! its head is remembered and the client wants no second one, the connection costs four kernel calls: accept, receive,
//! send, close; it is never registered with epoll, and no task is made for it. A connection that has sent nothing yet is
//! looked at once more after the others that were accepted with it; [`deferred`](super::deferred) makes it rare.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::mem;
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
use super::peer::Peer;
use super::worker::Worker;

/// How many connections are accepted before those accepted get their turn.
const ACCEPTS_PER_TURN: usize = 64;

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
    let mut young = Vec::new();
    loop {
        let is_closing = tokio::select! {
            biased;
            () = door.closing.notified() => true,
            () = accept_turn(&listener, &door, &worker, &mut young) => false,
        };
        if !young.is_empty() {
            tokio::task::yield_now().await;
            look_again(&mut young, &worker);
        }
        if is_closing {
            // Whoever has been let in by the kernel is answered.
            while accept_some(listener.get_ref(), &door, &worker, &mut young).is_ok() {}
            look_again(&mut young, &worker);
            return Ok(());
        }
    }
}

/// Waits for connections and accepts some.
async fn accept_turn(listener: &AsyncFd<Socket>, door: &Door, worker: &Rc<Worker>, young: &mut Vec<Young>) {
    let Ok(mut guard) = listener.readable().await else {
        return tokio::time::sleep(ACCEPT_PAUSE).await;
    };
    match accept_some(listener.get_ref(), door, worker, young) {
        Ok(()) => tokio::task::yield_now().await,
        Err(Errno::AGAIN) => guard.clear_ready(),
        // Descriptors or memory ran out, which may pass.
        Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
    }
}

/// Accepts what is there, up to a limit; `AGAIN` when nothing is left.
fn accept_some(
    listener: &Socket,
    door: &Door,
    worker: &Rc<Worker>,
    young: &mut Vec<Young>,
) -> Result<(), Errno> {
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
                welcome(Young { socket, address, gate: Rc::clone(&door.gate.borrow()) }, worker, young);
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

/// What a first look at a connection brought.
enum Look {
    /// The connection has ended.
    Ended,
    /// Nothing has arrived.
    Nothing,
    /// The connection goes on.
    GoesOn(Start),
}

fn welcome(connection: Young, worker: &Rc<Worker>, young: &mut Vec<Young>) {
    if !connection.gate.is_plain_for(connection.address) {
        return admit(connection, Start::default(), worker);
    }
    match look(&connection, worker) {
        Look::Ended => worker.closed(),
        Look::Nothing => young.push(connection),
        Look::GoesOn(start) => admit(connection, start, worker),
    }
}

/// Looks once more at connections that had sent nothing, and waits for those that still have not.
fn look_again(young: &mut Vec<Young>, worker: &Rc<Worker>) {
    for connection in mem::take(young) {
        match look(&connection, worker) {
            Look::Ended => worker.closed(),
            Look::Nothing => admit(connection, Start::default(), worker),
            Look::GoesOn(start) => admit(connection, start, worker),
        }
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

/// Reads once, and answers what is remembered.
fn look(connection: &Young, worker: &Rc<Worker>) -> Look {
    let buffers = &mut *worker.buffers.borrow_mut();
    let filled = match recv(&connection.socket, &mut buffers.input[..], RecvFlags::empty()) {
        Ok((_, 0)) => return Look::Ended,
        Ok((_, filled)) => filled,
        Err(Errno::AGAIN | Errno::INTR) => return Look::Nothing,
        Err(_) => return Look::Ended,
    };
    let peer = Peer { client: connection.address, scheme: connection.gate.scheme() };
    let requests_max = worker.limits().requests_per_connection.unwrap_or(u64::MAX);
    let mut start = Start { speaks_http2: connection.gate.speaks_http2(), ..Start::default() };
    let mut at = 0;
    loop {
        let (rest, left) = (&buffers.input[at..filled], requests_max.saturating_sub(start.answered + 1));
        let batch = worker.answer_remembered(&peer, rest, left, &mut buffers.output);
        if batch.replies == 0 {
            start.kept = rest.to_vec();
            return Look::GoesOn(start);
        }
        at += batch.consumed;
        start.answered += batch.replies;
        match hand_over(&connection.socket, &buffers.output, &batch) {
            Ok(sent) if sent < buffers.output.len() + batch.body.len() => {
                start.unsent = Unsent::of(&buffers.output, batch, sent);
                start.kept = buffers.input[at..filled].to_vec();
                return Look::GoesOn(start);
            }
            Ok(_) if batch.closes => return Look::Ended,
            Ok(_) => {}
            Err(_) => return Look::Ended,
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
