//! The five transactions on a connection, and the wait for the lock of others: in a session that holds all statements,
//! or one by one by statements that the connection keeps prepared.

use std::thread;
use std::time::Duration;

use orders::{TransactionInput, TransactionOutput};
use rusqlite::{CachedStatement, Connection};
use units::WallTime;

use crate::counts::StoreCounts;
use crate::error::StoreError;
use crate::transaction::{Delivery, NewOrder, OrderStatus, Payment, StockLevel, TransactionEnd, failed};

/// The first wait for a lock, which doubles up to the longest.
const WAIT_MIN: Duration = Duration::from_micros(100);
const WAIT_MAX: Duration = Duration::from_millis(5);

/// The most waits of a transaction: about ten seconds.
const WAITS_MAX: u32 = 2000;

/// A connection with the prepared statements of all transactions.
pub struct StoreSession<'c> {
    control: Control<'c>,
    new_order: NewOrder<'c>,
    payment: Payment<'c>,
    order_status: OrderStatus<'c>,
    delivery: Delivery<'c>,
    stock_level: StockLevel<'c>,
}

/// A transaction that has been performed.
#[derive(Debug, Clone, PartialEq)]
pub struct PerformedTransaction {
    /// The output.
    pub output: TransactionOutput,
    /// The number of times that it was begun again, because another connection had the lock.
    pub n_retries: u32,
}

impl<'c> StoreSession<'c> {
    pub(crate) fn new(
        database: &'c Connection,
        counts: &'c StoreCounts,
    ) -> rusqlite::Result<StoreSession<'c>> {
        Ok(StoreSession {
            control: Control::new(database, counts)?,
            new_order: NewOrder::new(database)?,
            payment: Payment::new(database)?,
            order_status: OrderStatus::new(database)?,
            delivery: Delivery::new(database)?,
            stock_level: StockLevel::new(database)?,
        })
    }

    /// Performs a transaction; what it writes bears the time `now`.
    ///
    /// It is begun again with the same input, after a growing wait, as long as another connection has the lock.
    ///
    /// # Errors
    /// Nothing has changed: the lock was held for too long, the data lack a row, or SQLite refused.
    pub fn perform(
        &mut self,
        input: &TransactionInput,
        now: WallTime,
    ) -> Result<PerformedTransaction, StoreError> {
        let StoreSession { control, new_order, payment, order_status, delivery, stock_level } = self;
        control.perform(Lock::of(input), || match input {
            TransactionInput::NewOrder(input) => new_order.perform(input, now),
            TransactionInput::Payment(input) => payment.perform(input, now),
            TransactionInput::OrderStatus(input) => order_status.perform(input),
            TransactionInput::Delivery(input) => delivery.perform(input, now),
            TransactionInput::StockLevel(input) => stock_level.perform(input),
        })
    }
}

/// Performs a transaction by statements that the connection keeps prepared.
pub(crate) fn perform(
    database: &Connection,
    counts: &StoreCounts,
    input: &TransactionInput,
    now: WallTime,
) -> Result<PerformedTransaction, StoreError> {
    let mut control = Control::new(database, counts).map_err(failed)?;
    control.perform(Lock::of(input), || match input {
        TransactionInput::NewOrder(input) => NewOrder::new(database).map_err(failed)?.perform(input, now),
        TransactionInput::Payment(input) => Payment::new(database).map_err(failed)?.perform(input, now),
        TransactionInput::OrderStatus(input) => OrderStatus::new(database).map_err(failed)?.perform(input),
        TransactionInput::Delivery(input) => Delivery::new(database).map_err(failed)?.perform(input, now),
        TransactionInput::StockLevel(input) => StockLevel::new(database).map_err(failed)?.perform(input),
    })
}

/// The lock that a transaction begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    Read,
    Write,
}

impl Lock {
    /// Returns the lock of a transaction.
    fn of(input: &TransactionInput) -> Lock {
        if input.kind().transaction_type().writes() { Lock::Write } else { Lock::Read }
    }
}

/// The statements that begin and end transactions.
struct Control<'c> {
    begin: CachedStatement<'c>,
    begin_write: CachedStatement<'c>,
    commit: CachedStatement<'c>,
    rollback: CachedStatement<'c>,
    /// See [`WAITS_MAX`].
    waits_max: u32,
    counts: &'c StoreCounts,
}

