//! The form `stored`: a call of a stored procedure (`procedures.sql`) for each transaction, one round trip each.

use orders::{
    BasisPoints, Cents, DeliveryInput, DeliveryOutput, NewOrderInput, OrderStatusInput, OrderStatusLine,
    OrderedItem, PaymentInput, PricedLine, RECENT_ORDERS, ShortText, StockLevelInput, StockLevelOutput,
    TransactionInput, TransactionOutput,
};
use units::WallTime;

use crate::database::connection::{SqlConnection, statements, values};
use crate::database::failure::{SqlFailure, SqlStateCode, WRONG_COLUMN, WRONG_ROWS};
use crate::database::postgres::row::{PostgresRow, wall_of};
use crate::database::postgres::wire::{Statement, Wire};
use crate::orders::sql::columns::{Columns, short, small};
use crate::orders::sql::output::{
    OrderHead, bad_credit_entry, placed, rolled_back, selected_customer, stored_order_status, stored_payment,
};

/// The statements as they are prepared here.
type Statements = StoredStatements<Statement>;

statements! {
    /// The calls.
    StoredStatements {
        new_order: "SELECT * FROM new_order($1, $2, $3, $4, $5, $6, $7)",
        payment: "SELECT * FROM payment($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        order_status: "SELECT * FROM order_status($1, $2, $3, $4)",
        delivery: "SELECT delivery($1, $2, $3)",
        stock_level: "SELECT stock_level($1, $2, $3, $4)",
    }
}

/// Performs a transaction by a call.
pub(super) async fn call(
    wire: &mut Wire,
    sql: &Statements,
    input: &TransactionInput,
    now: WallTime,
) -> Result<TransactionOutput, SqlFailure> {
    match input {
        TransactionInput::NewOrder(input) => new_order(wire, sql, input, now).await,
        TransactionInput::Payment(input) => payment(wire, sql, input, now).await,
        TransactionInput::OrderStatus(input) => order_status(wire, sql, input).await,
        TransactionInput::Delivery(input) => delivery(wire, sql, input, now).await,
        TransactionInput::StockLevel(input) => stock_level(wire, sql, input).await,
    }
}

async fn new_order(
    wire: &mut Wire,
    sql: &Statements,
    input: &NewOrderInput,
    now: WallTime,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let column = |value: fn(&OrderedItem) -> u32| input.items.iter().map(value).map(i64::from).collect();
    let items: Vec<i64> = column(|line| line.item);
    let supplies: Vec<i64> = column(|line| line.supply_warehouse);
    let pieces: Vec<i64> = column(|line| line.quantity);
    let parameters = values![warehouse, district, input.customer, &items, &supplies, &pieces, now];
    match wire.one(&sql.new_order, parameters).await {
        Ok(row) => placed_order(&row, now),
        Err(SqlFailure::Refused(refusal)) if refusal.state == SqlStateCode::ROLLED_BACK => {
            rolled_back_order(&refusal.message).ok_or(SqlFailure::WrongResult(WRONG_COLUMN))
        }
        Err(failure) => Err(failure),
    }
}

fn placed_order(row: &PostgresRow, now: WallTime) -> Result<TransactionOutput, SqlFailure> {
    let mut columns = Columns::of(row);
    let head = OrderHead::read(&mut columns)?;
    let (names, stocks): (Vec<&str>, Vec<i64>) = (columns.value()?, columns.value()?);
    let originals: Vec<bool> = columns.value()?;
    let (prices, amounts): (Vec<i64>, Vec<i64>) = (columns.value()?, columns.value()?);
    let n_lines = names.len();
    if [stocks.len(), originals.len(), prices.len(), amounts.len()].iter().any(|length| *length != n_lines) {
        return Err(SqlFailure::WrongResult(WRONG_COLUMN));
    }
    let line = |index: usize| {
        Ok(PricedLine {
            name: short(names[index])?,
            in_stock: stocks[index],
            is_original: originals[index],
            price: Cents(prices[index]),
            amount: Cents(amounts[index]),
        })
    };
    let lines = (0..n_lines).map(line).collect::<Result<_, SqlFailure>>()?;
    Ok(placed(&head, lines, now))
}

/// Reads the output of an order that was rolled back: number of the order, last name, credit, and the item, with bars
/// between.
fn rolled_back_order(message: &str) -> Option<TransactionOutput> {
    let mut parts = message.split('|');
    let order = parts.next()?;
    let last = parts.next()?;
    let credit = parts.next()?;
    let item = parts.next()?;
    let head = OrderHead {
        order: order.parse().ok()?,
        customer_last: ShortText::new(last)?,
        credit: orders::Credit::of_code(credit)?,
        discount: BasisPoints(0),
        warehouse_tax: BasisPoints(0),
        district_tax: BasisPoints(0),
    };
    Some(rolled_back(&head, item.parse().ok()?))
}

