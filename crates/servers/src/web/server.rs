//! The web server: starting, accepting, stopping.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::SocketFlags;
use socket2::Socket;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::oneshot;
use units::{Clock, Nanos, Ratio, RealClock, thread_cpu};

use super::connection::serve_connection;
use super::fault::{FaultAction, FaultPlan, Freeze};
use super::handshake::{Handshake, serve_http1_or_http2, serve_tls};
use super::options::{ServeReport, WebOptions};
use super::site::Site;
use crate::allowance::Throttle;
use crate::gateway::PageLock;
use crate::listener::{ACCEPT_PAUSE, address_of, is_exhausted, listen_tcp};

/// Connections accepted before accepted ones are served, by a server with a listener of its own.
const ACCEPTS_PER_TURN: usize = 64;

/// The same where several servers share a listener: each takes one, so that it leaves the next to an idle
/// server.
const ACCEPTS_PER_TURN_AMONG_OTHERS: usize = 1;

/// Serves on the calling thread until `stop` resolves; `ready` receives the address once it listens.
///
/// Operations in progress are then aborted. Must not be called from within a tokio runtime, and the thread
/// should do nothing else: the allowance counts, and pauses, the whole thread.
///
/// # Errors
///
/// Invalid options, an address that cannot be listened on, or a failed listener.
pub fn serve(
    options: &WebOptions,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future,
) -> io::Result<ServeReport> {
    options.check()?;
    let handshake = Handshake::from_options(options)?;
    let site = Site::new(&options.files)?;
    let listener = listen_tcp(options.listen, options.backlog)?;
    let server = WebServerState {
        handshake,
        site,
        lock: Arc::default(),
        faults: options.faults.clone(),
        idle_timeout: options.idle_timeout,
        cpu_allowance: options.cpu_allowance,
        accepts_per_turn: ACCEPTS_PER_TURN,
    };
    server.run(listener, ready, stop)
}

/// The state of a server before it runs on a thread.
#[derive(Debug)]
pub(super) struct WebServerState {
    handshake: Handshake,
    site: Site,
    /// Shared by all servers of one program.
    lock: Arc<PageLock>,
    faults: FaultPlan,
    idle_timeout: Nanos,
    cpu_allowance: Option<Ratio>,
    accepts_per_turn: usize,
}

impl WebServerState {
    /// Creates a server of generated pages only, one of several that share a listener and a lock.
    pub(super) fn pages_only(idle_timeout: Nanos, lock: Arc<PageLock>) -> WebServerState {
        WebServerState {
            handshake: Handshake::Plain,
            site: Site::without_files(),
            lock,
            faults: FaultPlan::default(),
            idle_timeout,
            cpu_allowance: None,
            accepts_per_turn: ACCEPTS_PER_TURN_AMONG_OTHERS,
        }
    }

    /// Serves on the calling thread until `stop` resolves.
    pub(super) fn run(
        self,
        listener: Socket,
        ready: impl FnOnce(SocketAddr),
        stop: impl Future,
    ) -> io::Result<ServeReport> {
        let runtime =
            Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
        runtime.block_on(run(self, listener, ready, stop))
    }
}

/// A server on its own thread; dropping it stops it without waiting.
#[derive(Debug)]
pub struct WebServer {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<io::Result<ServeReport>>,
}

impl WebServer {
    /// Starts a server and waits until it listens.
    ///
    /// # Errors
    ///
    /// As for [`serve`], or no further thread can be created.
    pub fn start(options: WebOptions) -> io::Result<WebServer> {
        let (stop, stopped) = oneshot::channel();
        let (ready, readied) = mpsc::channel();
        let body = move || serve(&options, |address| ready.send(address).unwrap_or_default(), stopped);
        let thread = std::thread::Builder::new().name("web-server".to_owned()).spawn(body)?;
        match readied.recv() {
            Ok(address) => Ok(WebServer { address, stop, thread }),
            // It ended before it was ready, so there is an error to return.
            Err(mpsc::RecvError) => Err(join(thread).err().unwrap_or(io::ErrorKind::Other.into())),
        }
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server and returns its totals.
    ///
    /// # Errors
    ///
    /// The error that had already ended the server.
    pub fn stop(self) -> io::Result<ServeReport> {
        drop(self.stop);
        join(self.thread)
    }
}

pub(super) fn join(thread: JoinHandle<io::Result<ServeReport>>) -> io::Result<ServeReport> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the web server's thread panicked")))
}

