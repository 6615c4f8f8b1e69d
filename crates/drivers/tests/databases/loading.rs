//! Loading, and what the schema says of itself.

use std::sync::atomic::{AtomicBool, Ordering};

use drivers::database::{DatabaseError, DatabasePassword, DatabaseServer};
use drivers::orders::{DatabaseControl, DatabaseData, DatabaseLoad, LoadMethod, load_database};
use model::{DatabaseProduct, OrderSql};
use observe::process::family_of;
use orders::{ConsistencyCondition, DataScale, OrderTable, Population};
use rustix::process::{Pid, Signal, kill_process};
use units::{Clock, Nanos, RealClock, wall};

use super::fixture::{Database, PRODUCTS, population, scale};
use crate::common::block_on;

#[test]
fn loaded_data_are_complete_consistent_and_described() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        for table in OrderTable::ALL {
            let name = table.schema().name;
            let n_rows: u64 = database.query(&format!("SELECT COUNT(*) FROM {name}")).parse().unwrap();
            let expected = scale().rows(table);
            // Of the lines only the expected number is known.
            let gap = if table == OrderTable::OrderLine { expected / 10 } else { 0 };
            assert!(n_rows.abs_diff(expected) <= gap, "{name}: {n_rows}, expected {expected}");
            let stored = database.query(&format!("SELECT value FROM metadata WHERE name = 'rows of {name}'"));
            assert_eq!(stored, n_rows.to_string(), "{name}");
        }
        let expected = population();
        block_on(async {
            let mut control = DatabaseControl::open(&database.context(OrderSql::Client)).await.unwrap();
            let DatabaseData::Loaded(found) = control.data().await.unwrap() else { panic!("no data") };
            assert_eq!((found.seed(), found.scale()), (expected.seed(), expected.scale()));
            for condition in ConsistencyCondition::ALL {
                let found = control.violations(condition, &scale()).await.unwrap();
                assert_eq!(found.n_violations, 0, "{}: {:?}", condition.sentence(), found.rows);
            }
            let durable = match product {
                DatabaseProduct::PostgreSql => "fsync on",
                DatabaseProduct::MariaDb => "innodb_flush_log_at_trx_commit 1",
            };
            let description = control.description().await.unwrap();
            assert!(
                description.contains(&format!(" in {product} ")) && description.contains(durable),
                "{description}"
            );
        });
        // Each seeded fault is found by its condition, and told with its rows.
        database.query("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2");
        let found = block_on(async {
            let mut control = DatabaseControl::open(&database.context(OrderSql::Client)).await.unwrap();
            control.violations(ConsistencyCondition::WarehouseYtd, &scale()).await.unwrap()
        });
        assert_eq!(found.n_violations, 1);
        assert!(found.rows[0].starts_with("w_id 2, w_ytd "), "{:?}", found.rows);
    }
}

/// A row of each table is, to the last column, that of the population.
#[test]
fn rows_are_those_of_the_population() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let population = population();
        let district = population.district_keys(2).nth(4).unwrap();
        let customer = population.customers(district).nth(6).unwrap();
        let found = database.query(
            "SELECT c_last, c_street_1, c_zip, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, \
             c_payment_cnt, c_delivery_cnt, c_data FROM customer WHERE (c_w_id, c_d_id, c_id) = (2, 5, 7)",
        );
        let expected = [
            customer.last.to_string(),
            customer.address.street_1.to_string(),
            customer.address.zip.to_string(),
            customer.credit.code().to_owned(),
            customer.credit_limit.0.to_string(),
            customer.discount.0.to_string(),
            customer.balance.0.to_string(),
            customer.ytd_payment.0.to_string(),
            customer.n_payments.to_string(),
            customer.n_deliveries.to_string(),
            customer.data.to_string(),
        ];
        assert_eq!(found, expected.join("\t"));
        let stock = population.stock(1).nth(41).unwrap();
        let found = database
            .query("SELECT s_quantity, s_dist_10, s_ytd, s_data FROM stock WHERE (s_w_id, s_i_id) = (1, 42)");
        assert_eq!(found, format!("{}\t{}\t0\t{}", stock.quantity, stock.district_info[9], stock.data));
        let line = population.order_lines(district).next().unwrap();
        let found = database.query(
            "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info, \
 CASE WHEN ol_delivery_d = o_entry_d THEN 1 END \
             FROM order_line JOIN orders ON (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id) \
             WHERE (ol_w_id, ol_d_id, ol_o_id, ol_number) = (2, 5, 1, 1)",
        );
        let expected =
            format!("{}\t2\t{}\t{}\t{}\t1", line.item, line.quantity, line.amount.0, line.district_info);
        assert_eq!(found, expected);
    }
}

