//! The form `batched`: statements that read or write several rows. How a statement takes several values, and whether an
//! update returns what it has changed, differs from database to database: each has statements of its own (`BatchedSql`).
//!
//! | transaction | round trips on PostgreSQL | on MariaDB |
//! |---|---|---|
//! | new-order, rolled back or not | 10 | 11 |
//! | payment, and one by last name | 6 | 7 |
//! | order-status, and one by last name | 5 | 5 |
//! | delivery, and one where a district has no order | 7 | 8 |
//! | stock-level | 1 | 1 |

use std::collections::BTreeMap;

use orders::{
    BasisPoints, Cents, DISTRICTS, DeliveryInput, DeliveryOutput, DistrictKey, NewOrderInput, OrderedItem,
    PricedLine, RECENT_ORDERS, ShortText, StockLevelInput, StockLevelOutput, TransactionOutput, is_original,
    next_quantity,
};
use units::WallTime;

use super::client::enter;
use super::columns::Columns;
use super::output::{OrderHead, TransactionEnd, in_lock_order, placed, rolled_back};
use crate::database::connection::{SqlConnection, SqlRow, values};
use crate::database::failure::{SqlFailure, WRONG_COLUMN, WRONG_ROWS};

/// The query for what the total of an order depends on, but for the district: warehouse, district, customer.
pub(crate) const TERMS: &str = "SELECT w_tax, c_discount, c_last, c_credit
    FROM warehouse JOIN customer ON c_w_id = w_id WHERE w_id = $1 AND c_d_id = $2 AND c_id = $3";

/// The query for the number of items with a low stock: warehouse, district, threshold, number of orders.
pub(crate) const LOW: &str = "SELECT COUNT(DISTINCT s_i_id) FROM district
    JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
        AND ol_o_id BETWEEN d_next_o_id - CAST($4 AS INTEGER) AND d_next_o_id - 1
    JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE d_w_id = $1 AND d_id = $2 AND s_quantity < $3";

/// The prepared statements of a database.
pub(crate) trait BatchedSql {
    /// Connections to the database.
    type Connection: SqlConnection;

    /// The statements that enter an order, and its delivery to come.
    fn order(&self) -> (&Statement<Self>, &Statement<Self>);

    /// The query `LOW`.
    fn low(&self) -> &Statement<Self>;

    /// The query `TERMS`.
    fn terms(&self) -> &Statement<Self>;

    /// Takes the next number of an order in a warehouse and district; returns it behind the district's tax.
    async fn next_order(
        &self,
        connection: &mut Self::Connection,
        district: DistrictKey,
    ) -> Result<(BasisPoints, u32), SqlFailure>;

    /// Reads the items that exist: number, name, price, data.
    async fn items(&self, connection: &mut Self::Connection, numbers: &[i64]) -> Rows<Self>;

    /// Reads stocks and locks them one after another: warehouse, item, quantity, data, information of the district.
    async fn stocks(
        &self,
        connection: &mut Self::Connection,
        places: &[(u32, u32)],
        district: u32,
    ) -> Rows<Self>;

    /// Writes stocks.
    async fn update_stocks(
        &self,
        connection: &mut Self::Connection,
        stocks: &Stocks,
    ) -> Result<(), SqlFailure>;

    /// Enters the lines of an order: its warehouse, district and number.
    async fn insert_lines(
        &self,
        connection: &mut Self::Connection,
        order: (u32, u32, u32),
        lines: &[EnteredLine],
    ) -> Result<(), SqlFailure>;

    /// Finds and locks the oldest new order of each district that has one, from the first to the last: district, order.
    async fn oldest(
        &self,
        connection: &mut Self::Connection,
        warehouse: u32,
        districts: &[i64],
    ) -> Rows<Self>;

    /// Has new orders delivered: district and number of each.
    async fn deliver(
        &self,
        connection: &mut Self::Connection,
        input: &DeliveryInput,
        orders: &[(i64, i64)],
        now: WallTime,
    ) -> Result<(), SqlFailure>;
}

/// A statement as a database prepares it.
pub(crate) type Statement<S> = <<S as BatchedSql>::Connection as SqlConnection>::Statement;

/// The rows of a statement.
pub(crate) type Rows<S> = Result<Vec<<<S as BatchedSql>::Connection as SqlConnection>::Row>, SqlFailure>;

/// An item that exists.
struct Item {
    name: ShortText<24>,
    price: Cents,
    is_original: bool,
}

/// A stock that an order takes from: what is left of it, and what was taken.
pub(crate) struct Stock {
    pub(crate) quantity: i64,
    is_original: bool,
    info: ShortText<24>,
    pub(crate) pieces: i64,
    pub(crate) n_lines: i64,
    pub(crate) n_remote: i64,
}

/// A line of an order as it is entered.
pub(crate) struct EnteredLine {
    /// The number within the order, from 1.
    pub(crate) number: i64,
    pub(crate) item: u32,
    pub(crate) supply_warehouse: u32,
    pub(crate) pieces: i64,
    /// In cents.
    pub(crate) amount: i64,
    pub(crate) info: ShortText<24>,
}

/// Items by number.
type Items = BTreeMap<u32, Item>;

/// Stocks by warehouse and item, which is the order in which they are locked.
pub(crate) type Stocks = BTreeMap<(u32, u32), Stock>;

