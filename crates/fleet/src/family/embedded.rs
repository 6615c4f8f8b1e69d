//! Order entry in SQLite within this process, which has no server: users are threads that perform their transactions.
//!
//! The data are those of the built-in server, with the same golden copy, from which they are restored before each load
//! point.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use drivers::orders::{EmbeddedContext, EmbeddedDatabase, EmbeddedDriver};
use engine::Driver;
use model::{CheckMoment, Fact, FactSection, OrderEntryWorkload, OrderRequest, Plan, Reply};
use observe::ResourceMonitor;
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals};
use orderstore::{OrderStore, StoreCounts, StoreError};
use servers::orders::{OrderData, OrderOptions, OrderServerError};
use units::{Nanos, RealClock};

use super::database_monitor::EmbeddedMonitor;
use super::order_entry::{
    ConditionSource, OrdersBefore, check_room, checked, checked_conditions, data_row, named, probe_of,
    workload,
};
use super::profile::EmbeddedData;
use super::target::{LoadTarget, ResolvedTarget};
use super::{SetupError, deferred, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::thread::{CpuMeter, ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The name in messages and reports.
const NAME: &str = "embedded SQLite";

/// The database in place of a server.
pub(super) const EMBEDDED: EmbeddedData = EmbeddedData {
    described: "none, the database is in this process",
    has_golden: true,
    start: |plan, directory, observer, stop| {
        Ok(ResolvedTarget::of(EmbeddedTarget::start(plan, directory, observer, stop)?))
    },
};

/// A database within this process that load is put on.
#[derive(Debug, Clone)]
pub(crate) struct EmbeddedTarget {
    shared: Arc<SharedData>,
}

/// The data, and the connections to them.
#[derive(Debug)]
struct SharedData {
    /// The connections; `None` until they are needed, and while the data are restored. Closed before the data go.
    open: Mutex<Option<Arc<EmbeddedDatabase>>>,
    data: OrderData,
    n_readers: u32,
}

impl EmbeddedTarget {
    /// Makes the data of a plan in a directory: from the golden copy, which is made if it is not there.
    ///
    /// # Errors
    /// The disk has no room for them, the directory cannot be used, or `stop` is set.
    pub(crate) fn start(
        plan: &Plan,
        directory: &Path,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<EmbeddedTarget, FleetError> {
        let workload = workload(plan).map_err(VerifyError::from)?;
        check_room(workload, directory)?;
        observer.event(Event::Preparing("making the data of SQLite within this process"));
        let options = OrderOptions {
            seed: workload.population_seed,
            ..OrderOptions::new(workload.scale, directory.to_owned())
        };
        let total: u64 = OrderTable::ALL.into_iter().map(|table| workload.scale.rows(table)).sum();
        let mut told = 0;
        let mut progress = |done: u64| {
            if told + total / 100 <= done {
                told = done;
                observer.event(Event::Rows { done, total });
            }
            go_on_unless_stopped(stop)
        };
        let data = OrderData::create(&options, &mut progress).map_err(|why| match why {
            OrderServerError::Store(StoreError::Stopped) => FleetError::from(VerifyError::Interrupted),
            why => FleetError::EmbeddedData(why),
        })?;
        let shared = SharedData { open: Mutex::default(), data, n_readers: options.readers };
        Ok(EmbeddedTarget { shared: Arc::new(shared) })
    }

    /// Returns the connections to the data as they are, which are opened if they are not.
    fn database(&self) -> Result<Arc<EmbeddedDatabase>, StoreError> {
        let SharedData { data, n_readers, .. } = &*self.shared;
        let mut open = self.open();
        if let Some(database) = &*open {
            return Ok(Arc::clone(database));
        }
        let writer = data.open()?;
        let readers = (0..*n_readers).map(|_| data.open()).collect::<Result<Vec<OrderStore>, _>>()?;
        let database = Arc::new(EmbeddedDatabase::new(writer, readers));
        Ok(Arc::clone(open.insert(database)))
    }

    fn open(&self) -> MutexGuard<'_, Option<Arc<EmbeddedDatabase>>> {
        // A load thread that panics there ends the run.
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counts of all connections.
    fn counts(&self) -> Arc<StoreCounts> {
        Arc::clone(self.shared.data.counts())
    }

    /// Sets up what all terminals of a thread share.
    fn context(&self, plan: &Plan, clock: RealClock) -> Result<Arc<EmbeddedContext>, SetupError> {
        Ok(EmbeddedContext::new(self.database()?, clock, plan.time_limit))
    }

    /// Brings the data back to their first state. Nobody uses the connections.
    fn restore(&self, stop: &AtomicBool) -> Result<(), VerifyError> {
        *self.open() = None;
        self.shared.data.load(false, &mut |_| go_on_unless_stopped(stop)).map_err(|why| match why {
            OrderServerError::Store(StoreError::Stopped) => VerifyError::Interrupted,
            why => VerifyError::WrongData { target: NAME.to_owned(), text: why.to_string() },
        })
    }

    /// Returns what is disclosed of the database.
    fn section(&self) -> FactSection {
        let described = self.shared.data.description();
        let database = described.map_or("none".to_owned(), |data| data.database.as_str().to_owned());
        let readers = self.shared.n_readers;
        let facts = [
            ("database", database),
            (
                "process",
                "that of the load generator: users call it, so that response times have no network in them"
                    .to_owned(),
            ),
            ("connections", format!("1 for transactions that write, {readers} for those that read")),
            ("CPU time", "that of the threads of users within transactions".to_owned()),
        ];
        let facts = facts.map(|(name, value)| Fact::found(name, &value).from("set by this run"));
        FactSection { title: "System under test".to_owned(), facts: facts.into() }
    }
}

impl LoadTarget for EmbeddedTarget {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn name(&self) -> String {
        NAME.to_owned()
    }

    fn host(&self) -> Option<&str> {
        None
    }

    fn in_process(&self) -> Option<FactSection> {
        Some(self.section())
    }

    /// Makes a transaction of every kind, and restores the data.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (probe, requests) = probe_of(plan, workload(plan)?, NAME.to_owned(), clock);
        let driver = EmbeddedDriver::new(self.context(plan, clock)?);
        unless_stopped(stop, probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None))?;
        self.restore(stop)
    }

    /// Checks the consistency conditions; after a load point also that the orders are as many as the terminals counted.
    fn check(
        &self,
        plan: &Plan,
        _: RealClock,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        let workload = workload(plan)?;
        checked(found_conditions(workload, self, moment, counts), stop)
    }

    fn monitor(&self) -> Option<Box<dyn ResourceMonitor>> {
        Some(Box::new(EmbeddedMonitor(self.counts())))
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let plan = work.plan;
        let clock = work.clock;
        let context = self.context(plan, clock)?;
        let terminal = |_| EmbeddedDriver::new(Arc::clone(&context));
        let meter = CpuMeter::default();
        let beside = meter.clone();
        let mut counts = deferred::run_blocking(work, workload(plan)?, terminal, beside, |background| {
            let context = self.context(plan, clock)?;
            let session =
                || MeteredDriver { driver: EmbeddedDriver::new(Arc::clone(&context)), meter: meter.clone() };
            let deferred = background.perform(session)?;
            Ok((deferred, named(&context.counts())))
        })?;
        counts.add(&named(&context.counts()));
        Ok(counts)
    }
}

fn go_on_unless_stopped(stop: &AtomicBool) -> ControlFlow<()> {
    if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl ConditionSource for Arc<EmbeddedDatabase> {
    type Error = StoreError;

    async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        _: &DataScale,
    ) -> Result<ConditionResult, StoreError> {
        // A request to stop is noticed between two conditions.
        tokio::task::yield_now().await;
        EmbeddedDatabase::violations(self, condition)
    }

    async fn totals(&mut self) -> Result<OrderTotals, StoreError> {
        EmbeddedDatabase::totals(self)
    }
}

/// Checks the conditions, with a row about the data before a load point.
async fn found_conditions(
    workload: &OrderEntryWorkload,
    target: &EmbeddedTarget,
    moment: CheckMoment,
    counts: &FamilyCounts,
) -> Result<Vec<CheckedRow>, StoreError> {
    let mut database = target.database()?;
    let described = target.shared.data.description().filter(|_| moment == CheckMoment::Before);
    let mut found: Vec<CheckedRow> = described.iter().map(data_row).collect();
    let before = OrdersBefore::AsLoaded;
    found.extend(checked_conditions(&workload.scale, &mut database, (moment, counts), &before).await?);
    Ok(found)
}

/// A session in the background, with a meter of its thread.
struct MeteredDriver {
    driver: EmbeddedDriver,
    meter: CpuMeter,
}

impl Driver for MeteredDriver {
    type Operation = OrderRequest;

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        let reply = Driver::perform(&mut self.driver, request, sent).await;
        self.meter.read_this_thread();
        reply
    }

    fn give_up(&mut self) {
        self.driver.give_up();
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        Driver::describe(&self.driver, request, reply)
    }
}
