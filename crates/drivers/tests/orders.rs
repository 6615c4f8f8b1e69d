//! The driver of the order-entry family against the built-in server, as it should be and with each of its faults; and the same
//! transactions in SQLite within this process.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use drivers::orders::{
    EmbeddedContext, EmbeddedDatabase, EmbeddedDriver, OrderContext, OrderControl, OrderCounts, OrderDriver,
};
use engine::{BlockingDriver, Driver};
use model::{Catalog, HasKind, OrderEntryWorkload, OrderRequest, Outcome, Reply, order_measure};
use orders::{
    ConsistencyCondition, DataScale, DeliveryInput, InputGenerator, RunConstants, Terminal, TransactionInput,
    TransactionKind, TransactionType,
};
use rusqlite::Connection;
use servers::FrameFaultPlan;
use servers::orders::{FAULTS, OrderData, OrderOptions, OrderServer};
use units::{Clock, Nanos, RealClock, Rng, StreamPurpose};

use crate::common::{TRANSACTION_MAX, block_on, perform_all};

fn scale() -> DataScale {
    DataScale::new(2, 100).unwrap()
}

fn workload() -> OrderEntryWorkload {
    OrderEntryWorkload { scale: scale(), ..OrderEntryWorkload::default() }
}

fn server(directory: &Path, faults: &[&str]) -> OrderServer {
    let faults = FrameFaultPlan::parse(&FAULTS, faults.iter().copied()).unwrap();
    let options = OrderOptions { faults, ..OrderOptions::new(scale(), directory.to_owned()) };
    OrderServer::start(options, |_| ControlFlow::Continue(())).unwrap()
}

fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// Returns so many inputs of each type, as a terminal draws them.
fn requests(types: &[TransactionType], n: usize) -> Vec<OrderRequest> {
    let scale = scale();
    let mut rng = Rng::new(1, StreamPurpose::User, 0);
    let constants = RunConstants::draw(&scale, 0, &mut rng);
    let generator = InputGenerator::new(&scale, &constants);
    let terminal = Terminal::of_user(0, &scale);
    let types = types.iter().flat_map(|kind| std::iter::repeat_n(*kind, n));
    types.map(|kind| OrderRequest { input: generator.input(kind, &terminal, &mut rng) }).collect()
}

fn context(server: &OrderServer) -> (Rc<OrderContext>, RealClock) {
    let clock = RealClock::start();
    (OrderContext::new(&workload(), server.address(), &[], clock).unwrap(), clock)
}

/// Opens a session and makes these transactions; the counts of what became of all of them come last.
fn perform(
    server: &OrderServer,
    requests: &[OrderRequest],
    limit: Duration,
) -> (Vec<Option<(Reply, String)>>, OrderCounts) {
    let (context, clock) = context(server);
    let replies = perform_all(OrderDriver::new(Rc::clone(&context), 0), clock, requests, limit).unwrap();
    (replies, context.counts())
}

/// Returns the value of a measure, by its index in the catalog.
fn value_of(catalog: &Catalog, request: &OrderRequest, reply: &Reply, measure: usize) -> Option<u64> {
    let slot = catalog.slots(request.kind().into()).iter().position(|one| *one == measure);
    reply.measured.get(slot?)
}

