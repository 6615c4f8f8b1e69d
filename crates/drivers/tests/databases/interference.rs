//! Transactions that others disturb: conflicts, locks that are held, sessions that end.

use std::process::Child;
use std::time::Duration;

use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseControl, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderRequest, OrderSql, Outcome, order_measure};
use orders::{Cents, CustomerSelector, DistrictKey, PaymentInput, TransactionInput};
use units::{Clock, RealClock};

use super::fixture::{Database, EndedSessions, PRODUCTS, Sessions, workload};
use crate::common::block_on;

/// The longest that a transaction takes whose way is free.
const FREE_MAX: Duration = Duration::from_secs(20);

/// A payment to the first warehouse, by its fifth customer.
pub(crate) fn payment() -> OrderRequest {
    payment_by(CustomerSelector::Number(5))
}

fn payment_by(customer: CustomerSelector) -> OrderRequest {
    let district = DistrictKey { warehouse: 1, district: 1 };
    let input = PaymentInput { district, customer_district: district, customer, amount: Cents(100) };
    OrderRequest { input: TransactionInput::Payment(input) }
}

/// Holds the lock of the first warehouse in a session of its own, for some seconds or until it is ended; then executes
/// statements and commits.
pub(crate) fn lock_warehouse(database: &Database, seconds: f64, then: &str) -> Child {
    let lock = "BEGIN; UPDATE plimsoll_orderentry.warehouse SET w_ytd = w_ytd WHERE w_id = 1;";
    hold(database, lock, seconds, then)
}

/// Holds what statements lock, likewise.
fn hold(database: &Database, lock: &str, seconds: f64, then: &str) -> Child {
    let sleep = match database.product {
        DatabaseProduct::PostgreSql => "pg_sleep",
        DatabaseProduct::MariaDb => "SLEEP",
    };
    let child = database.spawn_outside(&format!("{lock} SELECT {sleep}({seconds}); {then} COMMIT"));
    let is_held = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        database.is_asleep()
    });
    if !is_held {
        release(database, child);
        panic!("the lock is not held");
    }
    child
}

/// Ends the session that holds the lock: without its client the server would go on with it.
pub(crate) fn release(database: &Database, mut holder: Child) {
    database.end_sessions(EndedSessions::Asleep);
    let _ = holder.wait();
}

/// Goal: a transaction that cannot be serialized, or is the victim of a deadlock, is begun again with the same input, and
/// counted.
#[test]
fn a_transaction_in_conflict_is_begun_again() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let then = match product {
            DatabaseProduct::PostgreSql => {
                let isolation = "SET default_transaction_isolation TO 'repeatable read'";
                database.query(&format!("ALTER ROLE plimsoll {isolation}"));
                ""
            }
            // With the changes of all items this is the larger of two transactions that wait for each other.
            DatabaseProduct::MariaDb => {
                "UPDATE plimsoll_orderentry.item SET i_price = i_price + 1; \
                 UPDATE plimsoll_orderentry.customer SET c_phone = c_phone \
                 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 5;"
            }
        };
        if product == DatabaseProduct::MariaDb {
            check_snapshots(&database);
        }
        for form in product.forms().iter().copied() {
            let balance = "SELECT c_balance FROM customer WHERE (c_w_id, c_d_id, c_id) = (1, 1, 5)";
            let before: i64 = database.query(balance).parse().unwrap();
            let holder = lock_warehouse(&database, 2.0, then);
            block_on(async {
                let mut driver = DatabaseDriver::new(&database.context(form));
                let request = payment();
                let work = driver.perform(&request, RealClock::start().now());
                let reply = tokio::time::timeout(FREE_MAX, work).await.unwrap();
                let text = driver.describe(&request, &reply);
                assert_eq!(reply.outcome, Outcome::Ok, "{product} {form}: {text}");
                let retries = reply.measured.get(order_measure::RETRIES).unwrap();
                assert!(1 <= retries, "{product} {form}: {retries}");
            });
            release(&database, holder);
            let after: i64 = database.query(balance).parse().unwrap();
            assert_eq!(before - after, 100, "{product} {form}: paid once");
        }
    }
}

