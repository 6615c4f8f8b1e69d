//! The data as the schema describes them, and their consistency.

use std::time::Duration;

use languages::foreign_text;
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, DataScaleError, OrderTable, OrderTotals, Population};
use units::WallTime;

use super::driver::OrderServer;
use super::load::LoadMethod;
use super::rows::RowSink;
use super::schema::{COMPLETE_FACT, FORMAT, FORMAT_FACT, ORDER_SCHEMA, facts};
use crate::database::connection::{SqlConnection, TextRow};
use crate::database::error::{CONNECT_MAX, CONNECTING, DatabaseError, unconnected, within};
use crate::database::failure::SqlFailure;
use crate::database::room::{DatabaseConnections, connections_of};
use crate::database::server::SqlServer;

/// The longest that a query may take which reads all data.
const QUERY_MAX: Duration = Duration::from_secs(600);

/// The attempt that most errors are about.
const READING: &str = "reading the data";

/// The most violating rows that are read.
const ROWS_MAX: usize = 20;

/// The connection to a database.
pub(crate) type ConnectionOf<D> = <D as SqlServer>::Connection;

/// A database with statements that each writes in its own way.
pub(crate) trait SqlDialect: OrderServer {
    /// A query with a row where our schema is.
    const SCHEMA: &'static str;

    /// A query with a row where the table of our schema that describes the data is.
    const METADATA: &'static str;

    /// The statements that remove our schema with all that is in it.
    const DROP: &'static [&'static str];

    /// The statements that make our schema, and go to it.
    const CREATE: &'static [&'static str];

    /// A query with a row where the user may make our schema.
    const MAY_CREATE: &'static str;

    /// A query of the size of the data, and then of the server's version and of the settings that decide when a commit is
    /// durable, each with a name.
    const SETTINGS: &'static str;

    /// A query of three numbers: the sessions that execute a statement, those that wait for a lock, and those that wait for
    /// the log; without that of the query itself.
    const SESSIONS: &'static str;

    /// The counters of the server from its start on, by the names that its documentation has for it, each with the expression
    /// that reads it.
    const COUNTERS: &'static [(&'static str, &'static str)];

    /// The tables from which the expressions are read, with a single row.
    const COUNTERS_FROM: &'static str;

    /// The statements by which what the server has in memory only is written now, and not while it is measured.
    const FLUSH: &'static [&'static str];

    /// The name of the product.
    const NAME: &'static str;

    /// Returns the statements that make the stored procedures.
    fn procedures() -> Vec<&'static str>;

    /// Returns the statements before the rows of a table.
    fn before_rows(table: OrderTable) -> Vec<String>;

    /// Returns the statements behind them.
    fn after_rows(table: OrderTable) -> Vec<String>;

    /// Returns how rows can be loaded.
    async fn load_method(connection: &mut ConnectionOf<Self>) -> Result<LoadMethod, SqlFailure>;

    /// Rows on their way into a table.
    type Sink<'c>: RowSink;

    /// Begins to load rows into a table.
    async fn begin_rows<'c>(
        connection: &'c mut ConnectionOf<Self>,
        table: OrderTable,
        method: LoadMethod,
    ) -> Result<Self::Sink<'c>, SqlFailure>;

    /// Connects for work beside the terminals, for which our schema need not be there.
    async fn connect_beside(&self) -> Result<ConnectionOf<Self>, SqlFailure>;
}

/// Connects for work beside the terminals.
pub(crate) async fn connect<D: SqlDialect>(server: &D) -> Result<ConnectionOf<D>, DatabaseError> {
    within(CONNECTING, CONNECT_MAX, server.connect_beside())
        .await?
        .map_err(|failure| unconnected(failure, server.socket().certificate_problem()))
}

/// The data in our schema, as it describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseData {
    /// There is no such schema.
    None,
    /// The rows of a population, and what transactions have made of them.
    Loaded(Population),
    /// The schema is ours, but has no data that this build can use: the reason.
    Unusable(String),
}

