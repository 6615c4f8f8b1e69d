//! Order entry on MariaDB: a connection for each terminal, and transactions in one of three forms of SQL.
//!
//! - `forms`: the statements of a session; `batched`: those of several rows; `stored`: the calls of procedures;
//!   `json`: several values as one
//! - `dialect`: the schema, and its rows as the lines of a file or the values of an `INSERT` (`rows`)

mod batched;
mod dialect;
mod forms;
mod json;
mod rows;
mod stored;

use super::sql::driver::OrderServer;
use crate::database::mariadb::MariaDbSessions;
use forms::MariaDbForms;

impl OrderServer for MariaDbSessions {
    type Forms = MariaDbForms;
}
