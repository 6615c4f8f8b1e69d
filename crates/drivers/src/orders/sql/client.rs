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
use units::WallTime;

use super::columns::Columns;
use super::output::{
    CUSTOMERS_BY_NAME, OrderHead, TransactionEnd, customer_number, in_lock_order, placed, rolled_back,
};
use crate::database::connection::{SqlConnection, SqlRow, statements, values};
use crate::database::failure::SqlFailure;

/// The query for the tax of a district and its next number of an order: warehouse, district.
pub(crate) const NEXT_ORDER: &str =
    "SELECT d_tax, d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE";

/// The statement that counts that number on.
pub(crate) const ADVANCE: &str =
    "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2";

/// The statement that enters an order.
pub(crate) const ORDER: &str = "INSERT INTO orders VALUES ($1, $2, $3, $4, $5, NULL, $6, $7)";

/// The statement that enters the delivery to come of an order.
pub(crate) const NEW_ORDER: &str = "INSERT INTO new_order VALUES ($1, $2, $3)";

/// The statement that adds a payment to a district: warehouse, district, amount.
pub(crate) const PAY_DISTRICT: &str =
    "UPDATE district SET d_ytd = d_ytd + $3 WHERE d_w_id = $1 AND d_id = $2";

/// The statement that adds a payment to a warehouse: warehouse, amount.
pub(crate) const PAY_WAREHOUSE: &str = "UPDATE warehouse SET w_ytd = w_ytd + $2 WHERE w_id = $1";

statements! {
    /// The statements of transactions that write.
    ClientStatements {
        by_name: CUSTOMERS_BY_NAME,
        warehouse_tax: "SELECT w_tax FROM warehouse WHERE w_id = $1",
        discount: "SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        next_order: NEXT_ORDER,
        advance: ADVANCE,
        order: ORDER,
        new_order: NEW_ORDER,
        item: "SELECT i_name, i_price, i_data FROM item WHERE i_id = $1",
        stock: "SELECT s_quantity, s_data, CASE CAST($3 AS INTEGER) WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
            WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
            WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END
            FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE",
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
        pay_district: PAY_DISTRICT,
        district: "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district
            WHERE d_w_id = $1 AND d_id = $2",
        pay_warehouse: PAY_WAREHOUSE,
        warehouse: "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1",
        history: "INSERT INTO history VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        oldest: "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE",
        delete: "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3",
        customer_of_order: "SELECT o_c_id, o_ol_cnt FROM orders
            WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3 FOR UPDATE",
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
pub(crate) async fn new_order<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    input: &NewOrderInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let head = head(connection, sql, input).await?;
    enter(connection, (&sql.order, &sql.new_order), input, head.order, now).await?;
    let mut items = Vec::with_capacity(input.items.len());
    for ordered in input.items.iter() {
        items.push(item(connection, sql, ordered.item).await?);
    }
    let mut lines = vec![None; input.items.len()];
    for (index, ordered) in in_lock_order(input.items.iter()) {
        // One that does not exist has no stock; the others are entered all the same, as if nothing was known of it.
        if let Some(item) = &items[index] {
            lines[index] = Some(line(connection, sql, (input, head.order, index), ordered, item).await?);
        }
    }
    let missing = lines.iter().zip(input.items.iter()).find(|(line, _)| line.is_none());
    Ok(match missing {
        Some((_, ordered)) => TransactionEnd::Rollback(rolled_back(&head, ordered.item)),
        None => TransactionEnd::Commit(placed(&head, lines.into_iter().flatten().collect(), now)),
    })
}

/// Reads what the total of an order depends on, and takes a number for it.
async fn head<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    input: &NewOrderInput,
) -> Result<OrderHead, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let row = connection.one(&sql.warehouse_tax, values![warehouse]).await?;
    let warehouse_tax = Columns::of(&row).rate()?;
    let row = connection.one(&sql.discount, values![warehouse, district, input.customer]).await?;
    let mut columns = Columns::of(&row);
    let discount = columns.rate()?;
    let customer_last = columns.text()?;
    let credit = columns.credit()?;
    let (district_tax, order) =
        next_order(connection, (&sql.next_order, &sql.advance), input.district).await?;
    Ok(OrderHead { order, customer_last, credit, discount, warehouse_tax, district_tax })
}

