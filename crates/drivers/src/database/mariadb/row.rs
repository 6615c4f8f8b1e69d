//! Values as MariaDB has them: parameters, and columns of a row.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use mysql_common::constants::ColumnType;
use mysql_common::packets::Column;
use mysql_common::row::Row;
use mysql_common::value::Value;
use units::WallTime;

use crate::database::connection::{SqlRow, SqlValue, TextRow};
use crate::database::failure::{SqlFailure, WRONG_VALUE};

/// A row of a result.
pub(crate) struct MariaDbRow(Row);

impl MariaDbRow {
    pub(crate) fn of(row: Row) -> MariaDbRow {
        MariaDbRow(row)
    }

    /// Returns the columns as texts with their names.
    pub(crate) fn texts(&self, names: &[String]) -> Result<TextRow, SqlFailure> {
        let column =
            |(index, name): (usize, &String)| Ok((name.clone(), self.text(index)?.map(str::to_owned)));
        names.iter().enumerate().map(column).collect()
    }

    /// Returns a value as the server's own clients print it; `None` of null.
    pub(crate) fn printed(&self, index: usize) -> Option<Cow<'_, [u8]>> {
        let printed = match self.0.as_ref(index)? {
            Value::NULL => return None,
            Value::Bytes(bytes) => return Some(Cow::Borrowed(bytes)),
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Double(number) => number.to_string(),
            Value::Date(year, month, day, 0, 0, 0, 0) if self.is_date(index) => {
                format!("{year:04}-{month:02}-{day:02}")
            }
            Value::Date(year, month, day, hour, minute, second, micros) => {
                let micros = self.decimals(index, *micros);
                format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{micros}")
            }
            Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
                let sign = if *is_negative { "-" } else { "" };
                let hours = days * 24 + u32::from(*hours);
                let micros = self.decimals(index, *micros);
                format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{micros}")
            }
        };
        Some(Cow::Owned(printed.into_bytes()))
    }

    fn is_date(&self, index: usize) -> bool {
        self.0.columns_ref().get(index).is_some_and(|one| one.column_type() == ColumnType::MYSQL_TYPE_DATE)
    }

    /// Returns the part of a second with as many digits as the column has.
    fn decimals(&self, index: usize, micros: u32) -> String {
        match self.0.columns_ref().get(index).map_or(0, Column::decimals) {
            n @ 1..=6 => format!(".{micros:06}")[..=usize::from(n)].to_owned(),
            _ => String::new(),
        }
    }

    fn get(&self, index: usize) -> Result<&Value, SqlFailure> {
        self.0.as_ref(index).ok_or(WRONG_VALUE)
    }
}

impl SqlRow for MariaDbRow {
    fn integer(&self, index: usize) -> Result<Option<i64>, SqlFailure> {
        match self.get(index)? {
            Value::NULL => Ok(None),
            Value::Int(number) => Ok(Some(*number)),
            _ => Err(WRONG_VALUE),
        }
    }

    fn text(&self, index: usize) -> Result<Option<&str>, SqlFailure> {
        match self.get(index)? {
            Value::NULL => Ok(None),
            Value::Bytes(bytes) => std::str::from_utf8(bytes).map(Some).map_err(|_| WRONG_VALUE),
            _ => Err(WRONG_VALUE),
        }
    }

    fn time(&self, index: usize) -> Result<Option<WallTime>, SqlFailure> {
        match *self.get(index)? {
            Value::NULL => Ok(None),
            Value::Date(year, month, day, hour, minute, second, micros) => {
                wall_of((year, month, day), (hour, minute, second), micros).map(Some).ok_or(WRONG_VALUE)
            }
            _ => Err(WRONG_VALUE),
        }
    }
}

/// Returns a parameter.
pub(crate) fn value(parameter: SqlValue<'_>) -> Value {
    match parameter {
        SqlValue::Integer(number) => Value::Int(number),
        SqlValue::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        SqlValue::Time(time) => date(time),
        // There are no arrays.
        SqlValue::Integers(_) | SqlValue::Texts(_) | SqlValue::Null => Value::NULL,
    }
}

