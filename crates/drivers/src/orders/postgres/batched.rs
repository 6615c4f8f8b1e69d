//! The form `batched`: statements that read or write several rows, and return what they have changed.
//!
//! | transaction | round trips |
//! |---|---|
//! | new-order | 10, rolled back or not |
//! | payment | 6, and one by last name |
//! | order-status | 5, and one by last name |
//! | delivery | 7; 8 where a district has no order |
//! | stock-level | 1 |

use std::collections::BTreeMap;

use orders::{
    Cents, DISTRICTS, DeliveryInput, DeliveryOutput, NewOrderInput, OrderedItem, PaymentInput, PricedLine,
    RECENT_ORDERS, ShortText, StockLevelInput, StockLevelOutput, TransactionOutput, is_original,
    next_quantity,
};
use units::WallTime;

use crate::database::connection::{SqlConnection, statements, values};
use crate::database::failure::{SqlFailure, WRONG_COLUMN, WRONG_ROWS};
use crate::database::postgres::row::PostgresRow;
use crate::database::postgres::wire::{Statement, Wire};
use crate::orders::sql::client::{enter, enter_history, name_and_address, payment_output};
use crate::orders::sql::columns::Columns;
use crate::orders::sql::output::{
    CUSTOMERS_BY_NAME, End, OrderHead, bad_credit_entry, customer_number, in_lock_order, placed, rolled_back,
};

/// The statements as they are prepared here.
type Statements = BatchedStatements<Statement>;

statements! {
    /// The statements of all transactions but `OrderStatus`.
    BatchedStatements {
        by_name: CUSTOMERS_BY_NAME,
        terms: "SELECT w_tax, c_discount, c_last, c_credit FROM warehouse JOIN customer ON c_w_id = w_id
            WHERE w_id = $1 AND c_d_id = $2 AND c_id = $3",
        next_order: "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2
            RETURNING d_tax, d_next_o_id - 1",
        order: "INSERT INTO orders VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)",
        new_order: "INSERT INTO new_order VALUES ($1, $2, $3)",
        items: "SELECT i_id, i_name, i_price, i_data FROM item WHERE i_id = ANY($1)",
        stocks: "SELECT s_w_id, s_i_id, s_quantity, s_data, CASE $3::int WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02
            WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
            WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
            FROM stock JOIN UNNEST($1::int[], $2::int[]) AS o (w, i) ON s_w_id = o.w AND s_i_id = o.i
            ORDER BY s_w_id, s_i_id FOR UPDATE OF stock",
        update_stocks: "UPDATE stock SET s_quantity = o.quantity, s_ytd = s_ytd + o.pieces,
            s_order_cnt = s_order_cnt + o.lines, s_remote_cnt = s_remote_cnt + o.remote
            FROM UNNEST($1::int[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
                AS o (w, i, quantity, pieces, lines, remote)
            WHERE s_w_id = o.w AND s_i_id = o.i",
        lines: "INSERT INTO order_line
            SELECT $1::int, $2::int, $3::int, o.number, o.item, o.supply, NULL, o.pieces, o.amount, o.info
            FROM UNNEST($4::int[], $5::int[], $6::int[], $7::bigint[], $8::bigint[], $9::text[])
                AS o (number, item, supply, pieces, amount, info)",
        pay: "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4,
            c_payment_cnt = c_payment_cnt + 1,
            c_data = CASE c_credit WHEN 'BC' THEN LEFT($5::text || c_data, 500) ELSE c_data END
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3
            RETURNING c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
            c_since, c_credit, c_credit_lim, c_discount, CASE c_credit WHEN 'BC' THEN c_data END",
        pay_district: "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2
            RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
        pay_warehouse: "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1
            RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
        history: "INSERT INTO history VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        // One row for each of the districts that has an order, locked from the first to the last.
        oldest: "SELECT d.id, o.no_o_id FROM GENERATE_SERIES(1, 10) AS d (id) CROSS JOIN LATERAL (
            SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = d.id ORDER BY no_o_id LIMIT 1 FOR UPDATE) o
            WHERE d.id = ANY($2::int[])",
        delete: "DELETE FROM new_order USING UNNEST($2::int[], $3::int[]) AS o (d, id)
            WHERE no_w_id = $1 AND no_d_id = o.d AND no_o_id = o.id",
        carrier: "UPDATE orders SET o_carrier_id = $4 FROM UNNEST($2::int[], $3::int[]) AS o (d, id)
            WHERE o_w_id = $1 AND o_d_id = o.d AND o_id = o.id RETURNING o_d_id, o_c_id",
        deliver_lines: "WITH delivered AS (
                UPDATE order_line SET ol_delivery_d = $4 FROM UNNEST($2::int[], $3::int[]) AS o (d, id)
                WHERE ol_w_id = $1 AND ol_d_id = o.d AND ol_o_id = o.id RETURNING ol_d_id, ol_amount)
            SELECT ol_d_id, CAST(SUM(ol_amount) AS BIGINT) FROM delivered GROUP BY ol_d_id",
        credit: "UPDATE customer SET c_balance = c_balance + o.amount, c_delivery_cnt = c_delivery_cnt + 1
            FROM UNNEST($2::int[], $3::int[], $4::bigint[]) AS o (d, c, amount)
            WHERE c_w_id = $1 AND c_d_id = o.d AND c_id = o.c",
        low: "SELECT COUNT(DISTINCT s_i_id) FROM district
            JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
                AND ol_o_id BETWEEN d_next_o_id - $4::int AND d_next_o_id - 1
            JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
            WHERE d_w_id = $1 AND d_id = $2 AND s_quantity < $3",
    }
}

