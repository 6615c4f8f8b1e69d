//! A thread of the server, and what its connections have in common.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedReceiver;

use super::connection::Connection;
use super::fault::{FaultExchange, MailFaultAction, MailFaultPlan};
use super::imap::serve_imap;
use super::smtp::{Transport, serve_smtp};
use super::store::MailStore;
use crate::allowance::{SharedThrottle, ThreadThrottle};

/// The time by which the reply to a slow command is later.
const SLOW: Duration = Duration::from_millis(20);

/// The protocols of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MailProtocol {
    Imap,
    Submission,
    Lmtp,
}

/// A connection that was accepted, on its way to a thread.
#[derive(Debug)]
pub(super) struct AcceptedMailConnection {
    pub(super) protocol: MailProtocol,
    pub(super) stream: std::net::TcpStream,
    /// Its part of the number of connections.
    pub(super) permit: OwnedSemaphorePermit,
}

/// The state that all threads share.
#[derive(Debug)]
pub(super) struct SharedState {
    pub(super) store: MailStore,
    pub(super) faults: MailFaultPlan,
    pub(super) throttle: Option<Arc<SharedThrottle>>,
    pub(super) idle_timeout: Duration,
}

/// The state that all connections of a thread share.
#[derive(Debug)]
pub(super) struct Worker {
    shared: Arc<SharedState>,
    throttle: Option<RefCell<ThreadThrottle>>,
}

impl MailProtocol {
    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            MailProtocol::Imap => "IMAP",
            MailProtocol::Submission => "submission",
            MailProtocol::Lmtp => "LMTP",
        }
    }

    /// Returns what a client is told for which there is no connection.
    pub(super) fn refusal(self) -> &'static [u8] {
        match self {
            MailProtocol::Imap => b"* BYE too many connections\r\n",
            MailProtocol::Submission | MailProtocol::Lmtp => b"421 4.3.2 too many connections\r\n",
        }
    }
}

impl Worker {
    pub(super) fn store(&self) -> &MailStore {
        &self.shared.store
    }

    /// Returns the time without a command after which a session ends.
    pub(super) fn idle_timeout(&self) -> Duration {
        self.shared.idle_timeout
    }

    /// Counts an exchange; returns the fault that it meets, if any. One that is only slow has been by then.
    pub(super) async fn fault(&self, exchange: FaultExchange) -> Option<MailFaultAction> {
        let fault = self.shared.faults.next(exchange);
        if fault == Some(MailFaultAction::Slow) {
            tokio::time::sleep(SLOW).await;
            return None;
        }
        fault
    }

    /// Charges what the thread has used to the allowance, and pauses it if that is exceeded.
    pub(super) fn settle(&self) {
        if let Some(throttle) = &self.throttle {
            throttle.borrow_mut().settle();
        }
    }
}

/// Serves connections on the calling thread until no more can come.
///
/// # Errors
/// The event loop cannot be made.
pub(super) fn run(
    shared: Arc<SharedState>,
    mut accepted: UnboundedReceiver<AcceptedMailConnection>,
) -> io::Result<()> {
    let runtime =
        Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
    runtime.block_on(async move {
        let throttle = shared.throttle.as_ref().map(|throttle| RefCell::new(throttle.thread()));
        let worker = Rc::new(Worker { shared, throttle });
        while let Some(connection) = accepted.recv().await {
            tokio::task::spawn_local(serve(connection, Rc::clone(&worker)));
        }
    });
    Ok(())
}

async fn serve(accepted: AcceptedMailConnection, worker: Rc<Worker>) {
    let AcceptedMailConnection { protocol, stream, permit } = accepted;
    if let Ok(stream) = TcpStream::from_std(stream) {
        let connection = Connection::new(stream, worker);
        match protocol {
            MailProtocol::Imap => serve_imap(connection).await,
            MailProtocol::Submission => serve_smtp(connection, Transport::Submission).await,
            MailProtocol::Lmtp => serve_smtp(connection, Transport::Lmtp).await,
        }
    }
    drop(permit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size<A, F>(_: impl Fn(A) -> F) -> usize {
        std::mem::size_of::<F>()
    }

    /// A session that waits keeps all of it: one buffer within it would be most of that.
    #[test]
    fn sessions_are_small() {
        let sizes = [size(serve_imap), size(|connection| serve_smtp(connection, Transport::Lmtp))];
        assert!(sizes.iter().all(|bytes| *bytes <= 3072), "{sizes:?} bytes");
    }
}
