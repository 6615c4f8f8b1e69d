//! The schema and its rows as MariaDB has them: a database of its own. Times are `datetime(3)` in UTC, texts are compared
//! byte by byte.
//!
//! Rows are made here and sent as the file of a `LOAD DATA LOCAL`; where the server forbids that, by `INSERT`.

use orders::OrderTable;

use super::rows::{LINES, RowBuffer, VALUES};
use crate::database::connection::SqlConnection;
use crate::database::failure::SqlFailure;
use crate::database::mariadb::MariaDbSessions;
use crate::database::mariadb::wire::Wire;
use crate::orders::sql::control::SqlDialect;
use crate::orders::sql::load::LoadMethod;
use crate::orders::sql::rows::RowSink;
use crate::orders::sql::schema::{ORDER_SCHEMA, TypeNames, create_indexes, create_table};

/// The types of columns.
const TYPES: TypeNames = TypeNames { small: "int", large: "bigint", time: "datetime(3)" };

/// The statements that make the stored procedures, each behind the end of the one before.
const PROCEDURES: &str = include_str!("procedures.sql");

/// Names status variables, with the expressions that read them.
macro_rules! status {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, concat!("CAST(SUM(IF(VARIABLE_NAME = '", $name, "', VARIABLE_VALUE, 0)) AS UNSIGNED)"))),+]
    };
}

impl SqlDialect for MariaDbSessions {
    const NAME: &'static str = "MariaDB";
    const SCHEMA: &'static str =
        "SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'plimsoll_orderentry'";
    const METADATA: &'static str = "SELECT 1 FROM information_schema.TABLES \
        WHERE TABLE_SCHEMA = 'plimsoll_orderentry' AND TABLE_NAME = 'metadata'";
    const CREATE: &'static [&'static str] = &[
        "CREATE DATABASE plimsoll_orderentry CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "USE plimsoll_orderentry",
    ];
    const DROP: &'static [&'static str] = &["DROP DATABASE plimsoll_orderentry"];
    const FLUSH: &'static [&'static str] = &[];
    // Privileges are texts; the statement that makes the database says what is missing.
    const MAY_CREATE: &'static str = "SELECT 1";
    const SETTINGS: &'static str = "SELECT CONCAT((SELECT CAST(SUM(DATA_LENGTH + INDEX_LENGTH) / 1048576 AS SIGNED) \
        FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'plimsoll_orderentry'), ' MB'), VERSION(), \
        @@innodb_flush_log_at_trx_commit AS innodb_flush_log_at_trx_commit, @@sync_binlog AS sync_binlog, \
        @@innodb_doublewrite AS innodb_doublewrite, @@innodb_buffer_pool_size AS innodb_buffer_pool_size";

    // Other variables need not be written into the table of the result.
    const SESSIONS: &'static str = "SELECT \
        GREATEST(CAST(SUM(IF(VARIABLE_NAME = 'Threads_running', VARIABLE_VALUE, 0)) AS SIGNED) - 1, 0), \
        CAST(SUM(IF(VARIABLE_NAME = 'Innodb_row_lock_current_waits', VARIABLE_VALUE, 0)) AS SIGNED), \
        (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Commit%') \
        FROM information_schema.GLOBAL_STATUS \
        WHERE VARIABLE_NAME IN ('Threads_running', 'Innodb_row_lock_current_waits')";
    const COUNTERS: &'static [(&'static str, &'static str)] = status![
        "Com_commit",
        "Com_rollback",
        "Innodb_buffer_pool_pages_flushed",
        "Innodb_buffer_pool_read_requests",
        "Innodb_buffer_pool_reads",
        "Innodb_data_fsyncs",
        "Innodb_deadlocks",
        "Innodb_log_waits",
        "Innodb_os_log_written",
        "Innodb_row_lock_time",
        "Innodb_row_lock_waits",
    ];
    const COUNTERS_FROM: &'static str = "information_schema.GLOBAL_STATUS";

    fn procedures() -> Vec<&'static str> {
        // The last line of each is `END;`, and the statement ends before the semicolon.
        PROCEDURES.split_inclusive("\nEND;\n").filter_map(|one| one.strip_suffix(";\n")).collect()
    }

    fn before_rows(table: OrderTable) -> Vec<String> {
        let key = table.schema().primary_key;
        let key = if key.is_empty() { String::new() } else { format!(", PRIMARY KEY ({})", key.join(", ")) };
        vec![create_table(table, &TYPES, &key)]
    }

    fn after_rows(table: OrderTable) -> Vec<String> {
        let analyze = format!("ANALYZE TABLE {}", table.schema().name);
        create_indexes(table).into_iter().chain([analyze]).collect()
    }

    async fn load_method(wire: &mut Wire) -> Result<LoadMethod, SqlFailure> {
        let rows = wire.texts("SELECT @@local_infile").await?;
        let is_allowed =
            rows.first().and_then(|row| row.first()).is_some_and(|(_, value)| value.as_deref() == Some("1"));
        Ok(if is_allowed { LoadMethod::LoadData } else { LoadMethod::Insert })
    }

    type Sink<'c> = TextSink<'c>;

    async fn begin_rows<'c>(
        wire: &'c mut Wire,
        table: OrderTable,
        method: LoadMethod,
    ) -> Result<TextSink<'c>, SqlFailure> {
        let name = table.schema().name;
        let is_file = method == LoadMethod::LoadData;
        let buffer = if is_file {
            let load = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {name} CHARACTER SET utf8mb4");
            wire.begin_file(&load).await?;
            RowBuffer::new(&LINES, String::new())
        } else {
            wire.begin("START TRANSACTION").await?;
            RowBuffer::new(&VALUES, format!("INSERT INTO {name} VALUES "))
        };
        Ok(TextSink { wire, buffer, is_file })
    }

    async fn connect_beside(&self) -> Result<Wire, SqlFailure> {
        let mut wire = self.connect_to_none().await?;
        // A value that does not fit its column is an error, and a backslash escapes, whatever the server's standard is.
        wire.command("SET SESSION sql_mode = 'STRICT_ALL_TABLES'").await?;
        match wire.command(&format!("USE {ORDER_SCHEMA}")).await {
            // It is not there yet.
            Ok(()) | Err(SqlFailure::Refused(_)) => Ok(wire),
            Err(failure) => Err(failure),
        }
    }
}

