//! Transactions that others disturb: conflicts, locks that are held, sessions that end.

use std::process::{Child, Stdio};
use std::time::Duration;

use drivers::orders::postgres::{PostgresDriver, PostgresPassword, PostgresPlace, PostgresServer};
use engine::Driver;
use model::{OrderRequest, OrderSql, Outcome, order_measure};
use orders::{Cents, CustomerSelector, DistrictKey, PaymentInput, TransactionInput};
use units::{Clock, RealClock};

use crate::common::block_on;
use crate::fixture::{Database, workload};

/// The longest that a transaction takes whose way is free.
const FREE_MAX: Duration = Duration::from_secs(20);

/// A condition of sessions that wait for a lock.
const WAITING: &str = "wait_event_type = 'Lock'";

/// A payment to the first warehouse.
fn payment() -> OrderRequest {
    let district = DistrictKey { warehouse: 1, district: 1 };
    let customer = CustomerSelector::Number(5);
    let input = PaymentInput { district, customer_district: district, customer, amount: Cents(100) };
    OrderRequest { input: TransactionInput::Payment(input) }
}

/// Holds the lock of the first warehouse in a session of its own, for some seconds or until it is ended.
fn lock_warehouse(database: &Database, seconds: f64) -> Child {
    let statement = format!(
        "BEGIN; UPDATE warehouse SET w_ytd = w_ytd WHERE w_id = 1; SELECT pg_sleep({seconds}); COMMIT"
    );
    let mut psql = database.psql(&statement);
    let child = psql.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_held = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        database.query("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    });
    if !is_held {
        release(database, child);
        panic!("the lock is not held");
    }
    child
}

/// Ends the session that holds the lock: without its client the server would go on with it.
fn release(database: &Database, mut holder: Child) {
    database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    let _ = holder.wait();
}

/// Goal: a transaction that cannot be serialized is begun again with the same input, and counted.
#[test]
fn a_transaction_in_conflict_is_begun_again() {
    let database = Database::loaded();
    database.query("ALTER ROLE plimsoll SET default_transaction_isolation TO 'repeatable read'");
    for form in [OrderSql::Client, OrderSql::Batched, OrderSql::Stored] {
        let balance = "SELECT c_balance FROM customer WHERE (c_w_id, c_d_id, c_id) = (1, 1, 5)";
        let before: i64 = database.query(balance).parse().unwrap();
        let holder = lock_warehouse(&database, 2.0);
        block_on(async {
            let mut driver = PostgresDriver::new(database.context(form));
            let request = payment();
            let work = driver.perform(&request, RealClock::start().now());
            let reply = tokio::time::timeout(FREE_MAX, work).await.unwrap();
            assert_eq!(reply.outcome, Outcome::Ok, "{form}: {}", driver.describe(&request, &reply));
            let retries = reply.measured.get(order_measure::RETRIES).unwrap();
            assert!(1 <= retries, "{form}: {retries}");
        });
        release(&database, holder);
        let after: i64 = database.query(balance).parse().unwrap();
        assert_eq!(before - after, 100, "{form}: paid once");
    }
}

/// Goal: a transaction past its time limit does not keep its locks, or wait for others, in the server.
#[test]
fn a_transaction_that_is_given_up_is_cancelled_in_the_server() {
    let database = Database::loaded();
    for form in [OrderSql::Client, OrderSql::Stored] {
        let holder = lock_warehouse(&database, 60.0);
        block_on(async {
            let context = database.context(form);
            let mut driver = PostgresDriver::new(std::rc::Rc::clone(&context));
            driver.open().await.unwrap();
            let request = payment();
            let work = driver.perform(&request, RealClock::start().now());
            assert!(tokio::time::timeout(Duration::from_millis(500), work).await.is_err());
            assert_eq!(database.n_sessions(WAITING), 1, "{form}");
            driver.give_up();
            for _ in 0..200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if database.n_sessions("true") == 0 {
                    break;
                }
            }
            assert_eq!(database.n_sessions("true"), 0, "{form}: the session is still there");
            // Only what has been committed, perhaps, is in doubt; a payment writes no order.
            assert_eq!(context.counts(), Default::default());
        });
        release(&database, holder);
        // The terminal goes on with another session.
        database.wait_for_sessions(0, "true");
        block_on(async {
            let mut driver = PostgresDriver::new(database.context(form));
            let reply = driver.perform(&payment(), RealClock::start().now()).await;
            assert_eq!(reply.outcome, Outcome::Ok);
        });
    }
}

