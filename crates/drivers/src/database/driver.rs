//! A driver of a user of a database, whatever the user executes: its session, which is opened again where it is lost.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use engine::{Driver, SessionError};
use model::{HasKind, MeasuredValues, Outcome, Reply};
use tokio::task::AbortHandle;
use units::{Clock, Nanos, RealClock};

use super::connection::SqlConnection;
use super::failure::{self, RefusalTexts, SqlFailure};
use super::server::SqlServer;
use super::transaction::CommitMode;
use crate::net::OperationFailure;

/// A server as the sessions of a load thread with it share it.
#[derive(Debug)]
pub(crate) struct SharedServer<S> {
    pub(crate) server: S,
    clock: RealClock,
    refusals: RefusalTexts,
    cancellations: Cancellations,
}

impl<S: SqlServer> SharedServer<S> {
    /// Shares a server, with sessions that take their times from this clock.
    pub(crate) fn new(server: S, clock: RealClock) -> SharedServer<S> {
        SharedServer {
            server,
            clock,
            refusals: RefusalTexts::default(),
            cancellations: Cancellations::default(),
        }
    }

    /// Describes the failure of an operation with the server's own texts.
    pub(crate) fn describe(&self, failure: &OperationFailure) -> String {
        self.server.describe(&self.refusals, failure)
    }
}

/// The most requests to cancel that a load thread waits for.
const CANCELLATIONS_MAX: usize = 256;

/// Requests to cancel that servers have not answered yet, the oldest first. Each keeps two connections open. A server that
/// answers none would get ever more of them, so the oldest is given up where there are too many.
#[derive(Debug, Default)]
struct Cancellations(RefCell<VecDeque<AbortHandle>>);

impl Cancellations {
    /// Has a request made beside the users.
    fn begin(&self, request: impl Future<Output = ()> + 'static) {
        let mut open = self.0.borrow_mut();
        open.retain(|request| !request.is_finished());
        if CANCELLATIONS_MAX <= open.len()
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        open.push_back(tokio::task::spawn_local(request).abort_handle());
    }
}

/// A connection with its prepared statements.
pub(crate) trait DatabaseSession {
    /// The connection.
    type Connection: SqlConnection;

    /// Returns the connection.
    fn connection(&self) -> &Self::Connection;

    /// Returns the connection, without its statements.
    fn into_connection(self) -> Self::Connection;
}

/// A failure of an operation.
pub(crate) trait SessionFailure: From<SqlFailure> {
    /// Returns whether the session is of no use any more.
    fn ends_session(&self) -> bool;

    /// Returns the failure for the reply, with its code; notes the server's text.
    fn noted(&self, refusals: &RefusalTexts) -> (OperationFailure, u32);
}

impl SessionFailure for SqlFailure {
    fn ends_session(&self) -> bool {
        self.ends_session()
    }

    fn noted(&self, refusals: &RefusalTexts) -> (OperationFailure, u32) {
        refusals.note(self);
        let failure = self.operation();
        (failure, failure::code(&failure))
    }
}

/// The sessions of a load thread with one server: the state that they share, and the operations that they perform.
pub(crate) trait DatabaseSessions: 'static {
    /// The server.
    type Server: SqlServer;
    /// A session with it.
    type Session: DatabaseSession<Connection = <Self::Server as SqlServer>::Connection>;
    /// The operation that a session performs.
    type Operation: HasKind;
    /// The result of an operation.
    type Performed;
    /// The failure of one.
    type Failure: SessionFailure;

    /// Returns the server.
    fn shared(&self) -> &SharedServer<Self::Server>;

    /// Connects and prepares the statements.
    async fn open(&self) -> Result<Box<Self::Session>, SqlFailure>;

    /// Performs an operation.
    async fn perform(
        &self,
        session: &mut Self::Session,
        operation: &Self::Operation,
        changes: CommitMode,
    ) -> Result<Self::Performed, Self::Failure>;

    /// Returns the measures of an operation, from its result and the number of its requests and bytes.
    fn measured(
        &self,
        operation: &Self::Operation,
        performed: Self::Performed,
        exchanged: TrafficCounts,
    ) -> MeasuredValues;

    /// Returns the name of an operation's kind.
    fn kind_name<'a>(&'a self, operation: &'a Self::Operation) -> &'a str;

    /// Describes the failure of an operation for people.
    fn describe(&self, operation: &Self::Operation, failure: &OperationFailure) -> String {
        let _ = operation;
        self.shared().describe(failure)
    }
}

