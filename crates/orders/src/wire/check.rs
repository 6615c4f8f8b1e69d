//! Answers to `CHECK`: the violations of a consistency condition, or the totals of the orders.
//!
//! The argument is the number of a condition, and the payload of the reply is the number of rows that violate it (8 bytes)
//! and a list of at most [`CHECK_ROWS_MAX`] of them as texts; or the argument is [`CHECK_TOTALS`], and the payload is the
//! number of orders, that of new orders, and the sum of the districts' next orders, 8 bytes each.

use super::bytes::{Reader, WireError, Writer};
use crate::{ConsistencyCondition, OrderTotals};

/// The argument of `CHECK` that asks for the totals of the orders.
pub const CHECK_TOTALS: u64 = 0;

/// The most rows that a reply describes.
pub const CHECK_ROWS_MAX: usize = 20;

/// The longest description of a row, in bytes.
const ROW_BYTES_MAX: usize = 300;

/// The rows that violate a consistency condition, as a server has found them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConditionResult {
    /// Their number.
    pub n_violations: u64,
    /// The first ones: key, and what has been compared. Texts of the server, to be escaped before they are printed.
    pub rows: Vec<String>,
}

/// Returns the argument of `CHECK` for a condition.
pub fn check_argument(condition: ConsistencyCondition) -> u64 {
    u64::from(condition.number())
}

/// Returns the condition that an argument of `CHECK` asks for; `None` if there is none of this number.
pub fn checked_condition(argument: u64) -> Option<ConsistencyCondition> {
    ConsistencyCondition::ALL.into_iter().find(|condition| check_argument(*condition) == argument)
}

impl ConditionResult {
    /// Appends the result to a payload; rows beyond [`CHECK_ROWS_MAX`] are left out, and the ends of very long ones.
    pub fn write(&self, payload: &mut Vec<u8>) {
        let mut writer = Writer::new(payload);
        writer.u64(self.n_violations);
        let rows = &self.rows[..self.rows.len().min(CHECK_ROWS_MAX)];
        writer.list(rows, |writer, row| writer.str(&row[..row.floor_char_boundary(ROW_BYTES_MAX)]));
    }

    /// Reads the payload of a reply.
    ///
    /// # Errors
    /// It is not a result.
    pub fn read(payload: &[u8]) -> Result<ConditionResult, WireError> {
        let mut reader = Reader::new(payload);
        let n_violations = reader.u64()?;
        let rows = reader.list(|reader| reader.str().map(str::to_owned))?;
        reader.end(ConditionResult { n_violations, rows })
    }
}

/// Appends the totals of the orders to a payload.
pub fn write_totals(totals: &OrderTotals, payload: &mut Vec<u8>) {
    let mut writer = Writer::new(payload);
    writer.u64(totals.orders);
    writer.u64(totals.new_orders);
    writer.u64(totals.next_orders);
}

/// Reads the payload of a reply with the totals of the orders.
///
/// # Errors
/// It has another length.
pub fn read_totals(payload: &[u8]) -> Result<OrderTotals, WireError> {
    let mut reader = Reader::new(payload);
    let totals = OrderTotals { orders: reader.u64()?, new_orders: reader.u64()?, next_orders: reader.u64()? };
    reader.end(totals)
}
