//! Typed values of a result row, column by column.

use orders::{BasisPoints, Cents, Credit, PostalAddress, ShortText};
use rusqlite::types::{FromSql, FromSqlError, Type};
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

    /// Returns a text; longer ones than the schema allows are an error.
    pub(crate) fn text<const MAX: usize>(&mut self) -> Result<ShortText<MAX>> {
        self.str_as("a longer text", ShortText::new)
    }

    pub(crate) fn optional_text<const MAX: usize>(&mut self) -> Result<Option<ShortText<MAX>>> {
        match self.row.get_ref(self.next)?.data_type() {
            Type::Null => Ok(self.value::<Option<i64>>()?.and(None)),
            _ => self.text().map(Some),
        }
    }

    pub(crate) fn credit(&mut self) -> Result<Credit> {
        self.str_as("another credit", Credit::of_code)
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

    /// Returns a text as a function reads it, or an error that says what was found instead.
    pub(crate) fn str_as<T>(
        &mut self,
        found: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T> {
        let index = self.next;
        self.next += 1;
        let failed = |why| Error::FromSqlConversionFailure(index, Type::Text, why);
        let text = self.row.get_ref(index)?.as_str().map_err(|why: FromSqlError| failed(Box::new(why)))?;
        read(text).ok_or_else(|| failed(found.into()))
    }
}