/// Goal: PostgreSQL's victim of a deadlock (SQLSTATE 40P01) is begun again, too; MariaDB's is one of those above.
#[test]
fn the_victim_of_a_deadlock_is_begun_again() {
    let database = Database::loaded(DatabaseProduct::PostgreSql);
    // Whoever looks for a deadlock ends his own transaction. Ours looks once, when the other waits already.
    database.query("ALTER ROLE plimsoll SET deadlock_timeout TO '4s'");
    let n_deadlocks = || -> u32 {
        let count = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        database.query(count).parse().unwrap()
    };
    // The other way round: a payment has the warehouse last.
    let lock = "BEGIN; SET LOCAL deadlock_timeout TO '60s'; \
                UPDATE plimsoll_orderentry.warehouse SET w_ytd = w_ytd WHERE w_id = 1;";
    let then =
        "UPDATE plimsoll_orderentry.customer SET c_phone = c_phone WHERE (c_w_id, c_d_id, c_id) = (1, 1, 5);";
    for form in database.product.forms().iter().copied() {
        let before = n_deadlocks();
        let holder = hold(&database, lock, 2.0, then);
        block_on(async {
            let mut driver = DatabaseDriver::new(&database.context(form));
            let request = payment();
            let work = driver.perform(&request, RealClock::start().now());
            let reply = tokio::time::timeout(FREE_MAX, work).await.unwrap();
            assert_eq!(reply.outcome, Outcome::Ok, "{form}: {}", driver.describe(&request, &reply));
            assert_eq!(reply.measured.get(order_measure::RETRIES), Some(1), "{form}");
        });
        release(&database, holder);
        // Counts of a session are there when it has ended, or a little later.
        let is_counted = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            before < n_deadlocks()
        });
        assert!(is_counted, "{form}: the server has found no deadlock");
    }
}

/// Checks that a transaction whose snapshot another one has passed is begun again: MariaDB has a number for that, and no
/// SQLSTATE.
fn check_snapshots(database: &Database) {
    database.query_outside("SET GLOBAL innodb_snapshot_isolation = ON");
    let change = "UPDATE plimsoll_orderentry.warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1;";
    let holder = lock_warehouse(database, 1.0, change);
    block_on(async {
        let mut driver = DatabaseDriver::new(&database.context(OrderSql::Client));
        // The name is looked up first, which begins the snapshot.
        let request = payment_by(CustomerSelector::LastName(4));
        let work = driver.perform(&request, RealClock::start().now());
        let reply = tokio::time::timeout(FREE_MAX, work).await.unwrap();
        assert_eq!(reply.outcome, Outcome::Ok, "{}", driver.describe(&request, &reply));
        assert!(1 <= reply.measured.get(order_measure::RETRIES).unwrap(), "{reply:?}");
    });
    release(database, holder);
    database.query_outside("SET GLOBAL innodb_snapshot_isolation = OFF");
}

/// Goal: a transaction past its time limit does not keep its locks, or wait for others, in the server.
#[test]
fn a_transaction_that_is_given_up_is_cancelled_in_the_server() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        for form in [OrderSql::Client, OrderSql::Stored] {
            let holder = lock_warehouse(&database, 60.0, "");
            block_on(async {
                let context = database.context(form);
                let mut driver = DatabaseDriver::new(&context);
                driver.open().await.unwrap();
                let request = payment();
                let work = driver.perform(&request, RealClock::start().now());
                assert!(tokio::time::timeout(Duration::from_millis(500), work).await.is_err());
                assert_eq!(database.n_sessions(Sessions::Waiting), 1, "{product} {form}");
                let mut control = DatabaseControl::connect(&database.server).await.unwrap();
                let sessions = control.sessions().await.unwrap();
                assert_eq!((sessions.at_lock, sessions.at_log), (1, 0), "{product} {form}: {sessions:?}");
                // It and the holder.
                assert!(2 <= sessions.active, "{product} {form}: {sessions:?}");
                drop(control);
                driver.give_up();
                for _ in 0..200 {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    if database.n_sessions(Sessions::All) == 0 {
                        break;
                    }
                }
                let n_left = database.n_sessions(Sessions::All);
                assert_eq!(n_left, 0, "{product} {form}: the session is still there");
                // Only what has been committed, perhaps, is in doubt; a payment writes no order.
                assert_eq!(context.counts(), Default::default());
            });
            release(&database, holder);
            // The terminal goes on with another session.
            database.wait_for_sessions(0, Sessions::All);
            block_on(async {
                let mut driver = DatabaseDriver::new(&database.context(form));
                let reply = driver.perform(&payment(), RealClock::start().now()).await;
                assert_eq!(reply.outcome, Outcome::Ok);
            });
        }
    }
}

