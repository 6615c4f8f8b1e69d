//! The consistency conditions: what they find after transactions, and of which corruption.

use orders::ConsistencyCondition;

use crate::fixture::{Fixture, User, population, violated};

/// Golden check 9.4.
#[test]
fn data_stay_consistent_over_transactions() {
    let fixture = Fixture::new(2);
    let store = fixture.open();
    let before = store.totals().unwrap();
    let mut session = store.session().unwrap();
    let mut user = User::new(0, store.population());
    let counts = user.perform(&mut session, 23 * 60);
    assert!(500 < counts.placed && 0 < counts.rolled_back && 500 < counts.delivered, "{counts:?}");
    counts.assert_stored(&store, &before);
    assert_eq!(violated(&store), [11]);
}

/// Golden check 9.4: each corruption, and the conditions that it violates; on fresh data condition 11 concerns lost new
/// orders too. Orders up to 21 of 30 are delivered.
#[test]
fn every_corruption_violates_exactly_the_conditions_that_it_concerns() {
    let corruptions: [(&str, &[u32]); 10] = [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1 WHERE w_id = 1", &[1, 8]),
        ("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = 3", &[2]),
        ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 26", &[3, 5, 11]),
        (
            "DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 2 AND ol_number = 2",
            &[4, 6],
        ),
        (
            "UPDATE order_line SET ol_delivery_d = NULL
             WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 2 AND ol_number = 2",
            &[7],
        ),
        (
            "UPDATE customer SET c_balance = c_balance + 1 WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 5",
            &[10, 12],
        ),
        ("DELETE FROM history WHERE h_w_id = 1 AND h_d_id = 3", &[8, 9, 10]),
        // Further ones: a gap at the end, an order without a row, all lines of a district.
        ("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 30", &[2, 5, 11]),
        ("DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 26", &[4, 5, 7, 11]),
        ("DELETE FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3", &[4, 6]),
    ];
    for (corruption, expected) in corruptions {
        let fixture = Fixture::new(1);
        fixture.change(corruption);
        assert_eq!(violated(&fixture.open()), expected, "{corruption}");
    }
}

#[test]
fn violating_rows_are_named_with_their_values() {
    let fixture = Fixture::new(2);
    fixture.change("UPDATE warehouse SET w_ytd = w_ytd + w_id");
    fixture.change("DELETE FROM orders WHERE o_w_id = 2 AND o_d_id = 1 AND o_id = 30");
    let store = fixture.open();
    let printed = |condition, n_examples| {
        let found = store.violations(condition, n_examples).unwrap();
        (found.count, found.examples.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    // 300 customers with 10.00 each.
    let (count, rows) = printed(ConsistencyCondition::WarehouseYtd, 5);
    let expected =
        ["w_id 1, w_ytd 300001, districts_ytd 300000", "w_id 2, w_ytd 300002, districts_ytd 300000"];
    assert_eq!((count, rows), (2, expected.map(str::to_owned).to_vec()));
    let (count, rows) = printed(ConsistencyCondition::WarehouseHistory, 1);
    assert_eq!((count, rows), (2, vec!["w_id 1, w_ytd 300001, paid 300000".to_owned()]));
    let (count, rows) = printed(ConsistencyCondition::NextOrder, 1);
    let expected = "d_w_id 2, d_id 1, d_next_o_id 31, last_order 29, last_new_order 30";
    assert_eq!((count, rows), (1, vec![expected.to_owned()]));
    let (count, rows) = printed(ConsistencyCondition::CarrierOfDelivered, 1);
    let expected = "o_w_id 2, o_d_id 1, o_id null, o_carrier_id null, no_o_id 30";
    assert_eq!((count, rows), (1, vec![expected.to_owned()]));
}

#[test]
fn totals_show_orders_that_nobody_has_delivered() {
    let fixture = Fixture::new(1);
    fixture.change("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 26");
    let totals = fixture.open().totals().unwrap();
    assert_eq!(totals.delivered_since_load(population(1).scale()), 1);
}