/// Goal: the server's refusals and ends have an outcome, a code and a text, and the next transaction has a new session.
#[test]
fn a_session_that_the_server_ends_is_opened_again() {
    let database = Database::loaded();
    block_on(async {
        let mut driver = PostgresDriver::new(database.context(OrderSql::Stored));
        driver.open().await.unwrap();
        database.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll'",
        );
        let request = payment();
        let reply = driver.perform(&request, RealClock::start().now()).await;
        let text = driver.describe(&request, &reply);
        assert_eq!((reply.outcome, reply.code), (Outcome::WrongStatus, 57), "{text}");
        assert!(text.contains("SQLSTATE 57P01: terminating connection"), "{text}");
        let reply = driver.perform(&request, RealClock::start().now()).await;
        assert_eq!(reply.outcome, Outcome::Ok);
        database.query("ALTER TABLE customer RENAME TO customers");
        let reply = driver.perform(&request, RealClock::start().now()).await;
        assert_eq!((reply.outcome, reply.code), (Outcome::WrongStatus, 42));
        database.query("ALTER TABLE customers RENAME TO customer");
        let reply = driver.perform(&request, RealClock::start().now()).await;
        assert_eq!(reply.outcome, Outcome::Ok, "the session goes on");
    });
}

#[test]
fn sessions_that_cannot_be_opened_say_why_without_the_password() {
    let database = Database::empty();
    let opened = |server: &PostgresServer| {
        let context = drivers::orders::postgres::PostgresContext::new(
            &workload(OrderSql::Stored),
            server,
            &[],
            RealClock::start(),
        );
        let context = context.unwrap();
        assert!(!format!("{context:?} {server:?}").contains("not-the-password"));
        block_on(async { PostgresDriver::new(context).open().await.unwrap_err() })
    };
    let wrong = PostgresServer {
        password: Some(PostgresPassword::new("not-the-password")),
        ..database.server.clone()
    };
    let text = opened(&wrong);
    assert!(text.contains("SQLSTATE 28P01: password authentication failed"), "{text}");
    let text = opened(&PostgresServer { password: None, ..database.server.clone() });
    assert!(text.ends_with("the database asks for a password, and there is none"), "{text}");
    // There is no schema yet.
    let text = opened(&database.server);
    assert!(text.contains("SQLSTATE 42883"), "{text}");
    let none = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = opened(&PostgresServer { place: PostgresPlace::Tcp(none), ..database.server.clone() });
    assert!(text.ends_with("Connection refused (os error 111)"), "{text}");
}

/// The recipe's server listens on a socket, too.
#[test]
fn sockets_of_this_machine_are_used() {
    let database = Database::loaded();
    let directory = database.query("SHOW unix_socket_directories");
    let path = std::path::Path::new(&directory).join(format!(".s.PGSQL.{}", database.sut.addr().port()));
    let server = PostgresServer { place: PostgresPlace::Unix(path), ..database.server.clone() };
    block_on(async {
        let workload = workload(OrderSql::Batched);
        let context =
            drivers::orders::postgres::PostgresContext::new(&workload, &server, &[], RealClock::start());
        let mut driver = PostgresDriver::new(context.unwrap());
        let reply = driver.perform(&payment(), RealClock::start().now()).await;
        assert_eq!(reply.outcome, Outcome::Ok);
    });
}
