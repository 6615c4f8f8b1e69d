//! The statements of the form `batched`: several values are one array of JSON, which is joined as a table.
//!
//! `STRAIGHT_JOIN` reads the array first, so that rows are locked in its order. What an update has changed is read by a
//! statement of its own, and always as it is now: a snapshot may be older than the lock that was waited for.

use orders::{BasisPoints, DeliveryInput, DistrictKey, PaymentInput};
use units::WallTime;

use super::json::to_json;
use crate::database::connection::{SqlConnection, statements, values};
use crate::database::failure::{SqlFailure, WRONG_ROWS};
use crate::database::mariadb::row::MariaDbRow;
use crate::database::mariadb::wire::{Statement, Wire};
use crate::orders::sql::batched::{BatchedSql, EnteredLine, LOW, Stock, Stocks, TERMS};
use crate::orders::sql::client::{
    ADVANCE, NEW_ORDER, NEXT_ORDER, ORDER, PAY_DISTRICT, PAY_WAREHOUSE, next_order,
};
use crate::orders::sql::columns::Columns;
use crate::orders::sql::output::{
    CUSTOMERS_BY_NAME, TransactionEnd, bad_credit_entry, customer_number, stored_payment,
};

/// The statements as they are prepared here.
pub(super) type BatchedStatements = MariaDbStatements<Statement>;

statements! {
    /// The statements of all transactions but `OrderStatus`.
    MariaDbStatements {
        by_name: CUSTOMERS_BY_NAME,
        terms: TERMS,
        next_order: NEXT_ORDER,
        advance: ADVANCE,
        order: ORDER,
        new_order: NEW_ORDER,
        items: "SELECT i_id, i_name, i_price, i_data FROM JSON_TABLE($1, '$[*]' COLUMNS (i INT PATH '$')) AS o
            STRAIGHT_JOIN item ON i_id = o.i",
        stocks: "SELECT s_w_id, s_i_id, s_quantity, s_data, CASE CAST($1 AS INTEGER) WHEN 1 THEN s_dist_01
            WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
            WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
            WHEN 10 THEN s_dist_10 END
            FROM JSON_TABLE($2, '$[*]' COLUMNS (w INT PATH '$[0]', i INT PATH '$[1]')) AS o
            STRAIGHT_JOIN stock ON s_w_id = o.w AND s_i_id = o.i FOR UPDATE",
        update_stocks: "UPDATE JSON_TABLE($1, '$[*]' COLUMNS (w INT PATH '$[0]', i INT PATH '$[1]',
                quantity BIGINT PATH '$[2]', pieces BIGINT PATH '$[3]', n_lines INT PATH '$[4]',
                remote INT PATH '$[5]')) AS o
            STRAIGHT_JOIN stock ON s_w_id = o.w AND s_i_id = o.i
            SET s_quantity = o.quantity, s_ytd = s_ytd + o.pieces, s_order_cnt = s_order_cnt + o.n_lines,
                s_remote_cnt = s_remote_cnt + o.remote",
        lines: "INSERT INTO order_line
            SELECT $1, $2, $3, o.number, o.item, o.supply, NULL, o.pieces, o.amount, o.info
            FROM JSON_TABLE($4, '$[*]' COLUMNS (number INT PATH '$[0]', item INT PATH '$[1]', supply INT PATH '$[2]',
                pieces BIGINT PATH '$[3]', amount BIGINT PATH '$[4]', info VARCHAR(24) PATH '$[5]')) AS o",
        pay: "UPDATE customer SET c_balance = c_balance - $4, c_ytd_payment = c_ytd_payment + $4,
            c_payment_cnt = c_payment_cnt + 1,
            c_data = IF(c_credit = 'BC', LEFT(CONCAT($5, c_data), 500), c_data)
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        pay_district: PAY_DISTRICT,
        pay_warehouse: PAY_WAREHOUSE,
        history: "INSERT INTO history SELECT $1, $2, $3, $4, $5, $6, $7, CONCAT(w_name, '    ', d_name)
            FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = $4 AND d_id = $5",
        paid: "SELECT c_id, c_first, c_middle, c_last, c_balance, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
            c_since, c_credit, c_credit_lim, c_discount, IF(c_credit = 'BC', c_data, NULL),
            d_street_1, d_street_2, d_city, d_state, d_zip, w_street_1, w_street_2, w_city, w_state, w_zip
            FROM customer JOIN district ON d_w_id = $4 AND d_id = $5 JOIN warehouse ON w_id = $4
            WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3",
        // NULL for a district without an order.
        oldest: "SELECT o.d, (SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = o.d
            ORDER BY no_o_id LIMIT 1 FOR UPDATE) FROM JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$')) AS o",
        delete: "DELETE new_order FROM JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$[0]', id INT PATH '$[1]')) AS o
            STRAIGHT_JOIN new_order ON no_w_id = $1 AND no_d_id = o.d AND no_o_id = o.id",
        delivered: "SELECT o_d_id, o_c_id, (SELECT CAST(SUM(ol_amount) AS INTEGER) FROM order_line
                WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id LOCK IN SHARE MODE)
            FROM JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$[0]', id INT PATH '$[1]')) AS o
            STRAIGHT_JOIN orders ON o_w_id = $1 AND o_d_id = o.d AND o_id = o.id FOR UPDATE",
        carrier: "UPDATE JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$[0]', id INT PATH '$[1]')) AS o
            STRAIGHT_JOIN orders ON o_w_id = $1 AND o_d_id = o.d AND o_id = o.id SET o_carrier_id = $3",
        deliver_lines: "UPDATE JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$[0]', id INT PATH '$[1]')) AS o
            STRAIGHT_JOIN order_line ON ol_w_id = $1 AND ol_d_id = o.d AND ol_o_id = o.id SET ol_delivery_d = $3",
        credit: "UPDATE JSON_TABLE($2, '$[*]' COLUMNS (d INT PATH '$[0]', c INT PATH '$[1]', amount BIGINT PATH '$[2]'))
                AS o
            STRAIGHT_JOIN customer ON c_w_id = $1 AND c_d_id = o.d AND c_id = o.c
            SET c_balance = c_balance + o.amount, c_delivery_cnt = c_delivery_cnt + 1",
        low: LOW,
    }
}

