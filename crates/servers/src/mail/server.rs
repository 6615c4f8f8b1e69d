//! A mail server on threads of its own.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, oneshot};
use units::RealClock;

use super::options::{MAIL_THREADS_MAX, MailServerError, MailServerOptions};
use super::store::{MailStore, StoreOptions};
use super::worker::{AcceptedMailConnection, MailProtocol, SharedState, run};
use crate::allowance::SharedThrottle;
use crate::listener::{ACCEPT_PAUSE, BACKLOG, address_of, is_exhausted, listen_tcp};

/// A running mail server; dropping it stops it.
#[derive(Debug)]
pub struct MailServer {
    addresses: MailAddresses,
    /// Dropped to stop it; `None` once it is to stop.
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<io::Result<()>>>,
}

/// The addresses that a mail server listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailAddresses {
    /// That of IMAP.
    pub imap: SocketAddr,
    /// That of the submission of messages.
    pub submission: SocketAddr,
    /// That of LMTP.
    pub lmtp: SocketAddr,
}

impl MailServer {
    /// Starts a server with empty mailboxes; it listens when this returns.
    ///
    /// # Errors
    /// There can be no such users, an address cannot be listened on, or no further thread can be created.
    ///
    /// # Panics
    /// The number of threads is not within its bounds.
    pub fn start(options: MailServerOptions) -> Result<MailServer, MailServerError> {
        assert!((1..=MAIL_THREADS_MAX).contains(&options.threads), "bounded threads");
        let store = MailStore::new(StoreOptions {
            users: options.users,
            domain: options.domain,
            password: options.password,
            messages: options.messages,
            account_bytes_max: options.account_bytes_max,
            message_bytes_max: options.message_bytes_max,
        })?;
        let (imap_listener, imap) = listen(MailProtocol::Imap, options.imap)?;
        let (submission_listener, submission) = listen(MailProtocol::Submission, options.submission)?;
        let (lmtp_listener, lmtp) = listen(MailProtocol::Lmtp, options.lmtp)?;
        let clock = RealClock::start();
        let shared = Arc::new(SharedState {
            store,
            faults: options.faults,
            throttle: options.cpu_allowance.map(|share| Arc::new(SharedThrottle::new(share, clock))),
            idle_timeout: Duration::from_nanos(options.idle_timeout.0),
        });
        let (stop, stopped) = oneshot::channel();
        let addresses = MailAddresses { imap, submission, lmtp };
        // Dropped on an error, it stops what it has started.
        let mut server = MailServer { addresses, stop: Some(stop), threads: Vec::new() };
        let mut workers = Vec::new();
        for _ in 0..options.threads {
            let (worker, accepted) = unbounded_channel();
            let shared = Arc::clone(&shared);
            server.spawn("mail-worker", move || run(shared, accepted))?;
            workers.push(worker);
        }
        let listeners = [
            (MailProtocol::Imap, imap_listener),
            (MailProtocol::Submission, submission_listener),
            (MailProtocol::Lmtp, lmtp_listener),
        ];
        let permits = Arc::new(Semaphore::new(options.connections_max as usize));
        server.spawn("mail-accept", move || {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            runtime.block_on(accept(listeners, &Dealer { workers, permits }, stopped))
        })?;
        Ok(server)
    }

    fn spawn(
        &mut self,
        name: &str,
        body: impl FnOnce() -> io::Result<()> + Send + 'static,
    ) -> Result<(), MailServerError> {
        self.threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(body)?);
        Ok(())
    }

    /// Returns the addresses it listens on.
    pub fn addresses(&self) -> MailAddresses {
        self.addresses
    }

    /// Stops it, and ends all sessions.
    ///
    /// # Errors
    /// A thread had failed before.
    pub fn stop(mut self) -> io::Result<()> {
        self.halt()
    }

    fn halt(&mut self) -> io::Result<()> {
        drop(self.stop.take());
        let panicked = |_| Err(io::Error::other("a thread of the mail server panicked"));
        let ends: Vec<io::Result<()>> =
            self.threads.drain(..).map(|thread| thread.join().unwrap_or_else(panicked)).collect();
        ends.into_iter().collect()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // Whoever wants the error calls `stop`.
        let _ = self.halt();
    }
}

fn listen(protocol: MailProtocol, address: SocketAddr) -> Result<(TcpListener, SocketAddr), MailServerError> {
    let listen = || {
        let socket = listen_tcp(address, BACKLOG)?;
        let bound = address_of(&socket)?;
        socket.set_nonblocking(true)?;
        Ok((TcpListener::from(socket), bound))
    };
    listen().map_err(|source| MailServerError::Listen { protocol: protocol.name(), address, source })
}

/// The threads among which connections are dealt.
#[derive(Debug)]
struct Dealer {
    workers: Vec<UnboundedSender<AcceptedMailConnection>>,
    /// As many as there may be connections.
    permits: Arc<Semaphore>,
}

/// Accepts connections until the server is to stop; the threads end when this returns.
async fn accept(
    listeners: [(MailProtocol, TcpListener); 3],
    dealer: &Dealer,
    stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let [imap, submission, lmtp] =
        listeners.map(|(protocol, listener)| accept_all(protocol, listener, dealer));
    tokio::select! {
        biased;
        _ = stopped => Ok(()),
        error = imap => Err(error),
        error = submission => Err(error),
        error = lmtp => Err(error),
    }
}

/// Accepts connections of a protocol until the listener fails, and returns the error.
async fn accept_all(protocol: MailProtocol, listener: TcpListener, dealer: &Dealer) -> io::Error {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    // Each protocol has its own order, so that one with many connections does not disturb another.
    for worker in dealer.workers.iter().cycle() {
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(error) => match Errno::from_io_error(&error) {
                    Some(errno) if is_exhausted(errno) => tokio::time::sleep(ACCEPT_PAUSE).await,
                    Some(Errno::BADF | Errno::FAULT | Errno::INVAL | Errno::NOTSOCK) | None => return error,
                    // Errors of one connection, which its client has given up (accept(2)).
                    Some(_) => {}
                },
            }
        };
        let Ok(permit) = Arc::clone(&dealer.permits).try_acquire_owned() else {
            // There is room in the buffer of a new connection.
            let _ = stream.try_write(protocol.refusal());
            continue;
        };
        if let Ok(stream) = stream.into_std() {
            // A thread that ended has failed, which is told when the server is stopped.
            let _ = worker.send(AcceptedMailConnection { protocol, stream, permit });
        }
    }
    io::Error::other("there is no thread")
}