/// Enters an order, or rolls it back at an item that does not exist.
pub(crate) async fn new_order<S: BatchedSql>(
    connection: &mut S::Connection,
    sql: &S,
    input: &NewOrderInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let head = head(connection, sql, input).await?;
    enter(connection, sql.order(), input, head.order, now).await?;
    let numbers: Vec<i64> = input.items.iter().map(|line| line.item.into()).collect();
    let items = items(&sql.items(connection, &numbers).await?)?;
    let valid: Vec<OrderedItem> =
        input.items.iter().copied().filter(|line| items.contains_key(&line.item)).collect();
    let mut places: Vec<_> = in_lock_order(valid.iter()).into_iter().map(|(_, line)| place(line)).collect();
    places.dedup();
    let mut stocks = stocks(&sql.stocks(connection, &places, district).await?, &places)?;
    let lines = take(input, &valid, &items, &mut stocks)?;
    sql.update_stocks(connection, &stocks).await?;
    let entered = entered(&valid, &lines, &stocks);
    sql.insert_lines(connection, (warehouse, district, head.order), &entered).await?;
    let missing = input.items.iter().find(|line| !items.contains_key(&line.item));
    Ok(match missing {
        Some(missing) => TransactionEnd::Rollback(rolled_back(&head, missing.item)),
        None => TransactionEnd::Commit(placed(&head, lines, now)),
    })
}

/// Reads what the total of an order depends on, and takes a number for it.
async fn head<S: BatchedSql>(
    connection: &mut S::Connection,
    sql: &S,
    input: &NewOrderInput,
) -> Result<OrderHead, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row = connection.one(sql.terms(), values![warehouse, district, input.customer]).await?;
    let mut columns = Columns::of(&row);
    let warehouse_tax = columns.rate()?;
    let discount = columns.rate()?;
    let customer_last = columns.text()?;
    let credit = columns.credit()?;
    let (district_tax, order) = sql.next_order(connection, input.district).await?;
    Ok(OrderHead { order, customer_last, credit, discount, warehouse_tax, district_tax })
}

fn items(rows: &[impl SqlRow]) -> Result<Items, SqlFailure> {
    let item = |row| {
        let mut columns = Columns::of(row);
        let number = columns.key()?;
        let name = columns.text()?;
        let price = columns.cents()?;
        Ok((number, Item { name, price, is_original: is_original(columns.str()?) }))
    };
    rows.iter().map(item).collect()
}

/// Reads the stocks of places, all of which must be there.
fn stocks(rows: &[impl SqlRow], places: &[(u32, u32)]) -> Result<Stocks, SqlFailure> {
    let stock = |row| {
        let mut columns = Columns::of(row);
        let place = (columns.key()?, columns.key()?);
        let quantity = columns.number()?;
        let data = columns.str()?;
        let is_original = is_original(data);
        let info = columns.text()?;
        Ok((place, Stock { quantity, is_original, info, pieces: 0, n_lines: 0, n_remote: 0 }))
    };
    let stocks: Stocks = rows.iter().map(stock).collect::<Result<_, SqlFailure>>()?;
    if stocks.keys().eq(places) { Ok(stocks) } else { Err(SqlFailure::WrongResult(WRONG_ROWS)) }
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

/// Returns lines with what was taken for them.
fn entered(ordered: &[OrderedItem], priced: &[PricedLine], stocks: &Stocks) -> Vec<EnteredLine> {
    let line = |(number, (ordered, priced)): (i64, (&OrderedItem, &PricedLine))| EnteredLine {
        number,
        item: ordered.item,
        supply_warehouse: ordered.supply_warehouse,
        pieces: ordered.quantity.into(),
        amount: priced.amount.0,
        info: stocks.get(&place(ordered)).map(|stock| stock.info).unwrap_or_default(),
    };
    (1..).zip(ordered.iter().zip(priced)).map(line).collect()
}

/// Has the oldest new order of each district delivered.
pub(crate) async fn delivery<S: BatchedSql>(
    connection: &mut S::Connection,
    sql: &S,
    input: &DeliveryInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let orders = oldest(connection, sql, input.warehouse).await?;
    let taken: Vec<(i64, i64)> =
        (1..).zip(orders).filter_map(|(district, order)| Some((district, i64::from(order?)))).collect();
    if !taken.is_empty() {
        sql.deliver(connection, input, &taken, now).await?;
    }
    Ok(TransactionEnd::Commit(TransactionOutput::Delivery(DeliveryOutput { orders })))
}

/// Finds and locks the oldest new order of each district. Where there seems to be none, another delivery may just have
/// taken it, and others may have come since the search began: it looks again.
async fn oldest<S: BatchedSql>(
    connection: &mut S::Connection,
    sql: &S,
    warehouse: u32,
) -> Result<[Option<u32>; DISTRICTS as usize], SqlFailure> {
    let mut orders = [None; DISTRICTS as usize];
    for _ in 0..2 {
        let open: Vec<i64> =
            (1..).zip(&orders).filter(|(_, order)| order.is_none()).map(|(district, _)| district).collect();
        if open.is_empty() {
            break;
        }
        for row in sql.oldest(connection, warehouse, &open).await? {
            let mut columns = Columns::of(&row);
            let district = columns.key()?;
            let order = columns.optional_key()?;
            let place = (district as usize).checked_sub(1).and_then(|index| orders.get_mut(index));
            *place.ok_or(SqlFailure::WrongResult(WRONG_COLUMN))? = order;
        }
    }
    Ok(orders)
}

/// Counts the items of a district's last orders whose stock is low: in one statement, which is a transaction of its
/// own.
pub(crate) async fn stock_level<S: BatchedSql>(
    connection: &mut S::Connection,
    sql: &S,
    input: &StockLevelInput,
) -> Result<TransactionOutput, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row = connection.one(sql.low(), values![warehouse, district, input.threshold, RECENT_ORDERS]).await?;
    let n_low = Columns::of(&row).count()?;
    Ok(TransactionOutput::StockLevel(StockLevelOutput { n_low }))
}
