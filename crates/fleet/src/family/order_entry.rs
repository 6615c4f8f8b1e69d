//! The order-entry family: transactions of terminals with a database behind our own protocol, and what is the same of all
//! databases.
//!
//! Transactions change the data, and some need what others leave. So each load point begins with the same data: they
//! are restored after the probe, which makes transactions of its own, and before the first check.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use benchmarks::orderentry::OrderTerminals;
use drivers::orders::{
    DEFERRED_MAX, DeferredCounts, OrderCallError, OrderContext, OrderControl, OrderCounts, OrderDriver,
};
use languages::foreign_text;
use model::{CheckMoment, Family, OrderEntryWorkload, OrderRequest, Plan, Workload};
use observe::free_bytes;
use orders::wire::{ConditionResult, DataDescription};
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals};
use units::{Bytes, RealClock};

use super::database::{DatabaseTarget, contents};
use super::probe::Probe;
use super::profile::FamilyProfile;
use super::target::{LoadTarget, ResolvedTarget};
use super::{
    ServerForm, SetupError, TargetTextError, deferred, embedded, host_and_port, host_of, unless_stopped,
};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The notation of a target. A text before `@` may be a password, so the error does not repeat the target.
const EXPECTED: &str = "expected `orders://HOST:PORT`, such as `orders://127.0.0.1:7000`";

/// The most rows that violate a condition and are written down.
const ROWS_MAX: usize = 3;

// Names of counts.
const PLACED: &str = "orders placed";
const PLACED_IN_DOUBT: &str = "new orders in doubt";
const DELIVERED: &str = "orders delivered";
const DELIVERED_IN_DOUBT: &str = "orders that deliveries in doubt may have delivered";
const SKIPPED: &str = "districts without an order to deliver";
const DEFERRED: &str = "deferred deliveries";
const DEFERRED_IN_TIME: &str = "deferred deliveries within 80 s";

/// The number by which sessions in the background introduce themselves. A server knows no difference between terminals.
const BACKGROUND_TERMINAL: u32 = 0;

/// A server of order-entry data, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderDatabase {
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// Reads `orders://HOST:PORT`.
impl FromStr for OrderDatabase {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<OrderDatabase, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let (host, port) = host_and_port(rest, EXPECTED)?;
        let port = port.filter(|_| scheme.eq_ignore_ascii_case("orders")).ok_or_else(form)?;
        Ok(OrderDatabase { host, port })
    }
}

impl fmt::Display for OrderDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "orders://{}:{}", self.host, self.port)
    }
}

/// A server of order-entry data that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct OrderTarget {
    /// The server as named.
    pub(super) server: OrderDatabase,
    /// One of its addresses, allowed by the policy.
    pub(super) address: SocketAddr,
}

impl OrderTarget {
    /// Makes the target of a server that this run has started.
    pub(super) fn of_address(address: SocketAddr) -> OrderTarget {
        OrderTarget { server: OrderDatabase { host: host_of(address.ip()), port: address.port() }, address }
    }

    /// Sets up what all sessions of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a OrderEntryWorkload, Rc<OrderContext>), SetupError> {
        let workload = workload(plan)?;
        Ok((workload, OrderContext::new(workload, self.address, &plan.source_addresses, clock)?))
    }

    fn wrong_data(&self, text: String) -> VerifyError {
        VerifyError::WrongData { target: self.server.to_string(), text }
    }
}

impl LoadTarget for OrderTarget {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn name(&self) -> String {
        self.server.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.server.host)
    }

    fn external(&self) -> Option<ServerForm> {
        Some(ServerForm::order_entry(&self.server))
    }

    /// Checks that the server has the data of the plan, makes a transaction of every kind, and has the data restored.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let (probe, requests) = probe_of(plan, workload, self.server.to_string(), clock);
        unless_stopped(stop, async {
            // First: where there is no connection, it says so.
            let driver = OrderDriver::new(Rc::clone(&context), 0);
            probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None).await?;
            let refused = |error: OrderCallError| self.wrong_data(error.to_string());
            let mut control = OrderControl::open(Rc::clone(&context)).await.map_err(refused)?;
            if let Some(other) = other_rows(workload, &control) {
                return Err(self.wrong_data(other));
            }
            control.restore().await.map_err(refused)
        })
    }

    /// Checks the consistency conditions; after a load point also that the orders are as many as the terminals counted.
    fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        checked(found_conditions(&workload.scale, context, moment, counts), stop)
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, context) = self.context(work.plan, work.clock)?;
        let plan = work.plan;
        let clock = work.clock;
        let terminal = |user| OrderDriver::new(Rc::clone(&context), user);
        let mut counts = deferred::run(work, workload, terminal, |background| {
            let (_, context) = self.context(plan, clock)?;
            let deferred =
                background.perform(|| OrderDriver::new(Rc::clone(&context), BACKGROUND_TERMINAL))?;
            Ok((deferred, named(&context.counts())))
        })?;
        counts.add(&named(&context.counts()));
        Ok(counts)
    }
}

