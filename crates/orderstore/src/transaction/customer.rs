//! The customer whom a payment or a question about an order selects.

use orders::{CustomerSelector, DistrictKey, last_name};
use rusqlite::{CachedStatement, Connection, params};

use super::{district_name, failed};
use crate::error::StoreError;

/// The selection of customers.
pub(super) struct CustomerSelection<'c> {
    by_name: CachedStatement<'c>,
}

impl<'c> CustomerSelection<'c> {
    pub(super) fn new(database: &'c Connection) -> rusqlite::Result<CustomerSelection<'c>> {
        let by_name = database.prepare_cached(
            "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first, c_id",
        )?;
        Ok(CustomerSelection { by_name })
    }

    /// Returns the number of the customer: of n with the last name, sorted by first name, number ⌈n/2⌉.
    pub(super) fn number(
        &mut self,
        district: DistrictKey,
        selector: CustomerSelector,
    ) -> Result<u32, StoreError> {
        let name = match selector {
            CustomerSelector::Number(number) => return Ok(number),
            CustomerSelector::LastName(number) => last_name(number),
        };
        let key = params![district.warehouse, district.district, name.as_str()];
        let numbers = self.by_name.query_map(key, |row| row.get(0)).and_then(Iterator::collect);
        let numbers: Vec<u32> = numbers.map_err(failed)?;
        // From 0, number ⌈n/2⌉ is ⌊(n − 1)/2⌋.
        let middle = numbers.get(numbers.len().saturating_sub(1) / 2).copied();
        middle.ok_or_else(|| StoreError::Missing {
            row: format!("customer `{name}` of {}", district_name(district)),
        })
    }
}

/// Returns the name of a customer in errors.
pub(super) fn customer_name(district: DistrictKey, number: u32) -> String {
    format!("customer {number} of {}", district_name(district))
}