/// Goal: the server's refusals and ends have an outcome, a code and a text, and the next transaction has a new session.
#[test]
fn a_session_that_the_server_ends_is_opened_again() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let (outcome, code, expected) = match product {
            DatabaseProduct::PostgreSql => {
                (Outcome::WrongStatus, 57, "SQLSTATE 57P01: terminating connection")
            }
            // It says nothing more.
            DatabaseProduct::MariaDb => (Outcome::SessionLost, 0, "the database closed the session"),
        };
        block_on(async {
            let mut driver = DatabaseDriver::new(&database.context(OrderSql::Stored));
            driver.open().await.unwrap();
            database.end_sessions(EndedSessions::OfTerminals);
            let request = payment();
            let reply = driver.perform(&request, RealClock::start().now()).await;
            let text = driver.describe(&request, &reply);
            assert_eq!((reply.outcome, reply.code), (outcome, code), "{product}: {text}");
            assert!(text.contains(expected), "{text}");
            let reply = driver.perform(&request, RealClock::start().now()).await;
            assert_eq!(reply.outcome, Outcome::Ok, "{product}: {}", driver.describe(&request, &reply));
            database.query("ALTER TABLE customer RENAME TO customers");
            let reply = driver.perform(&request, RealClock::start().now()).await;
            assert_eq!((reply.outcome, reply.code), (Outcome::WrongStatus, 42), "{product}");
            database.query("ALTER TABLE customers RENAME TO customer");
            let reply = driver.perform(&request, RealClock::start().now()).await;
            assert_eq!(reply.outcome, Outcome::Ok, "{product}: the session goes on");
        });
    }
}

/// Returns the reason why no session of a server can be opened.
fn refusal(server: &DatabaseServer) -> String {
    let workload = workload(OrderSql::Stored);
    let context = DatabaseContext::new(&workload, server, &[], RealClock::start()).unwrap();
    assert!(!format!("{context:?} {server:?}").contains("not-the-password"));
    block_on(async { DatabaseDriver::new(&context).open().await.unwrap_err().to_string() })
}

#[test]
fn sessions_that_cannot_be_opened_say_why_without_the_password() {
    for product in PRODUCTS {
        let database = Database::empty(product);
        let (wrong, none, no_schema) = match product {
            DatabaseProduct::PostgreSql => (
                "SQLSTATE 28P01: password authentication failed",
                "the database asks for a password, but none is given",
                "SQLSTATE 42883",
            ),
            DatabaseProduct::MariaDb => (
                "SQLSTATE 28000: Access denied for user",
                "(using password: NO) (1045)",
                "SQLSTATE 3D000: Unknown database 'plimsoll_orderentry' (1049)",
            ),
        };
        let password = Some(DatabasePassword::new("not-the-password"));
        let text = refusal(&DatabaseServer { password, ..database.server.clone() });
        assert!(text.contains(wrong), "{text}");
        let text = refusal(&DatabaseServer { password: None, ..database.server.clone() });
        assert!(text.ends_with(none), "{text}");
        // There is no schema yet.
        let text = refusal(&database.server);
        assert!(text.contains(no_schema), "{text}");
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = refusal(&DatabaseServer { place: DatabasePlace::Tcp(closed), ..database.server.clone() });
        assert!(text.ends_with("Connection refused (os error 111)"), "{text}");
    }
}

/// The recipes' servers listen on a socket, too.
#[test]
fn sockets_of_this_machine_are_used() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let path = match product {
            DatabaseProduct::PostgreSql => {
                let directory = database.query("SHOW unix_socket_directories");
                format!("{directory}/.s.PGSQL.{}", database.sut.addr().port())
            }
            DatabaseProduct::MariaDb => {
                let path = database.query("SELECT @@socket");
                // The user is one of a TCP address.
                database.query("RENAME USER 'plimsoll'@'127.0.0.1' TO 'plimsoll'@'localhost'");
                path
            }
        };
        let server = DatabaseServer { place: DatabasePlace::Unix(path.into()), ..database.server.clone() };
        block_on(async {
            let workload = workload(OrderSql::Client);
            let context = DatabaseContext::new(&workload, &server, &[], RealClock::start());
            let mut driver = DatabaseDriver::new(&context.unwrap());
            let request = payment();
            let reply = driver.perform(&request, RealClock::start().now()).await;
            assert_eq!(reply.outcome, Outcome::Ok, "{}", driver.describe(&request, &reply));
        });
    }
}
