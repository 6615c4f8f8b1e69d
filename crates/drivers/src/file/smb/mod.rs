//! The files of an SMB share, over sessions of our own: 2.1 and 3.1.1, unsigned, signed, or encrypted.
//!
//! A client has a connection and a session of its own, with one chain of requests in flight, or several requests of a stream.
//! All but `connection` and what
//! stands on it is bytes in, bytes out, without sockets and clocks. NTLM, the derivation of keys, and the messages that
//! open a session are those of the crate `smb2`, whose own connection cannot be had without signatures.
//!
//! - [`SmbTarget`]: a share, an account, and the options of sessions
//! - `status`, `failure`, [`SmbSessionError`]: what servers answer, and what is wrong with what they send
//! - `frame`, `wire`, `protection`: buffers, requests and replies in them, signatures and encryption
//! - `session`, `login`: the state of a session, and its opening
//! - `connection`: a session over a socket
//! - `window`: a driver with several requests in flight in one session
//! - `client`, `paths`: the actions of a client as requests, and paths as servers read them
//! - [`SmbShare`]: the folder of a run in the share, with its files

mod client;
mod connection;
mod error;
mod failure;
mod frame;
mod login;
mod paths;
mod protection;
mod session;
mod share;
mod status;
mod target;
pub mod untrusted;
mod window;
mod wire;

#[cfg(test)]
mod session_tests;

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;

use engine::{Driver, SessionError};
use files::FileOperation;
use model::{Outcome, Reply};
use units::{Clock, RealClock};

use self::client::{ActionContext, SmbClient};
use self::connection::SmbConnection;
use self::failure::SmbFailure;
use self::frame::BufferPool;
use self::paths::SmbPaths;
use super::FileClientOptions;
use super::content::ClientContent;
use super::failure::{PerformedAction, session_reply};
use super::first_data::FirstDataTimer;
use super::path_text::PathText;
use crate::net::{SourceAddressError, TargetEndpoint, TargetPolicy};

pub use error::SmbSessionError;
pub use failure::code_name;
pub use share::{SmbServerFacts, SmbShare, SmbShareError};
pub use target::{SmbAccount, SmbDialect, SmbOptions, SmbOptionsError, SmbTarget};
pub use window::SmbWindowDriver;

/// The state that all clients of a load thread share.
#[derive(Debug)]
pub struct SmbContext {
    endpoint: TargetEndpoint,
    target: SmbTarget,
    clients: FileClientOptions,
    clock: RealClock,
    pool: BufferPool,
    paths: RefCell<SmbPaths>,
}

impl SmbContext {
    /// Prepares the clients of a run, whose files are in the folder that [`SmbShare`] has made in the target's.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        target: SmbTarget,
        source_addresses: &[IpAddr],
        clients: FileClientOptions,
        clock: RealClock,
    ) -> Result<Rc<SmbContext>, SourceAddressError> {
        let endpoint = TargetEndpoint::new(target.address, TargetPolicy, source_addresses)?;
        let paths = SmbPaths::new(PathText::new(clients.loadfile.clone()), share::run_folder(&target));
        let pool = BufferPool::default();
        Ok(Rc::new(SmbContext { endpoint, target, clients, clock, pool, paths: RefCell::new(paths) }))
    }

    /// Opens a session of a client in the folder of the run.
    async fn open(&self) -> Result<Box<SmbClient>, SmbSessionError> {
        let connection = SmbConnection::open(&self.endpoint, &self.target, &self.pool).await?;
        let folder = self.paths.borrow().folder().to_owned();
        let opened = SmbClient::new(connection, &folder, &self.pool).await;
        opened.map(Box::new).map_err(|failure| share::of_folder(failure, &folder))
    }
}

/// A driver of one client, with its session.
#[derive(Debug)]
pub struct SmbDriver {
    context: Rc<SmbContext>,
    /// The number of the client.
    client: u32,
    content: ClientContent,
    first_data: FirstDataTimer,
    session: Option<Box<SmbClient>>,
}

impl SmbDriver {
    /// Creates the driver of the client of this number, without a session.
    pub fn new(context: Rc<SmbContext>, client: u32) -> SmbDriver {
        let content = ClientContent::new(&context.clients);
        let first_data = FirstDataTimer::new(context.clients.times_first_data);
        SmbDriver { context, client, content, first_data, session: None }
    }

    /// Performs the action of an operation; returns the number of its exchanges, too.
    async fn act(&mut self, operation: &FileOperation) -> (u64, Result<(), SmbFailure>) {
        let session = match &mut self.session {
            Some(session) => session,
            none => match self.context.open().await {
                Ok(session) => none.insert(session),
                Err(error) => return (0, Err(error.into_failure())),
            },
        };
        let before = session.connection.n_exchanges;
        let mut context = ActionContext { shared: &self.context, content: &mut self.content };
        let result = session.act(operation, &mut context).await;
        (session.connection.n_exchanges - before, result)
    }
}

impl Driver for SmbDriver {
    type Operation = FileOperation;

    const OPENS_WHEN_NEEDED: bool = true;

    /// Opens the session, so that no operation waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let context = Rc::clone(&self.context);
        let opened = Box::pin(context.open()).await;
        self.session = Some(opened.map_err(|error| SessionError::Exchange(error.to_string()))?);
        Ok(())
    }

    async fn perform(&mut self, operation: &FileOperation, sent: units::Nanos) -> Reply {
        // Boxed, so that the task of a client who pauses is small.
        let (n_exchanges, result) = Box::pin(self.act(operation)).await;
        let done = self.context.clock.now();
        let ends_session = result.is_err_and(|failure| failure.ends_session);
        let mut reply = session_reply(operation, sent, PerformedAction { done, n_exchanges, result });
        self.first_data.note(operation, &mut reply);
        if ends_session {
            self.session = None;
        }
        reply
    }

    fn give_up(&mut self) {
        self.session = None;
    }

    fn describe(&self, operation: &FileOperation, reply: &Reply) -> String {
        describe(self.client, operation, reply)
    }
}

/// Describes a failed operation of a client.
fn describe(client: u32, operation: &FileOperation, reply: &Reply) -> String {
    let text = match reply.outcome {
        Outcome::TimedOut if reply.code == 0 => {
            format!("no complete reply after {}", reply.done - reply.sent)
        }
        Outcome::WrongStatus if reply.code == 0 => {
            "the operation succeeded, although there must be no such file".to_owned()
        }
        outcome => failure::describe(outcome, reply.code, reply.detail),
    };
    format!("client {client}: {}: {text}", operation.action)
}