/// An item that exists.
struct Item {
    name: ShortText<24>,
    price: Cents,
    is_original: bool,
}

/// A stock that an order takes from.
struct Stock {
    quantity: i64,
    is_original: bool,
    info: ShortText<24>,
    pieces: i64,
    n_lines: i64,
    n_remote: i64,
}

/// Items by number.
type Items = BTreeMap<u32, Item>;

/// Stocks by warehouse and item, which is the order in which they are locked.
type Stocks = BTreeMap<(u32, u32), Stock>;

/// Enters an order, or rolls it back at an item that does not exist.
pub(super) async fn new_order(
    wire: &mut Wire,
    sql: &Statements,
    input: &NewOrderInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let (warehouse, district) = (input.district.warehouse, input.district.district);
    let head = head(wire, sql, input).await?;
    enter(wire, (&sql.order, &sql.new_order), input, head.order, now).await?;
    let items = items(wire, sql, input).await?;
    let valid: Vec<OrderedItem> =
        input.items.iter().copied().filter(|line| items.contains_key(&line.item)).collect();
    let mut stocks = stocks(wire, sql, district, &valid).await?;
    let lines = take(input, &valid, &items, &mut stocks)?;
    update(wire, sql, &stocks).await?;
    insert_lines(wire, sql, (warehouse, district, head.order), &valid, (&lines, &stocks)).await?;
    let missing = input.items.iter().find(|line| !items.contains_key(&line.item));
    Ok(match missing {
        Some(missing) => End::Rollback(rolled_back(&head, missing.item)),
        None => End::Commit(placed(&head, lines, now)),
    })
}

/// Reads what the total of an order depends on, and takes a number for it.
async fn head(wire: &mut Wire, sql: &Statements, input: &NewOrderInput) -> Result<OrderHead, SqlFailure> {
    let (warehouse, district) = (input.district.warehouse, input.district.district);
    let row = wire.one(&sql.terms, values![warehouse, district, input.customer]).await?;
    let mut columns = Columns::of(&row);
    let (warehouse_tax, discount) = (columns.rate()?, columns.rate()?);
    let (customer_last, credit) = (columns.text()?, columns.credit()?);
    let row = wire.one(&sql.next_order, values![warehouse, district]).await?;
    let mut columns = Columns::of(&row);
    let (district_tax, order) = (columns.rate()?, columns.key()?);
    Ok(OrderHead { order, customer_last, credit, discount, warehouse_tax, district_tax })
}

async fn items(wire: &mut Wire, sql: &Statements, input: &NewOrderInput) -> Result<Items, SqlFailure> {
    let numbers: Vec<i64> = input.items.iter().map(|line| line.item.into()).collect();
    let rows = wire.rows(&sql.items, values![&numbers]).await?;
    let item = |row| {
        let mut columns = Columns::of(row);
        let (number, name, price) = (columns.key()?, columns.text()?, columns.cents()?);
        Ok((number, Item { name, price, is_original: is_original(columns.str()?) }))
    };
    rows.iter().map(item).collect()
}