/// Returns a point in time as it is stored, in UTC.
fn date(time: WallTime) -> Value {
    let Ok(time) = Timestamp::from_millisecond(time.0) else { return Value::NULL };
    let at = TimeZone::UTC.to_datetime(time);
    Value::Date(
        at.year().unsigned_abs(),
        at.month().unsigned_abs(),
        at.day().unsigned_abs(),
        at.hour().unsigned_abs(),
        at.minute().unsigned_abs(),
        at.second().unsigned_abs(),
        at.subsec_nanosecond().unsigned_abs() / 1000,
    )
}

/// Returns a point in time as a text, in UTC.
pub(crate) fn date_text(time: WallTime) -> String {
    let Ok(time) = Timestamp::from_millisecond(time.0) else { return String::new() };
    TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

fn wall_of(day: (u16, u8, u8), time: (u8, u8, u8), micros: u32) -> Option<WallTime> {
    let small = |number: u8| i8::try_from(number).ok();
    let date = Date::new(i16::try_from(day.0).ok()?, small(day.1)?, small(day.2)?).ok()?;
    let nanos = i32::try_from(micros.checked_mul(1000)?).ok()?;
    let time = civil::Time::new(small(time.0)?, small(time.1)?, small(time.2)?, nanos).ok()?;
    let at = TimeZone::UTC.to_timestamp(DateTime::from_parts(date, time)).ok()?;
    Some(WallTime(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use mysql_common::row::new_row;

    use super::*;

    /// By hand: 2000-01-01 is 946,684,800 s after 1970.
    #[test]
    fn times_are_stored_in_utc() {
        let at = WallTime(946_684_800_123);
        assert_eq!(value(SqlValue::Time(at)), Value::Date(2000, 1, 1, 0, 0, 0, 123_000));
        let columns = vec![Column::new(ColumnType::MYSQL_TYPE_DATETIME); 2];
        let values = vec![value(SqlValue::Time(at)), Value::Date(2000, 13, 1, 0, 0, 0, 0)];
        let row = MariaDbRow::of(new_row(values, columns.into()));
        assert_eq!(row.time(0), Ok(Some(at)));
        assert_eq!(row.time(1), Err(WRONG_VALUE));
    }

    /// As `mariadb` prints them.
    #[test]
    fn values_are_printed_as_by_the_servers_own_clients() {
        use ColumnType::{
            MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_LONG, MYSQL_TYPE_TIME,
            MYSQL_TYPE_VAR_STRING,
        };
        for (kind, decimals, value, printed) in [
            (MYSQL_TYPE_LONG, 0, Value::Int(-7), Some("-7")),
            (MYSQL_TYPE_LONG, 0, Value::UInt(7), Some("7")),
            (MYSQL_TYPE_DOUBLE, 31, Value::Double(0.5), Some("0.5")),
            (MYSQL_TYPE_VAR_STRING, 0, Value::Bytes(b"red".to_vec()), Some("red")),
            (MYSQL_TYPE_DATE, 0, Value::Date(2000, 1, 2, 0, 0, 0, 0), Some("2000-01-02")),
            (MYSQL_TYPE_DATETIME, 0, Value::Date(2000, 1, 2, 0, 0, 0, 0), Some("2000-01-02 00:00:00")),
            (MYSQL_TYPE_DATETIME, 3, Value::Date(2000, 1, 2, 3, 4, 5, 6000), Some("2000-01-02 03:04:05.006")),
            (MYSQL_TYPE_TIME, 0, Value::Time(true, 1, 2, 3, 4, 0), Some("-26:03:04")),
            (MYSQL_TYPE_LONG, 0, Value::NULL, None),
        ] {
            let columns = vec![Column::new(kind).with_decimals(decimals)];
            let row = MariaDbRow::of(new_row(vec![value.clone()], columns.into()));
            let found = row.printed(0).map(|bytes| String::from_utf8(bytes.into_owned()).unwrap());
            assert_eq!(found.as_deref(), printed, "{value:?}");
        }
    }
}
