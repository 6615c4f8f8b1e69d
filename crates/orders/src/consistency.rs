//! The consistency conditions, as SQL that any of our databases understands.
//!
//! Source: TPC-C revision 5.11, clause 3.3.2. Sums join from the left, so that rows that are missing altogether are found.

use crate::{DataScale, OrderTable};

/// A consistency condition, by its number in the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConsistencyCondition {
    /// 1: a warehouse has received what its districts have.
    WarehouseYtd,
    /// 2: the next order of a district follows its last order and its last new order.
    NextOrder,
    /// 3: the numbers of a district's new orders have no gap.
    NewOrdersWithoutGap,
    /// 4: the orders of a district have as many lines as they say, together.
    DistrictLines,
    /// 5: an order has no carrier exactly if it is a new order.
    CarrierOfDelivered,
    /// 6: an order has as many lines as it says.
    OrderLines,
    /// 7: a line has a delivery time exactly if its order has a carrier.
    DeliveryOfLines,
    /// 8: a warehouse has received the sum of its payments.
    WarehouseHistory,
    /// 9: a district has received the sum of its payments.
    DistrictHistory,
    /// 10: a customer's balance is the sum of deliveries less payments.
    CustomerBalance,
    /// 11: of the orders of a district, the first 2,100 are delivered (fewer in divided data). It holds before the first
    /// delivery only; afterwards [`OrderTotals::delivered_since_load`] takes its place.
    LoadedDeliveries,
    /// 12: a customer's balance and payments make the sum of deliveries.
    CustomerDeliveries,
}

use ConsistencyCondition as C;

impl ConsistencyCondition {
    /// All conditions, by number.
    pub const ALL: [ConsistencyCondition; 12] = [
        C::WarehouseYtd,
        C::NextOrder,
        C::NewOrdersWithoutGap,
        C::DistrictLines,
        C::CarrierOfDelivered,
        C::OrderLines,
        C::DeliveryOfLines,
        C::WarehouseHistory,
        C::DistrictHistory,
        C::CustomerBalance,
        C::LoadedDeliveries,
        C::CustomerDeliveries,
    ];

    /// Returns the number in the specification, from 1 to 12.
    pub fn number(self) -> u32 {
        self as u32 + 1
    }

    /// Returns whether the condition holds after deliveries too.
    pub fn holds_after_deliveries(self) -> bool {
        self != C::LoadedDeliveries
    }

    /// Returns the condition, as a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            C::WarehouseYtd => "a warehouse has received what its districts have",
            C::NextOrder => "the next order of a district follows its last one",
            C::NewOrdersWithoutGap => "the new orders of a district have no gap",
            C::DistrictLines => "the orders of a district have as many lines as they say",
            C::CarrierOfDelivered => "an order has no carrier exactly if it is a new order",
            C::OrderLines => "an order has as many lines as it says",
            C::DeliveryOfLines => "a line is delivered exactly if its order has a carrier",
            C::WarehouseHistory => "a warehouse has received the sum of its payments",
            C::DistrictHistory => "a district has received the sum of its payments",
            C::CustomerBalance => "a customer's balance is deliveries less payments",
            C::LoadedDeliveries => "the orders that were loaded as delivered are the only ones",
            C::CustomerDeliveries => "a customer's balance and payments make the deliveries",
        }
    }

    /// Returns a query for the rows that violate the condition: keys first, and then what is compared.
    pub fn violations_sql(self, scale: &DataScale) -> String {
        match self {
            C::WarehouseYtd => WAREHOUSE_YTD.to_owned(),
            C::NextOrder => NEXT_ORDER.to_owned(),
            C::NewOrdersWithoutGap => NEW_ORDERS_WITHOUT_GAP.to_owned(),
            C::DistrictLines => DISTRICT_LINES.to_owned(),
            C::CarrierOfDelivered => CARRIER_OF_DELIVERED.to_owned(),
            C::OrderLines => ORDER_LINES.to_owned(),
            C::DeliveryOfLines => DELIVERY_OF_LINES.to_owned(),
            C::WarehouseHistory => WAREHOUSE_HISTORY.to_owned(),
            C::DistrictHistory => DISTRICT_HISTORY.to_owned(),
            C::CustomerBalance => customer_balance(),
            C::LoadedDeliveries => loaded_deliveries(scale),
            C::CustomerDeliveries => customer_deliveries(),
        }
    }
}

