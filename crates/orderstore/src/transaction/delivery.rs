//! `Delivery`: the oldest new order of each district is delivered, all in one transaction, so that it happens as a whole or
//! not at all.

use orders::{Cents, DISTRICTS, DeliveryInput, DeliveryOutput, DistrictKey, TransactionOutput};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use units::WallTime;

use super::customer::customer_name;
use super::{TransactionEnd, district_name, existing, failed};
use crate::error::StoreError;

pub(crate) struct Delivery<'c> {
    oldest: CachedStatement<'c>,
    delete: CachedStatement<'c>,
    order: CachedStatement<'c>,
    lines: CachedStatement<'c>,
    amount: CachedStatement<'c>,
    customer: CachedStatement<'c>,
}

impl<'c> Delivery<'c> {
    pub(crate) fn new(database: &'c Connection) -> rusqlite::Result<Delivery<'c>> {
        Ok(Delivery {
            oldest: database.prepare_cached(
                "SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1",
            )?,
            delete: database
                .prepare_cached("DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id = ?")?,
            order: database.prepare_cached(
                "UPDATE orders SET o_carrier_id = ?4 WHERE o_w_id = ?1 AND o_d_id = ?2 AND o_id = ?3
                 RETURNING o_c_id",
            )?,
            lines: database.prepare_cached(
                "UPDATE order_line SET ol_delivery_d = ?4 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ol_o_id = ?3",
            )?,
            amount: database.prepare_cached(
                "SELECT COALESCE(SUM(ol_amount), 0) FROM order_line
                 WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
            )?,
            customer: database.prepare_cached(
                "UPDATE customer SET c_balance = c_balance + ?4, c_delivery_cnt = c_delivery_cnt + 1
                 WHERE c_w_id = ?1 AND c_d_id = ?2 AND c_id = ?3",
            )?,
        })
    }

    pub(crate) fn perform(
        &mut self,
        input: &DeliveryInput,
        now: WallTime,
    ) -> Result<TransactionEnd, StoreError> {
        let mut orders = [None; DISTRICTS as usize];
        for (district, delivered) in (1..).zip(&mut orders) {
            let key = DistrictKey { warehouse: input.warehouse, district };
            *delivered = self.oldest(key).map_err(failed)?;
            if let Some(order) = *delivered {
                self.deliver(key, order, input.carrier, now)?;
            }
        }
        Ok(TransactionEnd::Commit(TransactionOutput::Delivery(DeliveryOutput { orders })))
    }

    fn oldest(&mut self, key: DistrictKey) -> rusqlite::Result<Option<u32>> {
        self.oldest.query_row(params![key.warehouse, key.district], |row| row.get(0)).optional()
    }

    fn deliver(
        &mut self,
        key: DistrictKey,
        order: u32,
        carrier: u32,
        now: WallTime,
    ) -> Result<(), StoreError> {
        let DistrictKey { warehouse, district } = key;
        self.delete.execute(params![warehouse, district, order]).map_err(failed)?;
        let delivered = self.order.query_row(params![warehouse, district, order, carrier], |row| row.get(0));
        let customer: u32 = existing(delivered, || format!("order {order} of {}", district_name(key)))?;
        self.lines.execute(params![warehouse, district, order, now.0]).map_err(failed)?;
        let amount = self.amount.query_row(params![warehouse, district, order], |row| row.get(0).map(Cents));
        let amount = amount.map_err(failed)?;
        let n_changed =
            self.customer.execute(params![warehouse, district, customer, amount.0]).map_err(failed)?;
        match n_changed {
            0 => Err(StoreError::Missing { row: customer_name(key, customer) }),
            _ => Ok(()),
        }
    }
}
