//! Deferred deliveries: the terminal's response says that one is queued, and sessions in the background make it.
//!
//! The sessions have a thread of their own beside the load thread, which goes on when its users have ended until the queue
//! is empty.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use engine::{BlockingDriver, Driver, SessionError};
use model::{MeasuredValues, OrderEntryWorkload, OrderRequest, Outcome, Reply, order_measure};
use orders::TransactionType;
use tokio::runtime::{Builder, Handle, LocalOptions};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, oneshot};
use units::{Clock, Nanos, RealClock};

use crate::net::OperationFailure;

/// The most deliveries of a load thread that wait. One that finds no place has failed.
const QUEUE_MAX: usize = 65_536;

/// The sessions of a load thread in the background.
pub const BACKGROUND_SESSIONS: usize = 4;

/// The longest that a delivery may take from its queueing on, of nine in ten. Source: tpcc-mysql, whose
/// limit for deliveries this is.
pub const DEFERRED_MAX: Nanos = Nanos::from_secs(80);

/// The longest that sessions go on when no terminal queues any more.
const DRAIN_MAX: Duration = Duration::from_secs(90);

/// The longest that requests to cancel deliveries may take at the end.
const CANCEL_MAX: Duration = Duration::from_secs(1);

/// A delivery that waits.
#[derive(Debug, Clone, Copy)]
struct QueuedDelivery {
    request: OrderRequest,
    /// The time of its queueing, on the clock of the run.
    queued: Nanos,
}

/// The end of a queue at which terminals are.
#[derive(Debug, Clone)]
pub struct DeliveryQueue {
    sender: Sender<QueuedDelivery>,
    /// The measures of a delivery that is queued: the server has no part in it.
    measured: MeasuredValues,
}

/// The end of a queue at which the sessions in the background are.
#[derive(Debug)]
pub struct BackgroundDeliveries {
    queue: Receiver<QueuedDelivery>,
    /// Tells that the users have ended.
    is_over: oneshot::Receiver<()>,
}

/// Makes the queue of a load thread, for terminals of this workload; the last is sent when its users have ended.
pub fn delivery_queue(
    workload: &OrderEntryWorkload,
) -> (DeliveryQueue, BackgroundDeliveries, oneshot::Sender<()>) {
    let ((sender, queue), (over, is_over)) = (channel(QUEUE_MAX), oneshot::channel());
    // Those that all transactions have; to queue a delivery takes none of them.
    let mut measured = MeasuredValues::default();
    let measures = workload.catalog().measures;
    let slot = |measure| order_measure::slot(measure, workload.sql.has_server_times());
    let always = measures.iter().enumerate().filter(|(_, measure)| measure.is_always);
    always.for_each(|(index, _)| measured.set(slot(index), 0));
    (DeliveryQueue { sender, measured }, BackgroundDeliveries { queue, is_over }, over)
}

/// A driver whose deliveries are queued, and whose other transactions are made at once.
#[derive(Debug)]
pub struct DeferringDriver<D> {
    terminal: D,
    queue: DeliveryQueue,
    clock: RealClock,
}

impl<D> DeferringDriver<D> {
    /// Makes the driver of a terminal, on the clock of the run.
    pub fn new(terminal: D, queue: DeliveryQueue, clock: RealClock) -> DeferringDriver<D> {
        DeferringDriver { terminal, queue, clock }
    }

    /// Queues a delivery that is sent now.
    fn queue(&self, request: &OrderRequest, sent: Nanos) -> Reply {
        let queued = self.clock.now();
        let ended = match self.queue.sender.try_send(QueuedDelivery { request: *request, queued }) {
            Ok(()) => OperationFailure::NONE,
            Err(_) => OperationFailure::new(Outcome::Busy, 0),
        };
        ended.into_reply(sent, queued, self.queue.measured)
    }
}

/// Describes a delivery that was not queued.
fn describe_full() -> String {
    format!("delivery: {QUEUE_MAX} deliveries are already queued")
}

fn is_delivery(request: &OrderRequest) -> bool {
    request.input.kind().transaction_type() == TransactionType::Delivery
}

impl<D: Driver<Operation = OrderRequest>> Driver for DeferringDriver<D> {
    type Operation = OrderRequest;

    const OPENS_WHEN_NEEDED: bool = D::OPENS_WHEN_NEEDED;

    async fn open(&mut self) -> Result<(), SessionError> {
        self.terminal.open().await
    }

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        if is_delivery(request) {
            self.queue(request, sent)
        } else {
            self.terminal.perform(request, sent).await
        }
    }

    fn give_up(&mut self) {
        self.terminal.give_up();
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        if is_delivery(request) { describe_full() } else { self.terminal.describe(request, reply) }
    }
}

