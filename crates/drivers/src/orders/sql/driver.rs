//! The sessions of terminals on a database that speaks SQL, and what all of a load thread share.

use std::rc::Rc;

use model::{MeasuredValues, OrderRequest, OrderSql, order_measure};
use units::{RealClock, wall};

use super::session::{OrderSession, SqlForms};
use crate::database::driver::{DatabaseSessions, SharedServer, TrafficCounts};
use crate::database::failure::SqlFailure;
use crate::database::server::SqlServer;
use crate::database::transaction::CommitMode;
use crate::orders::count::{Counters, OrderCounts};
use crate::orders::order_values;

/// A database server of terminals.
pub(crate) trait OrderServer: SqlServer {
    /// The statements of its sessions.
    type Forms: SqlForms<Connection = Self::Connection>;
}

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub(crate) struct SqlContext<S> {
    shared: SharedServer<S>,
    form: OrderSql,
    counts: Counters,
}

impl<S: OrderServer> SqlContext<S> {
    /// Prepares transactions in a form.
    pub(crate) fn new(server: S, form: OrderSql, clock: RealClock) -> Rc<SqlContext<S>> {
        Rc::new(SqlContext { shared: SharedServer::new(server, clock), form, counts: Counters::default() })
    }

    /// Returns what became of the transactions of all sessions so far.
    pub(crate) fn counts(&self) -> OrderCounts {
        self.counts.get()
    }
}

impl<S: OrderServer> DatabaseSessions for SqlContext<S> {
    type Server = S;
    type Session = OrderSession<S::Forms>;
    type Operation = OrderRequest;
    /// The number of retries.
    type Performed = u64;
    type Failure = SqlFailure;

    fn shared(&self) -> &SharedServer<S> {
        &self.shared
    }

    async fn open(&self) -> Result<Box<OrderSession<S::Forms>>, SqlFailure> {
        let connection = self.shared.server.connect().await?;
        OrderSession::open(self.form, connection).await.map(Box::new)
    }

    async fn perform(
        &self,
        session: &mut OrderSession<S::Forms>,
        request: &OrderRequest,
        changes: CommitMode,
    ) -> Result<u64, SqlFailure> {
        session.perform(&self.counts, &request.input, wall(), changes).await
    }

    fn measured(&self, request: &OrderRequest, n_retries: u64, exchanged: TrafficCounts) -> MeasuredValues {
        let measures = [
            (order_measure::ROUND_TRIPS, exchanged.round_trips),
            (order_measure::RETRIES, n_retries),
            (order_measure::SENT_BYTES, exchanged.sent),
            (order_measure::RECEIVED_BYTES, exchanged.received),
        ];
        order_values(measures, order_measure::of_input(&request.input), false)
    }

    fn kind_name<'a>(&'a self, request: &'a OrderRequest) -> &'a str {
        request.input.kind().name()
    }
}