/// Order entry as runs know it, on all databases: transactions change the data, and some load them before they answer.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATEFUL,
    ready_max: Duration::from_secs(600),
    checked_things: "transactions",
    files: None,
    built_in_restores: true,
    variant: |workload| workload_of(workload).is_ok_and(|orders| orders.is_encrypted).then_some("tls"),
    embedded: Some(embedded::EMBEDDED),
    fills_started: false,
    prove_memory_limit: None,
    started: Some(|sut, _| match sut.database() {
        Some(product) => ResolvedTarget::of(DatabaseTarget::of_sut(sut, product)),
        None => ResolvedTarget::of(OrderTarget::of_address(sut.addr())),
    }),
    disk_use: |_, _| None,
    check_room: |plan, directory| check_room(workload(plan).map_err(VerifyError::from)?, directory),
    contents: |workload| contents(workload_of(workload).ok()?),
};

/// Returns the workload of a plan.
///
/// # Errors
/// It is one of another family.
pub(super) fn workload(plan: &Plan) -> Result<&OrderEntryWorkload, SetupError> {
    workload_of(&plan.workload)
}

fn workload_of(workload: &Workload) -> Result<&OrderEntryWorkload, SetupError> {
    let Workload::OrderEntry(orders) = workload else {
        return Err(SetupError::OtherFamily(workload.family()));
    };
    Ok(orders)
}

