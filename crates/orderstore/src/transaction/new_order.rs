//! `NewOrder`: enters an order, or rolls it back at an item that does not exist.

use orders::{
    BasisPoints, Cents, Credit, NewOrderInput, NewOrderOutput, OrderedItem, PlacedOrder, PricedLine,
    RolledBackOrder, ShortText, TransactionOutput, is_original, next_quantity, order_total,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use units::WallTime;

use super::customer::customer_name;
use super::{TransactionEnd, district_name, existing, failed};
use crate::columns::Columns;
use crate::error::StoreError;

/// Writes the statement that reads the stock of an item with its data about a district.
macro_rules! stock {
    ($district:literal) => {
        concat!(
            "SELECT s_quantity, s_data, s_dist_",
            $district,
            " FROM stock WHERE s_w_id = ? AND s_i_id = ?"
        )
    };
}

/// Those of all districts.
const STOCK: [&str; orders::DISTRICTS as usize] = [
    stock!("01"),
    stock!("02"),
    stock!("03"),
    stock!("04"),
    stock!("05"),
    stock!("06"),
    stock!("07"),
    stock!("08"),
    stock!("09"),
    stock!("10"),
];

pub(crate) struct NewOrder<'c> {
    warehouse: CachedStatement<'c>,
    district: CachedStatement<'c>,
    customer: CachedStatement<'c>,
    order: CachedStatement<'c>,
    new_order: CachedStatement<'c>,
    item: CachedStatement<'c>,
    /// By the district's number less 1.
    stock: Vec<CachedStatement<'c>>,
    update_stock: CachedStatement<'c>,
    line: CachedStatement<'c>,
}

/// The part of the order that stands before its lines.
struct Head {
    warehouse_tax: BasisPoints,
    district_tax: BasisPoints,
    order: u32,
    discount: BasisPoints,
    customer_last: ShortText<16>,
    credit: Credit,
}

struct Item {
    name: ShortText<24>,
    price: Cents,
    is_original: bool,
}

struct Stock {
    quantity: i64,
    district_info: ShortText<24>,
    is_original: bool,
}

