//! The layout of rows in the binary protocol: a zero, a bit for each null, and the other values by the types of their
//! columns.
//!
//! Source: MariaDB's documentation, "Resultset row" and "Data types in the binary protocol".

use std::sync::Arc;

use mysql_common::constants::ColumnType;
use mysql_common::packets::Column;

use crate::database::failure::{OTHER_BYTES, SqlFailure};
use crate::database::row_scan::{RowLayout, RowPart};

/// The bits before that of the first column.
const NULL_BITS_BEFORE: usize = 2;

/// The length of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueLength {
    /// So many bytes.
    Fixed(u64),
    /// A byte says how many, of so many at most.
    Temporal(u8),
    /// An integer of 1 to 9 bytes says how many.
    Stated,
}

/// Returns the length of values of a type; `None` of a type that no result has.
fn value_length(kind: ColumnType) -> Option<ValueLength> {
    use ColumnType as T;
    Some(match kind {
        T::MYSQL_TYPE_NULL => ValueLength::Fixed(0),
        T::MYSQL_TYPE_TINY => ValueLength::Fixed(1),
        T::MYSQL_TYPE_SHORT | T::MYSQL_TYPE_YEAR => ValueLength::Fixed(2),
        T::MYSQL_TYPE_LONG | T::MYSQL_TYPE_INT24 | T::MYSQL_TYPE_FLOAT => ValueLength::Fixed(4),
        T::MYSQL_TYPE_LONGLONG | T::MYSQL_TYPE_DOUBLE => ValueLength::Fixed(8),
        T::MYSQL_TYPE_TIMESTAMP | T::MYSQL_TYPE_DATE | T::MYSQL_TYPE_NEWDATE | T::MYSQL_TYPE_DATETIME => {
            ValueLength::Temporal(11)
        }
        T::MYSQL_TYPE_TIME => ValueLength::Temporal(12),
        T::MYSQL_TYPE_STRING
        | T::MYSQL_TYPE_VAR_STRING
        | T::MYSQL_TYPE_VARCHAR
        | T::MYSQL_TYPE_BLOB
        | T::MYSQL_TYPE_TINY_BLOB
        | T::MYSQL_TYPE_MEDIUM_BLOB
        | T::MYSQL_TYPE_LONG_BLOB
        | T::MYSQL_TYPE_SET
        | T::MYSQL_TYPE_ENUM
        | T::MYSQL_TYPE_DECIMAL
        | T::MYSQL_TYPE_NEWDECIMAL
        | T::MYSQL_TYPE_BIT
        | T::MYSQL_TYPE_GEOMETRY
        | T::MYSQL_TYPE_JSON => ValueLength::Stated,
        _ => return None,
    })
}

/// Returns whether a result can have a column of a type: the library that reads values knows no others.
pub(super) fn is_of_results(kind: ColumnType) -> bool {
    value_length(kind).is_some()
}

/// A row of columns.
#[derive(Debug)]
pub(super) struct BinaryRow {
    columns: Arc<[Column]>,
    /// The bits of nulls; empty before they have arrived.
    nulls: Vec<u8>,
    /// The column of the next value.
    index: usize,
}

impl BinaryRow {
    pub(super) fn of(columns: &Arc<[Column]>) -> BinaryRow {
        BinaryRow { columns: Arc::clone(columns), nulls: Vec::new(), index: 0 }
    }

    fn is_null(&self, index: usize) -> bool {
        let bit = index + NULL_BITS_BEFORE;
        self.nulls.get(bit / 8).is_some_and(|byte| byte & 1 << (bit % 8) != 0)
    }

    fn value(&mut self, length: u64) -> RowPart {
        self.index += 1;
        RowPart::Value(length)
    }
}

