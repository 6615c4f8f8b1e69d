//! `OrderStatus`: a customer's last order with its lines. Only reads.

use orders::{OrderDetails, OrderStatusInput, OrderStatusLine, OrderStatusOutput, TransactionOutput};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params};

use super::customer::{CustomerSelection, customer_name};
use super::{TransactionEnd, existing, failed};
use crate::columns::Columns;
use crate::error::StoreError;

pub(crate) struct OrderStatus<'c> {
    selection: CustomerSelection<'c>,
    customer: CachedStatement<'c>,
    order: CachedStatement<'c>,
    lines: CachedStatement<'c>,
}

impl<'c> OrderStatus<'c> {
    pub(crate) fn new(database: &'c Connection) -> rusqlite::Result<OrderStatus<'c>> {
        Ok(OrderStatus {
            selection: CustomerSelection::new(database)?,
            customer: database.prepare_cached(
                "SELECT c_first, c_middle, c_last, c_balance FROM customer
                 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?",
            )?,
            order: database.prepare_cached(
                "SELECT o_id, o_entry_d, o_carrier_id FROM orders
                 WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC LIMIT 1",
            )?,
            lines: database.prepare_cached(
                "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? ORDER BY ol_number",
            )?,
        })
    }

    pub(crate) fn perform(&mut self, input: &OrderStatusInput) -> Result<TransactionEnd, StoreError> {
        let district = input.district;
        let number = self.selection.number(district, input.customer)?;
        let key = params![district.warehouse, district.district, number];
        let customer = self.customer.query_row(key, |row| Columns::of(row).customer(number));
        let customer = existing(customer, || customer_name(district, number))?;
        let order = self.last_order(input, number).map_err(failed)?;
        Ok(TransactionEnd::Commit(TransactionOutput::OrderStatus(OrderStatusOutput { customer, order })))
    }

    fn last_order(
        &mut self,
        input: &OrderStatusInput,
        customer: u32,
    ) -> rusqlite::Result<Option<OrderDetails>> {
        let warehouse = input.district.warehouse;
        let district = input.district.district;
        let order = self.order.query_row(params![warehouse, district, customer], |row| {
            let mut columns = Columns::of(row);
            let id = columns.value()?;
            let entered = columns.time()?;
            let carrier = columns.value()?;
            Ok(OrderDetails { id, entered, carrier, lines: Vec::new() })
        });
        let Some(mut order) = order.optional()? else { return Ok(None) };
        let lines = self.lines.query_map(params![warehouse, district, order.id], line)?;
        order.lines = lines.collect::<rusqlite::Result<_>>()?;
        Ok(Some(order))
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<OrderStatusLine> {
    let mut columns = Columns::of(row);
    Ok(OrderStatusLine {
        item: columns.value()?,
        supply_warehouse: columns.value()?,
        quantity: columns.value()?,
        amount: columns.cents()?,
        delivered: columns.optional_time()?,
    })
}