impl<'c> Control<'c> {
    fn new(database: &'c Connection, counts: &'c StoreCounts) -> rusqlite::Result<Control<'c>> {
        Ok(Control {
            begin: database.prepare_cached("BEGIN")?,
            begin_write: database.prepare_cached("BEGIN IMMEDIATE")?,
            commit: database.prepare_cached("COMMIT")?,
            rollback: database.prepare_cached("ROLLBACK")?,
            waits_max: WAITS_MAX,
            counts,
        })
    }

    /// Performs a transaction, again while another connection has the lock.
    fn perform(
        &mut self,
        lock: Lock,
        mut body: impl FnMut() -> Result<TransactionEnd, StoreError>,
    ) -> Result<PerformedTransaction, StoreError> {
        let mut n_waits = 0;
        let mut wait = WAIT_MIN;
        loop {
            match self.once(lock, &mut body) {
                Err(why) if why.is_lock() && n_waits < self.waits_max => {
                    self.counts.add_lock_wait();
                    thread::sleep(wait);
                    (n_waits, wait) = (n_waits + 1, WAIT_MAX.min(2 * wait));
                }
                Err(why) if why.is_lock() => return Err(StoreError::Busy { n_waits }),
                ended => return ended.map(|output| PerformedTransaction { output, n_retries: n_waits }),
            }
        }
    }

    fn once(
        &mut self,
        lock: Lock,
        body: &mut impl FnMut() -> Result<TransactionEnd, StoreError>,
    ) -> Result<TransactionOutput, StoreError> {
        let begin = if lock == Lock::Write { &mut self.begin_write } else { &mut self.begin };
        begin.execute([]).map_err(failed)?;
        let ended = body().and_then(|end| match end {
            TransactionEnd::Commit(output) => self.commit.execute([]).map_err(failed).map(|_| output),
            TransactionEnd::Rollback(output) => self.rollback.execute([]).map_err(failed).map(|_| output),
        });
        if ended.is_err() {
            // Fails if SQLite has undone the transaction itself, which is what it is for.
            drop(self.rollback.execute([]));
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use orders::StockLevelOutput;
    use rusqlite::ffi;

    use super::*;

    fn locked() -> StoreError {
        failed(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None))
    }

    fn output() -> TransactionOutput {
        TransactionOutput::StockLevel(StockLevelOutput { n_low: 7 })
    }

    fn n_rows(database: &Connection) -> u32 {
        database.query_row("SELECT COUNT(*) FROM entry", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_transaction_that_meets_a_lock_is_begun_again_and_counted() {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch("CREATE TABLE entry (number INTEGER)").unwrap();
        let counts = StoreCounts::default();
        let mut control = Control::new(&database, &counts).unwrap();
        let mut n_locked = 3;
        let performed = control.perform(Lock::Write, || {
            database.execute("INSERT INTO entry VALUES (1)", []).map_err(failed)?;
            n_locked -= 1;
            if n_locked < 0 { Ok(TransactionEnd::Commit(output())) } else { Err(locked()) }
        });
        assert_eq!(performed.unwrap(), PerformedTransaction { output: output(), n_retries: 3 });
        assert_eq!(counts.lock_waits(), 3);
        assert_eq!(n_rows(&database), 1);
    }

    #[test]
    fn waits_for_a_lock_are_bounded() {
        let database = Connection::open_in_memory().unwrap();
        let counts = StoreCounts::default();
        let mut control = Control::new(&database, &counts).unwrap();
        control.waits_max = 2;
        let performed = control.perform(Lock::Write, || Err(locked()));
        assert!(matches!(performed, Err(StoreError::Busy { n_waits: 2 })), "{performed:?}");
        assert_eq!(counts.lock_waits(), 2);
    }

    #[test]
    fn other_errors_and_rollbacks_undo_and_are_not_repeated() {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch("CREATE TABLE entry (number INTEGER)").unwrap();
        let counts = StoreCounts::default();
        let mut control = Control::new(&database, &counts).unwrap();
        let missing = control.perform(Lock::Write, || {
            database.execute("INSERT INTO entry VALUES (1)", []).map_err(failed)?;
            Err(StoreError::Missing { row: "one".into() })
        });
        assert!(matches!(missing, Err(StoreError::Missing { .. })), "{missing:?}");
        let rolled_back = control.perform(Lock::Write, || {
            database.execute("INSERT INTO entry VALUES (1)", []).map_err(failed)?;
            Ok(TransactionEnd::Rollback(output()))
        });
        assert_eq!(rolled_back.unwrap(), PerformedTransaction { output: output(), n_retries: 0 });
        assert_eq!(n_rows(&database), 0);
    }
}
