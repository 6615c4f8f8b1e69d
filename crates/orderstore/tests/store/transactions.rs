//! The five transactions, one by one.

use orders::{
    Cents, Credit, CustomerSelector, DeliveryInput, DistrictKey, NewOrderInput, NewOrderOutput,
    OrderStatusInput, OrderStatusOutput, OrderedItem, OrderedItems, PaymentInput, StockLevelInput,
    TransactionInput, TransactionOutput, last_name, order_total,
};
use orderstore::{OrderStore, StoreError, StoreSession};

use crate::fixture::{Fixture, LOADED, NOW, population, violated};

const HERE: DistrictKey = DistrictKey { warehouse: 1, district: 3 };

/// Makes an order of lines with item, supplying warehouse and pieces.
fn order(customer: u32, lines: &[(u32, u32, u32)]) -> NewOrderInput {
    let lines = lines.iter().map(|&(item, supply_warehouse, quantity)| OrderedItem {
        item,
        supply_warehouse,
        quantity,
    });
    let items = OrderedItems::new(&lines.collect::<Vec<_>>()).unwrap();
    NewOrderInput { district: HERE, customer, items, is_rolled_back: false }
}

fn place(session: &mut StoreSession<'_>, input: NewOrderInput) -> NewOrderOutput {
    match session.perform(&TransactionInput::NewOrder(input), NOW).unwrap().output {
        TransactionOutput::NewOrder(output) => output,
        other => panic!("{other:?}"),
    }
}

fn status(store: &OrderStore, customer: CustomerSelector) -> OrderStatusOutput {
    let input = TransactionInput::OrderStatus(OrderStatusInput { district: HERE, customer });
    match store.session().unwrap().perform(&input, NOW).unwrap().output {
        TransactionOutput::OrderStatus(output) => output,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_order_takes_its_pieces_from_stock_and_has_its_total() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let lines = [(7, 1, 4), (8, 2, 10), (7, 1, 5)];
    let NewOrderOutput::Placed(placed) = place(&mut store.session().unwrap(), order(5, &lines)) else {
        panic!()
    };

    // The rows as they were loaded.
    let population = population(2);
    let items: Vec<_> = population.items().collect();
    let stock = |warehouse, item: usize| population.stock(warehouse).nth(item - 1).unwrap();
    let customer = population.customers(HERE).nth(4).unwrap();
    let warehouse = population.warehouse(1);
    let district = population.district(HERE);

    assert_eq!((placed.order, placed.entered), (31, NOW));
    assert_eq!(
        (placed.customer_last, placed.credit, placed.discount),
        (customer.last, customer.credit, customer.discount)
    );
    assert_eq!((placed.warehouse_tax, placed.district_tax), (warehouse.tax, district.tax));
    let amounts = items[6].price * 9 + items[7].price * 10;
    assert_eq!(placed.total, order_total(amounts, customer.discount, warehouse.tax, district.tax));
    let priced: Vec<_> = placed.lines.iter().map(|line| (line.name, line.price, line.amount)).collect();
    let expected = [(6, 4), (7, 10), (6, 5)].map(|(index, pieces)| {
        let item: &orders::ItemRow = &items[index];
        (item.name, item.price, item.price * pieces)
    });
    assert_eq!(priced, expected);

    // The second line of an item finds what the first has left.
    let first = orders::next_quantity(i64::from(stock(1, 7).quantity), 4);
    let left =
        [first, orders::next_quantity(i64::from(stock(2, 8).quantity), 10), orders::next_quantity(first, 5)];
    assert_eq!(placed.lines.iter().map(|line| line.in_stock).collect::<Vec<_>>(), left);
    let of_stock =
        |columns| fixture.number(&format!("SELECT {columns} FROM stock WHERE s_w_id = 1 AND s_i_id = 7"));
    assert_eq!(of_stock("s_quantity"), left[2]);
    assert_eq!(of_stock("s_ytd * 100 + s_order_cnt * 10 + s_remote_cnt"), 920);
    assert_eq!(fixture.number("SELECT s_remote_cnt FROM stock WHERE s_w_id = 2 AND s_i_id = 8"), 1);
    let key = "o_w_id = 1 AND o_d_id = 3 AND o_id = 31";
    assert_eq!(fixture.number(&format!("SELECT o_ol_cnt * 10 + o_all_local FROM orders WHERE {key}")), 30);
    let info = stock(2, 8).district_info[2];
    let stored = format!(
        "SELECT COUNT(*) FROM order_line WHERE ol_o_id = 31 AND ol_number = 2 AND ol_dist_info = '{info}'"
    );
    assert_eq!(fixture.number(&stored), 1);
    assert_eq!(violated(&store), [0; 0]);
}

#[test]
fn brands_are_original_where_item_and_stock_are() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    for (item, stock) in [("xORIGINALx", "y"), ("x", "ORIGINALy"), ("ORIGINAL", "xORIGINAL")] {
        fixture.change(&format!("UPDATE item SET i_data = '{item}' WHERE i_id = 7"));
        fixture.change(&format!("UPDATE stock SET s_data = '{stock}' WHERE s_i_id = 7"));
        let NewOrderOutput::Placed(placed) = place(&mut store.session().unwrap(), order(5, &[(7, 1, 1)]))
        else {
            panic!()
        };
        assert_eq!(placed.lines[0].is_original, item.len() == 8, "{item}, {stock}");
    }
}

