//! Loading, and what the schema says of itself.

use std::sync::atomic::AtomicBool;

use drivers::orders::postgres::{PostgresControl, PostgresData, PostgresError, PostgresLoad, load_postgres};
use model::OrderSql;
use orders::{ConsistencyCondition, OrderTable};

use crate::common::block_on;
use crate::fixture::{Database, population, scale};

#[test]
fn loaded_data_are_complete_consistent_and_described() {
    let database = Database::loaded();
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
        let mut control = PostgresControl::open(&database.context(OrderSql::Client)).await.unwrap();
        let PostgresData::Loaded(found) = control.data().await.unwrap() else { panic!("no data") };
        assert_eq!((found.seed(), found.scale()), (expected.seed(), expected.scale()));
        for condition in ConsistencyCondition::ALL {
            let found = control.violations(condition, &scale()).await.unwrap();
            assert_eq!(found.n_violations, 0, "{}: {:?}", condition.sentence(), found.rows);
        }
        let description = control.description().await.unwrap();
        assert!(description.contains(" in PostgreSQL ") && description.contains("fsync on"), "{description}");
    });
    // Each seeded fault is found by its condition, and told with its rows.
    database.query("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 2");
    let found = block_on(async {
        let mut control = PostgresControl::open(&database.context(OrderSql::Client)).await.unwrap();
        control.violations(ConsistencyCondition::WarehouseYtd, &scale()).await.unwrap()
    });
    assert_eq!(found.n_violations, 1);
    assert!(found.rows[0].starts_with("w_id 2, w_ytd "), "{:?}", found.rows);
}

/// A row of each table is, to the last column, that of the population.
#[test]
fn rows_are_those_of_the_population() {
    let database = Database::loaded();
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
    assert_eq!(found, expected.join("|"));
    let stock = population.stock(1).nth(41).unwrap();
    let found = database
        .query("SELECT s_quantity, s_dist_10, s_ytd, s_data FROM stock WHERE (s_w_id, s_i_id) = (1, 42)");
    assert_eq!(found, format!("{}|{}|0|{}", stock.quantity, stock.district_info[9], stock.data));
    let line = population.order_lines(district).next().unwrap();
    let found = database.query(
        "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info, ol_delivery_d = o_entry_d \
         FROM order_line JOIN orders ON (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id) \
         WHERE (ol_w_id, ol_d_id, ol_o_id, ol_number) = (2, 5, 1, 1)",
    );
    let expected = format!("{}|2|{}|{}|{}|t", line.item, line.quantity, line.amount.0, line.district_info);
    assert_eq!(found, expected);
}

#[test]
fn a_schema_that_is_not_ours_is_refused_and_stays() {
    let database = Database::empty();
    database.query("CREATE SCHEMA plimsoll_orderentry; CREATE TABLE plimsoll_orderentry.mine (v int)");
    block_on(async {
        let mut control = PostgresControl::open(&database.context(OrderSql::Client)).await.unwrap();
        for result in [control.data().await.map(drop), control.drop_schema().await] {
            assert!(matches!(result, Err(PostgresError::NotOurs)), "{result:?}");
        }
    });
    let error = database.load().unwrap_err().to_string();
    assert!(error.starts_with("making the schema: the database refused it with SQLSTATE 42P06"), "{error}");
    assert_eq!(database.query("SELECT COUNT(*) FROM mine"), "0");
}

#[test]
fn a_loading_that_was_stopped_leaves_a_schema_that_is_ours_and_of_no_use() {
    let database = Database::empty();
    let load = PostgresLoad { server: &database.server, population: population(), n_connections: 1 };
    let stopped = load_postgres(&load, &AtomicBool::new(true), |_| {});
    assert!(matches!(stopped, Err(PostgresError::Stopped)), "{stopped:?}");
    block_on(async {
        let mut control = PostgresControl::open(&database.context(OrderSql::Client)).await.unwrap();
        let found = control.data().await.unwrap();
        assert_eq!(found, PostgresData::Unusable("data whose loading was interrupted".to_owned()));
        control.drop_schema().await.unwrap();
        assert_eq!(control.data().await.unwrap(), PostgresData::None);
    });
    database.load().unwrap_or_else(|error| panic!("{error}"));
}
