//! The rows before the first transaction, against the specification (golden checks 9.3).

use std::collections::BTreeSet;

use orders::{
    Cents, Credit, DISTRICTS, DataScale, DistrictKey, OrderTable, Population, is_original, last_name,
};
use proptest::prelude::*;
use units::WallTime;

const LOADED: WallTime = WallTime(1_700_000_000_000);

fn population(warehouses: u32, divisor: u32) -> Population {
    Population::new(42, DataScale::new(warehouses, divisor).unwrap(), LOADED)
}

/// Returns whether a count of n cases of probability p is within four standard deviations.
fn is_near(count: usize, n: usize, p: f64) -> bool {
    let count = count as f64;
    let n = n as f64;
    (count - n * p).abs() <= 4.0 * (n * p * (1.0 - p)).sqrt()
}

/// Numbers of rows of all tables, and sums that the specification states.
#[test]
fn a_warehouse_has_the_rows_and_sums_of_the_specification() {
    let population = population(1, 1);
    let scale = population.scale();
    let keys = || population.district_keys(1);
    let expected = |table| usize::try_from(scale.rows(table)).unwrap();

    assert_eq!(keys().count(), expected(OrderTable::District));
    assert_eq!(keys().flat_map(|key| population.history(key)).count(), expected(OrderTable::History));
    assert_eq!(keys().flat_map(|key| population.orders(key)).count(), expected(OrderTable::Orders));
    assert_eq!(keys().flat_map(|key| population.new_orders(key)).count(), expected(OrderTable::NewOrder));
    assert_eq!(population.stock(1).count(), expected(OrderTable::Stock));
    assert_eq!(population.items().count(), expected(OrderTable::Item));
    assert_eq!(keys().flat_map(|key| population.customers(key)).count(), expected(OrderTable::Customer));

    // Lines per order are uniform from 5 to 15, with a variance of 10: σ = √(30,000 · 10) = 548.
    let n_lines = keys().flat_map(|key| population.order_lines(key)).count();
    assert!(n_lines.abs_diff(300_000) <= 4 * 548, "{n_lines}");

    let paid = Cents::from_dollars(300_000);
    assert_eq!(population.warehouse(1).ytd, paid);
    assert_eq!(keys().map(|key| population.district(key).ytd).sum::<Cents>(), paid);
    assert_eq!(keys().flat_map(|key| population.history(key)).map(|row| row.amount).sum::<Cents>(), paid);
    let balance: Cents = keys().flat_map(|key| population.customers(key)).map(|row| row.balance).sum();
    assert_eq!(balance, -paid);
}

#[test]
fn customers_of_a_district_have_all_last_names_and_a_tenth_bad_credit() {
    let population = population(1, 1);
    let key = DistrictKey { warehouse: 1, district: 4 };
    let customers: Vec<_> = population.customers(key).collect();
    let names: BTreeSet<&str> = customers.iter().map(|row| row.last.as_str()).collect();
    let all: Vec<String> = (0..1000).map(|number| last_name(number).to_string()).collect();
    assert!(all.iter().all(|name| names.contains(name.as_str())) && names.len() == 1000);
    assert!(customers[..1000].iter().zip(&all).all(|(row, name)| row.last.as_str() == name));

    let n_bad = customers.iter().filter(|row| row.credit == Credit::Bad).count();
    assert!(is_near(n_bad, 3000, 0.1), "{n_bad}");
    assert!(customers.iter().all(|row| (8..=16).contains(&row.first.as_str().len())));
    assert!(customers.iter().all(|row| (300..=500).contains(&row.data.as_str().len())));
    assert!(
        customers.iter().all(|row| row.address.zip.as_str().ends_with("11111") && row.discount.0 <= 5000)
    );
}

#[test]
fn a_tenth_of_items_and_stocks_is_original() {
    let population = population(1, 10);
    let items: Vec<_> = population.items().collect();
    assert!(is_near(items.iter().filter(|row| is_original(row.data.as_str())).count(), 10_000, 0.1));
    assert!(items.iter().all(|row| (100..=10_000).contains(&row.price.0)));
    assert!(items.iter().all(|row| (26..=50).contains(&row.data.as_str().len())));
    let stocks: Vec<_> = population.stock(1).collect();
    assert!(is_near(stocks.iter().filter(|row| is_original(row.data.as_str())).count(), 10_000, 0.1));
    assert!(stocks.iter().all(|row| (10..=100).contains(&row.quantity)));
    assert!(stocks.iter().flat_map(|row| row.district_info).all(|text| text.as_str().len() == 24));
}