/// Checks that the free disk of a directory has room for the data.
///
/// # Errors
/// It has less than [`DataScale::disk_bytes`].
pub(super) fn check_room(workload: &OrderEntryWorkload, directory: &Path) -> Result<(), FleetError> {
    let needed = workload.scale.disk_bytes();
    match free_bytes(directory) {
        Some(free) if free < needed => {
            Err(FleetError::NoRoomForData { needed, free, directory: directory.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Returns the probe of a server as named, and a transaction of every kind for it.
pub(super) fn probe_of(
    plan: &Plan,
    workload: &OrderEntryWorkload,
    target: String,
    clock: RealClock,
) -> (Probe, Vec<OrderRequest>) {
    let probe = Probe { family: Family::OrderEntry, target, time_limit: plan.time_limit, clock };
    (probe, OrderTerminals::new(workload, plan.seed).one_of_each())
}

/// Returns what shows that the rows of a server are not those of the workload.
fn other_rows(workload: &OrderEntryWorkload, control: &OrderControl) -> Option<String> {
    let expected = workload.population_seed;
    let found = control.data.seed;
    if expected != found {
        return Some(format!("expected rows of the seed {expected}, found rows of the seed {found}"));
    }
    control.data.population().is_none().then(|| "its rows were made by another build".to_owned())
}

/// Checks until it is done or `stop` is set, and returns what was found; of a check that failed, that.
pub(super) fn checked<E: fmt::Display>(
    checking: impl Future<Output = Result<Vec<CheckedRow>, E>>,
    stop: &AtomicBool,
) -> Result<Vec<CheckedRow>, VerifyError> {
    let found = unless_stopped(stop, async { Ok(checking.await) })?;
    Ok(found.unwrap_or_else(|error| {
        let text = foreign_text(&error.to_string());
        vec![("consistency conditions".to_owned(), false, format!("they cannot be checked: {text}"))]
    }))
}

/// A session in which the consistency of the data is checked.
pub(super) trait ConditionSource {
    /// The reason why it cannot be.
    type Error;

    /// Finds the rows that violate a condition.
    async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, Self::Error>;

    /// Counts the orders.
    async fn totals(&mut self) -> Result<OrderTotals, Self::Error>;
}

impl ConditionSource for OrderControl {
    type Error = OrderCallError;

    async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        _: &DataScale,
    ) -> Result<ConditionResult, OrderCallError> {
        OrderControl::violations(self, condition).await
    }

    async fn totals(&mut self) -> Result<OrderTotals, OrderCallError> {
        OrderControl::totals(self).await
    }
}

/// Checks the conditions behind our own protocol, with a row about the data before a load point.
async fn found_conditions(
    scale: &DataScale,
    context: Rc<OrderContext>,
    moment: CheckMoment,
    counts: &FamilyCounts,
) -> Result<Vec<CheckedRow>, OrderCallError> {
    let mut control = OrderControl::open(context).await?;
    let mut found: Vec<_> =
        (moment == CheckMoment::Before).then(|| data_row(&control.data)).into_iter().collect();
    let before = OrdersBefore::AsLoaded;
    found.extend(checked_conditions(scale, &mut control, (moment, counts), &before).await?);
    Ok(found)
}

/// The orders before a load point, with which those after it are compared.
#[derive(Debug)]
pub(super) enum OrdersBefore {
    /// As many as were loaded.
    AsLoaded,
    /// As many as were found then; `None` before that.
    AsFound(Arc<Mutex<Option<OrderTotals>>>),
}

impl OrdersBefore {
    /// Returns whether nothing has been done to the data since they were loaded.
    fn are_fresh(&self) -> bool {
        matches!(self, OrdersBefore::AsLoaded)
    }

    /// Notes the orders before a load point, and returns the row about them.
    fn note(&self, scale: &DataScale, found: &OrderTotals) -> CheckedRow {
        match self {
            OrdersBefore::AsLoaded => fresh_row(scale, found),
            OrdersBefore::AsFound(before) => {
                *locked(before) = Some(*found);
                ("orders before the load point".to_owned(), true, totals_text(found))
            }
        }
    }

    /// Returns them after the load point. Where they could not be found, the load point is invalid already.
    fn totals(&self, scale: &DataScale) -> OrderTotals {
        match self {
            OrdersBefore::AsLoaded => fresh_totals(scale),
            OrdersBefore::AsFound(before) => locked(before).take().unwrap_or_else(|| fresh_totals(scale)),
        }
    }
}

fn locked(totals: &Mutex<Option<OrderTotals>>) -> MutexGuard<'_, Option<OrderTotals>> {
    // Nothing that is done with the lock panics.
    totals.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks the conditions one after another.
pub(super) async fn checked_conditions<S: ConditionSource>(
    scale: &DataScale,
    source: &mut S,
    (moment, counts): (CheckMoment, &FamilyCounts),
    before: &OrdersBefore,
) -> Result<Vec<CheckedRow>, S::Error> {
    let mut found = Vec::new();
    for condition in ConsistencyCondition::ALL {
        // Deliveries end the eleventh, in whose place the totals are compared.
        let is_fresh = moment == CheckMoment::Before && before.are_fresh();
        if is_fresh || condition.holds_after_deliveries() {
            found.push(condition_row(condition, &source.violations(condition, scale).await?));
        }
    }
    let totals = source.totals().await?;
    found.extend(match moment {
        CheckMoment::Before => vec![before.note(scale, &totals)],
        CheckMoment::After => {
            let rows = total_rows(scale, (&before.totals(scale), &totals), counts);
            rows.into_iter().chain(deferred_row(counts)).collect()
        }
    });
    Ok(found)
}

/// Names the database with its durability, beside which its figures are to be read.
pub(super) fn data_row(data: &DataDescription) -> (String, bool, String) {
    let database = foreign_text(data.database.as_str());
    let size = Bytes(data.file_bytes);
    let rows: u128 = data.rows.into_iter().map(u128::from).sum();
    ("data restored".to_owned(), true, format!("{rows} rows, {size} in files of {database}"))
}

fn condition_row(condition: ConsistencyCondition, found: &ConditionResult) -> (String, bool, String) {
    let name = format!("condition {}", condition.number());
    let sentence = condition.sentence();
    if found.n_violations == 0 {
        return (name, true, sentence.to_owned());
    }
    let rows: Vec<String> = found.rows.iter().take(ROWS_MAX).map(|row| foreign_text(row)).collect();
    let noun = if found.n_violations == 1 { "row violates" } else { "rows violate" };
    (name, false, format!("{} {noun} that {sentence}: {}", found.n_violations, rows.join("; ")))
}

/// Returns the totals of data that nothing has been done to.
fn fresh_totals(scale: &DataScale) -> OrderTotals {
    let orders = scale.rows(OrderTable::Orders);
    OrderTotals {
        orders,
        new_orders: scale.rows(OrderTable::NewOrder),
        // The next order of a district follows those that it has.
        next_orders: orders + scale.rows(OrderTable::District),
    }
}

fn totals_text(totals: &OrderTotals) -> String {
    let OrderTotals { orders, new_orders, next_orders } = totals;
    format!("{orders} orders, {new_orders} of them new, and {next_orders} as the sum of the next ones")
}

fn fresh_row(scale: &DataScale, found: &OrderTotals) -> (String, bool, String) {
    let expected = fresh_totals(scale);
    let holds = *found == expected;
    let text = if holds {
        totals_text(found)
    } else {
        format!("{}, expected {}", totals_text(found), totals_text(&expected))
    };
    ("orders as loaded".to_owned(), holds, text)
}

/// Compares the orders that the database has placed and delivered since a load point began with those that the terminals
/// counted: committed ≤ found ≤ committed + in doubt.
fn total_rows(
    scale: &DataScale,
    (before, found): (&OrderTotals, &OrderTotals),
    counts: &FamilyCounts,
) -> [(String, bool, String); 2] {
    let n_delivered = |totals: &OrderTotals| totals.delivered_since_load(scale);
    let row = |name: &str, n: i64, committed: &'static str, in_doubt: &'static str| {
        let [committed, in_doubt] = [committed, in_doubt].map(|name| counts.get(name));
        let fits = u64::try_from(n).is_ok_and(|n| committed <= n && n <= committed.saturating_add(in_doubt));
        (
            name.to_owned(),
            fits,
            format!("{n} by the database, {committed} by the users and {in_doubt} in doubt"),
        )
    };
    [
        row("orders placed", found.placed_since(before), PLACED, PLACED_IN_DOUBT),
        row("orders delivered", n_delivered(found) - n_delivered(before), DELIVERED, DELIVERED_IN_DOUBT),
    ]
}

/// Returns the counts of deferred deliveries by name.
pub(super) fn deferred_counts(counts: &DeferredCounts) -> FamilyCounts {
    let DeferredCounts { queued, in_time } = *counts;
    FamilyCounts::from([(DEFERRED, queued), (DEFERRED_IN_TIME, in_time)])
}

/// Judges deferred deliveries of the steady phase: nine in ten are made in time. `None` where none was queued.
fn deferred_row(counts: &FamilyCounts) -> Option<CheckedRow> {
    let [queued, in_time] = [DEFERRED, DEFERRED_IN_TIME].map(|name| counts.get(name));
    let text = format!("{in_time} of {queued} made within {DEFERRED_MAX} of their queueing; expected 90 %");
    (0 < queued).then(|| ("deferred deliveries".to_owned(), 9 * queued <= 10 * in_time, text))
}

/// Returns the counts of the terminals by name.
pub(super) fn named(counts: &OrderCounts) -> FamilyCounts {
    let OrderCounts { placed, placed_in_doubt, delivered, delivered_in_doubt, skipped } = *counts;
    FamilyCounts::from([
        (PLACED, placed),
        (PLACED_IN_DOUBT, placed_in_doubt),
        (DELIVERED, delivered),
        (DELIVERED_IN_DOUBT, delivered_in_doubt),
        (SKIPPED, skipped),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_scheme_a_host_and_a_port() {
        for (text, shown) in [
            ("orders://127.0.0.1:7000", "orders://127.0.0.1:7000"),
            ("Orders://[::1]:7/", "orders://[::1]:7"),
        ] {
            let server: OrderDatabase = text.parse().unwrap();
            assert_eq!(server.to_string(), shown);
        }
        for text in [
            "127.0.0.1:7000",
            "app://a:1",
            "orders://",
            "orders://a",
            "orders://u:secret@a:1",
            "orders://a:1/b",
        ] {
            let error = text.parse::<OrderDatabase>().unwrap_err().to_string();
            assert!(error.starts_with("expected `orders://") && !error.contains("secret"), "{text}: {error}");
        }
        let address: SocketAddr = "[::1]:7000".parse().unwrap();
        assert_eq!(OrderTarget::of_address(address).server, "orders://[::1]:7000".parse().unwrap());
    }

    /// Two warehouses with divisor 100: 600 orders, 180 of them new, 20 districts whose next order is their 31st.
    #[test]
    fn fresh_data_have_the_orders_of_their_size() {
        let scale = DataScale::new(2, 100).unwrap();
        let expected = OrderTotals { orders: 600, new_orders: 180, next_orders: 620 };
        assert_eq!(fresh_totals(&scale), expected);
        assert!(fresh_row(&scale, &expected).1);
        let (_, holds, found) = fresh_row(&scale, &OrderTotals { orders: 601, ..expected });
        assert!(
            !holds && found.starts_with("601 orders, ") && found.contains(", expected 600 orders, "),
            "{found}"
        );
    }

    /// 5 placed and 3 delivered since the data were loaded.
    #[test]
    fn orders_are_between_those_committed_and_those_in_doubt() {
        let scale = DataScale::new(2, 100).unwrap();
        let found = OrderTotals { orders: 605, new_orders: 182, next_orders: 625 };
        let holds = |placed, placed_in_doubt, delivered| {
            let counts = OrderCounts { placed, placed_in_doubt, delivered, ..OrderCounts::default() };
            total_rows(&scale, (&fresh_totals(&scale), &found), &named(&counts)).map(|row| row.1)
        };
        assert_eq!(holds(5, 0, 3), [true, true]);
        assert_eq!(holds(4, 0, 2), [false, false], "more than the users know of");
        assert_eq!(holds(4, 1, 3), [true, true]);
        assert_eq!(holds(6, 9, 4), [false, false], "some were lost");
        let text = total_rows(&scale, (&fresh_totals(&scale), &found), &FamilyCounts::default())[0].2.clone();
        assert_eq!(text, "5 by the database, 0 by the users and 0 in doubt");
    }

    /// Data that are not reset: 605 orders with 182 new ones are the beginning of the second load point, at whose end 2 more
    /// are placed, and 4 delivered.
    #[test]
    fn orders_of_data_that_are_not_reset_count_from_those_found_before() {
        let scale = DataScale::new(2, 100).unwrap();
        let found = OrderTotals { orders: 605, new_orders: 182, next_orders: 625 };
        let after = OrderTotals { orders: 607, new_orders: 180, next_orders: 627 };
        let before = OrdersBefore::AsFound(Arc::default());
        let (name, holds, text) = before.note(&scale, &found);
        assert_eq!((name.as_str(), holds), ("orders before the load point", true));
        assert_eq!(text, "605 orders, 182 of them new, and 625 as the sum of the next ones");
        let counts = named(&OrderCounts { placed: 2, delivered: 4, ..OrderCounts::default() });
        let rows = total_rows(&scale, (&before.totals(&scale), &after), &counts);
        assert_eq!(rows.map(|row| row.1), [true, true]);
        assert!(!before.are_fresh());
        assert_eq!(before.totals(&scale), fresh_totals(&scale), "each load point finds its own");
    }

    #[test]
    fn violating_rows_are_named_and_escaped() {
        let rows = ["w_id 1", "a\u{1b}b", "c", "d"].map(str::to_owned).into();
        let condition = ConsistencyCondition::WarehouseYtd;
        let (name, holds, found) = condition_row(condition, &ConditionResult { n_violations: 9, rows });
        assert_eq!((name.as_str(), holds), ("condition 1", false));
        let expected =
            "9 rows violate that a warehouse has received what its districts have: w_id 1; a\\u{1b}b; c";
        assert_eq!(found, expected);
        assert!(condition_row(condition, &ConditionResult::default()).1);
    }

    #[test]
    fn data_that_do_not_fit_are_refused_with_their_size() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let workload = |warehouses, divisor| OrderEntryWorkload {
            scale: DataScale::new(warehouses, divisor).unwrap(),
            ..OrderEntryWorkload::default()
        };
        assert!(check_room(&workload(1, 100), directory.path()).is_ok());
        let error = check_room(&workload(100_000, 1), directory.path()).unwrap_err().to_string();
        assert!(error.starts_with("the data needs 15.6 TiB "), "{error}");
    }
}
