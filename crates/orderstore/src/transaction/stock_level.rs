//! `StockLevel`: the number of items of a district's last orders whose stock is low. Only reads.

use orders::{RECENT_ORDERS, StockLevelInput, StockLevelOutput, TransactionOutput};
use rusqlite::{CachedStatement, Connection, params};

use super::{TransactionEnd, district_name, existing, failed};
use crate::error::StoreError;

pub(crate) struct StockLevel<'c> {
    next_order: CachedStatement<'c>,
    low: CachedStatement<'c>,
}

impl<'c> StockLevel<'c> {
    pub(crate) fn new(database: &'c Connection) -> rusqlite::Result<StockLevel<'c>> {
        Ok(StockLevel {
            next_order: database.prepare_cached("SELECT d_next_o_id FROM district WHERE d_w_id = ? AND d_id = ?")?,
            // `CROSS JOIN` has SQLite begin with the lines: some 200, each of which finds its stock by key.
            low: database.prepare_cached(
                "SELECT COUNT(DISTINCT s_i_id)
                 FROM order_line CROSS JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
                 WHERE ol_w_id = ?1 AND ol_d_id = ?2 AND ?3 - ?4 <= ol_o_id AND ol_o_id < ?3 AND s_quantity < ?5",
            )?,
        })
    }

    pub(crate) fn perform(&mut self, input: &StockLevelInput) -> Result<TransactionEnd, StoreError> {
        let warehouse = input.district.warehouse;
        let district = input.district.district;
        let next = self.next_order.query_row(params![warehouse, district], |row| row.get(0));
        let next: i64 = existing(next, || district_name(input.district))?;
        let parameters = params![warehouse, district, next, RECENT_ORDERS, input.threshold];
        let n_low = self.low.query_row(parameters, |row| row.get(0));
        let n_low = n_low.map_err(failed)?;
        Ok(TransactionEnd::Commit(TransactionOutput::StockLevel(StockLevelOutput { n_low })))
    }
}
