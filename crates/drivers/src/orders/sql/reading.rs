//! `OrderStatus` and `StockLevel` by client statements. Both only read.

use orders::{
    OrderDetails, OrderStatusInput, OrderStatusLine, OrderStatusOutput, RECENT_ORDERS, StockLevelInput,
    StockLevelOutput, TransactionOutput,
};

use super::columns::Columns;
use super::output::{CUSTOMERS_BY_NAME, TransactionEnd, customer_number};
use crate::database::connection::{SqlConnection, SqlRow, statements, values};
use crate::database::failure::SqlFailure;

statements! {
    /// The statements of transactions that only read.
    ReadingStatements {
        by_name: CUSTOMERS_BY_NAME,
        customer: "SELECT c_first, c_middle, c_last, c_balance FROM customer
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        order: "SELECT o_id, o_entry_d, o_carrier_id FROM orders
            WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1",
        lines: "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
            WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3 ORDER BY ol_number",
        next_order: "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2",
        low: "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
            WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id BETWEEN $3 AND $4 AND s_quantity < $5",
    }
}

/// Asks for the last order of a customer.
pub(crate) async fn order_status<C: SqlConnection>(
    connection: &mut C,
    sql: &ReadingStatements<C::Statement>,
    input: &OrderStatusInput,
) -> Result<TransactionEnd, SqlFailure> {
    let number = customer_number(connection, &sql.by_name, input.district, input.customer).await?;
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row = connection.one(&sql.customer, values![warehouse, district, number]).await?;
    let customer = Columns::of(&row).customer(number)?;
    let row = connection.optional(&sql.order, values![warehouse, district, number]).await?;
    let Some(row) = row else {
        let output = OrderStatusOutput { customer, order: None };
        return Ok(TransactionEnd::Commit(TransactionOutput::OrderStatus(output)));
    };
    let mut columns = Columns::of(&row);
    let id = columns.key()?;
    let entered = columns.time()?;
    let carrier = columns.optional_key()?;
    let rows = connection.rows(&sql.lines, values![warehouse, district, id]).await?;
    let lines = rows.iter().map(status_line).collect::<Result<_, _>>()?;
    let order = Some(OrderDetails { id, entered, carrier, lines });
    Ok(TransactionEnd::Commit(TransactionOutput::OrderStatus(OrderStatusOutput { customer, order })))
}

/// Reads a line of an order from a row.
pub(crate) fn status_line(row: &impl SqlRow) -> Result<OrderStatusLine, SqlFailure> {
    let mut columns = Columns::of(row);
    Ok(OrderStatusLine {
        item: columns.key()?,
        supply_warehouse: columns.key()?,
        quantity: columns.count()?,
        amount: columns.cents()?,
        delivered: columns.optional_time()?,
    })
}

/// Counts the items of a district's last orders whose stock is low.
pub(crate) async fn stock_level<C: SqlConnection>(
    connection: &mut C,
    sql: &ReadingStatements<C::Statement>,
    input: &StockLevelInput,
) -> Result<TransactionEnd, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row = connection.one(&sql.next_order, values![warehouse, district]).await?;
    let next = Columns::of(&row).key()?;
    let first = next.saturating_sub(RECENT_ORDERS);
    let last = next.saturating_sub(1);
    let row = connection.one(&sql.low, values![warehouse, district, first, last, input.threshold]).await?;
    let n_low = Columns::of(&row).count()?;
    Ok(TransactionEnd::Commit(TransactionOutput::StockLevel(StockLevelOutput { n_low })))
}
