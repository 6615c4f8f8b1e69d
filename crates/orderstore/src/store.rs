//! The file as it is opened: what it says of itself, and the checks between transactions.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals, Population, TransactionInput};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use units::WallTime;

use crate::checkpoints;
use crate::counts::StoreCounts;
use crate::error::StoreError;
use crate::schema::rows_fact;
use crate::session::{self, PerformedTransaction, StoreSession};

/// The application id that tells a file with order-entry data from other SQLite files: `PLOE`.
pub(crate) const APPLICATION_ID: i32 = 0x504c_4f45;

/// The version of the tables and of the rows that are made from a seed.
pub const FORMAT: i32 = 1;

/// The most memory for pages of a connection, in KiB: 256 MiB. With SQLite's default of 2 MiB, a
/// writer would read most rows of usual data from the operating system again and again.
const CACHE_KIB: i64 = 256 << 10;

/// The most statements that a connection keeps prepared: those of all transactions are some 40.
const STATEMENTS_MAX: usize = 64;

/// The longest wait for another process that is just closing the file.
const OPEN_WAIT: Duration = Duration::from_secs(5);

/// The moment at which a commit is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Before the transaction ends. A commit survives a loss of power.
    Full,
    /// At the next checkpoint. A commit survives the end of the process, and a loss of power loses the last ones.
    Normal,
    /// When the operating system writes it. A commit survives the end of the process, and a loss of power may damage the
    /// file.
    Off,
}

impl Synchronous {
    /// All of them, from the weakest.
    pub const ALL: [Synchronous; 3] = [Synchronous::Off, Synchronous::Normal, Synchronous::Full];

    /// Returns the name, as SQLite has it: `normal`.
    pub fn name(self) -> &'static str {
        match self {
            Synchronous::Full => "full",
            Synchronous::Normal => "normal",
            Synchronous::Off => "off",
        }
    }
}

/// Returns the name of the database with its version: `SQLite 3.50.2`.
pub fn database_name() -> String {
    format!("SQLite {}", rusqlite::version())
}

/// A connection to loaded data.
#[derive(Debug)]
pub struct OrderStore {
    database: Connection,
    population: Population,
    counts: Arc<StoreCounts>,
}

impl OrderStore {
    /// Opens loaded data.
    ///
    /// # Errors
    /// The file does not exist, has no order-entry data, or has rows of another version.
    pub fn open(path: &Path, synchronous: Synchronous) -> Result<OrderStore, StoreError> {
        let failed = StoreError::database("opening");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(path, flags).map_err(&failed)?;
        database.busy_timeout(OPEN_WAIT).map_err(&failed)?;
        let population = read_population(&database).map_err(|found| match found {
            Metadata::Other(found) => StoreError::NoData { path: PathBuf::from(path), found },
            Metadata::Failed(why) => failed(why),
        })?;
        database.pragma_update(None, "synchronous", synchronous.name()).map_err(&failed)?;
        // Below zero it is KiB, above it would be pages.
        database.pragma_update(None, "cache_size", -CACHE_KIB).map_err(&failed)?;
        database.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        // Sessions count their waits, so SQLite does not wait in them.
        database.busy_timeout(Duration::ZERO).map_err(&failed)?;
        Ok(OrderStore { database, population, counts: Arc::default() })
    }

    /// Has the waits of this connection and the checkpoints that its commits make be counted beside those of others.
    ///
    /// # Errors
    /// SQLite refuses.
    pub fn count_in(&mut self, counts: Arc<StoreCounts>) -> Result<(), StoreError> {
        self.counts = Arc::clone(&counts);
        checkpoints::count(&mut self.database, counts).map_err(StoreError::database("counting checkpoints"))
    }

    /// Returns the population that was loaded.
    pub fn population(&self) -> &Population {
        &self.population
    }

    /// Returns the number of rows of a table that were loaded.
    ///
    /// # Errors
    /// SQLite refuses to read, or the number is not there.
    pub fn loaded_rows(&self, table: OrderTable) -> Result<u64, StoreError> {
        let name = rows_fact(table);
        let rows = fact(&self.database, &name).map_err(StoreError::database("reading the metadata"))?;
        rows.map(i64::cast_unsigned).ok_or_else(|| StoreError::Missing { row: format!("`{name}`") })
    }