/// The state that all connections of a server share.
#[derive(Debug)]
pub(super) struct SharedState {
    handshake: Handshake,
    pub(super) site: Site,
    pub(super) lock: Arc<PageLock>,
    pub(super) faults: FaultPlan,
    pub(super) idle_timeout: Nanos,
    accepts_per_turn: usize,
    throttle: Option<RefCell<Throttle>>,
    counts: Cell<ServerCounts>,
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServerCounts {
    pub(super) connections: u64,
    pub(super) requests: u64,
    pub(super) faults: u64,
    pub(super) bytes_sent: u64,
}

impl SharedState {
    /// Changes the counts.
    #[inline]
    pub(super) fn count(&self, change: impl FnOnce(&mut ServerCounts)) {
        let mut counts = self.counts.get();
        change(&mut counts);
        self.counts.set(counts);
    }

    /// Charges work to the allowance, and pauses the whole server if it is exceeded.
    #[inline]
    pub(super) fn spend(&self, work: u32) {
        if let Some(throttle) = &self.throttle {
            throttle.borrow_mut().spend(work);
        }
    }
}

async fn run(
    server: WebServerState,
    listener: Socket,
    ready: impl FnOnce(SocketAddr),
    stop: impl Future,
) -> io::Result<ServeReport> {
    let address = address_of(&listener)?;
    let listener = register(listener)?;
    let clock = RealClock::start();
    let cpu = thread_cpu();
    let shared = Rc::new(SharedState {
        handshake: server.handshake,
        site: server.site,
        lock: server.lock,
        faults: server.faults,
        idle_timeout: server.idle_timeout,
        accepts_per_turn: server.accepts_per_turn,
        throttle: server.cpu_allowance.map(|share| RefCell::new(Throttle::new(share, clock))),
        counts: Cell::default(),
    });
    if let Some(freeze) = shared.faults.freeze {
        tokio::task::spawn_local(freeze_thread(freeze));
    }
    ready(address);
    tokio::select! {
        biased;
        _ = stop => {}
        error = accept_all(&listener, &shared) => return Err(error),
    }
    let ServerCounts { connections, requests, faults, bytes_sent } = shared.counts.get();
    let paused = shared.throttle.as_ref().map_or(Nanos::ZERO, |throttle| throttle.borrow().paused());
    let cpu = thread_cpu().saturating_sub(cpu);
    Ok(ServeReport { address, elapsed: clock.now(), cpu, paused, connections, requests, faults, bytes_sent })
}

/// Registers the listener with the event loop.
fn register(listener: Socket) -> io::Result<AsyncFd<Socket>> {
    listener.set_nonblocking(true)?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the socket owns its descriptor, which is all that is required"
    )]
    AsyncFd::with_interest(listener, Interest::READABLE)
}

/// Accepts connections until the listener fails, and returns the error.
async fn accept_all(listener: &AsyncFd<Socket>, shared: &Rc<SharedState>) -> io::Error {
    if let Some(FaultAction::NeverAccept) = shared.faults.for_connections() {
        return std::future::pending().await;
    }
    loop {
        let mut guard = match listener.readable().await {
            Ok(guard) => guard,
            Err(error) => return error,
        };
        match accept_some(listener.get_ref(), shared) {
            Ok(()) => {}
            Err(Errno::AGAIN) => guard.clear_ready(),
            Err(error) if is_exhausted(error) => tokio::time::sleep(ACCEPT_PAUSE).await,
            Err(error) => return error.into(),
        }
        tokio::task::yield_now().await;
    }
}

/// Accepts waiting connections, up to a limit; `AGAIN` when none is left.
fn accept_some(listener: &Socket, shared: &Rc<SharedState>) -> Result<(), Errno> {
    for _ in 0..shared.accepts_per_turn {
        match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(socket) => start_connection(socket, shared),
            // The client or the network gave up before the connection was accepted (accept(2), Linux).
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

fn start_connection(socket: OwnedFd, shared: &Rc<SharedState>) {
    shared.count(|counts| counts.connections += 1);
    shared.spend(1);
    let stream = TcpStream::from(socket);
    let owned = Rc::clone(shared);
    match &shared.handshake {
        Handshake::Plain => tokio::task::spawn_local(serve_connection(stream, owned)),
        Handshake::PlainHttp2 => tokio::task::spawn_local(serve_http1_or_http2(stream, owned)),
        Handshake::Tls(config) => tokio::task::spawn_local(serve_tls(stream, Arc::clone(config), owned)),
    };
}

/// Blocks the thread, and so the whole server, once.
async fn freeze_thread(freeze: Freeze) {
    tokio::time::sleep(Duration::from_nanos(freeze.at.0)).await;
    std::thread::sleep(Duration::from_nanos(freeze.length.0));
}
