//! The form `stored`: a call of a stored procedure (`procedures.sql`) for each transaction, one round trip each.

use orders::{
    Cents, DISTRICTS, DeliveryInput, DeliveryOutput, NewOrderInput, OrderStatusInput, PaymentInput,
    PricedLine, RECENT_ORDERS, StockLevelInput, StockLevelOutput, TransactionInput, TransactionOutput,
};
use units::WallTime;

use super::json::{from_json, to_json};
use crate::database::connection::{SqlConnection, statements, values};
use crate::database::failure::{SqlFailure, WRONG_ROWS};
use crate::database::mariadb::row::MariaDbRow;
use crate::database::mariadb::wire::{Statement, Wire};
use crate::database::transaction::CommitMode;
use crate::orders::sql::columns::{Columns, short};
use crate::orders::sql::output::{
    OrderHead, bad_credit_entry, placed, rolled_back, selected_customer, stored_order_status, stored_payment,
};
use crate::orders::sql::reading::status_line;

statements! {
    /// The calls.
    StoredStatements {
        new_order: "CALL new_order($1, $2, $3, $4, $5, $6)",
        payment: "CALL payment($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        order_status: "CALL order_status($1, $2, $3, $4)",
        delivery: "CALL delivery($1, $2, $3, $4)",
        stock_level: "CALL stock_level($1, $2, $3, $4)",
    }
}

type Statements = StoredStatements<Statement>;

/// A line of an order as the procedure tells it: number, name, stock, whether it is original, price, amount.
type Line = (u32, String, i64, bool, i64, i64);

/// Performs a transaction by a call, which begins and ends it.
pub(super) async fn call(
    wire: &mut Wire,
    sql: &Statements,
    input: &TransactionInput,
    now: WallTime,
    changes: CommitMode,
) -> Result<TransactionOutput, SqlFailure> {
    let is_kept = i64::from(changes == CommitMode::Kept);
    match input {
        TransactionInput::NewOrder(input) => new_order(wire, sql, input, now, is_kept).await,
        TransactionInput::Payment(input) => payment(wire, sql, input, now, is_kept).await,
        TransactionInput::OrderStatus(input) => order_status(wire, sql, input).await,
        TransactionInput::Delivery(input) => delivery(wire, sql, input, now, is_kept).await,
        TransactionInput::StockLevel(input) => stock_level(wire, sql, input).await,
    }
}

async fn new_order(
    wire: &mut Wire,
    sql: &Statements,
    input: &NewOrderInput,
    now: WallTime,
    is_kept: i64,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let lines: Vec<_> =
        input.items.iter().map(|line| (line.item, line.supply_warehouse, line.quantity)).collect();
    let lines = to_json(&lines)?;
    let parameters = values![warehouse, district, input.customer, lines.as_str(), now, is_kept];
    let row = wire.one(&sql.new_order, parameters).await?;
    let mut columns = Columns::of(&row);
    let head = OrderHead::read(&mut columns)?;
    if let Some(missing) = columns.optional_key()? {
        return Ok(rolled_back(&head, missing));
    }
    Ok(placed(&head, priced_lines(columns.str()?)?, now))
}

/// Reads the lines of an order, which stand in the order in which their stocks were locked.
fn priced_lines(text: &str) -> Result<Vec<PricedLine>, SqlFailure> {
    let mut lines: Vec<Line> = from_json(text)?;
    lines.sort_by_key(|(number, ..)| *number);
    let line = |(_, name, in_stock, is_original, price, amount): Line| {
        let price = Cents(price);
        let amount = Cents(amount);
        Ok(PricedLine { name: short(&name)?, in_stock, is_original, price, amount })
    };
    lines.into_iter().map(line).collect()
}

async fn payment(
    wire: &mut Wire,
    sql: &Statements,
    input: &PaymentInput,
    now: WallTime,
    is_kept: i64,
) -> Result<TransactionOutput, SqlFailure> {
    let to = input.district;
    let of = input.customer_district;
    let (number, name) = selected_customer(input.customer);
    let amount = input.amount.0;
    let entry = bad_credit_entry(input);
    let parameters = values![
        to.warehouse,
        to.district,
        of.warehouse,
        of.district,
        number,
        name.as_str(),
        amount,
        entry.as_str(),
        now,
        is_kept
    ];
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
    let parameters = values![warehouse, district, number, name.as_str()];
    let results = wire.results_of(&sql.order_status, parameters).await?;
    let [head, lines] = &results.sets[..] else { return Err(SqlFailure::WrongResult(WRONG_ROWS)) };
    let [head] = &head[..] else { return Err(SqlFailure::WrongResult(WRONG_ROWS)) };
    let lines = |_: &mut Columns<'_, MariaDbRow>| lines.iter().map(status_line).collect();
    stored_order_status(&mut Columns::of(head), lines)
}

async fn delivery(
    wire: &mut Wire,
    sql: &Statements,
    input: &DeliveryInput,
    now: WallTime,
    is_kept: i64,
) -> Result<TransactionOutput, SqlFailure> {
    let parameters = values![input.warehouse, input.carrier, now, is_kept];
    let row = wire.one(&sql.delivery, parameters).await?;
    let orders: [Option<u32>; DISTRICTS as usize] = from_json(Columns::of(&row).str()?)?;
    Ok(TransactionOutput::Delivery(DeliveryOutput { orders }))
}

async fn stock_level(
    wire: &mut Wire,
    sql: &Statements,
    input: &StockLevelInput,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let parameters = values![warehouse, district, input.threshold, RECENT_ORDERS];
    let row = wire.one(&sql.stock_level, parameters).await?;
    Ok(TransactionOutput::StockLevel(StockLevelOutput { n_low: Columns::of(&row).count()? }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::failure::WRONG_VALUE;

    #[test]
    fn lines_stand_as_they_were_entered() {
        let lines = priced_lines("[[2,\"two\",20,false,300,900],[1,\"one\",10,true,100,100]]").unwrap();
        assert_eq!((lines[0].name.as_str(), lines[0].in_stock, lines[0].is_original), ("one", 10, true));
        assert_eq!((lines[1].price, lines[1].amount), (Cents(300), Cents(900)));
        for other in ["", "[[1]]", "{}", "[[1,\"a name of more than 24 letters\",1,true,1,1]]"] {
            assert_eq!(priced_lines(other), Err(WRONG_VALUE), "{other}");
        }
    }
}
