//! Order entry on MariaDB: a connection for each terminal, and transactions in one of two forms of SQL.
//!
//! - `forms`: the statements of a session; `stored`: the calls of procedures
//! - `dialect`: the schema, and its rows as the lines of a file or the values of an `INSERT` (`rows`)

mod dialect;
mod forms;
mod rows;
mod stored;

use super::sql::driver::OrderServer;
use crate::database::mariadb::MariaDbSessions;
use forms::MariaDbForms;

impl OrderServer for MariaDbSessions {
    type Forms = MariaDbForms;
}
