//! An echo server over TCP, whose notices may be late or never come.
//!
//! Each message begins with a number in network byte order, which is the length of its content unless one of its two
//! highest bits is set. `drivers::echo` describes the protocol.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, oneshot};
use tokio::task::{LocalSet, spawn_local};

/// The bit of a length by which a message asks for a notice, and by which the server sends one.
const NOTICE: u32 = 1 << 30;

/// The notices of a stub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StubNotices {
    /// The time by which each is later than the message asks for.
    pub late: Duration,
    /// The notice of each so many messages of a connection that ask for one never comes.
    pub lost_of: u32,
}

/// A running echo server, which ends with all its connections when it is dropped.
#[derive(Debug)]
pub struct EchoStub {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl EchoStub {
    /// Starts a server on a free port of the loopback interface, with a thread of its own.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn start(notices: StubNotices) -> io::Result<EchoStub> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            LocalSet::new().block_on(&runtime, accept_all(listener, notices, stopped));
        });
        Ok(EchoStub { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for EchoStub {
    fn drop(&mut self) {
        // Its end is what the thread waits for.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves connections until it is told to stop, or there are too many of them.
async fn accept_all(listener: TcpListener, notices: StubNotices, mut stopped: oneshot::Receiver<()>) {
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                // A client that does not speak the protocol loses its connection.
                spawn_local(async move { drop(serve(stream, notices).await) });
            }
        }
    }
}

/// Sends back what comes on a connection, until its client ends it.
async fn serve(stream: TcpStream, notices: StubNotices) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, writer) = stream.into_split();
    let writer = Rc::new(Mutex::new(writer));
    let mut n_asked = 0_u32;
    let mut message = Vec::new();
    loop {
        let head = reader.read_u32().await?;
        let length = head & !NOTICE;
        let delay =
            if head & NOTICE == 0 { None } else { Some(Duration::from_nanos(reader.read_u64().await?)) };
        message.clear();
        message.extend(length.to_be_bytes());
        let start = message.len();
        message.resize(start + length as usize, 0);
        reader.read_exact(&mut message[start..]).await?;
        writer.lock().await.write_all(&message).await?;
        if let Some(delay) = delay {
            let number = n_asked;
            n_asked += 1;
            if !n_asked.is_multiple_of(notices.lost_of) {
                spawn_local(notify(Rc::clone(&writer), number, delay + notices.late));
            }
        }
    }
}

/// Sends a notice after a time, unless the connection has ended.
async fn notify(writer: Rc<Mutex<OwnedWriteHalf>>, number: u32, after: Duration) {
    tokio::time::sleep(after).await;
    let _ = writer.lock().await.write_all(&(NOTICE | number).to_be_bytes()).await;
}