/// Enough inputs for some new orders that are rolled back; the counts of the terminal are those of the database.
#[test]
fn transactions_succeed_and_are_as_many_as_the_database_has() {
    let directory = on_disk();
    let server = server(directory.path(), &[]);
    let requests = requests(&TransactionType::ALL, 300);
    let (replies, counts) = perform(&server, &requests, TRANSACTION_MAX);
    let catalog = workload().catalog();
    for (request, reply) in requests.iter().zip(replies) {
        let (reply, text) = reply.expect("in time");
        assert_eq!(reply.outcome, Outcome::Ok, "{text}");
        let value = |measure| value_of(&catalog, request, &reply, measure);
        let parts = value(order_measure::QUEUE).unwrap() + value(order_measure::SERVICE).unwrap();
        assert!(parts <= (reply.done - reply.sent).0, "{parts} ns of {}", reply.done - reply.sent);
        assert_eq!(value(order_measure::ROUND_TRIPS), Some(1));
        let is_placed = request.input.kind() == TransactionKind::NewOrder;
        assert_eq!(value(order_measure::LINES).is_some(), is_placed, "{request:?}");
        assert_eq!(value(order_measure::REMOTE_LINES).is_some(), is_placed);
        let is_payment = request.input.kind() == TransactionKind::Payment;
        assert_eq!(value(order_measure::REMOTE_PAYMENTS).is_some(), is_payment);
        assert_eq!(value(order_measure::PAYMENTS_BY_LAST_NAME).is_some(), is_payment);
    }
    let kinds = |kind| requests.iter().filter(|request| request.input.kind() == kind).count() as u64;
    assert!(0 < kinds(TransactionKind::NewOrderRolledBack));
    assert_eq!(counts.placed, kinds(TransactionKind::NewOrder));
    assert_eq!(counts.delivered + counts.skipped, 10 * kinds(TransactionKind::Delivery));
    assert_eq!((counts.placed_in_doubt, counts.delivered_in_doubt), (0, 0));
    let (context, _) = context(&server);
    block_on(async {
        let mut control = OrderControl::open(context).await.unwrap();
        let totals = control.totals().await.unwrap();
        // 20 districts with 30 orders each.
        assert_eq!((totals.orders, totals.next_orders), (600 + counts.placed, 620 + counts.placed));
        assert_eq!(totals.delivered_since_load(&scale()), i64::try_from(counts.delivered).unwrap());
        for condition in ConsistencyCondition::ALL.into_iter().filter(|one| one.holds_after_deliveries()) {
            let found = control.violations(condition).await.unwrap();
            assert_eq!(found.n_violations, 0, "{condition:?}: {found:?}");
        }
        control.restore().await.unwrap();
        assert_eq!(control.totals().await.unwrap().orders, 600);
        assert_eq!(control.violations(ConsistencyCondition::LoadedDeliveries).await.unwrap().n_violations, 0);
    });
}

/// Each row of the table of faults, as `docs/design/hostile-servers.md` has it: a transaction before and one after it
/// succeed on the same session or a new one.
#[test]
fn every_fault_is_a_named_outcome_with_its_code() {
    for fault in &FAULTS {
        let directory = on_disk();
        let server = server(directory.path(), &[&format!("{}:2", fault.name)]);
        let requests = requests(&[TransactionType::OrderStatus], 3);
        let ends = fault.outcome != Outcome::TimedOut;
        let limit = if ends { TRANSACTION_MAX } else { Duration::from_millis(300) };
        let (replies, _) = perform(&server, &requests, limit);
        let [before, faulty, after] = &replies[..] else { panic!("three replies") };
        for good in [before, after] {
            let (reply, text) = good.as_ref().expect("in time");
            assert_eq!(reply.outcome, Outcome::Ok, "{}: {text}", fault.name);
        }
        let found = faulty.as_ref().map_or((Outcome::TimedOut, 0), |(reply, _)| (reply.outcome, reply.code));
        assert_eq!(found, (fault.outcome, fault.code), "{}: {faulty:?}", fault.name);
    }
}

/// A delivery without an answer may have been made; one that was refused has not.
#[test]
fn only_transactions_without_a_refusal_are_in_doubt() {
    for (fault, in_doubt) in [("closed-session", 10), ("wrong-checksum", 10), ("stall", 10), ("busy", 0)] {
        let directory = on_disk();
        let server = server(directory.path(), &[fault]);
        let request =
            OrderRequest { input: TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier: 1 }) };
        let (_, counts) = perform(&server, &[request], Duration::from_millis(300));
        assert_eq!((counts.delivered, counts.delivered_in_doubt), (0, in_doubt), "{fault}");
    }
}