impl RowLayout for BinaryRow {
    fn next(&mut self, prefix: &[u8]) -> Result<RowPart, SqlFailure> {
        let malformed = Err(SqlFailure::malformed(OTHER_BYTES));
        if self.nulls.is_empty() {
            return match prefix {
                [] => Ok(RowPart::Prefix(1 + (self.columns.len() + NULL_BITS_BEFORE).div_ceil(8))),
                [0, nulls @ ..] => {
                    self.nulls = nulls.to_vec();
                    Ok(RowPart::Value(0))
                }
                _ => malformed,
            };
        }
        while self.is_null(self.index) && self.index < self.columns.len() {
            self.index += 1;
        }
        let Some(column) = self.columns.get(self.index) else { return Ok(RowPart::End) };
        let length = value_length(column.column_type());
        match (length, prefix) {
            (Some(ValueLength::Fixed(length)), []) => Ok(self.value(length)),
            (Some(ValueLength::Temporal(_) | ValueLength::Stated), []) => Ok(RowPart::Prefix(1)),
            (Some(ValueLength::Temporal(most)), [length]) if *length <= most => {
                Ok(self.value((*length).into()))
            }
            (Some(ValueLength::Stated), [length @ 0..=0xFA]) => Ok(self.value((*length).into())),
            (Some(ValueLength::Stated), [0xFC]) => Ok(RowPart::Prefix(3)),
            (Some(ValueLength::Stated), [0xFD]) => Ok(RowPart::Prefix(4)),
            (Some(ValueLength::Stated), [0xFE]) => Ok(RowPart::Prefix(9)),
            (Some(ValueLength::Stated), [_, stated @ ..]) if !stated.is_empty() => {
                let length = stated.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte));
                Ok(self.value(length))
            }
            _ => malformed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::row_scan::tests::is_accepted;

    fn columns(kinds: &[ColumnType]) -> Arc<[Column]> {
        kinds.iter().map(|kind| Column::new(*kind)).collect()
    }

    /// A number, a null, a text, and a point in time of 4 bytes: of four columns the second is null, which is bit 3.
    const ROW: &[u8] = b"\0\x08\x2a\0\0\0\x02ab\x04\xd0\x07\x01\x01";

    #[test]
    fn rows_of_other_columns_or_lengths_are_refused() {
        use ColumnType::{MYSQL_TYPE_DATETIME, MYSQL_TYPE_LONG, MYSQL_TYPE_VAR_STRING};
        let four = columns(&[MYSQL_TYPE_LONG, MYSQL_TYPE_LONG, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_DATETIME]);
        let accepted = |row: &[u8]| is_accepted(|| BinaryRow::of(&four), row);
        assert!(accepted(ROW));
        for end in 0..ROW.len() {
            assert!(!accepted(&ROW[..end]), "{end}");
        }
        assert!(!accepted(&[ROW, b"x"].concat()), "a byte too many");
        assert!(!accepted(&[b"\x01", &ROW[1..]].concat()), "not a row");
        assert!(!is_accepted(|| BinaryRow::of(&columns(&[MYSQL_TYPE_LONG])), ROW), "other columns");
    }

    #[test]
    fn lengths_are_stated_in_one_to_nine_bytes() {
        let text = columns(&[ColumnType::MYSQL_TYPE_BLOB]);
        let accepted = |row: &[u8]| is_accepted(|| BinaryRow::of(&text), &[b"\0\0", row].concat());
        for stated in [&b"\x02"[..], b"\xfc\x02\0", b"\xfd\x02\0\0", b"\xfe\x02\0\0\0\0\0\0\0"] {
            assert!(accepted(&[stated, b"ab"].concat()), "{stated:?}");
            assert!(!accepted(&[stated, b"abc"].concat()), "{stated:?}");
        }
        for other in [&b"\xfb"[..], b"\xff", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xffab"] {
            assert!(!accepted(other), "{other:?}");
        }
        let time = columns(&[ColumnType::MYSQL_TYPE_TIME]);
        assert!(
            !is_accepted(|| BinaryRow::of(&time), &[&b"\0\0\x0d"[..], &[0; 13]].concat()),
            "no such time"
        );
    }

    #[test]
    fn types_that_no_result_has_are_not_known() {
        assert!(is_of_results(ColumnType::MYSQL_TYPE_NEWDECIMAL));
        assert!(!is_of_results(ColumnType::MYSQL_TYPE_TIMESTAMP2));
    }
}
