//! The data as the schema describes them, and their consistency.

use std::io;
use std::time::Duration;

use languages::foreign_text;
use model::Outcome;
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTotals, Population};
use thiserror::Error;
use units::WallTime;

use super::failure::{self, SqlFailure};
use super::schema::{COMPLETE_FACT, FORMAT, FORMAT_FACT, POSTGRES_SCHEMA, facts};
use super::stream::ServerSocket;
use super::wire::Wire;
use super::{PostgresContext, PostgresServer};

/// The longest that a query may take which reads all data.
const QUERY_MAX: Duration = Duration::from_secs(600);

/// The longest that a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(20);

/// The attempt that comes first.
const CONNECTING: &str = "connecting";

/// The attempt that most errors are about.
const READING: &str = "reading the data";

/// The most violating rows that are read.
const ROWS_MAX: usize = 20;

/// A reason why the data cannot be loaded, used or checked.
#[derive(Debug, Error)]
pub enum PostgresError {
    /// The system refused a runtime.
    #[error("cannot connect: {0}")]
    System(io::Error),
    /// The server refused, or the session was lost.
    #[error("{doing}: {text}")]
    Failed {
        /// The attempt: `loading`.
        doing: &'static str,
        /// The reason.
        text: String,
    },
    /// There is no connection.
    #[error("connecting: {text}")]
    Unreachable {
        /// Refused, or unreachable.
        outcome: Outcome,
        /// The reason.
        text: String,
    },
    /// It took too long.
    #[error("{doing}: no answer within {} s", .waited.as_secs())]
    Slow {
        /// The attempt.
        doing: &'static str,
        /// The time waited.
        waited: Duration,
    },
    /// There is a schema of the name of ours which is not ours.
    #[error("there is a schema `{POSTGRES_SCHEMA}` that Plimsoll has not made; it stays as it is")]
    NotOurs,
    /// The caller has stopped the loading.
    #[error("the loading has been stopped")]
    Stopped,
}

impl PostgresError {
    /// Returns how a failure becomes the error of an attempt.
    pub(super) fn of(doing: &'static str) -> impl Fn(SqlFailure) -> PostgresError {
        move |failure| {
            let message = match &failure {
                SqlFailure::Refused(refusal) => Some(refusal.message.as_str()),
                _ => None,
            };
            PostgresError::Failed { doing, text: failure::describe(&failure.operation(), message) }
        }
    }
}

/// Returns the error of an attempt to connect.
fn unconnected(failure: SqlFailure) -> PostgresError {
    let outcome = failure.operation().outcome;
    match PostgresError::of(CONNECTING)(failure) {
        PostgresError::Failed { text, .. } if matches!(outcome, Outcome::Refused | Outcome::Unreachable) => {
            PostgresError::Unreachable { outcome, text }
        }
        other => other,
    }
}

/// Connects for work beside the terminals.
pub(super) async fn connect(server: &PostgresServer) -> Result<Wire, PostgresError> {
    let socket =
        ServerSocket::of(&server.place, &[]).map_err(|error| PostgresError::System(error.problem.into()))?;
    open(&socket, &server.config()).await
}

async fn open(socket: &ServerSocket, config: &tokio_postgres::Config) -> Result<Wire, PostgresError> {
    match tokio::time::timeout(CONNECT_MAX, Wire::open(socket, config)).await {
        Ok(opened) => opened.map_err(unconnected),
        Err(_) => Err(PostgresError::Slow { doing: CONNECTING, waited: CONNECT_MAX }),
    }
}

/// Returns a text as a literal of SQL.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The data in our schema, as it describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostgresData {
    /// There is no such schema.
    None,
    /// The rows of a population, and what transactions have made of them.
    Loaded(Population),
    /// The schema is ours, but has no data that this build can use: the reason.
    Unusable(String),
}

/// The connections that a server has for a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresConnections {
    /// Its setting `max_connections`.
    pub most: u64,
    /// Those of them that this user can have beside the others that are there.
    pub free: u64,
}

/// A session beside the terminals.
pub struct PostgresControl {
    wire: Wire,
}