impl<'c> NewOrder<'c> {
    pub(crate) fn new(database: &'c Connection) -> rusqlite::Result<NewOrder<'c>> {
        Ok(NewOrder {
            warehouse: database.prepare_cached("SELECT w_tax FROM warehouse WHERE w_id = ?")?,
            district: database.prepare_cached(
                "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?
                 RETURNING d_tax, d_next_o_id - 1",
            )?,
            customer: database.prepare_cached(
                "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            )?,
            order: database.prepare_cached("INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL, ?, ?)")?,
            new_order: database.prepare_cached("INSERT INTO new_order VALUES (?, ?, ?)")?,
            item: database.prepare_cached("SELECT i_name, i_price, i_data FROM item WHERE i_id = ?")?,
            stock: STOCK.iter().map(|sql| database.prepare_cached(sql)).collect::<rusqlite::Result<_>>()?,
            update_stock: database.prepare_cached(
                "UPDATE stock SET s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1,
                 s_remote_cnt = s_remote_cnt + ? WHERE s_w_id = ? AND s_i_id = ?",
            )?,
            line: database.prepare_cached("INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)")?,
        })
    }

    pub(crate) fn perform(
        &mut self,
        input: &NewOrderInput,
        now: WallTime,
    ) -> Result<TransactionEnd, StoreError> {
        let head = self.head(input)?;
        self.enter(input, &head, now).map_err(failed)?;
        let mut lines = Vec::with_capacity(input.items.len());
        for (number, ordered) in (1..).zip(input.items.iter()) {
            match self.line(input, head.order, number, ordered)? {
                Some(line) => lines.push(line),
                None => return Ok(rolled_back(&head, ordered.item)),
            }
        }
        Ok(placed(&head, lines, now))
    }

    /// Takes a number for the order, and reads what its total depends on.
    fn head(&mut self, input: &NewOrderInput) -> Result<Head, StoreError> {
        let key = input.district;
        let warehouse = self.warehouse.query_row(params![key.warehouse], |row| Columns::of(row).rate());
        let warehouse_tax = existing(warehouse, || format!("warehouse {}", key.warehouse))?;
        let district = self.district.query_row(params![key.warehouse, key.district], |row| {
            let mut columns = Columns::of(row);
            Ok((columns.rate()?, columns.value()?))
        });
        let (district_tax, order) = existing(district, || district_name(key))?;
        let customer_key = params![key.warehouse, key.district, input.customer];
        let customer = self.customer.query_row(customer_key, |row| {
            let mut columns = Columns::of(row);
            let discount = columns.rate()?;
            let customer_last = columns.text()?;
            let credit = columns.credit()?;
            Ok(Head { warehouse_tax, district_tax, order, discount, customer_last, credit })
        });
        existing(customer, || customer_name(key, input.customer))
    }

    fn enter(&mut self, input: &NewOrderInput, head: &Head, now: WallTime) -> rusqlite::Result<()> {
        let warehouse = input.district.warehouse;
        let district = input.district.district;
        let order = head.order;
        let n_lines = input.items.len() as i64;
        let is_local = input.is_local();
        self.order.execute(params![warehouse, district, order, input.customer, now.0, n_lines, is_local])?;
        self.new_order.execute(params![warehouse, district, order]).map(drop)
    }

    /// Takes a line's pieces from stock and enters it. `None` if the item does not exist.
    fn line(
        &mut self,
        input: &NewOrderInput,
        order: u32,
        number: u32,
        ordered: &OrderedItem,
    ) -> Result<Option<PricedLine>, StoreError> {
        let Some(item) = self.item(ordered.item).map_err(failed)? else { return Ok(None) };
        let district = input.district;
        let stock = existing(self.stock(district.district, ordered), || {
            format!("stock of item {} in warehouse {}", ordered.item, ordered.supply_warehouse)
        })?;
        let in_stock = next_quantity(stock.quantity, ordered.quantity);
        let is_remote = ordered.supply_warehouse != district.warehouse;
        let supply = ordered.supply_warehouse;
        let pieces = ordered.quantity;
        self.update_stock
            .execute(params![in_stock, pieces, is_remote, supply, ordered.item])
            .map_err(failed)?;
        let amount = item.price * pieces;
        self.line
            .execute(params![
                district.warehouse,
                district.district,
                order,
                number,
                ordered.item,
                supply,
                pieces,
                amount.0,
                stock.district_info.as_str(),
            ])
            .map_err(failed)?;
        let is_original = item.is_original && stock.is_original;
        Ok(Some(PricedLine { name: item.name, in_stock, is_original, price: item.price, amount }))
    }

    fn item(&mut self, number: u32) -> rusqlite::Result<Option<Item>> {
        let item = self.item.query_row(params![number], |row| {
            let mut columns = Columns::of(row);
            let name = columns.text()?;
            let price = columns.cents()?;
            Ok(Item { name, price, is_original: is_original(columns.str()?) })
        });
        item.optional()
    }

    fn stock(&mut self, district: u32, ordered: &OrderedItem) -> rusqlite::Result<Stock> {
        let statement = (district as usize).checked_sub(1).and_then(|index| self.stock.get_mut(index));
        let statement = statement.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        statement.query_row(params![ordered.supply_warehouse, ordered.item], |row| {
            let mut columns = Columns::of(row);
            let quantity = columns.value()?;
            let is_original = is_original(columns.str()?);
            Ok(Stock { quantity, is_original, district_info: columns.text()? })
        })
    }
}

fn rolled_back(head: &Head, missing_item: u32) -> TransactionEnd {
    let &Head { order, customer_last, credit, .. } = head;
    let rolled_back = RolledBackOrder { order, customer_last, credit, missing_item };
    TransactionEnd::Rollback(TransactionOutput::NewOrder(NewOrderOutput::RolledBack(rolled_back)))
}

fn placed(head: &Head, lines: Vec<PricedLine>, entered: WallTime) -> TransactionEnd {
    let &Head { warehouse_tax, district_tax, order, discount, customer_last, credit } = head;
    let amounts = lines.iter().map(|line| line.amount).sum();
    let total = order_total(amounts, discount, warehouse_tax, district_tax);
    let order = PlacedOrder {
        order,
        entered,
        customer_last,
        credit,
        discount,
        warehouse_tax,
        district_tax,
        lines,
        total,
    };
    TransactionEnd::Commit(TransactionOutput::NewOrder(NewOrderOutput::Placed(order)))
}