/// Reads and locks the stocks of lines.
async fn stocks(
    wire: &mut Wire,
    sql: &Statements,
    district: u32,
    lines: &[OrderedItem],
) -> Result<Stocks, SqlFailure> {
    let mut keys: Vec<(u32, u32)> =
        in_lock_order(lines.iter()).into_iter().map(|(_, line)| place(line)).collect();
    keys.dedup();
    let (warehouses, items) = columns_of(keys.iter());
    let rows = wire.rows(&sql.stocks, values![&warehouses, &items, district]).await?;
    let stock = |row| {
        let mut columns = Columns::of(row);
        let place = (columns.key()?, columns.key()?);
        let (quantity, data) = (columns.number()?, columns.str()?);
        let (is_original, info) = (is_original(data), columns.text()?);
        Ok((place, Stock { quantity, is_original, info, pieces: 0, n_lines: 0, n_remote: 0 }))
    };
    let stocks: Stocks = rows.iter().map(stock).collect::<Result<_, SqlFailure>>()?;
    if stocks.keys().eq(&keys) { Ok(stocks) } else { Err(SqlFailure::WrongResult(WRONG_ROWS)) }
}

/// Returns the numbers of warehouses and items of stocks.
fn columns_of<'a>(keys: impl Iterator<Item = &'a (u32, u32)>) -> (Vec<i64>, Vec<i64>) {
    keys.map(|(warehouse, item)| (i64::from(*warehouse), i64::from(*item))).unzip()
}

fn place(line: &OrderedItem) -> (u32, u32) {
    (line.supply_warehouse, line.item)
}

/// Takes the pieces of lines from their stocks, line by line: several may take from one stock.
fn take(
    input: &NewOrderInput,
    lines: &[OrderedItem],
    items: &Items,
    stocks: &mut Stocks,
) -> Result<Vec<PricedLine>, SqlFailure> {
    let take = |line: &OrderedItem| {
        let (item, stock) = items.get(&line.item).zip(stocks.get_mut(&place(line)))?;
        stock.quantity = next_quantity(stock.quantity, line.quantity);
        stock.pieces += i64::from(line.quantity);
        stock.n_lines += 1;
        stock.n_remote += i64::from(line.supply_warehouse != input.district.warehouse);
        Some(PricedLine {
            name: item.name,
            in_stock: stock.quantity,
            is_original: item.is_original && stock.is_original,
            price: item.price,
            amount: Cents(item.price.0.saturating_mul(i64::from(line.quantity))),
        })
    };
    lines.iter().map(take).collect::<Option<_>>().ok_or(SqlFailure::WrongResult(WRONG_ROWS))
}

async fn update(wire: &mut Wire, sql: &Statements, stocks: &Stocks) -> Result<(), SqlFailure> {
    let column = |value: fn(&Stock) -> i64| stocks.values().map(value).collect::<Vec<i64>>();
    let (warehouses, items) = columns_of(stocks.keys());
    let (quantities, pieces) = (column(|stock| stock.quantity), column(|stock| stock.pieces));
    let (lines, remote) = (column(|stock| stock.n_lines), column(|stock| stock.n_remote));
    let n_stocks = stocks.len() as u64;
    let parameters = values![&warehouses, &items, &quantities, &pieces, &lines, &remote];
    wire.change(n_stocks, &sql.update_stocks, parameters).await
}

async fn insert_lines(
    wire: &mut Wire,
    sql: &Statements,
    (warehouse, district, order): (u32, u32, u32),
    ordered: &[OrderedItem],
    (priced, stocks): (&[PricedLine], &Stocks),
) -> Result<(), SqlFailure> {
    let column = |value: fn(&OrderedItem) -> u32| ordered.iter().map(value).map(i64::from).collect();
    let numbers: Vec<i64> = (1..).take(ordered.len()).collect();
    let (items, supplies): (Vec<i64>, Vec<i64>) =
        (column(|line| line.item), column(|line| line.supply_warehouse));
    let pieces: Vec<i64> = column(|line| line.quantity);
    let amounts: Vec<i64> = priced.iter().map(|line| line.amount.0).collect();
    let info = |line| stocks.get(&place(line)).map(|stock| stock.info.as_str()).unwrap_or_default();
    let infos: Vec<&str> = ordered.iter().map(info).collect();
    wire.change(
        ordered.len() as u64,
        &sql.lines,
        values![warehouse, district, order, &numbers, &items, &supplies, &pieces, &amounts, &infos],
    )
    .await
}