#[test]
fn other_data_are_refused_with_a_reason() {
    let directory = on_disk();
    let server = server(directory.path(), &[]);
    let other = OrderEntryWorkload { scale: DataScale::new(3, 100).unwrap(), ..workload() };
    let context = OrderContext::new(&other, server.address(), &[], RealClock::start()).unwrap();
    let error = block_on(OrderControl::open(Rc::clone(&context))).unwrap_err().to_string();
    assert_eq!(error, "HELLO: the server answered with status 6: it has other data");
    let error = block_on(OrderDriver::new(context, 0).open()).unwrap_err().to_string();
    assert!(
        error.starts_with("the session could not be opened: the server answered with status 6"),
        "{error}"
    );
}

/// Returns the only file of data below a directory, beside the golden copy.
fn data_file(directory: &Path) -> PathBuf {
    let files = |directory: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let below = files(directory).into_iter().filter(|path| path.is_dir()).flat_map(|path| files(&path));
    let data: Vec<PathBuf> = below.filter(|path| path.extension().is_some_and(|end| end == "db")).collect();
    let [file] = &data[..] else { panic!("one file of data, found {data:?}") };
    file.clone()
}

/// Returns all rows of all tables, sorted, without the times at which transactions were made.
fn rows(file: &Path) -> Vec<String> {
    let database = Connection::open(file).unwrap();
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    assert_eq!(tables.len(), 10, "nine and the metadata: {tables:?}");
    let of_table = |table: &String| {
        let columns = texts(&format!(
            "SELECT name FROM pragma_table_info('{table}') WHERE name NOT IN ('o_entry_d', 'ol_delivery_d', 'h_date')"
        ));
        let row = columns.iter().map(|name| format!("quote({name})")).collect::<Vec<_>>().join(" || ',' || ");
        texts(&format!("SELECT '{table}: ' || {row} FROM {table} ORDER BY 1"))
    };
    tables.iter().flat_map(of_table).collect()
}

/// Goal: a figure of the embedded database is one of the same work. Method: the same inputs in one order, and all rows.
#[test]
fn an_embedded_database_ends_with_the_rows_of_the_server() {
    let directory = on_disk();
    let requests = requests(&TransactionType::ALL, 100);
    let server = server(directory.path(), &[]);
    let (_, served) = perform(&server, &requests, TRANSACTION_MAX);
    let of_server = rows(&data_file(directory.path()));
    server.stop().unwrap();

    let options = OrderOptions::new(scale(), directory.path().to_owned());
    let data = OrderData::create(&options, &mut |_| ControlFlow::Continue(())).unwrap();
    let database = Arc::new(EmbeddedDatabase::new(data.open().unwrap(), vec![data.open().unwrap()]));
    let fresh = rows(&data_file(directory.path()));
    let clock = RealClock::start();
    let context = EmbeddedContext::new(database, clock, Nanos::from_secs(60));
    let mut terminal = EmbeddedDriver::new(Arc::clone(&context));
    let catalog = workload().catalog();
    for request in &requests {
        let reply = BlockingDriver::perform(&mut terminal, request, clock.now());
        assert_eq!(reply.outcome, Outcome::Ok, "{}", BlockingDriver::describe(&terminal, request, &reply));
        let value = |measure| value_of(&catalog, request, &reply, measure);
        let parts = value(order_measure::QUEUE).unwrap() + value(order_measure::SERVICE).unwrap();
        assert!(parts <= (reply.done - reply.sent).0, "{parts} ns of {}", reply.done - reply.sent);
        let on_the_way = [order_measure::ROUND_TRIPS, order_measure::SENT_BYTES].map(value);
        assert_eq!(on_the_way, [None, None]);
        let is_placed = request.input.kind() == TransactionKind::NewOrder;
        assert_eq!(value(order_measure::LINES).is_some(), is_placed, "{request:?}");
    }
    drop(terminal);
    assert_eq!(context.counts(), served);
    let of_embedded = rows(&data_file(directory.path()));
    assert!(of_server != fresh, "transactions have changed the data");
    let differing = of_server.iter().zip(&of_embedded).find(|(one, other)| one != other);
    assert!(of_server.len() == of_embedded.len() && differing.is_none(), "{differing:?}");
}
