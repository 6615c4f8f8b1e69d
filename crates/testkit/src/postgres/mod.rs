//! A stub of PostgreSQL's protocol for order entry: it accepts sessions, and answers stored procedures with outputs that
//! fit their inputs, without having any data. So it can have ten thousand sessions, which a database cannot.
//!
//! It keeps what a run reads back: the description of the data, and the number of orders placed. Rows that are loaded are
//! dropped, conditions always hold, and districts have no order to deliver. What else it is asked, it refuses.
//!
//! - `message`: the protocol's messages as bytes
//! - `data`: the data that are kept, and queries about them
//! - `procedures`: the stored procedures, with the types of their parameters and columns, and their rows
//! - `session`: a session, message by message
//!
//! Source: the documentation of PostgreSQL 15, "Frontend/Backend Protocol".

mod data;
mod message;
mod procedures;
mod session;

use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::thread::JoinHandle;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, spawn_local};

use data::StubData;

/// The most connections that wait to be accepted: Linux allows no more unless it is told to.
const BACKLOG: u32 = 4096;

/// The most bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// A running stub, which ends with all its sessions when it is dropped.
#[derive(Debug)]
pub struct PostgresStub {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PostgresStub {
    /// Starts a stub on a free port of the loopback interface, with a thread of its own.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn start() -> io::Result<PostgresStub> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listener = {
            let _context = runtime.enter();
            let socket = TcpSocket::new_v4()?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            socket.listen(BACKLOG)?
        };
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            LocalSet::new().block_on(&runtime, accept_all(listener, stopped));
        });
        Ok(PostgresStub { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PostgresStub {
    fn drop(&mut self) {
        // Its end is what the thread waits for.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state that all sessions share.
#[derive(Debug)]
struct Shared {
    data: RefCell<StubData>,
    /// The buffer for reading, so that an idle session has none.
    buffer: RefCell<Vec<u8>>,
}

/// Serves sessions until it is told to stop, or there are too many of them.
async fn accept_all(listener: TcpListener, mut stopped: oneshot::Receiver<()>) {
    let shared = Rc::new(Shared { data: RefCell::default(), buffer: RefCell::new(vec![0; READ_BYTES]) });
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                let shared = Rc::clone(&shared);
                // A client that does not speak the protocol loses its session.
                spawn_local(async move { drop(session::serve(stream, &shared).await) });
            }
        }
    }
}