/// Enters a payment. The warehouse, which all its terminals pay to, is written last.
pub(super) async fn payment(
    wire: &mut Wire,
    sql: &Statements,
    input: &PaymentInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let of = input.customer_district;
    let number = customer_number(wire, &sql.by_name, of, input.customer).await?;
    let (amount, entry) = (input.amount.0, format!("{number}{}", bad_credit_entry(input)));
    let customer = (of.warehouse, of.district, number);
    let row = wire.one(&sql.pay, values![customer.0, customer.1, customer.2, amount, entry.as_str()]).await?;
    let output = payment_output(&mut Columns::of(&row), number, now)?;
    let to = (input.district.warehouse, input.district.district);
    let row = wire.one(&sql.pay_district, values![to.0, to.1, amount]).await?;
    let district = name_and_address(&row)?;
    let row = wire.one(&sql.pay_warehouse, values![to.0, amount]).await?;
    let warehouse = name_and_address(&row)?;
    enter_history(wire, &sql.history, input, output, (warehouse, district)).await
}

/// Has the oldest new order of each district delivered.
pub(super) async fn delivery(
    wire: &mut Wire,
    sql: &Statements,
    input: &DeliveryInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let orders = oldest(wire, sql, input.warehouse).await?;
    let output = End::Commit(TransactionOutput::Delivery(DeliveryOutput { orders }));
    let taken = (1..).zip(orders).filter_map(|(district, order)| Some((district, i64::from(order?))));
    let (districts, orders): (Vec<i64>, Vec<i64>) = taken.unzip();
    if orders.is_empty() {
        return Ok(output);
    }
    let (warehouse, carrier, n_orders) = (input.warehouse, input.carrier, orders.len() as u64);
    wire.change(n_orders, &sql.delete, values![warehouse, &districts, &orders]).await?;
    let customers = wire.rows(&sql.carrier, values![warehouse, &districts, &orders, carrier]).await?;
    let customers = pairs(&customers)?;
    let amounts = wire.rows(&sql.deliver_lines, values![warehouse, &districts, &orders, now]).await?;
    let amounts = pairs(&amounts)?;
    let of = |district: &i64| Some((*customers.get(district)?, *amounts.get(district)?));
    let credited: Option<(Vec<i64>, Vec<i64>)> = districts.iter().map(of).collect();
    let (customers, amounts) = credited.ok_or(SqlFailure::WrongResult(WRONG_ROWS))?;
    wire.change(n_orders, &sql.credit, values![warehouse, &districts, &customers, &amounts]).await?;
    Ok(output)
}

/// Finds and locks the oldest new order of each district. Where there seems to be none, another delivery may just have
/// taken it, and others may have come since the search began: it looks again.
async fn oldest(wire: &mut Wire, sql: &Statements, warehouse: u32) -> Result<[Option<u32>; 10], SqlFailure> {
    let mut orders = [None; DISTRICTS as usize];
    for _ in 0..2 {
        let open: Vec<i64> =
            (1..).zip(&orders).filter(|(_, order)| order.is_none()).map(|(district, _)| district).collect();
        if open.is_empty() {
            break;
        }
        for row in wire.rows(&sql.oldest, values![warehouse, &open]).await? {
            let mut columns = Columns::of(&row);
            let (district, order) = (columns.key()?, columns.key()?);
            let place = (district as usize).checked_sub(1).and_then(|index| orders.get_mut(index));
            *place.ok_or(SqlFailure::WrongResult(WRONG_COLUMN))? = Some(order);
        }
    }
    Ok(orders)
}

/// Reads rows of two numbers.
fn pairs(rows: &[PostgresRow]) -> Result<BTreeMap<i64, i64>, SqlFailure> {
    let pair = |row| {
        let mut columns = Columns::of(row);
        Ok((columns.number()?, columns.number()?))
    };
    rows.iter().map(pair).collect()
}

/// Counts the items of a district's last orders whose stock is low: in one statement, which is a transaction of its
/// own.
pub(super) async fn stock_level(
    wire: &mut Wire,
    sql: &Statements,
    input: &StockLevelInput,
) -> Result<TransactionOutput, SqlFailure> {
    let (warehouse, district) = (input.district.warehouse, input.district.district);
    let row = wire.one(&sql.low, values![warehouse, district, input.threshold, RECENT_ORDERS]).await?;
    let n_low = Columns::of(&row).count()?;
    Ok(TransactionOutput::StockLevel(StockLevelOutput { n_low }))
}