/// Takes the next number of an order in a district, which is locked; returns it behind the district's tax.
pub(crate) async fn next_order<C: SqlConnection>(
    connection: &mut C,
    (next, advance): (&C::Statement, &C::Statement),
    DistrictKey { warehouse, district }: DistrictKey,
) -> Result<(BasisPoints, u32), SqlFailure> {
    let row = connection.one(next, values![warehouse, district]).await?;
    let mut columns = Columns::of(&row);
    let taken = (columns.rate()?, columns.key()?);
    connection.change(1, advance, values![warehouse, district]).await?;
    Ok(taken)
}

/// Enters an order without its lines: by the statement for the order, and the one for its delivery to come.
pub(crate) async fn enter<C: SqlConnection>(
    connection: &mut C,
    (of_order, of_new_order): (&C::Statement, &C::Statement),
    input: &NewOrderInput,
    order: u32,
    now: WallTime,
) -> Result<(), SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let n_lines = input.items.len() as i64;
    let is_local = i64::from(input.is_local());
    connection
        .change(1, of_order, values![warehouse, district, order, input.customer, now, n_lines, is_local])
        .await?;
    connection.change(1, of_new_order, values![warehouse, district, order]).await
}

async fn item<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    number: u32,
) -> Result<Option<Item>, SqlFailure> {
    let Some(row) = connection.optional(&sql.item, values![number]).await? else { return Ok(None) };
    let mut columns = Columns::of(&row);
    let name = columns.text()?;
    let price = columns.cents()?;
    Ok(Some(Item { name, price, is_original: is_original(columns.str()?) }))
}

/// Takes a line's pieces from stock and enters it.
async fn line<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    (input, order, index): (&NewOrderInput, u32, usize),
    ordered: &OrderedItem,
    item: &Item,
) -> Result<PricedLine, SqlFailure> {
    let warehouse = input.district.warehouse;
    let district = input.district.district;
    let supply = ordered.supply_warehouse;
    let number = ordered.item;
    let row = connection.one(&sql.stock, values![supply, number, district]).await?;
    let mut columns = Columns::of(&row);
    let quantity = columns.number()?;
    let data = columns.str()?;
    let is_original = item.is_original && is_original(data);
    let info: ShortText<24> = columns.text()?;
    let in_stock = next_quantity(quantity, ordered.quantity);
    let pieces = i64::from(ordered.quantity);
    let is_remote = i64::from(supply != warehouse);
    connection.change(1, &sql.update_stock, values![supply, number, in_stock, pieces, is_remote]).await?;
    let amount = item.price.0.saturating_mul(pieces);
    let line = index as i64 + 1;
    connection
        .change(
            1,
            &sql.line,
            values![warehouse, district, order, line, number, supply, pieces, amount, info.as_str()],
        )
        .await?;
    Ok(PricedLine { name: item.name, in_stock, is_original, price: item.price, amount: Cents(amount) })
}

/// Enters a payment. The warehouse, which all its terminals pay to, is written last.
pub(crate) async fn payment<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    input: &PaymentInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let of = input.customer_district;
    let number = customer_number(connection, &sql.by_name, of, input.customer).await?;
    let customer = (of.warehouse, of.district, number);
    let row = connection.one(&sql.customer, values![customer.0, customer.1, customer.2]).await?;
    let mut output = payment_output(&mut Columns::of(&row), number, now)?;
    output.customer.balance = Cents(output.customer.balance.0.saturating_sub(input.amount.0));
    output.data = output.data.map(|data| bad_credit_data(input, number, data.as_str()));
    let amount = input.amount.0;
    let data = output.data.as_ref().map(ShortText::as_str);
    connection.change(1, &sql.pay, values![customer.0, customer.1, customer.2, amount, data]).await?;

    let to = (input.district.warehouse, input.district.district);
    connection.change(1, &sql.pay_district, values![to.0, to.1, amount]).await?;
    let row = connection.one(&sql.district, values![to.0, to.1]).await?;
    let district = name_and_address(&row)?;
    connection.change(1, &sql.pay_warehouse, values![to.0, amount]).await?;
    let row = connection.one(&sql.warehouse, values![to.0]).await?;
    let warehouse = name_and_address(&row)?;
    enter_history(connection, &sql.history, input, output, (warehouse, district)).await
}

