//! Typed values of a result row, column by column.

use orders::{BasisPoints, Cents, Credit, CustomerDetails, PostalAddress, ShortText};
use rusqlite::types::{FromSql, Type, ValueRef};
use rusqlite::{Error, Result, Row};
use units::WallTime;

/// The columns of a row, from left to right.
pub(crate) struct Columns<'r> {
    row: &'r Row<'r>,
    next: usize,
}

impl<'r> Columns<'r> {
    pub(crate) fn of(row: &'r Row<'r>) -> Columns<'r> {
        Columns { row, next: 0 }
    }

    /// Returns the value of the next column.
    pub(crate) fn value<T: FromSql>(&mut self) -> Result<T> {
        self.next += 1;
        self.row.get(self.next - 1)
    }

    pub(crate) fn cents(&mut self) -> Result<Cents> {
        self.value().map(Cents)
    }

    pub(crate) fn rate(&mut self) -> Result<BasisPoints> {
        self.value().map(BasisPoints)
    }

    pub(crate) fn time(&mut self) -> Result<WallTime> {
        self.value().map(WallTime)
    }

    pub(crate) fn optional_time(&mut self) -> Result<Option<WallTime>> {
        Ok(self.value::<Option<i64>>()?.map(WallTime))
    }

    /// Returns a text of any length, without a copy.
    pub(crate) fn str(&mut self) -> Result<&'r str> {
        self.next += 1;
        self.row.get_ref(self.next - 1)?.as_str().map_err(|why| self.failed(why))
    }

    /// Returns a text; longer ones than the schema allows are an error.
    pub(crate) fn text<const MAX: usize>(&mut self) -> Result<ShortText<MAX>> {
        let text = self.str()?;
        ShortText::new(text).ok_or_else(|| self.failed("a longer text"))
    }

    pub(crate) fn optional_text<const MAX: usize>(&mut self) -> Result<Option<ShortText<MAX>>> {
        if self.row.get_ref(self.next)? == ValueRef::Null {
            self.next += 1;
            return Ok(None);
        }
        self.text().map(Some)
    }

    pub(crate) fn credit(&mut self) -> Result<Credit> {
        let code = self.str()?;
        Credit::of_code(code).ok_or_else(|| self.failed("another credit"))
    }

    /// Returns the customer of a number: four columns.
    pub(crate) fn customer(&mut self, id: u32) -> Result<CustomerDetails> {
        Ok(CustomerDetails {
            id,
            first: self.text()?,
            middle: self.text()?,
            last: self.text()?,
            balance: self.cents()?,
        })
    }

    /// Returns an address: five columns.
    pub(crate) fn address(&mut self) -> Result<PostalAddress> {
        Ok(PostalAddress {
            street_1: self.text()?,
            street_2: self.text()?,
            city: self.text()?,
            state: self.text()?,
            zip: self.text()?,
        })
    }

    /// Returns the error of the text that was read last.
    fn failed(&self, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::FromSqlConversionFailure(self.next - 1, Type::Text, why.into())
    }
}
