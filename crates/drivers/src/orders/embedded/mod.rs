//! SQLite within this process: each terminal is a thread, which performs its transactions itself.
//!
//! The connections are as many as the built-in server has, and for the same work: one for transactions that write, because
//! SQLite has one writer at a time, and others for those that read. The wait of a terminal for one of them is the queue time
//! of its transaction, and the rest its service time.
//!
//! - `pool`: connections that threads share

mod pool;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{BlockingDriver, Driver};
use model::{MeasuredValues, OrderRequest, Outcome, Reply, order_measure};
use orders::wire::{CHECK_ROWS_MAX, ConditionResult, OrderEntryStatus};
use orders::{ConsistencyCondition, OrderTotals, TransactionInput};
use orderstore::{OrderStore, StoreError};
use units::{Clock, Nanos, RealClock, wall};

use super::count::{Counters, OpenTransaction, OrderCounts};
use super::{describe, order_values, verify};
use crate::net::OperationFailure;
use pool::{ConnectionPool, PooledConnection};

/// The connections of this process to order-entry data, shared by all terminals.
#[derive(Debug)]
pub struct EmbeddedDatabase {
    writer: ConnectionPool<OrderStore>,
    readers: ConnectionPool<OrderStore>,
}

impl EmbeddedDatabase {
    /// Makes the database of a connection that writes, and of at least one that reads.
    pub fn new(writer: OrderStore, readers: Vec<OrderStore>) -> EmbeddedDatabase {
        EmbeddedDatabase { writer: ConnectionPool::new([writer]), readers: ConnectionPool::new(readers) }
    }

    /// Finds the rows that violate a condition. Blocks the calling thread.
    ///
    /// # Errors
    /// SQLite refuses to read.
    pub fn violations(&self, condition: ConsistencyCondition) -> Result<ConditionResult, StoreError> {
        self.reader().violations(condition, CHECK_ROWS_MAX).map(ConditionResult::from)
    }

    /// Counts the orders. Blocks the calling thread.
    ///
    /// # Errors
    /// SQLite refuses to read.
    pub fn totals(&self) -> Result<OrderTotals, StoreError> {
        self.reader().totals()
    }

    /// Takes a connection that reads, however long that takes.
    fn reader(&self) -> PooledConnection<'_, OrderStore> {
        self.readers.take(Duration::MAX).expect("a wait without an end")
    }

    /// Returns the connections for a transaction.
    fn connections(&self, input: &TransactionInput) -> &ConnectionPool<OrderStore> {
        if input.kind().transaction_type().writes() { &self.writer } else { &self.readers }
    }
}

/// The state that the terminals of a load thread share.
#[derive(Debug)]
pub struct EmbeddedContext {
    database: Arc<EmbeddedDatabase>,
    clock: RealClock,
    time_limit: Nanos,
    counts: Mutex<OrderCounts>,
}

impl EmbeddedContext {
    /// Prepares transactions that wait for a connection no longer than a time limit.
    pub fn new(database: Arc<EmbeddedDatabase>, clock: RealClock, time_limit: Nanos) -> Arc<EmbeddedContext> {
        Arc::new(EmbeddedContext { database, clock, time_limit, counts: Mutex::default() })
    }

    /// Returns what became of the transactions of terminals that have ended: those whose drivers are dropped.
    pub fn counts(&self) -> OrderCounts {
        *self.locked_counts()
    }

    fn locked_counts(&self) -> MutexGuard<'_, OrderCounts> {
        // Nothing that is done with the lock panics.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A driver of one terminal, whose calls perform its transactions.
#[derive(Debug)]
pub struct EmbeddedDriver {
    context: Arc<EmbeddedContext>,
    counts: Counters,
}

impl EmbeddedDriver {
    /// Creates the driver of a terminal.
    pub fn new(context: Arc<EmbeddedContext>) -> EmbeddedDriver {
        EmbeddedDriver { context, counts: Counters::default() }
    }

    /// Performs a transaction that is sent now; returns its end and its measures.
    fn transact(
        &self,
        input: &TransactionInput,
        sent: Nanos,
    ) -> Result<(Nanos, MeasuredValues), OperationFailure> {
        let EmbeddedContext { database, clock, time_limit, .. } = &*self.context;
        let wait_max = sent.saturating_add(*time_limit).saturating_sub(clock.now());
        let connection = database.connections(input).take(Duration::from_nanos(wait_max.0));
        let connection = connection.ok_or(OperationFailure::new(Outcome::TimedOut, 0))?;
        let begun = clock.now();
        let open = OpenTransaction::begin(&self.counts, input);
        let performed = connection.perform(input, wall());
        let done = clock.now();
        drop(connection);
        let performed = match performed {
            Ok(performed) => performed,
            Err(why) => {
                open.end_without_changes();
                return Err(verify::status_failure(why.status()));
            }
        };
        if let Some(code) = verify::fault(input, &performed.output) {
            return Err(OperationFailure::new(Outcome::WrongBytes, code));
        }
        open.end(&performed.output);
        let queue = begun.saturating_sub(sent);
        let service = done.saturating_sub(begun);
        Ok((done, measured(input, queue, service, performed.n_retries)))
    }
}

/// Returns the measures of a transaction that succeeded. Nothing went over a network.
fn measured(input: &TransactionInput, queue: Nanos, service: Nanos, n_retries: u32) -> MeasuredValues {
    let measures = [
        (order_measure::QUEUE, queue.0),
        (order_measure::SERVICE, service.0),
        (order_measure::RETRIES, n_retries.into()),
    ];
    order_values(measures, order_measure::of_input(input), true)
}

impl Drop for EmbeddedDriver {
    fn drop(&mut self) {
        self.context.locked_counts().add(self.counts.get());
    }
}

impl BlockingDriver for EmbeddedDriver {
    type Operation = OrderRequest;

    fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        match self.transact(&request.input, sent) {
            Ok((done, measured)) => OperationFailure::NONE.into_reply(sent, done, measured),
            Err(failure) => {
                let reply = failure.into_reply(sent, self.context.clock.now(), MeasuredValues::default());
                Reply { code: verify::code(&failure), ..reply }
            }
        }
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        let status = || u16::try_from(reply.detail).ok().and_then(OrderEntryStatus::from_number);
        let text = match reply.outcome {
            Outcome::TimedOut => format!("not done in time, but ended after {}", reply.done - reply.sent),
            Outcome::WrongStatus => {
                format!("the database: {}", status().map_or("an unknown status", OrderEntryStatus::describe))
            }
            outcome => describe::failure(&OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", request.input.kind().name())
    }
}

/// The same as a task that keeps its thread for itself: where no other task has to go on meanwhile.
impl Driver for EmbeddedDriver {
    type Operation = OrderRequest;

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        BlockingDriver::perform(self, request, sent)
    }

    /// A transaction has ended when its call returns.
    fn give_up(&mut self) {}

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        BlockingDriver::describe(self, request, reply)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use orders::{
        CustomerSelector, DataScale, DeliveryInput, DistrictKey, NewOrderInput, OrderStatusInput,
        OrderedItem, OrderedItems, Population,
    };
    use orderstore::Synchronous;

    use super::*;

    /// Opens new data of a warehouse in a folder, with one connection that reads.
    fn database(folder: &Path) -> Arc<EmbeddedDatabase> {
        let path = folder.join("orders.db");
        let population = Population::new(1, DataScale::new(1, 100).unwrap(), wall());
        orderstore::create(&path, &population, |_| ControlFlow::Continue(())).unwrap();
        let open = || OrderStore::open(&path, Synchronous::Normal).unwrap();
        Arc::new(EmbeddedDatabase::new(open(), vec![open()]))
    }

    fn perform(terminal: &mut EmbeddedDriver, input: TransactionInput) -> (Outcome, u32, String) {
        let request = OrderRequest { input };
        let sent = terminal.context.clock.now();
        let reply = BlockingDriver::perform(terminal, &request, sent);
        (reply.outcome, reply.code, BlockingDriver::describe(terminal, &request, &reply))
    }

    const DISTRICT: DistrictKey = DistrictKey { warehouse: 1, district: 1 };
    const DELIVERY: TransactionInput = TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier: 1 });

    fn status_of(customer: u32) -> TransactionInput {
        let customer = CustomerSelector::Number(customer);
        TransactionInput::OrderStatus(OrderStatusInput { district: DISTRICT, customer })
    }

    /// Goal: who waits for the writer gives up in time, others read meanwhile, and nothing is in doubt.
    #[test]
    fn a_terminal_waits_for_a_connection_no_longer_than_the_time_limit() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(folder.path());
        let limit = Nanos::from_millis(30);
        let context = EmbeddedContext::new(Arc::clone(&database), RealClock::start(), limit);
        let mut terminal = EmbeddedDriver::new(Arc::clone(&context));
        let writer = database.writer.take(Duration::ZERO).unwrap();
        let sent = context.clock.now();
        let (outcome, code, text) = perform(&mut terminal, DELIVERY);
        assert!(limit <= context.clock.now() - sent);
        assert_eq!((outcome, code), (Outcome::TimedOut, 0), "{text}");
        assert!(text.starts_with("delivery: not done in time, but ended after "), "{text}");
        assert_eq!(perform(&mut terminal, status_of(1)).0, Outcome::Ok);
        drop(writer);
        // The machine may be slow: the limit is for the wait only.
        assert_eq!(perform(&mut terminal, DELIVERY).0, Outcome::Ok);
        assert_eq!(context.counts(), OrderCounts::default(), "those of terminals that have ended");
        drop(terminal);
        assert_eq!(context.counts(), OrderCounts { delivered: 10, ..OrderCounts::default() });
    }

    /// Small data have 30 customers in a district.
    #[test]
    fn a_transaction_that_fails_has_a_status_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let database = database(folder.path());
        let before = database.totals().unwrap();
        let context = EmbeddedContext::new(Arc::clone(&database), RealClock::start(), Nanos::from_secs(60));
        let mut terminal = EmbeddedDriver::new(Arc::clone(&context));
        let line = OrderedItem { item: 1, supply_warehouse: 1, quantity: 1 };
        let order = NewOrderInput {
            district: DISTRICT,
            customer: 31,
            items: OrderedItems::new(&[line; 5]).unwrap(),
            is_rolled_back: false,
        };
        for (input, name) in
            [(TransactionInput::NewOrder(order), "new-order"), (status_of(31), "order-status")]
        {
            let (outcome, code, text) = perform(&mut terminal, input);
            assert_eq!((outcome, code), (Outcome::WrongStatus, OrderEntryStatus::MissingRow as u32));
            assert_eq!(text, format!("{name}: the database: the data lack a row"));
        }
        drop(terminal);
        assert_eq!(context.counts(), OrderCounts::default(), "nothing is in doubt");
        assert_eq!(database.totals().unwrap(), before);
        for condition in ConsistencyCondition::ALL {
            assert_eq!(database.violations(condition).unwrap(), ConditionResult::default());
        }
    }
}
