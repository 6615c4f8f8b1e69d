//! The form `client`: statements one after another, each of which reads or writes one table.
//!
//! | transaction | round trips |
//! |---|---|
//! | new-order of n lines | 8 + 4·n; rolled back 5 + 4·n |
//! | payment | 9, and one by last name |
//! | order-status | 5, and one by last name |
//! | delivery | 2 + 7 for each order, 2 for each district without one |
//! | stock-level | 4 |

use orders::{
    BasisPoints, Cents, DISTRICTS, DeliveryInput, DeliveryOutput, DistrictKey, NewOrderInput, OrderedItem,
    PaymentInput, PaymentOutput, PostalAddress, PricedLine, ShortText, TransactionOutput, bad_credit_data,
    history_data, is_original, next_quantity,
};
use tokio_postgres::Statement;
use units::WallTime;

use super::failure::{SqlFailure, WRONG_COLUMN};
use super::output::{
    CUSTOMERS_BY_NAME, End, OrderHead, customer_number, in_lock_order, key, placed, rolled_back,
};
use super::row::{Columns, system_time};
use super::wire::{Wire, statements};

statements! {
    /// The statements of transactions that write.
    ClientStatements {
        by_name: CUSTOMERS_BY_NAME,
        warehouse_tax: "SELECT w_tax FROM warehouse WHERE w_id = $1",
        discount: "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        next_order: "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE",
        advance: "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2",
        order: "INSERT INTO orders VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)",
        new_order: "INSERT INTO new_order VALUES ($1, $2, $3)",
        item: "SELECT i_name, i_price, i_data FROM item WHERE i_id = $1",
        stock: concat!(
            "SELECT s_quantity, s_data, ", super::district_info!("$3"),
            " FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE"
        ),
        update_stock: "UPDATE stock SET s_quantity = $3, s_ytd = s_ytd + $4, s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + $5 WHERE s_w_id = $1 AND s_i_id = $2",
        line: "INSERT INTO order_line VALUES ($1, $2, $3, $4, $5, $6, NULL, $7, $8, $9)",
        customer: "SELECT c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
            c_since, c_credit, c_credit_lim, c_discount, CASE c_credit WHEN 'BC' THEN c_data END
            FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE",
        // A customer with good credit keeps the data.
        pay: "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4,
            c_payment_cnt = c_payment_cnt + 1, c_data = COALESCE($5, c_data)
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        pay_district: "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2",
        district: "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district
            WHERE d_w_id = $1 AND d_id = $2",
        pay_warehouse: "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1",
        warehouse: "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1",
        history: "INSERT INTO history VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        oldest: "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE",
        delete: "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3",
        customer_of_order: "SELECT o_c_id, o_ol_cnt FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3",
        carrier: "UPDATE orders SET o_carrier_id = $4 WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3",
        deliver_lines: "UPDATE order_line SET ol_delivery_d = $4 WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
        amount: "SELECT CAST(SUM(ol_amount) AS BIGINT) FROM order_line
            WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3",
        credit: "UPDATE customer SET c_balance = c_balance + $4, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
    }
}

/// An item that exists.
struct Item {
    name: ShortText<24>,
    price: Cents,
    is_original: bool,
}

/// Enters an order, or rolls it back at an item that does not exist.
pub(super) async fn new_order(
    wire: &mut Wire,
    sql: &ClientStatements,
    input: &NewOrderInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let head = head(wire, sql, input).await?;
    enter(wire, (&sql.order, &sql.new_order), input, head.order, now).await?;
    let mut items = Vec::with_capacity(input.items.len());
    for ordered in input.items.iter() {
        items.push(item(wire, sql, ordered.item).await?);
    }
    let mut lines = vec![None; input.items.len()];
    for (index, ordered) in in_lock_order(input.items.iter()) {
        // One that does not exist has no stock; the others are entered all the same, as if nothing was known of it.
        if let Some(item) = &items[index] {
            lines[index] = Some(line(wire, sql, (input, head.order, index), ordered, item).await?);
        }
    }
    let missing = lines.iter().zip(input.items.iter()).find(|(line, _)| line.is_none());
    Ok(match missing {
        Some((_, ordered)) => End::Rollback(rolled_back(&head, ordered.item)),
        None => End::Commit(placed(&head, lines.into_iter().flatten().collect(), now)),
    })
}

