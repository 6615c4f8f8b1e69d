//! Order entry on PostgreSQL: a connection for each terminal, and transactions in one of three forms of SQL.
//!
//! - `forms`: the statements of a session; `batched`, `stored`: forms that other databases write otherwise
//! - `columns`: columns of other types than other databases have
//! - `dialect`: the schema, and its rows in `COPY` (`copy`)

mod batched;
mod columns;
mod copy;
mod dialect;
mod forms;
mod stored;

use super::sql::driver::OrderServer;
use crate::database::postgres::PostgresSessions;
use forms::PostgresForms;

impl OrderServer for PostgresSessions {
    type Forms = PostgresForms;
}