async fn payment(
    wire: &mut Wire,
    sql: &Statements,
    input: &PaymentInput,
    now: WallTime,
) -> Result<TransactionOutput, SqlFailure> {
    let to = (input.district.warehouse, input.district.district);
    let of = (input.customer_district.warehouse, input.customer_district.district);
    let (number, name) = selected_customer(input.customer);
    let amount = input.amount.0;
    let entry = bad_credit_entry(input);
    let parameters = values![to.0, to.1, of.0, of.1, number, name.as_str(), amount, entry.as_str(), now];
    let row = wire.one(&sql.payment, parameters).await?;
    stored_payment(&mut Columns::of(&row), now)
}

async fn order_status(
    wire: &mut Wire,
    sql: &Statements,
    input: &OrderStatusInput,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let (number, name) = selected_customer(input.customer);
    let row = wire.one(&sql.order_status, values![warehouse, district, number, name.as_str()]).await?;
    stored_order_status(&mut Columns::of(&row), lines)
}

/// Reads the lines of an order, of which each column is an array; without lines there is none.
fn lines(columns: &mut Columns<'_, PostgresRow>) -> Result<Vec<OrderStatusLine>, SqlFailure> {
    let items = columns.value::<Option<Vec<i32>>>()?.unwrap_or_default();
    let supplies = columns.value::<Option<Vec<i32>>>()?.unwrap_or_default();
    let pieces = columns.value::<Option<Vec<i64>>>()?.unwrap_or_default();
    let amounts = columns.value::<Option<Vec<i64>>>()?.unwrap_or_default();
    let delivered = columns.value::<Option<Vec<Option<std::time::SystemTime>>>>()?.unwrap_or_default();
    let n_lines = items.len();
    if [supplies.len(), pieces.len(), amounts.len(), delivered.len()].iter().any(|length| *length != n_lines)
    {
        return Err(SqlFailure::WrongResult(WRONG_COLUMN));
    }
    let line = |index: usize| {
        Ok(OrderStatusLine {
            item: small(items[index].into())?,
            supply_warehouse: small(supplies[index].into())?,
            quantity: small(pieces[index])?,
            amount: Cents(amounts[index]),
            delivered: delivered[index].map(wall_of).transpose()?,
        })
    };
    (0..n_lines).map(line).collect()
}

async fn delivery(
    wire: &mut Wire,
    sql: &Statements,
    input: &DeliveryInput,
    now: WallTime,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.warehouse;
    let carrier = input.carrier;
    let row = wire.one(&sql.delivery, values![warehouse, carrier, now]).await?;
    let orders: Vec<Option<i32>> = Columns::of(&row).value()?;
    let orders = orders.into_iter().map(|order| order.map(|number| small(number.into())).transpose());
    let orders: Vec<Option<u32>> = orders.collect::<Result<_, _>>()?;
    let orders = orders.try_into().map_err(|_| SqlFailure::WrongResult(WRONG_ROWS))?;
    Ok(TransactionOutput::Delivery(DeliveryOutput { orders }))
}

async fn stock_level(
    wire: &mut Wire,
    sql: &Statements,
    input: &StockLevelInput,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row =
        wire.one(&sql.stock_level, values![warehouse, district, input.threshold, RECENT_ORDERS]).await?;
    let n_low = Columns::of(&row).count()?;
    Ok(TransactionOutput::StockLevel(StockLevelOutput { n_low }))
}

#[cfg(test)]
mod tests {
    use orders::{Credit, NewOrderOutput};

    use super::*;

    #[test]
    fn a_rolled_back_order_tells_its_output() {
        let output = rolled_back_order("31|BARBARBAR|BC|1001").unwrap();
        let TransactionOutput::NewOrder(NewOrderOutput::RolledBack(order)) = output else {
            panic!("{output:?}")
        };
        assert_eq!((order.order, order.credit, order.missing_item), (31, Credit::Bad, 1001));
        for other in [
            "",
            "31|BARBARBAR|BC",
            "31|BARBARBAR|XX|1001",
            "x|BARBARBAR|BC|1",
            "1|a name of more than 16 letters|BC|1",
        ] {
            assert!(rolled_back_order(other).is_none(), "{other}");
        }
    }
}
