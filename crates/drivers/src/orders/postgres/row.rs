//! Typed values of a result row, column by column.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use orders::{BasisPoints, Cents, Credit, CustomerDetails, PostalAddress, ShortText};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use units::WallTime;

use super::failure::{SqlFailure, WRONG_COLUMN};

const WRONG: SqlFailure = SqlFailure::WrongResult(WRONG_COLUMN);

/// The columns of a row, from left to right.
pub(super) struct Columns<'r> {
    row: &'r Row,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(super) fn of(row: &'r Row) -> Columns<'r> {
        Columns { row, next: 0 }
    }

    /// Returns the value of the next column.
    pub(super) fn value<T: FromSql<'r>>(&mut self) -> Result<T, SqlFailure> {
        self.next += 1;
        self.row.try_get(self.next - 1).map_err(|_| WRONG)
    }

    pub(super) fn key(&mut self) -> Result<u32, SqlFailure> {
        self.value::<i32>().and_then(key_of)
    }

    pub(super) fn optional_key(&mut self) -> Result<Option<u32>, SqlFailure> {
        self.value::<Option<i32>>()?.map(key_of).transpose()
    }

    pub(super) fn cents(&mut self) -> Result<Cents, SqlFailure> {
        self.value().map(Cents)
    }

    pub(super) fn rate(&mut self) -> Result<BasisPoints, SqlFailure> {
        u16::try_from(self.value::<i32>()?).map(BasisPoints).map_err(|_| WRONG)
    }

    pub(super) fn time(&mut self) -> Result<WallTime, SqlFailure> {
        self.value().and_then(wall_of)
    }

    /// Returns a text; longer ones than the schema allows are wrong.
    pub(super) fn text<const MAX: usize>(&mut self) -> Result<ShortText<MAX>, SqlFailure> {
        short(self.value()?)
    }

    pub(super) fn optional_text<const MAX: usize>(&mut self) -> Result<Option<ShortText<MAX>>, SqlFailure> {
        self.value::<Option<&str>>()?.map(short).transpose()
    }

    pub(super) fn credit(&mut self) -> Result<Credit, SqlFailure> {
        Credit::of_code(self.value()?).ok_or(WRONG)
    }

    /// Returns a customer of a known number: four columns.
    pub(super) fn customer(&mut self, id: u32) -> Result<CustomerDetails, SqlFailure> {
        Ok(CustomerDetails {
            id,
            first: self.text()?,
            middle: self.text()?,
            last: self.text()?,
            balance: self.cents()?,
        })
    }

    /// Returns an address: five columns.
    pub(super) fn address(&mut self) -> Result<PostalAddress, SqlFailure> {
        Ok(PostalAddress {
            street_1: self.text()?,
            street_2: self.text()?,
            city: self.text()?,
            state: self.text()?,
            zip: self.text()?,
        })
    }
}

/// Returns a text of the schema.
pub(super) fn short<const MAX: usize>(text: &str) -> Result<ShortText<MAX>, SqlFailure> {
    ShortText::new(text).ok_or(WRONG)
}

/// Returns a number that identifies a row.
pub(super) fn key_of(number: i32) -> Result<u32, SqlFailure> {
    u32::try_from(number).map_err(|_| WRONG)
}

/// Returns a point in time as the protocol has it.
pub(super) fn system_time(time: WallTime) -> SystemTime {
    let since = Duration::from_millis(time.0.unsigned_abs());
    if time.0 < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since }
}

/// Returns a point in time in whole milliseconds.
pub(super) fn wall_of(time: SystemTime) -> Result<WallTime, SqlFailure> {
    let millis = |since: Duration| i64::try_from(since.as_millis()).map_err(|_| WRONG);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => millis(after).map(WallTime),
        Err(before) => millis(before.duration()).map(|millis| WallTime(-millis)),
    }
}
