//! The files of an NFS export, over sessions of our own: versions 3 and 4.1.
//!
//! A client has a connection of its own, with one call in flight unless it reads streams, and with version 4.1 a session, too.
//! All but `connection` and what stands on it is bytes in, bytes out, without sockets and clocks. `docs/design/nfs.md` says what is asked of a
//! server, and what is not.
//!
//! - [`NfsTarget`]: an export, the version, and in whose name calls are made
//! - `status`, `failure`, [`NfsSessionError`]: what servers answer, and what is wrong with what they send
//! - `xdr`, `rpc`: numbers and bytes, remote calls in records
//! - `procedure`: requests and answers, whatever the version
//! - `v4`, `v3`: requests as calls of a version, and answers from its replies
//! - `connection`: calls over a socket
//! - `opening`, `client`: the opening of a session, and its requests
//! - `places`, `actions`: the handles of folders, and the actions of a client as requests
//! - [`NfsWindowDriver`]: a client with several requests in flight
//! - [`NfsShare`]: the folder of a run in the export, with its files

mod actions;
mod client;
mod connection;
mod error;
mod failure;
mod opening;
mod places;
mod procedure;
mod rpc;
mod share;
mod status;
mod target;
pub mod untrusted;
mod v3;
mod v4;
mod window;
mod xdr;

#[cfg(test)]
mod session_tests;

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use engine::{Driver, SessionError};
use files::FileOperation;
use model::{Outcome, Reply, UserNotice};
use units::{Clock, Nanos, RealClock};

use self::actions::{ActionContext, WorkingClient};
use self::client::NfsClient;
use self::failure::NfsFailure;
use self::places::FolderHandles;
use super::FileClientOptions;
use super::content::ClientContent;
use super::failure::{PerformedAction, session_reply};
use super::first_data::FirstDataTimer;
use super::frame_buffer::BufferPool;
use super::path_text::PathText;
use crate::net::{SourceAddressError, TargetEndpoint, TargetPolicy};

pub use error::NfsSessionError;
pub use failure::code_name;
pub use share::{NfsServerFacts, NfsShare, NfsShareError};
pub use target::{NfsOwner, NfsTarget, NfsVersion};
pub use window::NfsWindowDriver;

/// The time between renewals, as a share of that after which the server forgets a client.
const RENEWALS_PER_LEASE: u64 = 3;

/// The state that all clients of a load thread share.
#[derive(Debug)]
pub struct NfsContext {
    endpoint: TargetEndpoint,
    target: Arc<NfsTarget>,
    clients: FileClientOptions,
    clock: RealClock,
    pool: BufferPool,
    paths: RefCell<PathText>,
    /// Buffers of texts that nobody uses.
    texts: RefCell<Vec<String>>,
    folders: RefCell<FolderHandles>,
}

impl NfsContext {
    /// Prepares the clients of a run, whose files are in the folder that [`NfsShare`] has made in the target's.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        target: NfsTarget,
        source_addresses: &[IpAddr],
        clients: FileClientOptions,
        clock: RealClock,
    ) -> Result<Rc<NfsContext>, SourceAddressError> {
        let endpoint = TargetEndpoint::new(target.address, TargetPolicy, source_addresses)?;
        let paths = RefCell::new(PathText::new(clients.loadfile.clone()));
        let (pool, target) = (BufferPool::default(), Arc::new(target));
        let (texts, folders) = (RefCell::default(), RefCell::default());
        Ok(Rc::new(NfsContext { endpoint, target, clients, clock, pool, paths, texts, folders }))
    }

    /// Opens a session of a client in the folder of the run, for so many requests in flight.
    async fn open(&self, n_slots: u32) -> Result<Box<WorkingClient>, NfsSessionError> {
        let (mut client, parent) = NfsClient::open(&self.endpoint, &self.target, n_slots, &self.pool).await?;
        let found = client.lookup((&parent, super::directory::FOLDER_NAME), &self.pool).await;
        let found = found.map_err(|failure| client.of_folder(failure, &share::run_folder(&self.target)))?;
        Ok(Box::new(WorkingClient::new(client, found.file.handle)))
    }
}

/// A driver of one client, with its session.
#[derive(Debug)]
pub struct NfsDriver {
    context: Rc<NfsContext>,
    /// The number of the client.
    client: u32,
    content: ClientContent,
    first_data: FirstDataTimer,
    session: Option<Box<WorkingClient>>,
    /// The time at which the server has last heard of the session.
    last_heard: Nanos,
}