#[test]
fn a_schema_that_is_not_ours_is_refused_and_stays() {
    for product in PRODUCTS {
        let database = Database::empty(product);
        database.query_outside(
            "CREATE SCHEMA plimsoll_orderentry; CREATE TABLE plimsoll_orderentry.mine (v int)",
        );
        block_on(async {
            let mut control = DatabaseControl::open(&database.context(OrderSql::Client)).await.unwrap();
            for result in [control.data().await.map(drop), control.drop_schema().await] {
                assert!(matches!(result, Err(DatabaseError::NotOurs(_))), "{result:?}");
            }
        });
        let error = database.load().unwrap_err().to_string();
        let state = match product {
            DatabaseProduct::PostgreSql => "42P06",
            DatabaseProduct::MariaDb => "HY000: Can't create database",
        };
        let expected = format!("making the schema: the database refused it with SQLSTATE {state}");
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(database.query("SELECT COUNT(*) FROM mine"), "0");
    }
}

#[test]
fn a_loading_that_was_stopped_leaves_a_schema_that_is_ours_and_of_no_use() {
    for product in PRODUCTS {
        let database = Database::empty(product);
        let load = DatabaseLoad { server: &database.server, population: population(), n_connections: 1 };
        let stopped = load_database(&load, &AtomicBool::new(true), |_| {});
        assert!(matches!(stopped, Err(DatabaseError::Stopped)), "{stopped:?}");
        block_on(async {
            let mut control = DatabaseControl::open(&database.context(OrderSql::Client)).await.unwrap();
            let found = control.data().await.unwrap();
            assert_eq!(found, DatabaseData::Unusable("data whose loading was interrupted".to_owned()));
            control.drop_schema().await.unwrap();
            assert_eq!(control.data().await.unwrap(), DatabaseData::None);
        });
        database.load().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Processes that do nothing until this value is dropped.
struct Halted(Vec<Pid>);

impl Halted {
    fn server_of(database: &Database) -> Halted {
        let family = family_of(&database.sut.watched().leaders);
        let pids = family.iter().map(|process| Pid::from_raw(process.pid.cast_signed()).unwrap());
        let halted = Halted(pids.collect());
        halted.signal(Signal::STOP);
        halted
    }

    fn signal(&self, signal: Signal) {
        for pid in &self.0 {
            let _ = kill_process(*pid, signal);
        }
    }
}

impl Drop for Halted {
    fn drop(&mut self) {
        self.signal(Signal::CONT);
    }
}

/// Goal: who stops a loading does not wait for a server that answers nobody.
#[test]
fn a_loading_into_a_server_that_hangs_can_be_stopped() {
    // It takes longer than the first look at its progress.
    let large = Population::new(1, DataScale::new(100, 100).unwrap(), wall());
    for product in PRODUCTS {
        let database = Database::empty(product);
        let load = DatabaseLoad { server: &database.server, population: large, n_connections: 2 };
        let stop = AtomicBool::new(false);
        let clock = RealClock::start();
        let mut halted = None;
        let stopped = load_database(&load, &stop, |_| match &halted {
            None => halted = Some(Halted::server_of(&database)),
            Some(_) => stop.store(true, Ordering::Relaxed),
        });
        assert!(halted.is_some(), "{product}: loaded before the server could be halted");
        assert!(matches!(stopped, Err(DatabaseError::Stopped)), "{product}: {stopped:?}");
        assert!(clock.now() < Nanos::from_secs(10), "{product}: {}", clock.now());
    }
}

/// Goal: a server that reads no files of its clients gets the same rows.
#[test]
fn where_files_are_forbidden_the_same_rows_are_inserted() {
    let database = Database::empty(DatabaseProduct::MariaDb);
    let population = population();
    let names: Vec<&str> = OrderTable::ALL.into_iter().map(|table| table.schema().name).collect();
    let found = [("1", LoadMethod::LoadData), ("0", LoadMethod::Insert)].map(|(is_allowed, expected)| {
        database.query_outside(&format!("SET GLOBAL local_infile = {is_allowed}"));
        let method = database.load_population(population).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(method, expected);
        let sums = database.query(&format!("CHECKSUM TABLE {}", names.join(", ")));
        database.query_outside("DROP DATABASE plimsoll_orderentry");
        sums
    });
    assert_eq!(found[0], found[1]);
    assert!(found[0].lines().count() == 9 && !found[0].contains("NULL"), "{}", found[0]);
}

/// Goal: the counters have the names of the server, and have counted the loading.
#[test]
fn the_account_of_a_database_is_in_its_own_terms() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let account = block_on(async {
            let mut control = DatabaseControl::connect(&database.server).await.unwrap();
            control.account().await.unwrap()
        });
        let counted = |name| account.counters.iter().find(|(one, _)| *one == name).map(|(_, n)| *n);
        let (names, log) = match product {
            DatabaseProduct::PostgreSql => {
                (account.counters.len().to_string(), counted("pg_stat_wal.wal_bytes"))
            }
            DatabaseProduct::MariaDb => {
                let names: Vec<_> = account.counters.iter().map(|(name, _)| format!("'{name}'")).collect();
                let known = database.query(&format!(
                    "SELECT COUNT(*) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ({})",
                    names.join(", ")
                ));
                (known, counted("Innodb_os_log_written"))
            }
        };
        assert_eq!(names, account.counters.len().to_string(), "{product}: {account:?}");
        assert!(100_000 < log.unwrap(), "{product}: {account:?}");
    }
}

