//! Terminals that work at the same time, whatever happens to their server meanwhile.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use drivers::orders::{DatabaseContext, DatabaseDriver, OrderCounts};
use engine::Driver;
use model::Outcome;
use orders::{OrderTotals, TransactionType};
use tokio::task::JoinHandle;
use units::{Clock, RealClock};

use super::fixture::{Inputs, scale};
use crate::common::TRANSACTION_MAX;

/// Terminals that work at the same time.
pub(crate) const TERMINALS: u32 = 6;

/// The longest that terminals take for what is waited for, a server that comes up again included.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// The pause of a terminal after a failure.
const PAUSE: Duration = Duration::from_millis(50);

/// A transaction that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) outcome: Outcome,
    pub(crate) code: u32,
    pub(crate) text: String,
}

/// The record of one terminal.
#[derive(Debug, Default)]
struct TerminalRecord {
    n_done: Cell<u32>,
    failures: RefCell<Vec<Failure>>,
}

/// Terminals at work, each with a session of its own.
pub(crate) struct Terminals {
    is_over: Rc<Cell<bool>>,
    records: Vec<Rc<TerminalRecord>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Terminals {
    /// Starts them.
    pub(crate) fn start(context: &Rc<DatabaseContext>) -> Terminals {
        let is_over = Rc::new(Cell::new(false));
        let records: Vec<Rc<TerminalRecord>> = (0..TERMINALS).map(|_| Rc::default()).collect();
        let tasks = (0..).zip(&records).map(|(user, record)| {
            let context = Rc::clone(context);
            let record = Rc::clone(record);
            let is_over = Rc::clone(&is_over);
            tokio::task::spawn_local(async move { work(&context, user, &record, &is_over).await })
        });
        let tasks = tasks.collect();
        Terminals { is_over, records, tasks }
    }

    /// Waits until each terminal has succeeded with so many more transactions.
    pub(crate) async fn wait_for_successes(&self, n: u32) {
        self.wait_for(n, "successes", |record| record.n_done.get()).await;
    }

    /// Waits until each terminal has failed with so many more transactions.
    pub(crate) async fn wait_for_failures(&self, n: u32) {
        self.wait_for(n, "failures", |record| record.failures.borrow().len() as u32).await;
    }

    /// Waits until one of the terminals has failed with a transaction.
    pub(crate) async fn wait_for_a_failure(&self) {
        let has_failed = |record: &Rc<TerminalRecord>| !record.failures.borrow().is_empty();
        self.wait_until(|| self.records.iter().any(has_failed), "a failure").await;
    }

    async fn wait_for(&self, n: u32, of: &str, count: impl Fn(&TerminalRecord) -> u32) {
        let counts = || self.records.iter().map(|record| count(record)).collect::<Vec<u32>>();
        let before = counts();
        let is_reached = || before.iter().zip(counts()).all(|(before, now)| before + n <= now);
        self.wait_until(is_reached, &format!("{n} more {of} each than {before:?}")).await;
    }

    async fn wait_until(&self, is_reached: impl Fn() -> bool, what: &str) {
        let reached = async {
            while !is_reached() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let is_in_time = tokio::time::timeout(WAIT_MAX, reached).await.is_ok();
        assert!(is_in_time, "not {what}: {:?}", self.records);
    }

    /// Ends them, each after its transaction; returns those that failed.
    pub(crate) async fn end(self) -> Vec<Failure> {
        self.is_over.set(true);
        for task in self.tasks {
            tokio::time::timeout(WAIT_MAX, task).await.expect("a terminal goes on").unwrap();
        }
        self.records.iter().flat_map(|record| record.failures.take()).collect()
    }
}

/// Performs transactions of all types in turn.
async fn work(context: &DatabaseContext, user: u32, record: &TerminalRecord, is_over: &Cell<bool>) {
    let mut driver = DatabaseDriver::new(context);
    let mut inputs = Inputs::of(user);
    for kind in TransactionType::ALL.into_iter().cycle() {
        if is_over.get() {
            return;
        }
        let request = inputs.next(kind);
        let performed = driver.perform(&request, RealClock::start().now());
        let reply = tokio::time::timeout(TRANSACTION_MAX, performed).await.expect("a transaction ends");
        if reply.outcome == Outcome::Ok {
            record.n_done.set(record.n_done.get() + 1);
            continue;
        }
        let text = driver.describe(&request, &reply);
        record.failures.borrow_mut().push(Failure { outcome: reply.outcome, code: reply.code, text });
        tokio::time::sleep(PAUSE).await;
    }
}

/// Checks that the orders since other totals are those that terminals know of, and perhaps those in doubt.
pub(crate) fn check_orders(before: &OrderTotals, after: &OrderTotals, counts: &OrderCounts) {
    let known = |n: i64, least: u64, in_doubt: u64| {
        let n = u64::try_from(n).unwrap();
        assert!(least <= n && n <= least + in_doubt, "{n}, {counts:?}");
    };
    known(after.placed_since(before), counts.placed, counts.placed_in_doubt);
    let delivered = |totals: &OrderTotals| totals.delivered_since_load(&scale());
    known(delivered(after) - delivered(before), counts.delivered, counts.delivered_in_doubt);
}