impl NfsDriver {
    /// Creates the driver of the client of this number, without a session.
    pub fn new(context: Rc<NfsContext>, client: u32) -> NfsDriver {
        let content = ClientContent::new(&context.clients);
        let first_data = FirstDataTimer::new(context.clients.times_first_data);
        NfsDriver { context, client, content, first_data, session: None, last_heard: Nanos(0) }
    }

    /// Performs the action of an operation; returns the number of its exchanges, too.
    async fn act(&mut self, operation: &FileOperation, sent: Nanos) -> (u64, Result<(), NfsFailure>) {
        self.drop_forgotten(sent);
        let session = match &mut self.session {
            Some(session) => session,
            none => match self.context.open(1).await {
                Ok(session) => none.insert(session),
                Err(error) => return (0, Err(error.into_failure())),
            },
        };
        let before = session.client.connection.n_exchanges;
        let mut context = ActionContext { shared: &self.context, content: &mut self.content };
        let result = session.act(operation, &mut context).await;
        (session.client.connection.n_exchanges - before, result)
    }

    /// Drops a session without open files that the server has forgotten by now: it has lost nothing.
    fn drop_forgotten(&mut self, now: Nanos) {
        let is_forgotten = |session: &WorkingClient| {
            let lease = session.client.lease_seconds();
            session.has_no_files()
                && lease.is_some_and(|lease| self.last_heard + seconds(lease.into()) <= now)
        };
        if self.session.as_deref().is_some_and(is_forgotten) {
            self.session = None;
        }
    }
}

fn seconds(n: u64) -> Nanos {
    Nanos(n.saturating_mul(1_000_000_000))
}

impl Driver for NfsDriver {
    type Operation = FileOperation;

    const OPENS_WHEN_NEEDED: bool = true;

    /// The session of a client who pauses is kept alive.
    const RESTS: bool = true;

    /// Opens the session, so that no operation waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let context = Rc::clone(&self.context);
        let opened = Box::pin(context.open(1)).await;
        self.session = Some(opened.map_err(|error| SessionError::Exchange(error.to_string()))?);
        self.last_heard = context.clock.now();
        Ok(())
    }

    async fn perform(&mut self, operation: &FileOperation, sent: Nanos) -> Reply {
        // Boxed, so that the task of a client who pauses is small.
        let (n_exchanges, result) = Box::pin(self.act(operation, sent)).await;
        let done = self.context.clock.now();
        if 0 < n_exchanges {
            self.last_heard = done;
        }
        let ends_session = result.is_err_and(|failure| failure.ends_session);
        let mut reply = session_reply(operation, sent, PerformedAction { done, n_exchanges, result });
        self.first_data.note(operation, &mut reply);
        if ends_session {
            self.session = None;
        }
        reply
    }

    /// Tells the server now and then that the client is there. A session that ends meanwhile is found by the next operation.
    async fn rest(&mut self) -> UserNotice {
        let lease = self.session.as_ref().and_then(|session| session.client.lease_seconds());
        let Some(lease) = lease else { return std::future::pending().await };
        let pause = Nanos(seconds(lease.into()).0 / RENEWALS_PER_LEASE);
        while engine::sleep_on_descriptor(pause).await.is_ok() {
            let Some(session) = &mut self.session else { break };
            if session.client.renew(&self.context.pool).await.is_err() {
                break;
            }
            self.last_heard = self.context.clock.now();
        }
        std::future::pending().await
    }

    fn give_up(&mut self) {
        self.session = None;
    }

    fn describe(&self, operation: &FileOperation, reply: &Reply) -> String {
        describe(self.context.target.version, self.client, operation, reply)
    }
}

/// Describes the failure of an operation of a client.
fn describe(version: NfsVersion, client: u32, operation: &FileOperation, reply: &Reply) -> String {
    let text = match reply.outcome {
        Outcome::TimedOut if reply.code == 0 => {
            format!("no complete reply after {}", reply.done - reply.sent)
        }
        Outcome::WrongStatus if reply.code == 0 => {
            "the operation succeeded, although there must be no such file".to_owned()
        }
        outcome => failure::describe(version, outcome, reply.code, reply.detail),
    };
    format!("client {client}: {}: {text}", operation.action)
}