impl PostgresControl {
    /// Opens a session.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn open(context: &PostgresContext) -> Result<PostgresControl, PostgresError> {
        Ok(PostgresControl { wire: open(&context.server, &context.config).await? })
    }

    /// Returns the data in our schema.
    ///
    /// # Errors
    /// There is a schema of that name which is not ours, or the server refuses to read.
    pub async fn data(&mut self) -> Result<PostgresData, PostgresError> {
        let schema = quoted(POSTGRES_SCHEMA);
        let found = self.texts(&format!("SELECT 1 FROM pg_namespace WHERE nspname = {schema}")).await?;
        if found.is_empty() {
            return Ok(PostgresData::None);
        }
        let table = quoted(&format!("{POSTGRES_SCHEMA}.metadata"));
        let found = self.texts(&format!("SELECT to_regclass({table})")).await?;
        if !found.iter().flatten().any(|(_, value)| value.is_some()) {
            return Err(PostgresError::NotOurs);
        }
        let rows = self.texts("SELECT name, value FROM metadata").await?;
        let facts: Vec<(String, i64)> = rows.iter().filter_map(|row| fact(row)).collect();
        if facts.iter().all(|(name, _)| name != FORMAT_FACT) {
            return Err(PostgresError::NotOurs);
        }
        Ok(population(&facts).map_or_else(PostgresData::Unusable, PostgresData::Loaded))
    }

    /// Removes our schema with all that is in it.
    ///
    /// # Errors
    /// The schema is not ours, or the server refuses.
    pub async fn drop_schema(&mut self) -> Result<(), PostgresError> {
        if self.data().await? == PostgresData::None {
            return Ok(());
        }
        self.texts(&format!("DROP SCHEMA {POSTGRES_SCHEMA} CASCADE")).await.map(drop)
    }

    /// Returns the connections that the server has for the user of the session, whose own counts as free.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn connections(&mut self) -> Result<PostgresConnections, PostgresError> {
        let sql = "SELECT current_setting('max_connections'), \
             (SELECT COUNT(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'), \
             CASE WHEN current_setting('is_superuser') = 'on' THEN '0' \
             ELSE current_setting('superuser_reserved_connections') END";
        let rows = self.texts(sql).await?;
        let [most, used, reserved] = [number(&rows, 0)?, number(&rows, 1)?, number(&rows, 2)?];
        Ok(PostgresConnections { most, free: most.saturating_sub(used).saturating_sub(reserved) })
    }

    /// Returns whether the user of the session may make a schema in the database.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn can_make_schema(&mut self) -> Result<bool, PostgresError> {
        let rows = self.texts("SELECT has_database_privilege(current_database(), 'CREATE')").await?;
        Ok(rows.iter().flatten().any(|(_, value)| value.as_deref() == Some("t")))
    }

    /// Returns the version of the server, with the settings that decide when a commit is durable.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn description(&mut self) -> Result<String, PostgresError> {
        let sql = "SELECT current_setting('server_version'), current_setting('fsync'), \
             current_setting('synchronous_commit'), current_setting('full_page_writes'), \
             current_setting('shared_buffers'), pg_size_pretty(pg_database_size(current_database()))";
        let rows = self.texts(sql).await?;
        let values: Vec<&str> = rows.iter().flatten().filter_map(|(_, value)| value.as_deref()).collect();
        let [version, fsync, commit, pages, buffers, size] = values[..] else {
            return Err(PostgresError::Failed { doing: READING, text: "a setting is missing".to_owned() });
        };
        Ok(format!(
            "{size} in PostgreSQL {version}, fsync {fsync}, synchronous_commit {commit}, full_page_writes {pages}, \
             shared_buffers {buffers}"
        ))
    }

    /// Finds the rows that violate a condition.
    ///
    /// # Errors
    /// The server refuses to read, or does not answer.
    pub async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, PostgresError> {
        let sql = condition.violations_sql(scale);
        let counted = self.texts(&format!("SELECT COUNT(*) FROM ({sql}) AS violations")).await?;
        let n_violations = number(&counted, 0)?;
        if n_violations == 0 {
            return Ok(ConditionResult::default());
        }
        let rows = self.texts(&format!("SELECT * FROM ({sql}) AS violations LIMIT {ROWS_MAX}")).await?;
        Ok(ConditionResult { n_violations, rows: rows.iter().map(|row| row_text(row)).collect() })
    }

    /// Counts the orders.
    ///
    /// # Errors
    /// The server refuses to read, or does not answer.
    pub async fn totals(&mut self) -> Result<OrderTotals, PostgresError> {
        let rows = self.texts(OrderTotals::SQL).await?;
        Ok(OrderTotals {
            orders: number(&rows, 0)?,
            new_orders: number(&rows, 1)?,
            next_orders: number(&rows, 2)?,
        })
    }

    async fn texts(&mut self, sql: &str) -> Result<Vec<Vec<(String, Option<String>)>>, PostgresError> {
        match tokio::time::timeout(QUERY_MAX, self.wire.texts(sql)).await {
            Ok(rows) => rows.map_err(PostgresError::of(READING)),
            Err(_) => Err(PostgresError::Slow { doing: READING, waited: QUERY_MAX }),
        }
    }
}

