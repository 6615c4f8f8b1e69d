//! The statements of the form `batched`: several values are arrays, and updates return what they have changed.

use std::collections::BTreeMap;

use orders::{BasisPoints, DeliveryInput, DistrictKey, PaymentInput};
use units::WallTime;

use crate::database::connection::{SqlConnection, statements, values};
use crate::database::failure::{SqlFailure, WRONG_ROWS};
use crate::database::postgres::row::PostgresRow;
use crate::database::postgres::wire::{Statement, Wire};
use crate::orders::sql::batched::{BatchedSql, EnteredLine, LOW, Stock, Stocks, TERMS};
use crate::orders::sql::client::{NEW_ORDER, ORDER, enter_history, name_and_address, payment_output};
use crate::orders::sql::columns::Columns;
use crate::orders::sql::output::{CUSTOMERS_BY_NAME, TransactionEnd, bad_credit_entry, customer_number};

/// The statements as they are prepared here.
pub(super) type BatchedStatements = PostgresStatements<Statement>;

statements! {
    /// The statements of all transactions but `OrderStatus`.
    PostgresStatements {
        by_name: CUSTOMERS_BY_NAME,
        terms: TERMS,
        next_order: "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $2
            RETURNING d_tax, d_next_o_id - 1",
        order: ORDER,
        new_order: NEW_ORDER,
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
        let row = wire.one(&self.next_order, values![district.warehouse, district.district]).await?;
        let mut columns = Columns::of(&row);
        Ok((columns.rate()?, columns.key()?))
    }

    async fn items(&self, wire: &mut Wire, numbers: &[i64]) -> Result<Vec<PostgresRow>, SqlFailure> {
        wire.rows(&self.items, values![numbers]).await
    }

    async fn stocks(
        &self,
        wire: &mut Wire,
        places: &[(u32, u32)],
        district: u32,
    ) -> Result<Vec<PostgresRow>, SqlFailure> {
        let (warehouses, items) = columns_of(places.iter());
        wire.rows(&self.stocks, values![&warehouses, &items, district]).await
    }

    async fn update_stocks(&self, wire: &mut Wire, stocks: &Stocks) -> Result<(), SqlFailure> {
        let column = |value: fn(&Stock) -> i64| stocks.values().map(value).collect::<Vec<i64>>();
        let (warehouses, items) = columns_of(stocks.keys());
        let quantities = column(|stock| stock.quantity);
        let pieces = column(|stock| stock.pieces);
        let lines = column(|stock| stock.n_lines);
        let remote = column(|stock| stock.n_remote);
        let n_stocks = stocks.len() as u64;
        let parameters = values![&warehouses, &items, &quantities, &pieces, &lines, &remote];
        wire.change(n_stocks, &self.update_stocks, parameters).await
    }

    async fn insert_lines(
        &self,
        wire: &mut Wire,
        (warehouse, district, order): (u32, u32, u32),
        lines: &[EnteredLine],
    ) -> Result<(), SqlFailure> {
        let column = |value: fn(&EnteredLine) -> i64| lines.iter().map(value).collect::<Vec<i64>>();
        let numbers = column(|line| line.number);
        let items = column(|line| line.item.into());
        let supplies = column(|line| line.supply_warehouse.into());
        let pieces = column(|line| line.pieces);
        let amounts = column(|line| line.amount);
        let infos: Vec<&str> = lines.iter().map(|line| line.info.as_str()).collect();
        let order =
            values![warehouse, district, order, &numbers, &items, &supplies, &pieces, &amounts, &infos];
        wire.change(lines.len() as u64, &self.lines, order).await
    }

    async fn oldest(
        &self,
        wire: &mut Wire,
        warehouse: u32,
        districts: &[i64],
    ) -> Result<Vec<PostgresRow>, SqlFailure> {
        wire.rows(&self.oldest, values![warehouse, districts]).await
    }

    async fn deliver(
        &self,
        wire: &mut Wire,
        input: &DeliveryInput,
        orders: &[(i64, i64)],
        now: WallTime,
    ) -> Result<(), SqlFailure> {
        let warehouse = input.warehouse;
        let carrier = input.carrier;
        let n_orders = orders.len() as u64;
        let (districts, orders): (Vec<i64>, Vec<i64>) = orders.iter().copied().unzip();
        wire.change(n_orders, &self.delete, values![warehouse, &districts, &orders]).await?;
        let customers = wire.rows(&self.carrier, values![warehouse, &districts, &orders, carrier]).await?;
        let customers = pairs(&customers)?;
        let amounts = wire.rows(&self.deliver_lines, values![warehouse, &districts, &orders, now]).await?;
        let amounts = pairs(&amounts)?;
        let of = |district: &i64| Some((*customers.get(district)?, *amounts.get(district)?));
        let credited: Option<(Vec<i64>, Vec<i64>)> = districts.iter().map(of).collect();
        let (customers, amounts) = credited.ok_or(SqlFailure::WrongResult(WRONG_ROWS))?;
        wire.change(n_orders, &self.credit, values![warehouse, &districts, &customers, &amounts]).await
    }
}

/// Returns the numbers of warehouses and items of stocks.
fn columns_of<'a>(keys: impl Iterator<Item = &'a (u32, u32)>) -> (Vec<i64>, Vec<i64>) {
    keys.map(|(warehouse, item)| (i64::from(*warehouse), i64::from(*item))).unzip()
}

/// Enters a payment. The warehouse, which all its terminals pay to, is written last.
pub(super) async fn payment(
    wire: &mut Wire,
    sql: &BatchedStatements,
    input: &PaymentInput,
    now: WallTime,
) -> Result<TransactionEnd, SqlFailure> {
    let of = input.customer_district;
    let number = customer_number(wire, &sql.by_name, of, input.customer).await?;
    let amount = input.amount.0;
    let entry = format!("{number}{}", bad_credit_entry(input));
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

/// Reads rows of two numbers.
fn pairs(rows: &[PostgresRow]) -> Result<BTreeMap<i64, i64>, SqlFailure> {
    let pair = |row| {
        let mut columns = Columns::of(row);
        Ok((columns.number()?, columns.number()?))
    };
    rows.iter().map(pair).collect()
}