/// Reads what the total of an order depends on, and takes a number for it.
async fn head(
    wire: &mut Wire,
    sql: &ClientStatements,
    input: &NewOrderInput,
) -> Result<OrderHead, SqlFailure> {
    let (warehouse, district) = (key(input.district.warehouse), key(input.district.district));
    let row = wire.one(&sql.warehouse_tax, &[&warehouse]).await?;
    let warehouse_tax = Columns::of(&row).rate()?;
    let row = wire.one(&sql.discount, &[&warehouse, &district, &key(input.customer)]).await?;
    let mut columns = Columns::of(&row);
    let (discount, customer_last, credit) = (columns.rate()?, columns.text()?, columns.credit()?);
    let row = wire.one(&sql.next_order, &[&warehouse, &district]).await?;
    let mut columns = Columns::of(&row);
    let (district_tax, order): (BasisPoints, u32) = (columns.rate()?, columns.key()?);
    wire.change(1, &sql.advance, &[&warehouse, &district]).await?;
    Ok(OrderHead { order, customer_last, credit, discount, warehouse_tax, district_tax })
}

/// Enters an order without its lines: by the statement for the order, and the one for its delivery to come.
pub(super) async fn enter(
    wire: &mut Wire,
    (of_order, of_new_order): (&Statement, &Statement),
    input: &NewOrderInput,
    order: u32,
    now: WallTime,
) -> Result<(), SqlFailure> {
    let (warehouse, district, order) =
        (key(input.district.warehouse), key(input.district.district), key(order));
    let (customer, now) = (key(input.customer), system_time(now));
    let (n_lines, is_local) = (input.items.len() as i64, i64::from(input.is_local()));
    wire.change(1, of_order, &[&warehouse, &district, &order, &customer, &now, &n_lines, &is_local]).await?;
    wire.change(1, of_new_order, &[&warehouse, &district, &order]).await
}

async fn item(wire: &mut Wire, sql: &ClientStatements, number: u32) -> Result<Option<Item>, SqlFailure> {
    let Some(row) = wire.optional(&sql.item, &[&key(number)]).await? else { return Ok(None) };
    let mut columns = Columns::of(&row);
    let (name, price) = (columns.text()?, columns.cents()?);
    Ok(Some(Item { name, price, is_original: is_original(columns.value()?) }))
}

/// Takes a line's pieces from stock and enters it.
async fn line(
    wire: &mut Wire,
    sql: &ClientStatements,
    (input, order, index): (&NewOrderInput, u32, usize),
    ordered: &OrderedItem,
    item: &Item,
) -> Result<PricedLine, SqlFailure> {
    let (warehouse, district) = (key(input.district.warehouse), key(input.district.district));
    let (supply, number) = (key(ordered.supply_warehouse), key(ordered.item));
    let row = wire.one(&sql.stock, &[&supply, &number, &district]).await?;
    let mut columns = Columns::of(&row);
    let (quantity, data): (i64, &str) = (columns.value()?, columns.value()?);
    let is_original = item.is_original && is_original(data);
    let info: ShortText<24> = columns.text()?;
    let in_stock = next_quantity(quantity, ordered.quantity);
    let (pieces, is_remote) = (i64::from(ordered.quantity), i64::from(supply != warehouse));
    wire.change(1, &sql.update_stock, &[&supply, &number, &in_stock, &pieces, &is_remote]).await?;
    let amount = item.price.0.saturating_mul(pieces);
    let place = (key(order), index as i32 + 1);
    wire.change(
        1,
        &sql.line,
        &[&warehouse, &district, &place.0, &place.1, &number, &supply, &pieces, &amount, &info.as_str()],
    )
    .await?;
    Ok(PricedLine { name: item.name, in_stock, is_original, price: item.price, amount: Cents(amount) })
}

/// Enters a payment. The warehouse, which all its terminals pay to, is written last.
pub(super) async fn payment(
    wire: &mut Wire,
    sql: &ClientStatements,
    input: &PaymentInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let of = input.customer_district;
    let number = customer_number(wire, &sql.by_name, of, input.customer).await?;
    let customer = (key(of.warehouse), key(of.district), key(number));
    let row = wire.one(&sql.customer, &[&customer.0, &customer.1, &customer.2]).await?;
    let mut output = payment_output(&mut Columns::of(&row), number, now)?;
    output.customer.balance = Cents(output.customer.balance.0.saturating_sub(input.amount.0));
    output.data = output.data.map(|data| bad_credit_data(input, number, data.as_str()));
    let (amount, data) = (input.amount.0, output.data.as_ref().map(ShortText::as_str));
    wire.change(1, &sql.pay, &[&customer.0, &customer.1, &customer.2, &amount, &data]).await?;

    let to = (key(input.district.warehouse), key(input.district.district));
    wire.change(1, &sql.pay_district, &[&to.0, &to.1, &amount]).await?;
    let row = wire.one(&sql.district, &[&to.0, &to.1]).await?;
    let district = name_and_address(&row)?;
    wire.change(1, &sql.pay_warehouse, &[&to.0, &amount]).await?;
    let row = wire.one(&sql.warehouse, &[&to.0]).await?;
    let warehouse = name_and_address(&row)?;
    enter_history(wire, &sql.history, input, output, (warehouse, district)).await
}