/// Reads a row of the metadata.
fn fact(row: &[(String, Option<String>)]) -> Option<(String, i64)> {
    let [(_, Some(name)), (_, Some(value))] = row else { return None };
    Some((name.clone(), value.parse().ok()?))
}

/// Returns the population that metadata describe, or what they have in its place.
fn population(found: &[(String, i64)]) -> Result<Population, String> {
    let fact = |name: &str| found.iter().find(|(one, _)| one == name).map(|(_, value)| *value);
    let needed = |name: &str| fact(name).ok_or_else(|| format!("metadata without `{name}`"));
    match fact(FORMAT_FACT) {
        Some(FORMAT) => {}
        Some(other) => return Err(format!("data of format {other}, and this build makes format {FORMAT}")),
        None => return Err("metadata without a format".to_owned()),
    }
    if fact(COMPLETE_FACT) != Some(1) {
        return Err("data whose loading was interrupted".to_owned());
    }
    let size = |name: &str| needed(name).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let scale = DataScale::new(size("warehouses")?, size("divisor")?).map_err(|error| error.to_string())?;
    let loaded_at = WallTime(needed("loaded_at")?);
    let population = Population::new(needed("seed")?.cast_unsigned(), scale, loaded_at);
    let is_same = facts(&population).iter().all(|(name, value)| fact(name) == Some(*value));
    if is_same { Ok(population) } else { Err("rows of a build that makes other ones".to_owned()) }
}

/// Returns a column of the only row as a number.
fn number(rows: &[Vec<(String, Option<String>)>], index: usize) -> Result<u64, PostgresError> {
    let value = rows.first().and_then(|row| row.get(index)).and_then(|(_, value)| value.as_deref());
    value.and_then(|value| value.parse().ok()).ok_or_else(|| PostgresError::Failed {
        doing: READING,
        text: format!("expected a number, found {:?}", value.map(foreign_text)),
    })
}

/// Writes a row on a line: `w_id 1, w_ytd 30000001`.
fn row_text(row: &[(String, Option<String>)]) -> String {
    let column = |(name, value): &(String, Option<String>)| match value {
        Some(value) => format!("{name} {value}"),
        None => format!("{name} null"),
    };
    row.iter().map(column).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(change: impl FnOnce(&mut Vec<(String, i64)>)) -> Result<Population, String> {
        let made = Population::new(7, DataScale::new(3, 50).unwrap(), WallTime(12));
        let mut found: Vec<(String, i64)> = facts(&made).map(|(name, value)| (name.to_owned(), value)).into();
        found.extend([(FORMAT_FACT.to_owned(), FORMAT), (COMPLETE_FACT.to_owned(), 1)]);
        change(&mut found);
        population(&found)
    }

    #[test]
    fn metadata_tell_the_population() {
        let found = metadata(|_| {}).unwrap();
        assert_eq!((found.seed(), found.scale().warehouses(), found.loaded_at()), (7, 3, WallTime(12)));
    }

    #[test]
    fn other_metadata_are_refused_with_the_reason() {
        let change = |name: &'static str, value: Option<i64>| {
            metadata(|found| {
                found.retain(|(one, _)| one != name);
                found.extend(value.map(|value| (name.to_owned(), value)));
            })
            .unwrap_err()
        };
        assert_eq!(change(FORMAT_FACT, None), "metadata without a format");
        assert_eq!(change(FORMAT_FACT, Some(9)), "data of format 9, and this build makes format 1");
        assert_eq!(change(COMPLETE_FACT, None), "data whose loading was interrupted");
        assert_eq!(change("seed", None), "metadata without `seed`");
        assert_eq!(change("c_load", Some(-1)), "rows of a build that makes other ones");
        assert!(change("divisor", Some(3)).starts_with("expected a divisor of "));
    }

    #[test]
    fn rows_are_written_with_their_columns() {
        let row = [("w_id".to_owned(), Some("1".to_owned())), ("paid".to_owned(), None)];
        assert_eq!(row_text(&row), "w_id 1, paid null");
        assert_eq!(quoted("a'b"), "'a''b'");
    }
}