impl<D: BlockingDriver<Operation = OrderRequest>> BlockingDriver for DeferringDriver<D> {
    type Operation = OrderRequest;

    fn open(&mut self) -> Result<(), SessionError> {
        self.terminal.open()
    }

    fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        if is_delivery(request) { self.queue(request, sent) } else { self.terminal.perform(request, sent) }
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        if is_delivery(request) { describe_full() } else { self.terminal.describe(request, reply) }
    }
}

/// The fate of the deliveries that were queued in the steady phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeferredCounts {
    /// All of them.
    pub queued: u64,
    /// Those that succeeded within [`DEFERRED_MAX`].
    pub in_time: u64,
}

/// The tally of the sessions in the background.
struct DeferredTally<'a> {
    is_counted: &'a dyn Fn(Nanos) -> bool,
    counts: Cell<DeferredCounts>,
}

impl DeferredTally<'_> {
    fn count(&self, delivery: &QueuedDelivery, in_time: bool) {
        if (self.is_counted)(delivery.queued) {
            let DeferredCounts { queued, in_time: before } = self.counts.get();
            let in_time = before + u64::from(in_time);
            self.counts.set(DeferredCounts { queued: queued + 1, in_time });
        }
    }
}

impl BackgroundDeliveries {
    /// Makes the deliveries by [`BACKGROUND_SESSIONS`] drivers until the users have ended and none is left, at most 90 s
    /// longer than they, or until `stopped` returns. Those of a time that `is_counted` are counted. Blocks the calling thread.
    ///
    /// # Errors
    /// The system refuses a runtime.
    pub fn perform<D: Driver<Operation = OrderRequest>>(
        self,
        driver: impl FnMut() -> D,
        is_counted: &dyn Fn(Nanos) -> bool,
        clock: RealClock,
        stopped: impl Future<Output = ()>,
    ) -> io::Result<DeferredCounts> {
        let BackgroundDeliveries { queue, is_over } = self;
        let runtime =
            Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
        let tally = DeferredTally { is_counted, counts: Cell::default() };
        let queue = Mutex::new(queue);
        runtime.block_on(async {
            let mut drivers: Vec<D> = std::iter::repeat_with(driver).take(BACKGROUND_SESSIONS).collect();
            let sessions = drivers.iter_mut().map(|driver| work(driver, &queue, &tally, clock));
            tokio::select! {
                _ = futures::future::join_all(sessions) => {}
                () = drained(is_over) => {}
                () = stopped => {}
            }
            // Deliveries that were under way are not done, and their sessions are of no use. Tasks have them cancelled.
            drivers.iter_mut().for_each(Driver::give_up);
            let _ = tokio::time::timeout(CANCEL_MAX, ended_tasks()).await;
            while let Ok(left) = queue.lock().await.try_recv() {
                tally.count(&left, false);
            }
        });
        Ok(tally.counts.get())
    }
}

/// Returns when the users have ended for so long that nothing more is waited for.
async fn drained(is_over: oneshot::Receiver<()>) {
    // The sender may be gone: then the users have ended, too.
    let _ = is_over.await;
    tokio::time::sleep(DRAIN_MAX).await;
}

/// Returns when no task of this runtime is left.
async fn ended_tasks() {
    while 0 < Handle::current().metrics().num_alive_tasks() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Makes deliveries one after another, until no terminal can queue one and none is left.
async fn work<D: Driver<Operation = OrderRequest>>(
    driver: &mut D,
    queue: &Mutex<Receiver<QueuedDelivery>>,
    tally: &DeferredTally<'_>,
    clock: RealClock,
) {
    // A session that cannot be opened now is opened by its first delivery.
    let _ = driver.open().await;
    loop {
        let Some(delivery) = queue.lock().await.recv().await else { return };
        let mut open = OpenDelivery { delivery: &delivery, tally, in_time: false };
        let performed = driver.perform(&delivery.request, clock.now());
        match tokio::time::timeout(Duration::from_nanos(DEFERRED_MAX.0), performed).await {
            Ok(reply) => {
                open.in_time = reply.outcome == Outcome::Ok && reply.done <= delivery.queued + DEFERRED_MAX;
            }
            // It keeps locks for which others may wait.
            Err(_) => driver.give_up(),
        }
    }
}

/// A delivery that is under way, counted at its end; not made in time if it is dropped before.
struct OpenDelivery<'a> {
    delivery: &'a QueuedDelivery,
    tally: &'a DeferredTally<'a>,
    in_time: bool,
}

