//! The five transactions, a file each: their statements, and their steps between begin and end.

mod customer;
mod delivery;
mod new_order;
mod order_status;
mod payment;
mod stock_level;

pub(crate) use delivery::Delivery;
pub(crate) use new_order::NewOrder;
pub(crate) use order_status::OrderStatus;
pub(crate) use payment::Payment;
pub(crate) use stock_level::StockLevel;

use orders::{DistrictKey, TransactionOutput};
use rusqlite::{Error, OptionalExtension};

use crate::error::StoreError;

/// The way in which a transaction ends.
pub(crate) enum TransactionEnd {
    /// Its changes are kept.
    Commit(TransactionOutput),
    /// Its changes are undone.
    Rollback(TransactionOutput),
}

/// Returns the error of a transaction in which SQLite refused something.
pub(crate) fn failed(source: Error) -> StoreError {
    StoreError::Database { doing: "a transaction", source }
}

/// Returns a row that must exist; the error says which one is missing.
fn existing<T>(read: Result<T, Error>, row: impl FnOnce() -> String) -> Result<T, StoreError> {
    let found = read.optional().map_err(failed)?;
    found.ok_or_else(|| StoreError::Missing { row: row() })
}

/// Returns the name of a district in errors.
fn district_name(key: DistrictKey) -> String {
    format!("district {} of warehouse {}", key.district, key.warehouse)
}