/// Rows as text on their way.
pub(crate) struct TextSink<'c> {
    wire: &'c mut Wire,
    buffer: RowBuffer,
    /// Whether they are a file, and not statements.
    is_file: bool,
}

impl RowSink for TextSink<'_> {
    type Writer = RowBuffer;

    fn writer(&mut self) -> &mut RowBuffer {
        &mut self.buffer
    }

    fn is_full(&self) -> bool {
        self.buffer.is_full()
    }

    async fn send(&mut self) -> Result<(), SqlFailure> {
        let rows = self.buffer.take();
        if rows.is_empty() {
            Ok(())
        } else if self.is_file {
            self.wire.send_part(rows.as_bytes()).await
        } else {
            self.wire.command(&rows).await
        }
    }

    async fn end(mut self) -> Result<(), SqlFailure> {
        self.send().await?;
        if self.is_file { self.wire.end_file().await } else { self.wire.commit().await }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_follow_the_schema() {
        assert_eq!(
            MariaDbSessions::before_rows(OrderTable::NewOrder),
            ["CREATE TABLE new_order (no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL, \
              PRIMARY KEY (no_w_id, no_d_id, no_o_id))"]
        );
        assert_eq!(MariaDbSessions::after_rows(OrderTable::History), ["ANALYZE TABLE history"]);
    }

    #[test]
    fn procedures_are_statements_of_their_own() {
        let procedures = MariaDbSessions::procedures();
        assert_eq!(procedures.len(), 6);
        for one in procedures {
            assert!(one.contains("\nCREATE ") && one.ends_with("\nEND"), "{one}");
        }
    }
}