impl Drop for OpenDelivery<'_> {
    fn drop(&mut self) {
        self.tally.count(self.delivery, self.in_time);
    }
}

#[cfg(test)]
mod tests {
    use model::OrderSql;
    use orders::{DeliveryInput, StockLevelInput, TransactionInput};

    use super::*;

    /// A database in which every transaction takes some time, and fails where the carrier is 10.
    struct SlowDatabase(Duration, RealClock);

    /// The number of transactions that slow databases were asked to cancel in the calling thread, which takes them a moment.
    fn n_cancelled() -> &'static std::thread::LocalKey<Cell<u32>> {
        thread_local!(static CANCELLED: Cell<u32> = const { Cell::new(0) });
        &CANCELLED
    }

    impl Driver for SlowDatabase {
        type Operation = OrderRequest;

        async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
            tokio::time::sleep(self.0).await;
            let fails = matches!(&request.input, TransactionInput::Delivery(input) if input.carrier == 10);
            let outcome = if fails { Outcome::WrongStatus } else { Outcome::Ok };
            OperationFailure::new(outcome, 0).into_reply(sent, self.1.now(), MeasuredValues::default())
        }

        fn give_up(&mut self) {
            tokio::task::spawn_local(async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                n_cancelled().set(n_cancelled().get() + 1);
            });
        }

        fn describe(&self, _: &OrderRequest, _: &Reply) -> String {
            "slow".to_owned()
        }
    }

    fn stored() -> OrderEntryWorkload {
        OrderEntryWorkload { sql: OrderSql::Stored, ..OrderEntryWorkload::default() }
    }

    fn delivery(carrier: u32) -> OrderRequest {
        OrderRequest { input: TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier }) }
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_delivery_is_queued_at_once_and_made_when_the_users_have_ended() {
        let clock = RealClock::start();
        let (queue, background, over) = delivery_queue(&stored());
        let database = || SlowDatabase(Duration::from_millis(30), clock);
        let mut driver = DeferringDriver::new(database(), queue, clock);
        run(async {
            for carrier in [1, 2, 10, 3, 4, 5, 6] {
                let sent = clock.now();
                let reply = driver.perform(&delivery(carrier), sent).await;
                assert_eq!(
                    (reply.outcome, reply.measured.get(order_measure::ROUND_TRIPS)),
                    (Outcome::Ok, Some(0))
                );
                assert!(reply.done - sent < Nanos::from_millis(20), "{}", reply.done - sent);
            }
            let district = orders::DistrictKey { warehouse: 1, district: 1 };
            let input = StockLevelInput { district, threshold: 10 };
            let sent = clock.now();
            let reply =
                driver.perform(&OrderRequest { input: TransactionInput::StockLevel(input) }, sent).await;
            assert!(Nanos::from_millis(30) <= reply.done - sent, "others are made at once");
        });
        drop(driver);
        let _ = over.send(());
        let counts = background.perform(database, &|_| true, clock, std::future::pending()).unwrap();
        assert_eq!(counts, DeferredCounts { queued: 7, in_time: 6 }, "one fails");
    }

    #[test]
    fn what_is_not_made_is_counted_and_other_phases_are_not() {
        let clock = RealClock::start();
        let (queue, background, _over) = delivery_queue(&stored());
        let mut driver = DeferringDriver::new(SlowDatabase(Duration::ZERO, clock), queue, clock);
        run(async {
            for _ in 0..10 {
                driver.perform(&delivery(1), clock.now()).await;
            }
        });
        let endless = || SlowDatabase(Duration::from_secs(3600), clock);
        let counts = background.perform(endless, &|_| true, clock, std::future::ready(())).unwrap();
        assert_eq!(counts, DeferredCounts { queued: 10, in_time: 0 });
        assert_eq!(n_cancelled().get() as usize, BACKGROUND_SESSIONS, "before the thread ends");
        let (queue, background, over) = delivery_queue(&stored());
        let mut driver = DeferringDriver::new(SlowDatabase(Duration::ZERO, clock), queue, clock);
        run(async { driver.perform(&delivery(1), clock.now()).await });
        drop((driver, over));
        let quick = || SlowDatabase(Duration::ZERO, clock);
        let counts = background.perform(quick, &|_| false, clock, std::future::pending()).unwrap();
        assert_eq!(counts, DeferredCounts::default());
    }
}