#[test]
fn an_order_with_an_unknown_item_changes_nothing() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    let before = fixture.number("SELECT SUM(s_quantity) FROM stock");
    let totals = store.totals().unwrap();
    let output = place(&mut store.session().unwrap(), order(5, &[(7, 1, 4), (8, 1, 1), (1001, 1, 1)]));
    let NewOrderOutput::RolledBack(rolled_back) = output else { panic!("{output:?}") };
    let customer = population(1).customers(HERE).nth(4).unwrap();
    assert_eq!((rolled_back.order, rolled_back.missing_item), (31, 1001));
    assert_eq!((rolled_back.customer_last, rolled_back.credit), (customer.last, customer.credit));
    assert_eq!(fixture.number("SELECT SUM(s_quantity) FROM stock"), before);
    assert_eq!(store.totals().unwrap(), totals);
    assert_eq!(violated(&store), [0; 0]);
}

fn pay(store: &OrderStore, customer: CustomerSelector, amount: Cents) -> orders::PaymentOutput {
    let customer_district = DistrictKey { warehouse: 2, district: 9 };
    let input = PaymentInput { district: HERE, customer_district, customer, amount };
    match store.session().unwrap().perform(&TransactionInput::Payment(input), NOW).unwrap().output {
        TransactionOutput::Payment(output) => *output,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_payment_is_received_by_warehouse_and_district_and_kept_by_the_customer() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let paid = pay(&store, CustomerSelector::Number(5), Cents(1_234));
    let population = population(2);
    let row = population.customers(DistrictKey { warehouse: 2, district: 9 }).nth(4).unwrap();
    let customer = paid.customer;
    assert_eq!((customer.id, customer.first, customer.last), (5, row.first, row.last));
    assert_eq!((customer.balance, paid.paid), (Cents(-2_234), NOW));
    assert_eq!((paid.address, paid.phone, paid.since), (row.address, row.phone, LOADED));
    assert_eq!((paid.credit_limit, paid.discount), (row.credit_limit, row.discount));
    assert_eq!(paid.warehouse, population.warehouse(1).address);
    assert_eq!(paid.district, population.district(HERE).address);
    let key = "c_w_id = 2 AND c_d_id = 9 AND c_id = 5";
    let stored = format!("SELECT c_ytd_payment * 10 + c_payment_cnt FROM customer WHERE {key}");
    assert_eq!(fixture.number(&stored), 2_234 * 10 + 2);
    let names = format!("{}    {}", population.warehouse(1).name, population.district(HERE).name);
    let history = format!(
        "SELECT COUNT(*) FROM history WHERE h_c_w_id = 2 AND h_d_id = 3 AND h_amount = 1234 AND h_data = '{names}'"
    );
    assert_eq!(fixture.number(&history), 1);
    assert_eq!(violated(&store), [0; 0]);
}

#[test]
fn a_payment_of_bad_credit_is_written_into_the_customers_data() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let key = "c_w_id = 2 AND c_d_id = 9 AND c_id = 5";
    fixture.change(&format!("UPDATE customer SET c_credit = 'GC', c_data = 'old' WHERE {key}"));
    let good = pay(&store, CustomerSelector::Number(5), Cents(100));
    assert_eq!((good.credit, good.data), (Credit::Good, None));
    let data = |text: &str| format!("SELECT c_data = '{text}' FROM customer WHERE {key}");
    assert_eq!(fixture.number(&data("old")), 1);

    fixture.change(&format!("UPDATE customer SET c_credit = 'BC' WHERE {key}"));
    let bad = pay(&store, CustomerSelector::Number(5), Cents(1_234));
    let expected = "5 9 2 3 1 12.34 | old";
    assert_eq!((bad.credit, bad.data.unwrap().as_str()), (Credit::Bad, expected));
    assert_eq!(fixture.number(&data(expected)), 1);
}