/// The number of requests of a connection, and the bytes sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrafficCounts {
    pub(crate) round_trips: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl TrafficCounts {
    /// Returns those of a connection so far.
    fn by(connection: &impl SqlConnection) -> TrafficCounts {
        let (sent, received) = connection.bytes();
        TrafficCounts { round_trips: connection.n_round_trips(), sent, received }
    }

    /// Returns those after an earlier moment.
    fn since(self, before: TrafficCounts) -> TrafficCounts {
        TrafficCounts {
            round_trips: self.round_trips - before.round_trips,
            sent: self.sent - before.sent,
            received: self.received - before.received,
        }
    }
}

/// A driver of one user; owns the user's session.
pub(crate) struct DatabaseSessionDriver<C: DatabaseSessions> {
    context: Rc<C>,
    changes: CommitMode,
    session: Option<Box<C::Session>>,
}

impl<C: DatabaseSessions> DatabaseSessionDriver<C> {
    /// Creates the driver of a user, without a session.
    pub(crate) fn new(context: Rc<C>, changes: CommitMode) -> DatabaseSessionDriver<C> {
        DatabaseSessionDriver { context, changes, session: None }
    }

    /// Performs an operation; returns its measures.
    async fn transact(&mut self, operation: &C::Operation) -> Result<(Nanos, MeasuredValues), C::Failure> {
        let context = Rc::clone(&self.context);
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(context.open().await?),
        };
        let before = TrafficCounts::by(session.connection());
        let performed = context.perform(session, operation, self.changes).await;
        let done = context.shared().clock.now();
        match performed {
            Ok(performed) => {
                let exchanged = TrafficCounts::by(session.connection()).since(before);
                Ok((done, context.measured(operation, performed, exchanged)))
            }
            Err(failure) => {
                if failure.ends_session() {
                    self.session = None;
                }
                Err(failure)
            }
        }
    }
}

impl<C: DatabaseSessions> Driver for DatabaseSessionDriver<C> {
    type Operation = C::Operation;

    const OPENS_WHEN_NEEDED: bool = true;

    /// Opens the session and prepares its statements, so that no transaction waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let context = Rc::clone(&self.context);
        match Box::pin(context.open()).await {
            Ok(session) => {
                self.session = Some(session);
                Ok(())
            }
            Err(failure) => {
                let shared = context.shared();
                shared.refusals.note(&failure);
                Err(SessionError::Exchange(shared.describe(&failure.operation())))
            }
        }
    }

    async fn perform(&mut self, operation: &C::Operation, sent: Nanos) -> Reply {
        // Boxed, so that the task of a user who thinks is small.
        match Box::pin(self.transact(operation)).await {
            Ok((done, values)) => OperationFailure::NONE.into_reply(sent, done, values),
            Err(failure) => {
                let shared = self.context.shared();
                let done = shared.clock.now();
                let (failure, code) = failure.noted(&shared.refusals);
                let reply = failure.into_reply(sent, done, MeasuredValues::default());
                Reply { code, ..reply }
            }
        }
    }

    /// Has the server cancel the transaction, and closes the session.
    fn give_up(&mut self) {
        let Some(session) = self.session.take() else { return };
        let cancelling = Rc::clone(&self.context);
        self.context.shared().cancellations.begin(async move {
            cancelling.shared().server.cancel(session.into_connection()).await;
        });
    }

    fn describe(&self, operation: &C::Operation, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            outcome => self.context.describe(operation, &OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", self.context.kind_name(operation))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use tokio::runtime::{Builder, LocalOptions};

    use super::*;

    /// Connections that are open; one less when this value is dropped.
    struct Open(Rc<Cell<usize>>);

    impl Open {
        fn one_of(all: &Rc<Cell<usize>>) -> Open {
            all.set(all.get() + 1);
            Open(Rc::clone(all))
        }
    }

    impl Drop for Open {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }

    #[test]
    fn a_server_that_answers_no_request_to_cancel_gets_a_limited_number() {
        let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).unwrap();
        let cancellations = Cancellations::default();
        let n_open = Rc::new(Cell::new(0));
        runtime.block_on(async {
            let begin = |is_answered: bool| {
                let open = Open::one_of(&n_open);
                cancellations.begin(async move {
                    let _open = open;
                    if !is_answered {
                        std::future::pending::<()>().await;
                    }
                });
            };
            for _ in 0..10 {
                begin(true);
            }
            tokio::task::yield_now().await;
            assert_eq!(n_open.get(), 0, "those that were answered");
            for _ in 0..CANCELLATIONS_MAX + 10 {
                begin(false);
                tokio::task::yield_now().await;
            }
            assert_eq!(n_open.get(), CANCELLATIONS_MAX);
        });
    }
}
