//! The schema and its rows as PostgreSQL has them. Times are `timestamptz`.
//!
//! Each table is made, filled, and given its indexes in one transaction, so that the server need not look at its rows
//! again to know that all can see them.

use orders::OrderTable;

use super::copy::CopyBuffer;
use crate::database::failure::SqlFailure;
use crate::database::postgres::PostgresSessions;
use crate::database::postgres::wire::Wire;
use crate::database::server::SqlServer;
use crate::orders::sql::control::SqlDialect;
use crate::orders::sql::load::LoadMethod;
use crate::orders::sql::rows::RowSink;
use crate::orders::sql::schema::{TypeNames, create_indexes, create_table};

/// The types of columns.
const TYPES: TypeNames = TypeNames { small: "integer", large: "bigint", time: "timestamptz" };

/// The statements that make the stored procedures.
const PROCEDURES: &str = include_str!("procedures.sql");

impl SqlDialect for PostgresSessions {
    const NAME: &'static str = "PostgreSQL";
    const SCHEMA: &'static str = "SELECT 1 FROM pg_namespace WHERE nspname = 'plimsoll_orderentry'";
    const METADATA: &'static str = "SELECT 1 WHERE to_regclass('plimsoll_orderentry.metadata') IS NOT NULL";
    const CREATE: &'static [&'static str] = &["CREATE SCHEMA plimsoll_orderentry"];
    const DROP: &'static [&'static str] = &["DROP SCHEMA plimsoll_orderentry CASCADE"];
    const FLUSH: &'static [&'static str] = &["CHECKPOINT"];
    const MAY_CREATE: &'static str = "SELECT 1 WHERE has_database_privilege(current_database(), 'CREATE')";
    const SETTINGS: &'static str = "SELECT pg_size_pretty(pg_database_size(current_database())), \
        current_setting('server_version'), current_setting('fsync') AS fsync, \
        current_setting('synchronous_commit') AS synchronous_commit, \
        current_setting('full_page_writes') AS full_page_writes, \
        current_setting('shared_buffers') AS shared_buffers";

    // The function behind `pg_stat_activity`: without the names of users and databases, which cost a third of the view's time
    // if sessions are many. Version 17 writes some names in another way.
    const SESSIONS: &'static str = "SELECT COUNT(*), COUNT(*) FILTER (WHERE wait_event_type = 'Lock'), \
        COUNT(*) FILTER (WHERE lower(wait_event) IN ('walinsert', 'walsync', 'walwrite')) \
        FROM pg_stat_get_activity(NULL) WHERE state = 'active' AND pid <> pg_backend_pid() \
        AND datid = (SELECT oid FROM pg_database WHERE datname = current_database())";
    const COUNTERS: &'static [(&'static str, &'static str)] = &[
        ("pg_stat_database.blks_hit", "blks_hit"),
        ("pg_stat_database.blks_read", "blks_read"),
        ("pg_stat_database.deadlocks", "deadlocks"),
        ("pg_stat_database.temp_bytes", "temp_bytes"),
        ("pg_stat_database.xact_commit", "xact_commit"),
        ("pg_stat_database.xact_rollback", "xact_rollback"),
        ("pg_stat_wal.wal_buffers_full", "wal_buffers_full"),
        ("pg_stat_wal.wal_bytes", "wal_bytes"),
        ("pg_stat_wal.wal_fpi", "wal_fpi"),
        ("pg_stat_wal.wal_records", "wal_records"),
        // Up to PostgreSQL 17.
        ("pg_stat_wal.wal_sync", "to_jsonb(pg_stat_wal) ->> 'wal_sync'"),
        ("pg_stat_wal.wal_write", "to_jsonb(pg_stat_wal) ->> 'wal_write'"),
    ];
    const COUNTERS_FROM: &'static str =
        "pg_stat_database CROSS JOIN pg_stat_wal WHERE datname = current_database()";

    fn procedures() -> Vec<&'static str> {
        vec![PROCEDURES]
    }

    fn before_rows(table: OrderTable) -> Vec<String> {
        vec!["BEGIN".to_owned(), create_table(table, &TYPES, "")]
    }

    fn after_rows(table: OrderTable) -> Vec<String> {
        let schema = table.schema();
        let key = (!schema.primary_key.is_empty()).then(|| {
            format!("ALTER TABLE {} ADD PRIMARY KEY ({})", schema.name, schema.primary_key.join(", "))
        });
        let ends = ["COMMIT".to_owned(), format!("ANALYZE {}", schema.name)];
        key.into_iter().chain(create_indexes(table)).chain(ends).collect()
    }

    async fn load_method(_: &mut Wire) -> Result<LoadMethod, SqlFailure> {
        Ok(LoadMethod::Copy)
    }

    type Sink<'c> = CopySink<'c>;

    async fn begin_rows<'c>(
        wire: &'c mut Wire,
        table: OrderTable,
        _: LoadMethod,
    ) -> Result<CopySink<'c>, SqlFailure> {
        let statement = format!("COPY {} FROM STDIN (FORMAT binary, FREEZE)", table.schema().name);
        wire.begin_copy(&statement).await?;
        Ok(CopySink { wire, buffer: CopyBuffer::new() })
    }

    async fn connect_beside(&self) -> Result<Wire, SqlFailure> {
        self.connect().await
    }
}

/// The rows of a `COPY` on their way.
pub(crate) struct CopySink<'c> {
    wire: &'c mut Wire,
    buffer: CopyBuffer,
}

impl RowSink for CopySink<'_> {
    type Writer = CopyBuffer;

    fn writer(&mut self) -> &mut CopyBuffer {
        &mut self.buffer
    }

    fn is_full(&self) -> bool {
        self.buffer.is_full()
    }

    async fn send(&mut self) -> Result<(), SqlFailure> {
        let sent = self.wire.send_copy(self.buffer.message()).await;
        self.buffer.begin_message();
        sent
    }

    async fn end(mut self) -> Result<(), SqlFailure> {
        self.wire.end_copy(self.buffer.last_messages()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_follow_the_schema() {
        assert_eq!(
            PostgresSessions::before_rows(OrderTable::NewOrder)[1],
            "CREATE TABLE new_order (no_w_id integer NOT NULL, no_d_id integer NOT NULL, no_o_id integer NOT NULL)"
        );
        let orders = &PostgresSessions::before_rows(OrderTable::Orders)[1];
        assert!(
            orders.contains("o_entry_d timestamptz NOT NULL, o_carrier_id integer, o_ol_cnt bigint NOT NULL")
        );
        assert_eq!(
            PostgresSessions::after_rows(OrderTable::Orders),
            [
                "ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id)",
                "CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)",
                "COMMIT",
                "ANALYZE orders"
            ]
        );
        assert_eq!(PostgresSessions::after_rows(OrderTable::History), ["COMMIT", "ANALYZE history"]);
    }
}
