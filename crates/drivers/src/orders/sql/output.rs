//! Parts of transactions that all forms of SQL share: the customer whom an input selects, and outputs of orders.

use orders::{
    BasisPoints, Credit, CustomerSelector, DistrictKey, NewOrderOutput, OrderDetails, OrderStatusLine,
    OrderStatusOutput, OrderedItem, PaymentInput, PlacedOrder, PricedLine, RolledBackOrder, ShortText,
    TransactionOutput, bad_credit_data, last_name, order_total,
};
use units::WallTime;

use super::client::payment_output;
use super::columns::Columns;
use crate::database::connection::{SqlConnection, SqlRow, values};
use crate::database::failure::{SqlFailure, WRONG_ROWS};

/// The numbers of the customers with a last name, by first name.
pub(crate) const CUSTOMERS_BY_NAME: &str =
    "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first, c_id";

/// The way in which a transaction ends.
pub(crate) enum TransactionEnd {
    /// Its changes are kept.
    Commit(TransactionOutput),
    /// Its changes are undone.
    Rollback(TransactionOutput),
}

/// The part of an order that stands before its lines.
pub(crate) struct OrderHead {
    pub(crate) order: u32,
    pub(crate) customer_last: ShortText<16>,
    pub(crate) credit: Credit,
    pub(crate) discount: BasisPoints,
    pub(crate) warehouse_tax: BasisPoints,
    pub(crate) district_tax: BasisPoints,
}

impl OrderHead {
    /// Reads six columns.
    pub(crate) fn read(columns: &mut Columns<'_, impl SqlRow>) -> Result<OrderHead, SqlFailure> {
        Ok(OrderHead {
            order: columns.key()?,
            customer_last: columns.text()?,
            credit: columns.credit()?,
            discount: columns.rate()?,
            warehouse_tax: columns.rate()?,
            district_tax: columns.rate()?,
        })
    }
}

/// Returns a customer as stored procedures take it: the number, or 0 and the last name.
pub(crate) fn selected_customer(selector: CustomerSelector) -> (u32, ShortText<16>) {
    match selector {
        CustomerSelector::Number(number) => (number, ShortText::default()),
        CustomerSelector::LastName(number) => (0, last_name(number)),
    }
}

/// Reads the output of a payment by a stored procedure: the customer, the district and the warehouse.
pub(crate) fn stored_payment(
    columns: &mut Columns<'_, impl SqlRow>,
    now: WallTime,
) -> Result<TransactionOutput, SqlFailure> {
    let number = columns.key()?;
    let mut output = payment_output(columns, number, now)?;
    (output.district, output.warehouse) = (columns.address()?, columns.address()?);
    Ok(TransactionOutput::Payment(Box::new(output)))
}

/// Reads the output of an order-status by a stored procedure: the customer and the last order, whose lines are read by
/// `lines`.
pub(crate) fn stored_order_status<R: SqlRow>(
    columns: &mut Columns<'_, R>,
    lines: impl FnOnce(&mut Columns<'_, R>) -> Result<Vec<OrderStatusLine>, SqlFailure>,
) -> Result<TransactionOutput, SqlFailure> {
    let number = columns.key()?;
    let customer = columns.customer(number)?;
    let order = match columns.optional_key()? {
        Some(id) => Some(OrderDetails {
            id,
            entered: columns.time()?,
            carrier: columns.optional_key()?,
            lines: lines(columns)?,
        }),
        None => None,
    };
    Ok(TransactionOutput::OrderStatus(OrderStatusOutput { customer, order }))
}

/// Returns the number of the customer: of n with the last name, sorted by first name, number ⌈n/2⌉.
pub(crate) async fn customer_number<C: SqlConnection>(
    connection: &mut C,
    by_name: &C::Statement,
    district: DistrictKey,
    selector: CustomerSelector,
) -> Result<u32, SqlFailure> {
    let name = match selector {
        CustomerSelector::Number(number) => return Ok(number),
        CustomerSelector::LastName(number) => last_name(number),
    };
    let warehouse = district.warehouse;
    let district = district.district;
    let rows = connection.rows(by_name, values![warehouse, district, name.as_str()]).await?;
    // From 0, number ⌈n/2⌉ is ⌊(n − 1)/2⌋.
    let middle = rows.get(rows.len().saturating_sub(1) / 2);
    Columns::of(middle.ok_or(SqlFailure::WrongResult(WRONG_ROWS))?).key()
}

/// Returns what a payment puts in front of the data of a customer with bad credit, from behind the customer's number
/// on.
pub(crate) fn bad_credit_entry(input: &PaymentInput) -> String {
    bad_credit_data(input, 0, "").as_str()[1..].to_owned()
}

/// Returns the lines of an order in the order in which their stock is locked: the same for all transactions, so that
/// they do not wait for each other in a circle. With the index of each.
pub(crate) fn in_lock_order<'a>(
    items: impl Iterator<Item = &'a OrderedItem>,
) -> Vec<(usize, &'a OrderedItem)> {
    let mut lines: Vec<_> = items.enumerate().collect();
    lines.sort_by_key(|(index, line)| (line.supply_warehouse, line.item, *index));
    lines
}

/// Returns the output of an order that is placed.
pub(crate) fn placed(head: &OrderHead, lines: Vec<PricedLine>, entered: WallTime) -> TransactionOutput {
    let &OrderHead { order, customer_last, credit, discount, warehouse_tax, district_tax } = head;
    // The amounts are the server's: their sum may be anything.
    let amounts = lines.iter().fold(0i64, |sum, line| sum.saturating_add(line.amount.0));
    let total = order_total(orders::Cents(amounts), discount, warehouse_tax, district_tax);
    TransactionOutput::NewOrder(NewOrderOutput::Placed(PlacedOrder {
        order,
        entered,
        customer_last,
        credit,
        discount,
        warehouse_tax,
        district_tax,
        lines,
        total,
    }))
}

/// Returns the output of an order that is rolled back at an item that does not exist.
pub(crate) fn rolled_back(head: &OrderHead, missing_item: u32) -> TransactionOutput {
    let &OrderHead { order, customer_last, credit, .. } = head;
    TransactionOutput::NewOrder(NewOrderOutput::RolledBack(RolledBackOrder {
        order,
        customer_last,
        credit,
        missing_item,
    }))
}

#[cfg(test)]
mod tests {
    use orders::{Cents, DistrictKey};

    use super::*;

    #[test]
    fn stocks_are_locked_by_warehouse_and_item() {
        let line = |item, supply_warehouse| OrderedItem { item, supply_warehouse, quantity: 1 };
        let lines = [line(7, 2), line(9, 1), line(7, 1), line(7, 2)];
        let order: Vec<usize> = in_lock_order(lines.iter()).into_iter().map(|(index, _)| index).collect();
        assert_eq!(order, [2, 1, 0, 3]);
    }

    #[test]
    fn entries_of_bad_credit_are_those_of_the_workload() {
        let input = PaymentInput {
            district: DistrictKey { warehouse: 2, district: 3 },
            customer_district: DistrictKey { warehouse: 4, district: 5 },
            customer: CustomerSelector::Number(71),
            amount: Cents(1_234),
        };
        assert_eq!(format!("71{}old", bad_credit_entry(&input)), bad_credit_data(&input, 71, "old").as_str());
    }
}
