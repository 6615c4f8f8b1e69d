//! Loading: the rows before the first transaction, by several connections with a table each at a time.
//!
//! Each table is made, filled, and given its indexes in one transaction, so that the server need not look at its rows
//! again to know that all can see them. The metadata are complete only when all of it is there.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::SinkExt;
use orders::{OrderTable, Population};

use super::PostgresServer;
use super::control::{PostgresError, connect, quoted};
use super::copy::{CopiedRow, CopyBuffer};
use super::failure::SqlFailure;
use super::schema::{
    COMPLETE_FACT, FORMAT, FORMAT_FACT, METADATA, POSTGRES_SCHEMA, PROCEDURES, create_indexes, create_table,
    facts, rows_fact,
};
use super::wire::{Wire, drive};

/// The interval at which the rows loaded so far are told.
const PROGRESS_STEP: Duration = Duration::from_millis(100);

/// Rows between two looks whether to go on.
const ROWS_PER_LOOK: u64 = 1024;

/// The tables in the order in which connections take them: the largest first, so that none is left alone with one at
/// the end.
const TABLES: [OrderTable; 9] = [
    OrderTable::Stock,
    OrderTable::OrderLine,
    OrderTable::Customer,
    OrderTable::Orders,
    OrderTable::History,
    OrderTable::NewOrder,
    OrderTable::Item,
    OrderTable::District,
    OrderTable::Warehouse,
];

/// The data to be loaded, and by how many connections.
#[derive(Debug, Clone, Copy)]
pub struct PostgresLoad<'a> {
    /// The server, where the schema does not exist.
    pub server: &'a PostgresServer,
    /// The rows.
    pub population: Population,
    /// The number of connections, at least one.
    pub n_connections: usize,
}

/// The tables that are left, and the rows that are in.
struct Progress<'a> {
    tables: Mutex<VecDeque<OrderTable>>,
    n_rows: AtomicU64,
    stop: &'a AtomicBool,
    /// Set where one connection has failed, so that the others end too.
    has_failed: AtomicBool,
    /// The failure that came first.
    failure: Mutex<Option<PostgresError>>,
}

impl Progress<'_> {
    fn next_table(&self) -> Option<OrderTable> {
        self.tables.lock().ok()?.pop_front()
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed)
    }

    fn fail(&self, error: PostgresError) {
        if !self.has_failed.swap(true, Ordering::Relaxed)
            && let Ok(mut failure) = self.failure.lock()
        {
            *failure = Some(error);
        }
    }
}

/// Loads a population. `progress` gets the number of rows loaded so far, ten times a second. Blocks the calling thread.
///
/// # Errors
/// The schema exists, the server refuses or is lost, or `stop` is set: then the schema is there, and incomplete.
pub fn load_postgres(
    load: &PostgresLoad<'_>,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64),
) -> Result<(), PostgresError> {
    run(create_schema(load))?;
    let state = Progress {
        tables: Mutex::new(TABLES.into()),
        n_rows: AtomicU64::new(0),
        stop,
        has_failed: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let rows = std::thread::scope(|scope| {
        let work = || {
            run(load_tables(load, &state)).unwrap_or_else(|error| {
                state.fail(error);
                Vec::new()
            })
        };
        let threads: Vec<_> = (0..load.n_connections.max(1)).map(|_| scope.spawn(work)).collect();
        while threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(PROGRESS_STEP);
            progress(state.n_rows.load(Ordering::Relaxed));
        }
        // A panic is ours, and goes on.
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect::<Vec<(OrderTable, u64)>>()
    });
    if stop.load(Ordering::Relaxed) {
        return Err(PostgresError::Stopped);
    }
    match state.failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => run(complete(load, &rows)),
    }
}

/// Runs work with a connection on this thread.
fn run<T>(work: impl Future<Output = Result<T, PostgresError>>) -> Result<T, PostgresError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(PostgresError::System)?.block_on(work)
}

/// Makes the schema, and marks it as ours.
async fn create_schema(load: &PostgresLoad<'_>) -> Result<(), PostgresError> {
    let mut wire = connect(load.server).await?;
    let (format, name) = (FORMAT, quoted(FORMAT_FACT));
    let statements = format!(
        "BEGIN; CREATE SCHEMA {POSTGRES_SCHEMA}; {METADATA}; INSERT INTO metadata VALUES ({name}, {format}); COMMIT"
    );
    wire.command(&statements).await.map_err(PostgresError::of("making the schema"))
}

/// Loads tables until none is left. Returns the number of rows of each.
async fn load_tables(
    load: &PostgresLoad<'_>,
    progress: &Progress<'_>,
) -> Result<Vec<(OrderTable, u64)>, PostgresError> {
    let mut wire = connect(load.server).await?;
    let mut loaded = Vec::new();
    while let Some(table) = progress.next_table() {
        if progress.is_over() {
            break;
        }
        let rows = load_table(&mut wire, table, &load.population, progress).await;
        loaded.push((table, rows.map_err(PostgresError::of("loading"))?));
    }
    Ok(loaded)
}