/// Four customers of one name, sorted by first name a, b, c, d: number ⌈4/2⌉ is the second; of three, number ⌈3/2⌉ too.
#[test]
fn of_customers_of_a_last_name_the_middle_one_is_chosen() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let name = last_name(29);
    for (id, first) in [(11, "d"), (12, "b"), (13, "c"), (14, "a")] {
        let set = format!("c_last = '{name}', c_first = '{first}'");
        fixture.change(&format!("UPDATE customer SET {set} WHERE c_d_id IN (3, 9) AND c_id = {id}"));
    }
    fixture.change(
        "UPDATE customer SET c_last = 'NOBODY' WHERE c_last = 'BARABLEEING' AND c_id NOT IN (11, 12, 13, 14)",
    );
    let middle = CustomerSelector::LastName(29);
    assert_eq!(status(&store, middle).customer.id, 12);
    assert_eq!(pay(&store, middle, Cents(100)).customer.id, 12);
    fixture.change("UPDATE customer SET c_last = 'NOBODY' WHERE c_first = 'a'");
    assert_eq!(status(&store, middle).customer.id, 13);
}

#[test]
fn the_status_of_an_order_is_that_of_the_last_one() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    let loaded = population(1).orders(HERE).find(|order| order.customer == 5).unwrap();
    let before = status(&store, CustomerSelector::Number(5)).order.unwrap();
    assert_eq!((before.id, before.carrier, before.entered), (loaded.id, loaded.carrier, LOADED));
    let lines: Vec<_> = population(1).order_lines(HERE).filter(|line| line.order == loaded.id).collect();
    let expected: Vec<_> =
        lines.iter().map(|line| (line.item, line.quantity, line.amount, line.delivered)).collect();
    let found: Vec<_> =
        before.lines.iter().map(|line| (line.item, line.quantity, line.amount, line.delivered)).collect();
    assert_eq!(found, expected);

    place(&mut store.session().unwrap(), order(5, &[(7, 1, 4), (8, 1, 1)]));
    let after = status(&store, CustomerSelector::Number(5));
    assert_eq!(after.customer.balance, Cents(-1_000));
    let last = after.order.unwrap();
    assert_eq!((last.id, last.carrier, last.entered, last.lines.len()), (31, None, NOW, 2));
    assert_eq!((last.lines[0].item, last.lines[0].supply_warehouse, last.lines[0].delivered), (7, 1, None));
}

fn deliver(store: &OrderStore) -> orders::DeliveryOutput {
    let input = TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier: 4 });
    match store.session().unwrap().perform(&input, NOW).unwrap().output {
        TransactionOutput::Delivery(output) => output,
        other => panic!("{other:?}"),
    }
}

/// Each district has nine new orders, from 22 to 30.
#[test]
fn a_delivery_takes_the_oldest_order_of_each_district_until_none_is_left() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let first = deliver(&store);
    assert_eq!((first.orders, first.n_skipped()), ([Some(22); 10], 0));

    let delivered = population(1).orders(HERE).find(|order| order.id == 22).unwrap();
    let lines = population(1).order_lines(HERE).filter(|line| line.order == 22);
    let amount: Cents = lines.map(|line| line.amount).sum();
    let after = status(&store, CustomerSelector::Number(delivered.customer));
    assert_eq!(after.customer.balance, amount - Cents(1_000));
    let order = after.order.unwrap();
    assert_eq!((order.id, order.carrier), (22, Some(4)));
    assert!(order.lines.iter().all(|line| line.delivered == Some(NOW)));
    let customer = format!("c_w_id = 1 AND c_d_id = 3 AND c_id = {}", delivered.customer);
    assert_eq!(fixture.number(&format!("SELECT c_delivery_cnt FROM customer WHERE {customer}")), 1);

    fixture.change("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 2");
    let second = deliver(&store);
    assert_eq!((second.orders[0], second.orders[1], second.n_skipped()), (Some(23), None, 1));
    (0..7).for_each(|_| assert_eq!(deliver(&store).n_skipped(), 1));
    assert_eq!(deliver(&store).n_delivered(), 0);
    let other = "SELECT COUNT(*) FROM new_order WHERE no_w_id = 2";
    assert_eq!(fixture.number(other), 90);
}

