//! Columns of types that only PostgreSQL has.

use postgres_types::FromSql;

use crate::database::failure::SqlFailure;
use crate::database::postgres::row::PostgresRow;
use crate::orders::sql::columns::Columns;

impl<'r> Columns<'r, PostgresRow> {
    /// Returns a value of another type, such as an array.
    pub(super) fn value<T: FromSql<'r>>(&mut self) -> Result<T, SqlFailure> {
        let (row, index) = self.advance();
        row.value(index)
    }
}