/// A reason why the data of our schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum MetadataError {
    #[error("metadata without a format")]
    NoFormat,
    #[error("data of format {0}; this build makes format {FORMAT}")]
    Format(i64),
    #[error("data whose loading was interrupted")]
    Incomplete,
    #[error("metadata without `{0}`")]
    Missing(&'static str),
    #[error(transparent)]
    Scale(#[from] DataScaleError),
    #[error("rows of a build that generates different ones")]
    OtherRows,
}

/// The sessions of a database at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCounts {
    /// Those that execute a statement.
    pub active: u64,
    /// Those that wait for a lock.
    pub at_lock: u64,
    /// Those that wait for the log.
    pub at_log: u64,
}

/// The account that a database gives of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseAccount {
    /// The sessions.
    pub sessions: SessionCounts,
    /// Its counters since it started, by the names that its documentation has for it.
    pub counters: Vec<(&'static str, u64)>,
}

/// A session beside the terminals.
pub(crate) struct SqlControl<D: SqlDialect> {
    connection: ConnectionOf<D>,
}

impl<D: SqlDialect> SqlControl<D> {
    /// Opens a session.
    pub(crate) async fn open(server: &D) -> Result<SqlControl<D>, DatabaseError> {
        Ok(SqlControl { connection: connect(server).await? })
    }

    /// Returns the data in our schema.
    pub(crate) async fn data(&mut self) -> Result<DatabaseData, DatabaseError> {
        if self.texts(D::SCHEMA).await?.is_empty() {
            return Ok(DatabaseData::None);
        }
        if self.texts(D::METADATA).await?.is_empty() {
            return Err(DatabaseError::NotOurs(ORDER_SCHEMA));
        }
        let rows = self.texts(&format!("SELECT name, value FROM {ORDER_SCHEMA}.metadata")).await?;
        let facts: Vec<(String, i64)> = rows.iter().filter_map(|row| fact(row)).collect();
        if facts.iter().all(|(name, _)| name != FORMAT_FACT) {
            return Err(DatabaseError::NotOurs(ORDER_SCHEMA));
        }
        let unusable = |error: MetadataError| DatabaseData::Unusable(error.to_string());
        Ok(population(&facts).map_or_else(unusable, DatabaseData::Loaded))
    }

    /// Removes our schema with all that is in it.
    pub(crate) async fn drop_schema(&mut self) -> Result<(), DatabaseError> {
        if self.data().await? != DatabaseData::None {
            for statement in D::DROP {
                self.texts(statement).await?;
            }
        }
        Ok(())
    }

    /// Returns the connections that the server has for the user of the session, whose own counts as free.
    pub(crate) async fn connections(&mut self) -> Result<DatabaseConnections, DatabaseError> {
        let rows = self.texts(<ConnectionOf<D> as SqlConnection>::CONNECTIONS).await?;
        let none = || DatabaseError::Failed { doing: READING, text: "a limit is missing".to_owned() };
        connections_of(&rows).ok_or_else(none)
    }

    /// Returns whether the user of the session may make our schema.
    pub(crate) async fn can_make_schema(&mut self) -> Result<bool, DatabaseError> {
        Ok(!self.texts(D::MAY_CREATE).await?.is_empty())
    }

    /// Returns the size of the data, and the version of the server with the settings that decide when a commit is durable.
    pub(crate) async fn description(&mut self) -> Result<String, DatabaseError> {
        let rows = self.texts(D::SETTINGS).await?;
        let row = rows.first().map(Vec::as_slice).unwrap_or_default();
        let value = |column: &Option<String>| foreign_text(column.as_deref().unwrap_or("unknown"));
        let [(_, size), (_, version), settings @ ..] = row else {
            return Err(DatabaseError::Failed { doing: READING, text: "a setting is missing".to_owned() });
        };
        let setting = |(name, found): &(String, Option<String>)| format!(", {name} {}", value(found));
        let settings: String = settings.iter().map(setting).collect();
        Ok(format!("{} in {} {}{settings}", value(size), D::NAME, value(version)))
    }

    /// Counts the sessions.
    pub(crate) async fn sessions(&mut self) -> Result<SessionCounts, DatabaseError> {
        let rows = self.texts(D::SESSIONS).await?;
        let [active, at_lock, at_log] = [number(&rows, 0)?, number(&rows, 1)?, number(&rows, 2)?];
        Ok(SessionCounts { active, at_lock, at_log })
    }

