//! The order-entry family: sessions over TCP in the protocol of [`orders::wire`], a request for each transaction; and other
//! ways to the same transactions.
//!
//! Each virtual user is a terminal: one connection, opened and introduced before the load point begins, and one
//! transaction in flight on it. A session that is lost is opened again by the next transaction, whose response time
//! includes that.
//!
//! - `call`: requests, and how they are written
//! - `exchange`: sending a request and receiving the reply
//! - `verify`: the checks of a reply
//! - `count`: what became of the transactions that write, so that the database's own totals can be compared
//! - `control`: a session beside the terminals, which restores the data and has their consistency checked
//! - `describe`: failures in words
//! - `deferred`: deliveries that are queued, and made in the background
//! - `embedded`: the same transactions in SQLite within this process
//! - `sampler`: the sessions of a database, counted between its accounts of itself
//! - `database`: the same transactions in a database that speaks SQL; `sql`: what all of them share; `postgres`,
//!   `mariadb`: those

mod call;
mod control;
mod count;
mod database;
mod deferred;
mod describe;
mod embedded;
mod exchange;
mod mariadb;
mod postgres;
mod sampler;
mod sql;
mod verify;

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use engine::{Driver, SessionError};
use model::{MeasuredValues, OrderEntryWorkload, OrderRequest, Outcome, Reply, order_measure};
use orders::wire::{DataDescription, ExpectedData};
use orders::{DataScale, TransactionInput};
use units::{Clock, Nanos, RealClock};

pub use control::{OrderCallError, OrderControl};
pub use count::OrderCounts;
pub use database::{
    DatabaseContext, DatabaseControl, DatabaseDriver, DatabaseLoad, load_database, row_statements,
    schema_statements,
};
pub use deferred::{
    BACKGROUND_SESSIONS, BackgroundDeliveries, DEFERRED_MAX, DeferredCounts, DeferringDriver, DeliveryQueue,
    delivery_queue,
};
pub use embedded::{EmbeddedContext, EmbeddedDatabase, EmbeddedDriver};
pub use sampler::{SampleError, SampledAccount, SessionSampler};
pub use sql::control::{DatabaseAccount, DatabaseData, SessionCounts};
pub use sql::load::{LOADING_ORDER, LoadMethod};
pub use sql::schema::{ORDER_SCHEMA, contents_of};

use crate::net::{
    ExchangeBuffers, OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy, TcpTransport,
};
use call::OrderCall;
use count::OpenTransaction;
use exchange::OrderReply;

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct OrderContext {
    endpoint: TargetEndpoint,
    clock: RealClock,
    scale: DataScale,
    counts: count::Counters,
    buffers: ExchangeBuffers,
}

impl OrderContext {
    /// Prepares the transactions of a workload for a server at an address that the policy has allowed.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        workload: &OrderEntryWorkload,
        address: SocketAddr,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<OrderContext>, SourceAddressError> {
        Ok(Rc::new(OrderContext {
            endpoint: TargetEndpoint::new(address, TargetPolicy, source_addresses)?,
            clock,
            scale: workload.scale,
            counts: count::Counters::default(),
            buffers: ExchangeBuffers::default(),
        }))
    }

    /// Returns what became of the transactions of all sessions so far.
    pub fn counts(&self) -> OrderCounts {
        self.counts.get()
    }
}

/// A session with a server: its connection, and the number of the last request on it.
#[derive(Debug)]
struct OrderSession {
    transport: TcpTransport,
    number: u64,
}

impl OrderSession {
    /// Connects, says which terminal it is and which data it expects. Returns the data of the server, too.
    async fn open(
        context: &OrderContext,
        terminal: u32,
    ) -> Result<(OrderSession, DataDescription), OperationFailure> {
        let transport = TcpTransport::new(context.endpoint.connect().await?)?;
        let session = OrderSession { transport, number: 0 };
        let call = OrderCall::hello(terminal, ExpectedData::of(&context.scale));
        let (session, reply, _) = session.exchange(context, &call).await?;
        if let Some(fault) = reply.fault {
            return Err(fault);
        }
        let data = DataDescription::read(&reply.payload).map_err(verify::not_of_protocol)?;
        Ok((session, data))
    }