    /// Makes a session for transactions.
    ///
    /// # Errors
    /// The tables are not those of the workload.
    pub fn session(&self) -> Result<StoreSession<'_>, StoreError> {
        StoreSession::new(&self.database, &self.counts).map_err(StoreError::database("preparing statements"))
    }

    /// Performs a transaction by statements that the connection keeps prepared; what it writes bears the time `now`. For
    /// owners of a connection that cannot hold a [`StoreSession`] beside it.
    ///
    /// # Errors
    /// As of [`StoreSession::perform`].
    pub fn perform(
        &self,
        input: &TransactionInput,
        now: WallTime,
    ) -> Result<PerformedTransaction, StoreError> {
        session::perform(&self.database, &self.counts, input, now)
    }

    /// Finds the rows that violate a condition; at most `n_examples` of them are returned.
    ///
    /// # Errors
    /// SQLite refuses to read.
    pub fn violations(
        &self,
        condition: ConsistencyCondition,
        n_examples: usize,
    ) -> Result<Violations, StoreError> {
        let sql = condition.violations_sql(self.population.scale());
        violations(&self.database, &sql, n_examples).map_err(StoreError::database("checking consistency"))
    }

    /// Counts the orders.
    ///
    /// # Errors
    /// SQLite refuses to read.
    pub fn totals(&self) -> Result<OrderTotals, StoreError> {
        let totals = self.database.query_row(OrderTotals::SQL, [], |row| {
            let count = |index| row.get(index).map(i64::cast_unsigned);
            Ok(OrderTotals { orders: count(0)?, new_orders: count(1)?, next_orders: count(2)? })
        });
        totals.map_err(StoreError::database("counting orders"))
    }
}

/// The rows that violate a consistency condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violations {
    /// Their number.
    pub count: u64,
    /// The first ones.
    pub examples: Vec<ViolatingRow>,
}

impl From<Violations> for ConditionResult {
    fn from(found: Violations) -> ConditionResult {
        let rows = found.examples.iter().map(ToString::to_string).collect();
        ConditionResult { n_violations: found.count, rows }
    }
}

/// A row that violates a consistency condition: its key, and what has been compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViolatingRow {
    /// Name and value of each column.
    pub columns: Vec<(String, Option<i64>)>,
}

impl fmt::Display for ViolatingRow {
    /// Writes the row on a line: `w_id 1, w_ytd 30000001, districts_ytd 30000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.columns.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match value {
                Some(value) => write!(f, "{comma}{name} {value}")?,
                None => write!(f, "{comma}{name} null")?,
            }
        }
        Ok(())
    }
}

fn violations(database: &Connection, sql: &str, n_examples: usize) -> rusqlite::Result<Violations> {
    let mut statement = database.prepare(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([])?;
    let mut found = Violations { count: 0, examples: Vec::new() };
    while let Some(row) = rows.next()? {
        found.count += 1;
        if found.examples.len() < n_examples {
            let named = names.iter().enumerate().map(|(index, name)| Ok((name.clone(), row.get(index)?)));
            found.examples.push(ViolatingRow { columns: named.collect::<rusqlite::Result<_>>()? });
        }
    }
    Ok(found)
}

/// A reason why a file does not say what its data are.
enum Metadata {
    Other(String),
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Metadata {
    fn from(why: rusqlite::Error) -> Metadata {
        match why.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => Metadata::Other("it is not an SQLite file".into()),
            _ => Metadata::Failed(why),
        }
    }
}

/// Reads what was loaded, and makes sure that this build makes the same rows.
fn read_population(database: &Connection) -> Result<Population, Metadata> {
    let id: i32 = database.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id != APPLICATION_ID {
        return Err(Metadata::Other("another SQLite file, or one whose loading was interrupted".into()));
    }
    let read = |name: &str| {
        let value = fact(database, name)?;
        value.ok_or_else(|| Metadata::Other(format!("its metadata lack `{name}`")))
    };
    let format = read("format")?;
    if format != i64::from(FORMAT) {
        return Err(Metadata::Other(format!("format {format}, this build reads {FORMAT}")));
    }
    let size = |name| read(name).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let scale = DataScale::new(size("warehouses")?, size("divisor")?);
    let scale = scale.map_err(|why| Metadata::Other(why.to_string()))?;
    let population = Population::new(read("seed")?.cast_unsigned(), scale, WallTime(read("loaded_at")?));
    if size("c_load")? == population.c_load() {
        Ok(population)
    } else {
        Err(Metadata::Other("rows of a build that generates different ones".into()))
    }
}

/// Reads a value of the metadata.
fn fact(database: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT value FROM plimsoll_orderentry WHERE name = ?";
    database.query_row(sql, params![name], |row| row.get(0)).optional()
}
