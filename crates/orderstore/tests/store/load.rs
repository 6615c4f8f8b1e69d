//! Loading, and what a file says of itself.

use std::fs;
use std::ops::ControlFlow;

use orders::{OrderTable, OrderTotals};
use orderstore::{OrderStore, StoreError, Synchronous, create};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::fixture::{Fixture, population, violated};

/// Golden check 9.4: on fresh data all twelve conditions hold.
#[test]
fn fresh_data_have_the_rows_of_the_population_and_are_consistent() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    assert_eq!(store.population(), &population(2));
    assert_eq!(violated(&store), [0; 0]);
    for table in OrderTable::ALL {
        let stored = fixture.number(&format!("SELECT COUNT(*) FROM {}", table.schema().name));
        assert_eq!(store.loaded_rows(table).unwrap(), stored.cast_unsigned(), "{table:?}");
        let expected = population(2).scale().rows(table);
        assert!(table == OrderTable::OrderLine || stored.cast_unsigned() == expected, "{table:?}");
    }
    assert_eq!(store.totals().unwrap(), OrderTotals { orders: 600, new_orders: 180, next_orders: 20 * 31 });
    let stored = fixture.number("SELECT SUM(i_price) FROM item");
    assert_eq!(stored, population(2).items().map(|item| item.price.0).sum::<i64>());
}

#[test]
fn the_rows_of_a_seed_are_the_same_in_every_file() {
    let one = Fixture::new(1);
    let other = Fixture::new(1);
    for table in OrderTable::ALL {
        let schema = table.schema();
        let columns: Vec<&str> = schema.columns.iter().map(|column| column.name).collect();
        let columns = columns.join(", ");
        let attached = format!("ATTACH '{}' AS other", other.path.display());
        let database = Connection::open(&one.path).unwrap();
        database.execute(&attached, []).unwrap();
        let difference = format!(
            "SELECT COUNT(*) FROM (SELECT {columns} FROM main.{0} EXCEPT SELECT {columns} FROM other.{0})",
            schema.name
        );
        assert_eq!(database.query_row(&difference, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}

#[test]
fn progress_counts_all_rows_and_can_stop_the_loading() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("orders.db");
    let mut seen = Vec::new();
    create(&path, &population(1), |rows| {
        seen.push(rows);
        ControlFlow::Continue(())
    })
    .unwrap();
    let store = OrderStore::open(&path, Synchronous::Full).unwrap();
    let loaded: u64 = OrderTable::ALL.into_iter().map(|table| store.loaded_rows(table).unwrap()).sum();
    assert!(seen.is_sorted() && seen.last() == Some(&loaded), "{seen:?}");

    let stopped = folder.path().join("stopped.db");
    let ended = create(&stopped, &population(1), |rows| match rows {
        0..3000 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    });
    assert!(matches!(ended, Err(StoreError::Stopped)), "{ended:?}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("stopped")), "{left:?}");
}

#[test]
fn a_file_that_exists_is_not_loaded_over() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("orders.db");
    fs::write(&path, "mine").unwrap();
    let ended = create(&path, &population(1), |_| ControlFlow::Continue(()));
    assert_eq!(ended.unwrap_err().to_string(), format!("`{}` already exists", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

/// Returns the reason why a file is not opened, without its path.
fn refusal(fixture: &Fixture) -> String {
    match OrderStore::open(&fixture.path, Synchronous::Full).unwrap_err() {
        StoreError::NoData { found, .. } => found,
        other => panic!("{other}"),
    }
}

#[test]
fn files_with_other_data_are_refused() {
    let fixture = Fixture::new(1);
    let changes = [
        ("value = 7 WHERE name = 'format'", "format 7, this build reads 1"),
        (
            "value = 3 WHERE name = 'divisor'",
            "expected a divisor of [1, 2, 4, 5, 10, 20, 25, 50, 100], found 3",
        ),
        ("value = -1 WHERE name = 'warehouses'", "expected 1 to 100000 warehouses, found 4294967295"),
        ("value = value + 1 WHERE name = 'c_load'", "rows of a build that generates different ones"),
        ("name = 'sed' WHERE name = 'seed'", "its metadata lack `seed`"),
    ];
    for (change, expected) in changes {
        fixture.change("UPDATE plimsoll_orderentry SET value = 1 WHERE name = 'format'");
        let kept = fs::read(&fixture.path).unwrap();
        fixture.change(&format!("UPDATE plimsoll_orderentry SET {change}"));
        assert_eq!(refusal(&fixture), expected);
        fs::write(&fixture.path, kept).unwrap();
    }

    let database = Connection::open(&fixture.path).unwrap();
    database.pragma_update(None, "application_id", 1).unwrap();
    assert_eq!(refusal(&fixture), "another SQLite file, or one whose loading was interrupted");
    drop(database);
    fs::write(&fixture.path, "x".repeat(5000)).unwrap();
    assert_eq!(refusal(&fixture), "it is not an SQLite file");
    fs::remove_file(&fixture.path).unwrap();
    let missing = OrderStore::open(&fixture.path, Synchronous::Full).unwrap_err();
    assert!(missing.to_string().starts_with("opening: unable to open database file"), "{missing}");
}