/// The last 20 of the 30 orders count, and of each item one; stock of another warehouse does not.
#[test]
fn the_level_of_stock_counts_items_of_recent_orders_below_the_threshold() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let count = || {
        let input = TransactionInput::StockLevel(StockLevelInput { district: HERE, threshold: 15 });
        match store.session().unwrap().perform(&input, NOW).unwrap().output {
            TransactionOutput::StockLevel(output) => output.n_low,
            other => panic!("{other:?}"),
        }
    };
    let low: std::collections::BTreeSet<u32> =
        population(2).stock(1).filter(|stock| stock.quantity < 15).map(|stock| stock.item).collect();
    let recent = population(2).order_lines(HERE).filter(|line| (11..31).contains(&line.order));
    let items: std::collections::BTreeSet<u32> = recent.map(|line| line.item).collect();
    assert_eq!(count() as usize, items.intersection(&low).count());
    assert!(0 < count());

    fixture.change("UPDATE stock SET s_quantity = 15 WHERE s_w_id = 1");
    assert_eq!(count(), 0);
    fixture.change("UPDATE stock SET s_quantity = 14 WHERE s_w_id = 2");
    assert_eq!(count(), 0);
    fixture.change("UPDATE stock SET s_quantity = 14 WHERE s_w_id = 1");
    assert_eq!(count() as usize, items.len());
}

#[test]
fn rows_that_are_missing_are_named_and_nothing_has_changed() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    let before = fixture.number("SELECT SUM(d_ytd) FROM district");
    let mut session = store.session().unwrap();
    let mut refused = |input| session.perform(&input, NOW).unwrap_err().to_string();
    let nowhere = DistrictKey { warehouse: 1, district: 11 };
    let pay = |customer, customer_district, district| {
        TransactionInput::Payment(PaymentInput { district, customer_district, customer, amount: Cents(1) })
    };
    let five = CustomerSelector::Number(5);
    let name = CustomerSelector::LastName(999);
    let cases = [
        (
            TransactionInput::NewOrder(order(31, &[(7, 1, 1)])),
            "no customer 31 of district 3 of warehouse 1 in the data",
        ),
        (TransactionInput::NewOrder(order(5, &[(7, 2, 1)])), "no stock of item 7 in warehouse 2 in the data"),
        (pay(five, HERE, nowhere), "no district 11 of warehouse 1 in the data"),
        (pay(five, nowhere, HERE), "no customer 5 of district 11 of warehouse 1 in the data"),
        (pay(name, HERE, HERE), "no customer `EINGEINGEING` of district 3 of warehouse 1 in the data"),
        (
            TransactionInput::StockLevel(StockLevelInput { district: nowhere, threshold: 10 }),
            "no district 11 of warehouse 1 in the data",
        ),
    ];
    for (input, expected) in cases {
        assert_eq!(refused(input), expected);
    }
    assert_eq!(fixture.number("SELECT SUM(d_ytd) FROM district"), before);
    assert_eq!(violated(&store), [0; 0]);
}

#[test]
fn values_that_the_tables_cannot_have_are_errors() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    let mut session = store.session().unwrap();
    let values = [
        "c_last = 'far longer than sixteen'",
        "c_last = 'BARBARBAR', c_credit = 'XX'",
        "c_credit = 'GC', c_discount = -1",
    ];
    for set in values {
        fixture.change(&format!("UPDATE customer SET {set} WHERE c_d_id = 3 AND c_id = 5"));
        let refused = session.perform(&TransactionInput::NewOrder(order(5, &[(7, 1, 1)])), NOW);
        assert!(matches!(refused, Err(StoreError::Database { .. })), "{set}: {refused:?}");
    }
    assert_eq!(fixture.number("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3"), 31);
}
