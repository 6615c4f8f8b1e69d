//! Typed values of a result row, column by column.

use orders::{BasisPoints, Cents, Credit, CustomerDetails, PostalAddress, ShortText};
use units::WallTime;

use crate::database::connection::SqlRow;
use crate::database::failure::{SqlFailure, WRONG_VALUE};

/// The columns of a row, from left to right.
pub(crate) struct Columns<'r, R> {
    row: &'r R,
    next: usize,
}

impl<'r, R> Columns<'r, R> {
    /// Begins with the first column.
    pub(crate) fn of(row: &'r R) -> Columns<'r, R> {
        Columns { row, next: 0 }
    }

    /// Returns the row and the index of the next column, and goes on to the one behind it.
    pub(crate) fn advance(&mut self) -> (&'r R, usize) {
        self.next += 1;
        (self.row, self.next - 1)
    }
}

impl<'r, R: SqlRow> Columns<'r, R> {
    /// Returns a number, unless there is none.
    pub(crate) fn optional_number(&mut self) -> Result<Option<i64>, SqlFailure> {
        let (row, index) = self.advance();
        row.integer(index)
    }

    /// Returns a number.
    pub(crate) fn number(&mut self) -> Result<i64, SqlFailure> {
        self.optional_number()?.ok_or(WRONG_VALUE)
    }

    /// Returns a number that identifies a row.
    pub(crate) fn key(&mut self) -> Result<u32, SqlFailure> {
        self.number().and_then(small)
    }

    pub(crate) fn optional_key(&mut self) -> Result<Option<u32>, SqlFailure> {
        self.optional_number()?.map(small).transpose()
    }

    /// Returns a number of pieces or rows.
    pub(crate) fn count(&mut self) -> Result<u32, SqlFailure> {
        self.number().and_then(small)
    }

    pub(crate) fn cents(&mut self) -> Result<Cents, SqlFailure> {
        self.number().map(Cents)
    }

    pub(crate) fn rate(&mut self) -> Result<BasisPoints, SqlFailure> {
        self.number().and_then(small).map(BasisPoints)
    }

    pub(crate) fn optional_time(&mut self) -> Result<Option<WallTime>, SqlFailure> {
        let (row, index) = self.advance();
        row.time(index)
    }

    pub(crate) fn time(&mut self) -> Result<WallTime, SqlFailure> {
        self.optional_time()?.ok_or(WRONG_VALUE)
    }

    fn optional_str(&mut self) -> Result<Option<&'r str>, SqlFailure> {
        let (row, index) = self.advance();
        row.text(index)
    }

    /// Returns a text of any length.
    pub(crate) fn str(&mut self) -> Result<&'r str, SqlFailure> {
        self.optional_str()?.ok_or(WRONG_VALUE)
    }

    /// Returns a text; longer ones than the schema allows are wrong.
    pub(crate) fn text<const MAX: usize>(&mut self) -> Result<ShortText<MAX>, SqlFailure> {
        self.str().and_then(short)
    }

    pub(crate) fn optional_text<const MAX: usize>(&mut self) -> Result<Option<ShortText<MAX>>, SqlFailure> {
        self.optional_str()?.map(short).transpose()
    }

    pub(crate) fn credit(&mut self) -> Result<Credit, SqlFailure> {
        Credit::of_code(self.str()?).ok_or(WRONG_VALUE)
    }

    /// Returns a customer of a known number: four columns.
    pub(crate) fn customer(&mut self, id: u32) -> Result<CustomerDetails, SqlFailure> {
        Ok(CustomerDetails {
            id,
            first: self.text()?,
            middle: self.text()?,
            last: self.text()?,
            balance: self.cents()?,
        })
    }

    /// Returns an address: five columns.
    pub(crate) fn address(&mut self) -> Result<PostalAddress, SqlFailure> {
        Ok(PostalAddress {
            street_1: self.text()?,
            street_2: self.text()?,
            city: self.text()?,
            state: self.text()?,
            zip: self.text()?,
        })
    }
}

/// Returns a number that fits a smaller type.
pub(crate) fn small<T: TryFrom<i64>>(number: i64) -> Result<T, SqlFailure> {
    T::try_from(number).map_err(|_| WRONG_VALUE)
}

/// Returns a text of the schema.
pub(crate) fn short<const MAX: usize>(text: &str) -> Result<ShortText<MAX>, SqlFailure> {
    ShortText::new(text).ok_or(WRONG_VALUE)
}