async fn load_table(
    wire: &mut Wire,
    table: OrderTable,
    population: &Population,
    progress: &Progress<'_>,
) -> Result<u64, SqlFailure> {
    wire.command("BEGIN").await?;
    wire.command(&create_table(table)).await?;
    let n_rows = copy_table(wire, table, *population, progress).await?;
    for statement in create_indexes(table) {
        wire.command(&statement).await?;
    }
    wire.command("COMMIT").await?;
    wire.command(&format!("ANALYZE {}", table.schema().name)).await?;
    Ok(n_rows)
}

/// Copies the rows of a table. Returns their number.
async fn copy_table(
    wire: &mut Wire,
    table: OrderTable,
    population: Population,
    progress: &Progress<'_>,
) -> Result<u64, SqlFailure> {
    let warehouses = 1..=population.scale().warehouses();
    let districts = warehouses.clone().flat_map(move |warehouse| population.district_keys(warehouse));
    let target = (table, progress);
    match table {
        OrderTable::Warehouse => copy(wire, target, warehouses.map(|one| population.warehouse(one))).await,
        OrderTable::Stock => copy(wire, target, warehouses.flat_map(|one| population.stock(one))).await,
        OrderTable::Item => copy(wire, target, population.items()).await,
        OrderTable::District => copy(wire, target, districts.map(|key| population.district(key))).await,
        OrderTable::Customer => copy(wire, target, districts.flat_map(|key| population.customers(key))).await,
        OrderTable::History => copy(wire, target, districts.flat_map(|key| population.history(key))).await,
        OrderTable::NewOrder => {
            copy(wire, target, districts.flat_map(|key| population.new_orders(key))).await
        }
        OrderTable::Orders => copy(wire, target, districts.flat_map(|key| population.orders(key))).await,
        OrderTable::OrderLine => {
            copy(wire, target, districts.flat_map(|key| population.order_lines(key))).await
        }
    }
}

async fn copy<R: CopiedRow>(
    wire: &mut Wire,
    (table, progress): (OrderTable, &Progress<'_>),
    rows: impl Iterator<Item = R>,
) -> Result<u64, SqlFailure> {
    let statement = format!("COPY {} FROM STDIN (FORMAT binary, FREEZE)", table.schema().name);
    let (client, connection) = wire.parts();
    let sink = drive(connection, client.copy_in::<_, Bytes>(&statement)).await?;
    let mut sink = pin!(sink);
    let mut buffer = CopyBuffer::begin();
    let mut n_rows = 0;
    for row in rows {
        row.write(&mut buffer);
        n_rows += 1;
        if let Some(chunk) = buffer.full_chunk() {
            drive(connection, sink.send(chunk)).await?;
        }
        if n_rows % ROWS_PER_LOOK == 0 {
            progress.n_rows.fetch_add(ROWS_PER_LOOK, Ordering::Relaxed);
            if progress.is_over() {
                // The copy that is not finished is undone with its transaction.
                return Err(SqlFailure::closed());
            }
        }
    }
    drive(connection, sink.send(buffer.end())).await?;
    drive(connection, sink.finish()).await?;
    progress.n_rows.fetch_add(n_rows % ROWS_PER_LOOK, Ordering::Relaxed);
    Ok(n_rows)
}

/// Makes the procedures, and completes the metadata.
async fn complete(load: &PostgresLoad<'_>, rows: &[(OrderTable, u64)]) -> Result<(), PostgresError> {
    let mut wire = connect(load.server).await?;
    let failed = PostgresError::of("completing the schema");
    let of_rows = rows.iter().map(|(table, n_rows)| (rows_fact(*table), n_rows.cast_signed()));
    let of_population = facts(&load.population).map(|(name, value)| (name.to_owned(), value));
    let complete = (COMPLETE_FACT.to_owned(), 1);
    let values: Vec<String> = (of_population.into_iter().chain(of_rows).chain([complete]))
        .map(|(name, value)| format!("({}, {value})", quoted(&name)))
        .collect();
    wire.command("BEGIN").await.map_err(&failed)?;
    wire.command(PROCEDURES).await.map_err(&failed)?;
    let insert = format!("INSERT INTO metadata VALUES {}", values.join(", "));
    wire.command(&insert).await.map_err(&failed)?;
    wire.command("COMMIT").await.map_err(&failed)?;
    // Changed pages that are only in memory are written now, and not while the server is measured.
    match wire.command("CHECKPOINT").await {
        // It is for the privileged; then the server does it in its own time.
        Ok(()) | Err(SqlFailure::Refused(_)) => Ok(()),
        Err(failure) => Err(failed(failure)),
    }
}