    /// Sends a request and receives the reply; returns the number of bytes that were sent, too.
    async fn exchange(
        self,
        context: &OrderContext,
        call: &OrderCall<'_>,
    ) -> Result<(OrderSession, OrderReply, u64), OperationFailure> {
        let number = self.number + 1;
        let exchanged = exchange::exchange(&context.buffers, self.transport, call, number).await;
        let (transport, reply, sent_bytes) = exchanged?;
        Ok((OrderSession { transport, number }, reply, sent_bytes))
    }

    /// Returns whether the next request can be sent on it.
    fn is_fresh(&self) -> bool {
        self.transport.is_fresh()
    }
}

/// A driver of one terminal; owns the terminal's session.
#[derive(Debug)]
pub struct OrderDriver {
    context: Rc<OrderContext>,
    /// The number of the terminal.
    terminal: u32,
    session: Option<OrderSession>,
}

impl OrderDriver {
    /// Creates the driver of a terminal, without a session.
    pub fn new(context: Rc<OrderContext>, terminal: u32) -> OrderDriver {
        OrderDriver { context, terminal, session: None }
    }

    /// Performs a transaction; returns its measures.
    async fn transact(
        &mut self,
        input: &TransactionInput,
        sent: Nanos,
    ) -> Result<Measured, OperationFailure> {
        let context = Rc::clone(&self.context);
        let (session, n_opened) = match self.session.take().filter(OrderSession::is_fresh) {
            Some(session) => (session, 0),
            // Boxed because it is rare, and the task of every user has room for the largest of its states.
            None => (Box::pin(OrderSession::open(&context, self.terminal)).await?.0, 1),
        };
        // In doubt until an answer says what became of it, also where this future is dropped.
        let open = OpenTransaction::begin(&context.counts, input);
        let call = OrderCall::transaction(input);
        let (session, reply, sent_bytes) = session.exchange(&context, &call).await?;
        let done = context.clock.now();
        if let Some(fault) = reply.fault {
            if verify::changed_nothing(fault) {
                open.end_without_changes();
            }
            self.session = verify::keeps_session(fault).then_some(session);
            return Err(fault);
        }
        // The reply was complete: whatever is wrong with it, the session goes on.
        self.session = Some(session);
        let output = verify::output(input, &reply)?;
        reply.check_times(done.saturating_sub(sent))?;
        open.end(&output);
        Ok(Measured {
            done,
            n_round_trips: 1 + n_opened,
            entered: order_measure::of_input(input),
            sent_bytes,
            reply,
        })
    }
}

/// The measures of what was entered ([`order_measure::of_input`]).
type InputMeasures = Option<[(usize, u64); 2]>;

/// Returns the values of measures, and those of what was entered. `has_server_times` says whether the server states its
/// times.
fn order_values<const N: usize>(
    measures: [(usize, u64); N],
    entered: InputMeasures,
    has_server_times: bool,
) -> MeasuredValues {
    let mut values = MeasuredValues::default();
    let all = measures.into_iter().chain(entered.into_iter().flatten());
    all.for_each(|(measure, value)| values.set(order_measure::slot(measure, has_server_times), value));
    values
}

/// The measures of a transaction that succeeded.
struct Measured {
    done: Nanos,
    n_round_trips: u64,
    entered: InputMeasures,
    sent_bytes: u64,
    reply: OrderReply,
}

impl Measured {
    fn values(&self) -> MeasuredValues {
        let reply = &self.reply;
        let measures = [
            (order_measure::QUEUE, reply.queue),
            (order_measure::SERVICE, reply.service),
            (order_measure::ROUND_TRIPS, self.n_round_trips),
            (order_measure::RETRIES, reply.result),
            (order_measure::SENT_BYTES, self.sent_bytes),
            (order_measure::RECEIVED_BYTES, reply.bytes),
        ];
        order_values(measures, self.entered, true)
    }
}

impl Driver for OrderDriver {
    type Operation = OrderRequest;

    /// Opens the session, so that no transaction waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let opened = OrderSession::open(&self.context, self.terminal).await;
        let (session, _) = opened.map_err(|failure| describe::opening(&failure))?;
        self.session = Some(session);
        Ok(())
    }

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        match self.transact(&request.input, sent).await {
            Ok(measured) => OperationFailure::NONE.into_reply(sent, measured.done, measured.values()),
            Err(failure) => {
                let done = self.context.clock.now();
                let reply = failure.into_reply(sent, done, MeasuredValues::default());
                Reply { code: verify::code(&failure), ..reply }
            }
        }
    }

    fn give_up(&mut self) {
        self.session = None;
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            outcome => describe::failure(&OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", request.input.kind().name())
    }
}