#[test]
fn orders_of_a_district_have_one_customer_each_and_the_lines_that_they_say() {
    let population = population(1, 1);
    let key = DistrictKey { warehouse: 1, district: 10 };
    let orders: Vec<_> = population.orders(key).collect();
    let mut customers: Vec<u32> = orders.iter().map(|row| row.customer).collect();
    customers.sort_unstable();
    assert!(customers.into_iter().eq(1..=3000));
    assert!(orders.iter().all(|row| row.carrier.is_some() == (row.id < 2101) && row.is_local));
    assert!(population.new_orders(key).map(|row| row.order).eq(2101..=3000));
    assert_eq!(population.district(key).next_order, 3001);

    let mut lines = population.order_lines(key);
    for order in &orders {
        for number in 1..=order.n_lines {
            let line = lines.next().unwrap();
            assert_eq!(
                (line.order, line.number, line.supply_warehouse, line.quantity),
                (order.id, number, 1, 5)
            );
            assert_eq!(line.delivered, order.carrier.map(|_| LOADED));
            assert_eq!(line.amount == Cents(0), order.carrier.is_some());
            assert!(line.amount.0 <= 999_999 && (1..=100_000).contains(&line.item));
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn divided_data_have_the_sums_of_their_customers() {
    let population = population(2, 100);
    let paid: Cents =
        population.district_keys(2).flat_map(|key| population.history(key)).map(|row| row.amount).sum();
    assert_eq!(paid, Cents::from_dollars(3000));
    assert_eq!(population.warehouse(2).ytd, paid);
    let customers: Vec<_> = population.customers(DistrictKey { warehouse: 2, district: 1 }).collect();
    assert!(
        customers.iter().zip(0..).all(|(row, number)| row.last == last_name(number)) && customers.len() == 30
    );
    assert_eq!(population.items().count(), 1000);
}

/// Goal: no change moves the rows of a seed: data that are stored would not be those that a run means.
#[test]
fn rows_never_change() {
    let population = population(3, 100);
    let key = DistrictKey { warehouse: 3, district: 7 };
    let printed = [
        population.c_load().to_string(),
        format!("{:?}", population.items().nth(1).unwrap()),
        format!("{:?}", population.order_lines(key).nth(100).unwrap()),
        format!("{:?}", population.orders(key).last().unwrap()),
        format!("{:?}", population.warehouse(3)),
    ];
    let expected = [
        "7",
        "ItemRow { id: 2, image: 5928, name: \"VulAeKHeGU5WSRn3VrCR0\", price: Cents(4596), data: \
         \"hgG9wHuBxw2y7UyuWA6j2hbR2TlDyqnQcl8\" }",
        "OrderLineRow { district: DistrictKey { warehouse: 3, district: 7 }, order: 11, number: \
         1, item: 859, supply_warehouse: 3, delivered: Some(WallTime(1700000000000)), quantity: \
         5, amount: Cents(0), district_info: \"KBEvUenw8birb95I1Z4XLIZe\" }",
        "OrderRow { district: DistrictKey { warehouse: 3, district: 7 }, id: 30, customer: 24, \
         entered: WallTime(1700000000000), carrier: None, n_lines: 6, is_local: true }",
        "WarehouseRow { id: 3, name: \"Wq0MGX\", address: PostalAddress { street_1: \
         \"vtBrO398A0nvU74G\", street_2: \"pqpfy5ZzAdLc\", city: \"bQrS7hCs8cIQB2oj\", state: \
         \"UH\", zip: \"588711111\" }, tax: BasisPoints(166), ytd: Cents(300000) }",
    ];
    assert_eq!(printed, expected);
}

proptest! {
    /// A district's rows are the same in more warehouses and after any others have been made.
    #[test]
    fn rows_do_not_depend_on_other_warehouses(warehouses in 1u32..20, more in 1u32..20, district in 1..=DISTRICTS) {
        let few = population(warehouses, 100);
        let many = population(warehouses + more, 100);
        let key = DistrictKey { warehouse: warehouses, district };
        let others = many.order_lines(DistrictKey { warehouse: 1, district: 1 }).count();
        prop_assert!(0 < others);
        prop_assert_eq!(few.warehouse(warehouses), many.warehouse(warehouses));
        prop_assert_eq!(few.district(key), many.district(key));
        prop_assert!(few.customers(key).eq(many.customers(key)));
        prop_assert!(few.history(key).eq(many.history(key)));
        prop_assert!(few.order_lines(key).eq(many.order_lines(key)));
        prop_assert!(few.stock(warehouses).eq(many.stock(warehouses)));
    }

    /// Streams differ: the same column of two districts, warehouses or tables is never the same text.
    #[test]
    fn rows_of_different_places_differ(warehouse in 1u32..1000, district in 1u32..10) {
        let population = population(1000, 100);
        let here = DistrictKey { warehouse, district };
        let names = [
            population.district(here).address.city,
            population.district(DistrictKey { district: district + 1, ..here }).address.city,
            population.district(DistrictKey { warehouse: warehouse + 1, ..here }).address.city,
            population.warehouse(warehouse).address.city,
        ];
        let different: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
        prop_assert_eq!(different.len(), 4);
    }
}
