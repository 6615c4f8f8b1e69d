//! The five transactions: their inputs, how terminals draw them, their outputs, and the rules that do not depend on the
//! database.
//!
//! Source: TPC-C revision 5.11, clauses 2.4 to 2.8.

mod generator;
mod input;
mod output;

pub(crate) use generator::ROLLED_BACK_PERCENT;
pub use generator::{InputGenerator, Terminal};
pub use input::{
    CustomerSelector, DeliveryInput, NewOrderInput, OrderStatusInput, OrderedItem, OrderedItems,
    PaymentInput, StockLevelInput, TransactionInput, TransactionKind, TransactionType,
};
pub use output::{
    CustomerDetails, DeliveryOutput, NewOrderOutput, OrderDetails, OrderStatusLine, OrderStatusOutput,
    PaymentOutput, PlacedOrder, PricedLine, RolledBackOrder, StockLevelOutput, TransactionOutput,
};

use crate::ShortText;

/// The number of last orders whose items `StockLevel` looks at.
pub const RECENT_ORDERS: u32 = 20;

/// The pieces that a stock holds at least after an order, and those that it is filled up with.
const QUANTITY_MIN: i64 = 10;
const REFILL: i64 = 91;

/// Returns the pieces in stock after an order of some: filled up where fewer than ten would be left.
pub fn next_quantity(in_stock: i64, ordered: u32) -> i64 {
    let left = in_stock - i64::from(ordered);
    if QUANTITY_MIN <= left { left } else { left + REFILL }
}

/// Returns the data of a payment: the names of warehouse and district, with four spaces between.
pub fn history_data(warehouse_name: &str, district_name: &str) -> String {
    format!("{warehouse_name}    {district_name}")
}

/// Returns the data of a customer with bad credit after a payment: the payment in front of the former data, cut to 500
/// characters.
pub fn bad_credit_data(payment: &PaymentInput, customer: u32, data: &str) -> ShortText<500> {
    let of = payment.customer_district;
    let to = payment.district;
    let amount = payment.amount;
    let to_district = to.district;
    let longer = format!(
        "{customer} {} {} {to_district} {} {amount} | {data}",
        of.district, of.warehouse, to.warehouse
    );
    ShortText::new(&longer[..longer.floor_char_boundary(500)]).expect("it has been cut")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cents, DistrictKey};

    #[test]
    fn stocks_are_filled_up_where_fewer_than_ten_would_be_left() {
        assert_eq!(
            [(20, 10), (19, 10), (10, 1), (100, 1)].map(|(q, n)| next_quantity(q, n)),
            [10, 100, 100, 99]
        );
    }

    #[test]
    fn a_payment_is_put_in_front_of_the_data_of_bad_credit() {
        let payment = PaymentInput {
            district: DistrictKey { warehouse: 2, district: 3 },
            customer_district: DistrictKey { warehouse: 4, district: 5 },
            customer: CustomerSelector::Number(7),
            amount: Cents(1_234),
        };
        assert_eq!(bad_credit_data(&payment, 7, "old").as_str(), "7 5 4 3 2 12.34 | old");
        let long = "x".repeat(500);
        let data = bad_credit_data(&payment, 7, &long);
        assert_eq!(data.as_str(), format!("7 5 4 3 2 12.34 | {}", &long[..482]));
        // A character of two bytes that would be cut in half is left out.
        assert_eq!(bad_credit_data(&payment, 77, &"é".repeat(300)).as_str().len(), 499);
    }
}
