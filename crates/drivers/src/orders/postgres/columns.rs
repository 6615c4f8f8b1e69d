//! Columns of types that only PostgreSQL has.

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::database::failure::{SqlFailure, WRONG_VALUE};
use crate::orders::sql::columns::Columns;

impl<'r> Columns<'r, Row> {
    /// Returns a value of another type, such as an array.
    pub(super) fn value<T: FromSql<'r>>(&mut self) -> Result<T, SqlFailure> {
        let (row, index) = self.advance();
        row.try_get(index).map_err(|_| WRONG_VALUE)
    }
}