const WAREHOUSE_YTD: &str = "\
SELECT w_id, w_ytd, COALESCE(SUM(d_ytd), 0) AS districts_ytd
FROM warehouse LEFT JOIN district ON d_w_id = w_id
GROUP BY w_id, w_ytd HAVING w_ytd <> COALESCE(SUM(d_ytd), 0)";

const NEXT_ORDER: &str = "\
SELECT d_w_id, d_id, d_next_o_id, o.last AS last_order, n.last AS last_new_order
FROM district
LEFT JOIN (SELECT o_w_id AS w, o_d_id AS d, MAX(o_id) AS last FROM orders GROUP BY o_w_id, o_d_id) o
    ON o.w = d_w_id AND o.d = d_id
LEFT JOIN (SELECT no_w_id AS w, no_d_id AS d, MAX(no_o_id) AS last FROM new_order GROUP BY no_w_id, no_d_id) n
    ON n.w = d_w_id AND n.d = d_id
WHERE o.last IS NULL OR o.last <> d_next_o_id - 1 OR (n.last IS NOT NULL AND n.last <> d_next_o_id - 1)";

const NEW_ORDERS_WITHOUT_GAP: &str = "\
SELECT no_w_id, no_d_id, MIN(no_o_id) AS first_new_order, MAX(no_o_id) AS last_new_order, COUNT(*) AS new_orders
FROM new_order GROUP BY no_w_id, no_d_id HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)";

const DISTRICT_LINES: &str = "\
SELECT o.w AS o_w_id, o.d AS o_d_id, o.n_lines AS lines_stated, COALESCE(l.n_lines, 0) AS lines_found
FROM (SELECT o_w_id AS w, o_d_id AS d, SUM(o_ol_cnt) AS n_lines FROM orders GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT ol_w_id AS w, ol_d_id AS d, COUNT(*) AS n_lines FROM order_line GROUP BY ol_w_id, ol_d_id) l
    ON l.w = o.w AND l.d = o.d
WHERE o.n_lines <> COALESCE(l.n_lines, 0)";

const CARRIER_OF_DELIVERED: &str = "\
SELECT o_w_id, o_d_id, o_id, o_carrier_id, no_o_id
FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)
UNION ALL
SELECT no_w_id, no_d_id, o_id, o_carrier_id, no_o_id
FROM new_order LEFT JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
WHERE o_id IS NULL";

const ORDER_LINES: &str = "\
SELECT o_w_id, o_d_id, o_id, o_ol_cnt AS lines_stated, COALESCE(l.n_lines, 0) AS lines_found
FROM orders LEFT JOIN (
    SELECT ol_w_id AS w, ol_d_id AS d, ol_o_id AS o, COUNT(*) AS n_lines
    FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id) l
    ON l.w = o_w_id AND l.d = o_d_id AND l.o = o_id
WHERE o_ol_cnt <> COALESCE(l.n_lines, 0)";

const DELIVERY_OF_LINES: &str = "\
SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, o_id, o_carrier_id, ol_delivery_d
FROM order_line LEFT JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE o_id IS NULL OR (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
    OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)";

const WAREHOUSE_HISTORY: &str = "\
SELECT w_id, w_ytd, COALESCE(h.paid, 0) AS paid
FROM warehouse LEFT JOIN (SELECT h_w_id AS w, SUM(h_amount) AS paid FROM history GROUP BY h_w_id) h ON h.w = w_id
WHERE w_ytd <> COALESCE(h.paid, 0)";

const DISTRICT_HISTORY: &str = "\
SELECT d_w_id, d_id, d_ytd, COALESCE(h.paid, 0) AS paid
FROM district LEFT JOIN (
    SELECT h_w_id AS w, h_d_id AS d, SUM(h_amount) AS paid FROM history GROUP BY h_w_id, h_d_id) h
    ON h.w = d_w_id AND h.d = d_id
WHERE d_ytd <> COALESCE(h.paid, 0)";

/// Customers with the sum of their delivered lines, as `l`.
const DELIVERED: &str = "\
customer LEFT JOIN (
    SELECT o_w_id AS w, o_d_id AS d, o_c_id AS c, SUM(ol_amount) AS delivered
    FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE ol_delivery_d IS NOT NULL GROUP BY o_w_id, o_d_id, o_c_id) l
    ON l.w = c_w_id AND l.d = c_d_id AND l.c = c_id";

