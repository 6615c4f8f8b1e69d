//! Values as PostgreSQL has them: parameters by the type that a statement gives them, and columns of a row.

use std::error::Error;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use tokio_postgres::Row;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use units::WallTime;

use crate::database::connection::{SqlRow, SqlValue};
use crate::database::failure::{SqlFailure, WRONG_VALUE};

/// The types of numbers that are sent in binary form.
const INTEGERS: [Type; 3] = [Type::INT2, Type::INT4, Type::INT8];

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            SqlValue::Integer(number) => match *kind {
                Type::INT2 => i16::try_from(number)?.to_sql(kind, out),
                Type::INT4 => i32::try_from(number)?.to_sql(kind, out),
                Type::INT8 => number.to_sql(kind, out),
                _ => {
                    out.extend_from_slice(number.to_string().as_bytes());
                    Ok(IsNull::No)
                }
            },
            SqlValue::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            SqlValue::Time(time) => system_time(time).to_sql(kind, out),
            SqlValue::Integers(numbers) if *kind == Type::INT4_ARRAY => {
                let numbers = numbers.iter().map(|number| i32::try_from(*number));
                numbers.collect::<Result<Vec<i32>, _>>()?.to_sql(kind, out)
            }
            SqlValue::Integers(numbers) => numbers.to_sql(kind, out),
            SqlValue::Texts(texts) => texts.to_sql(kind, out),
            SqlValue::Null => Ok(IsNull::Yes),
        }
    }

    /// A text, and a number for anything but whole numbers, is read by the server as the type that it has found.
    fn encode_format(&self, kind: &Type) -> Format {
        match self {
            SqlValue::Text(_) => Format::Text,
            SqlValue::Integer(_) if !INTEGERS.contains(kind) => Format::Text,
            _ => Format::Binary,
        }
    }

    fn accepts(_: &Type) -> bool {
        // Other values than numbers and texts go only to statements of our own, whose types are known.
        true
    }

    to_sql_checked!();
}

impl SqlRow for Row {
    fn integer(&self, index: usize) -> Result<Option<i64>, SqlFailure> {
        let kind = self.columns().get(index).map(|column| column.type_());
        let value = match kind {
            Some(&Type::INT4) => self.try_get::<_, Option<i32>>(index).map(|value| value.map(i64::from)),
            _ => self.try_get(index),
        };
        value.map_err(|_| WRONG_VALUE)
    }

    fn text(&self, index: usize) -> Result<Option<&str>, SqlFailure> {
        self.try_get(index).map_err(|_| WRONG_VALUE)
    }

    fn time(&self, index: usize) -> Result<Option<WallTime>, SqlFailure> {
        self.try_get::<_, Option<SystemTime>>(index).map_err(|_| WRONG_VALUE)?.map(wall_of).transpose()
    }
}

/// Returns a point in time as the protocol has it.
pub(crate) fn system_time(time: WallTime) -> SystemTime {
    let since = Duration::from_millis(time.0.unsigned_abs());
    if time.0 < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since }
}

/// Returns a point in time in whole milliseconds.
pub(crate) fn wall_of(time: SystemTime) -> Result<WallTime, SqlFailure> {
    let millis = |since: Duration| i64::try_from(since.as_millis()).map_err(|_| WRONG_VALUE);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => millis(after).map(WallTime),
        Err(before) => millis(before.duration()).map(|millis| WallTime(-millis)),
    }
}