/// Goal: a user who may have fewer connections than the server is told by which limit. One session of another holds one.
#[test]
fn the_limit_that_leaves_the_fewest_connections_is_known() {
    for product in PRODUCTS {
        let database = Database::empty(product);
        let (own, expected) = match product {
            DatabaseProduct::PostgreSql => (
                "CREATE ROLE small LOGIN PASSWORD 'small' CONNECTION LIMIT 3; \
                 GRANT CONNECT ON DATABASE plimsoll TO small",
                "role’s `CONNECTION LIMIT`",
            ),
            DatabaseProduct::MariaDb => (
                "CREATE USER small IDENTIFIED BY 'small' WITH MAX_USER_CONNECTIONS 3",
                "`max_user_connections`",
            ),
        };
        database.query_outside(own);
        let small = DatabaseServer {
            user: "small".to_owned(),
            password: Some(DatabasePassword::new("small")),
            ..database.server.clone()
        };
        let connections = |server: &DatabaseServer, expected: &str, most: u64, free: u64| {
            block_on(async {
                let other = DatabaseControl::connect(server).await.unwrap();
                let mut control = DatabaseControl::connect(server).await.unwrap();
                let found = control.connections().await.unwrap();
                assert_eq!((&*found.limit, found.most, found.free), (expected, most, free), "{product}");
                drop(other);
            });
        };
        connections(&small, expected, 3, 2);
        if product == DatabaseProduct::PostgreSql {
            database.query_outside("ALTER DATABASE plimsoll CONNECTION LIMIT 2");
            connections(&small, "database’s `CONNECTION LIMIT`", 2, 1);
        }
        block_on(async {
            let mut control = DatabaseControl::connect(&database.server).await.unwrap();
            let found = control.connections().await.unwrap();
            assert_eq!(found.limit, "`max_connections`", "{product}: its own user has no other limit");
            assert!(50 < found.free && found.free <= found.most, "{product}: {found:?}");
        });
    }
}