/// A name and an address.
type NameAndAddress = (ShortText<10>, PostalAddress);

/// Enters a payment to a warehouse and a district into the history, and completes its output.
pub(crate) async fn enter_history<C: SqlConnection>(
    connection: &mut C,
    statement: &C::Statement,
    input: &PaymentInput,
    mut output: PaymentOutput,
    (warehouse, district): (NameAndAddress, NameAndAddress),
) -> Result<TransactionEnd, SqlFailure> {
    let of = input.customer_district;
    let to = input.district;
    let customer = (of.warehouse, of.district, output.customer.id);
    let to = (to.warehouse, to.district);
    let data = history_data(warehouse.0.as_str(), district.0.as_str());
    let paid = output.paid;
    let amount = input.amount.0;
    connection
        .change(
            1,
            statement,
            values![customer.0, customer.1, customer.2, to.0, to.1, paid, amount, data.as_str()],
        )
        .await?;
    (output.district, output.warehouse) = (district.1, warehouse.1);
    Ok(TransactionEnd::Commit(TransactionOutput::Payment(Box::new(output))))
}

/// Returns the output of a payment without the addresses of warehouse and district, from 15 columns of the customer.
pub(crate) fn payment_output(
    columns: &mut Columns<'_, impl SqlRow>,
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
pub(crate) fn name_and_address(row: &impl SqlRow) -> Result<NameAndAddress, SqlFailure> {
    let mut columns = Columns::of(row);
    Ok((columns.text()?, columns.address()?))
}

/// Has the oldest new order of each district delivered.
pub(crate) async fn delivery<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    input: &DeliveryInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let mut orders = [None; DISTRICTS as usize];
    for (district, delivered) in (1..).zip(&mut orders) {
        let place = DistrictKey { warehouse: input.warehouse, district };
        *delivered = oldest(connection, sql, place).await?;
        if let Some(order) = *delivered {
            deliver(connection, sql, (place, order), input.carrier, now).await?;
        }
    }
    Ok(TransactionEnd::Commit(TransactionOutput::Delivery(DeliveryOutput { orders })))
}

/// Finds and locks the oldest new order of a district. Where there seems to be none, another delivery may just have
/// taken it, and others may have come since the search began: it looks again.
async fn oldest<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    place: DistrictKey,
) -> Result<Option<u32>, SqlFailure> {
    let warehouse = place.warehouse;
    let district = place.district;
    for _ in 0..2 {
        if let Some(row) = connection.optional(&sql.oldest, values![warehouse, district]).await? {
            return Columns::of(&row).key().map(Some);
        }
    }
    Ok(None)
}

async fn deliver<C: SqlConnection>(
    connection: &mut C,
    sql: &ClientStatements<C::Statement>,
    (place, order): (DistrictKey, u32),
    carrier: u32,
    now: WallTime,
) -> Result<(), SqlFailure> {
    let warehouse = place.warehouse;
    let district = place.district;
    connection.change(1, &sql.delete, values![warehouse, district, order]).await?;
    let row = connection.one(&sql.customer_of_order, values![warehouse, district, order]).await?;
    let mut columns = Columns::of(&row);
    let customer = columns.key()?;
    let n_lines = columns.count()?;
    connection.change(1, &sql.carrier, values![warehouse, district, order, carrier]).await?;
    connection.change(n_lines.into(), &sql.deliver_lines, values![warehouse, district, order, now]).await?;
    let row = connection.one(&sql.amount, values![warehouse, district, order]).await?;
    let amount = Columns::of(&row).optional_number()?.unwrap_or(0);
    connection.change(1, &sql.credit, values![warehouse, district, customer, amount]).await
}