fn customer_balance() -> String {
    format!(
        "\
SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(l.delivered, 0) AS delivered, COALESCE(h.paid, 0) AS paid
FROM {DELIVERED}
LEFT JOIN (
    SELECT h_c_w_id AS w, h_c_d_id AS d, h_c_id AS c, SUM(h_amount) AS paid
    FROM history GROUP BY h_c_w_id, h_c_d_id, h_c_id) h
    ON h.w = c_w_id AND h.d = c_d_id AND h.c = c_id
WHERE c_balance <> COALESCE(l.delivered, 0) - COALESCE(h.paid, 0)"
    )
}

fn customer_deliveries() -> String {
    format!(
        "\
SELECT c_w_id, c_d_id, c_id, c_balance, c_ytd_payment, COALESCE(l.delivered, 0) AS delivered
FROM {DELIVERED}
WHERE c_balance + c_ytd_payment <> COALESCE(l.delivered, 0)"
    )
}

fn loaded_deliveries(scale: &DataScale) -> String {
    format!(
        "\
SELECT o.w AS o_w_id, o.d AS o_d_id, o.orders AS orders, COALESCE(n.orders, 0) AS new_orders
FROM (SELECT o_w_id AS w, o_d_id AS d, COUNT(*) AS orders FROM orders GROUP BY o_w_id, o_d_id) o
LEFT JOIN (SELECT no_w_id AS w, no_d_id AS d, COUNT(*) AS orders FROM new_order GROUP BY no_w_id, no_d_id) n
    ON n.w = o.w AND n.d = o.d
WHERE o.orders - COALESCE(n.orders, 0) <> {}",
        scale.delivered_per_district()
    )
}

/// Totals of the orders of all districts at one moment between transactions, as [`OrderTotals::SQL`] counts them.
///
/// The counts of terminals are compared with them: orders placed, and orders delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderTotals {
    /// Number of orders.
    pub orders: u64,
    /// Number of new orders.
    pub new_orders: u64,
    /// Sum of the districts' next orders.
    pub next_orders: u64,
}

impl OrderTotals {
    /// A query for one row with the totals, in the order of the fields.
    pub const SQL: &str = "\
SELECT (SELECT COUNT(*) FROM orders), (SELECT COUNT(*) FROM new_order), (SELECT SUM(d_next_o_id) FROM district)";

    /// Returns the number of orders delivered since loading; below zero if delivered orders have been lost.
    ///
    /// Formula: orders − new orders − 2,100 ÷ divisor · districts. In place of condition 11, which deliveries end.
    pub fn delivered_since_load(&self, scale: &DataScale) -> i64 {
        let loaded = scale.rows(OrderTable::District) * u64::from(scale.delivered_per_district());
        self.orders.cast_signed() - self.new_orders.cast_signed() - loaded.cast_signed()
    }

    /// Returns the number of orders placed since another moment, by the districts' count; below zero if it ran backward.
    pub fn placed_since(&self, before: &OrderTotals) -> i64 {
        self.next_orders.cast_signed() - before.next_orders.cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_numbered_as_in_the_specification() {
        assert!(ConsistencyCondition::ALL.iter().map(|one| one.number()).eq(1..=12));
        let after: Vec<u32> = ConsistencyCondition::ALL
            .into_iter()
            .filter(|one| !one.holds_after_deliveries())
            .map(ConsistencyCondition::number)
            .collect();
        assert_eq!(after, [11]);
    }

    /// Two warehouses with divisor 100: 20 districts of 30 orders, 9 of them new. Then 5 placed and 3 delivered.
    #[test]
    fn totals_tell_what_has_been_placed_and_delivered() {
        let scale = DataScale::new(2, 100).unwrap();
        let loaded = OrderTotals { orders: 600, new_orders: 180, next_orders: 20 * 31 };
        assert_eq!(loaded.delivered_since_load(&scale), 0);
        let later = OrderTotals { orders: 605, new_orders: 182, next_orders: 20 * 31 + 5 };
        assert_eq!((later.delivered_since_load(&scale), later.placed_since(&loaded)), (3, 5));
        let lost = OrderTotals { orders: 599, ..loaded };
        assert_eq!((lost.delivered_since_load(&scale), loaded.placed_since(&later)), (-1, -5));
    }
}