    /// Returns what the server says of itself.
    pub(crate) async fn account(&mut self) -> Result<DatabaseAccount, DatabaseError> {
        let sessions = self.sessions().await?;
        let columns: Vec<&str> = D::COUNTERS.iter().map(|(_, expression)| *expression).collect();
        let rows = self.texts(&format!("SELECT {} FROM {}", columns.join(", "), D::COUNTERS_FROM)).await?;
        let count = |(index, (name, _)): (usize, &(&'static str, _))| Ok((*name, number(&rows, index)?));
        // Not every version has all of them.
        let is_null = |index: usize| {
            let column = rows.first().and_then(|row| row.get(index));
            column.is_some_and(|(_, value)| value.is_none())
        };
        let known = D::COUNTERS.iter().enumerate().filter(|(index, _)| !is_null(*index));
        let counters = known.map(count).collect::<Result<_, DatabaseError>>()?;
        Ok(DatabaseAccount { sessions, counters })
    }

    /// Finds the rows that violate a condition.
    pub(crate) async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, DatabaseError> {
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
    pub(crate) async fn totals(&mut self) -> Result<OrderTotals, DatabaseError> {
        let rows = self.texts(OrderTotals::SQL).await?;
        Ok(OrderTotals {
            orders: number(&rows, 0)?,
            new_orders: number(&rows, 1)?,
            next_orders: number(&rows, 2)?,
        })
    }

    async fn texts(&mut self, sql: &str) -> Result<Vec<TextRow>, DatabaseError> {
        within(READING, QUERY_MAX, self.connection.texts(sql)).await?.map_err(DatabaseError::of(READING))
    }
}

/// Reads a row of the metadata.
fn fact(row: &[(String, Option<String>)]) -> Option<(String, i64)> {
    let [(_, Some(name)), (_, Some(value))] = row else { return None };
    Some((name.clone(), value.parse().ok()?))
}

/// Returns the population that metadata describe, or what they have in its place.
fn population(found: &[(String, i64)]) -> Result<Population, MetadataError> {
    let fact = |name: &str| found.iter().find(|(one, _)| one == name).map(|(_, value)| *value);
    let needed = |name: &'static str| fact(name).ok_or(MetadataError::Missing(name));
    match fact(FORMAT_FACT) {
        Some(FORMAT) => {}
        Some(other) => return Err(MetadataError::Format(other)),
        None => return Err(MetadataError::NoFormat),
    }
    if fact(COMPLETE_FACT) != Some(1) {
        return Err(MetadataError::Incomplete);
    }
    let size = |name: &'static str| needed(name).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let scale = DataScale::new(size("warehouses")?, size("divisor")?)?;
    let loaded_at = WallTime(needed("loaded_at")?);
    let population = Population::new(needed("seed")?.cast_unsigned(), scale, loaded_at);
    let is_same = facts(&population).iter().all(|(name, value)| fact(name) == Some(*value));
    if is_same { Ok(population) } else { Err(MetadataError::OtherRows) }
}

/// Returns a column of the only row as a number.
fn number(rows: &[TextRow], index: usize) -> Result<u64, DatabaseError> {
    column(rows.first().map(Vec::as_slice).unwrap_or_default(), index)
}

/// Returns a column of a row as a number.
fn column(row: &[(String, Option<String>)], index: usize) -> Result<u64, DatabaseError> {
    let value = row.get(index).and_then(|(_, value)| value.as_deref());
    value.and_then(|value| value.parse().ok()).ok_or_else(|| DatabaseError::Failed {
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
        population(&found).map_err(|error| error.to_string())
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
        assert_eq!(change(FORMAT_FACT, Some(9)), "data of format 9; this build makes format 1");
        assert_eq!(change(COMPLETE_FACT, None), "data whose loading was interrupted");
        assert_eq!(change("seed", None), "metadata without `seed`");
        assert_eq!(change("c_load", Some(-1)), "rows of a build that generates different ones");
        assert!(change("divisor", Some(3)).starts_with("expected a divisor of "));
    }

    #[test]
    fn rows_are_written_with_their_columns() {
        let row = [("w_id".to_owned(), Some("1".to_owned())), ("paid".to_owned(), None)];
        assert_eq!(row_text(&row), "w_id 1, paid null");
    }
}