/// A name and an address.
type NameAndAddress = (ShortText<10>, PostalAddress);

/// Enters a payment to a warehouse and a district into the history, and completes its output.
pub(super) async fn enter_history(
    wire: &mut Wire,
    statement: &Statement,
    input: &PaymentInput,
    mut output: PaymentOutput,
    (warehouse, district): (NameAndAddress, NameAndAddress),
) -> Result<End, SqlFailure> {
    let (of, to) = (input.customer_district, input.district);
    let customer = (key(of.warehouse), key(of.district), key(output.customer.id));
    let (paid, amount) = (system_time(output.paid), input.amount.0);
    let data = history_data(warehouse.0.as_str(), district.0.as_str());
    let to = (key(to.warehouse), key(to.district));
    wire.change(1, statement, &[&customer.0, &customer.1, &customer.2, &to.0, &to.1, &paid, &amount, &data])
        .await?;
    (output.district, output.warehouse) = (district.1, warehouse.1);
    Ok(End::Commit(TransactionOutput::Payment(Box::new(output))))
}

/// Returns the output of a payment without the addresses of warehouse and district, from 15 columns of the customer.
pub(super) fn payment_output(
    columns: &mut Columns<'_>,
    number: u32,
    now: WallTime,
) -> Result<PaymentOutput, SqlFailure> {
    Ok(PaymentOutput {
        paid: now,
        warehouse: PostalAddress::default(),
        district: PostalAddress::default(),
        customer: columns.customer(number)?,
        address: columns.address()?,
        phone: columns.text()?,
        since: columns.time()?,
        credit: columns.credit()?,
        credit_limit: columns.cents()?,
        discount: columns.rate()?,
        data: columns.optional_text()?,
    })
}

/// Returns the name and the address of a warehouse or district.
pub(super) fn name_and_address(row: &tokio_postgres::Row) -> Result<NameAndAddress, SqlFailure> {
    let mut columns = Columns::of(row);
    Ok((columns.text()?, columns.address()?))
}

/// Has the oldest new order of each district delivered.
pub(super) async fn delivery(
    wire: &mut Wire,
    sql: &ClientStatements,
    input: &DeliveryInput,
    now: WallTime,
) -> Result<End, SqlFailure> {
    let mut orders = [None; DISTRICTS as usize];
    for (district, delivered) in (1..).zip(&mut orders) {
        let place = DistrictKey { warehouse: input.warehouse, district };
        *delivered = oldest(wire, sql, place).await?;
        if let Some(order) = *delivered {
            deliver(wire, sql, (place, order), input.carrier, now).await?;
        }
    }
    Ok(End::Commit(TransactionOutput::Delivery(DeliveryOutput { orders })))
}

/// Finds and locks the oldest new order of a district. Where there seems to be none, another delivery may just have
/// taken it, and others may have come since the search began: it looks again.
async fn oldest(
    wire: &mut Wire,
    sql: &ClientStatements,
    place: DistrictKey,
) -> Result<Option<u32>, SqlFailure> {
    let (warehouse, district) = (key(place.warehouse), key(place.district));
    for _ in 0..2 {
        if let Some(row) = wire.optional(&sql.oldest, &[&warehouse, &district]).await? {
            return Columns::of(&row).key().map(Some);
        }
    }
    Ok(None)
}

async fn deliver(
    wire: &mut Wire,
    sql: &ClientStatements,
    (place, order): (DistrictKey, u32),
    carrier: u32,
    now: WallTime,
) -> Result<(), SqlFailure> {
    let (warehouse, district, order) = (key(place.warehouse), key(place.district), key(order));
    wire.change(1, &sql.delete, &[&warehouse, &district, &order]).await?;
    let row = wire.one(&sql.customer_of_order, &[&warehouse, &district, &order]).await?;
    let mut columns = Columns::of(&row);
    let (customer, n_lines): (u32, i64) = (columns.key()?, columns.value()?);
    let n_lines = u64::try_from(n_lines).map_err(|_| SqlFailure::WrongResult(WRONG_COLUMN))?;
    wire.change(1, &sql.carrier, &[&warehouse, &district, &order, &key(carrier)]).await?;
    let now = system_time(now);
    wire.change(n_lines, &sql.deliver_lines, &[&warehouse, &district, &order, &now]).await?;
    let row = wire.one(&sql.amount, &[&warehouse, &district, &order]).await?;
    let amount = Columns::of(&row).value::<Option<i64>>()?.unwrap_or(0);
    wire.change(1, &sql.credit, &[&warehouse, &district, &key(customer), &amount]).await
}