impl BatchedSql for BatchedStatements {
    type Connection = Wire;

    fn order(&self) -> (&Statement, &Statement) {
        (&self.order, &self.new_order)
    }

    fn low(&self) -> &Statement {
        &self.low
    }

    fn terms(&self) -> &Statement {
        &self.terms
    }

    async fn next_order(
        &self,
        wire: &mut Wire,
        district: DistrictKey,
    ) -> Result<(BasisPoints, u32), SqlFailure> {
        next_order(wire, (&self.next_order, &self.advance), district).await
    }

    async fn items(&self, wire: &mut Wire, numbers: &[i64]) -> Result<Vec<MariaDbRow>, SqlFailure> {
        wire.rows(&self.items, values![to_json(&numbers)?.as_str()]).await
    }

    async fn stocks(
        &self,
        wire: &mut Wire,
        places: &[(u32, u32)],
        district: u32,
    ) -> Result<Vec<MariaDbRow>, SqlFailure> {
        wire.rows(&self.stocks, values![district, to_json(&places)?.as_str()]).await
    }

    async fn update_stocks(&self, wire: &mut Wire, stocks: &Stocks) -> Result<(), SqlFailure> {
        let stock = |(&(warehouse, item), stock): (&(u32, u32), &Stock)| {
            (warehouse, item, stock.quantity, stock.pieces, stock.n_lines, stock.n_remote)
        };
        let rows: Vec<_> = stocks.iter().map(stock).collect();
        wire.change(rows.len() as u64, &self.update_stocks, values![to_json(&rows)?.as_str()]).await
    }

    async fn insert_lines(
        &self,
        wire: &mut Wire,
        (warehouse, district, order): (u32, u32, u32),
        lines: &[EnteredLine],
    ) -> Result<(), SqlFailure> {
        let line = |line: &'_ EnteredLine| {
            let EnteredLine { number, item, supply_warehouse, pieces, amount, info } = line;
            (*number, *item, *supply_warehouse, *pieces, *amount, info.as_str().to_owned())
        };
        let rows: Vec<_> = lines.iter().map(line).collect();
        let n_lines = rows.len() as u64;
        let rows = to_json(&rows)?;
        wire.change(n_lines, &self.lines, values![warehouse, district, order, rows.as_str()]).await
    }

    async fn oldest(
        &self,
        wire: &mut Wire,
        warehouse: u32,
        districts: &[i64],
    ) -> Result<Vec<MariaDbRow>, SqlFailure> {
        wire.rows(&self.oldest, values![warehouse, to_json(&districts)?.as_str()]).await
    }

    async fn deliver(
        &self,
        wire: &mut Wire,
        input: &DeliveryInput,
        orders: &[(i64, i64)],
        now: WallTime,
    ) -> Result<(), SqlFailure> {
        let warehouse = input.warehouse;
        let n_orders = orders.len() as u64;
        let orders = to_json(&orders)?;
        let orders = orders.as_str();
        wire.change(n_orders, &self.delete, values![warehouse, orders]).await?;
        let delivered = wire.rows(&self.delivered, values![warehouse, orders]).await?;
        let credit = |row| {
            let mut columns = Columns::of(row);
            Ok((columns.number()?, columns.number()?, columns.number()?))
        };
        let credits: Vec<_> = delivered.iter().map(credit).collect::<Result<_, SqlFailure>>()?;
        wire.change(n_orders, &self.carrier, values![warehouse, orders, input.carrier]).await?;
        // Each order has 5 to 15 lines.
        let n_lines = wire.execute(&self.deliver_lines, values![warehouse, orders, now]).await?;
        if n_lines < n_orders {
            return Err(SqlFailure::WrongResult(WRONG_ROWS));
        }
        wire.change(n_orders, &self.credit, values![warehouse, to_json(&credits)?.as_str()]).await
    }
}

/// Enters a payment. The warehouse, which all its terminals pay to, is written last of what others write.
pub(super) async fn payment(
    wire: &mut Wire,
    sql: &BatchedStatements,
    input: &PaymentInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let of = input.customer_district;
    let to = input.district;
    let number = customer_number(wire, &sql.by_name, of, input.customer).await?;
    let amount = input.amount.0;
    let entry = format!("{number}{}", bad_credit_entry(input));
    let customer = (of.warehouse, of.district, number);
    wire.change(1, &sql.pay, values![customer.0, customer.1, customer.2, amount, entry.as_str()]).await?;
    wire.change(1, &sql.pay_district, values![to.warehouse, to.district, amount]).await?;
    wire.change(1, &sql.pay_warehouse, values![to.warehouse, amount]).await?;
    let history = values![customer.0, customer.1, customer.2, to.warehouse, to.district, now, amount];
    wire.change(1, &sql.history, history).await?;
    let paid = values![customer.0, customer.1, customer.2, to.warehouse, to.district];
    let row = wire.one(&sql.paid, paid).await?;
    stored_payment(&mut Columns::of(&row), now).map(TransactionEnd::Commit)
}
