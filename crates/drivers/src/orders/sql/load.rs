//! Loading: the rows before the first transaction, by several connections with a table each at a time. The metadata are
//! complete only when all of it is there.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use orders::{OrderTable, Population};

use super::control::{ConnectionOf, SqlDialect, connect};
use super::rows::{CopiedRow, RowSink};
use super::schema::{COMPLETE_FACT, FORMAT, FORMAT_FACT, METADATA, ORDER_SCHEMA, facts, quoted, rows_fact};
use crate::database::connection::SqlConnection;
use crate::database::error::{DatabaseError, within};
use crate::database::failure::SqlFailure;

/// A way to load rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMethod {
    /// PostgreSQL's `COPY` from the client.
    Copy,
    /// MariaDB's `LOAD DATA LOCAL`.
    LoadData,
    /// `INSERT` statements of many rows, where the server reads no files of its clients.
    Insert,
}

/// The interval at which the rows loaded so far are told.
const PROGRESS_STEP: Duration = Duration::from_millis(100);

/// The first attempt, and the longest that it may take.
const MAKING: &str = "making the schema";
const MAKE_MAX: Duration = Duration::from_secs(60);

/// Rows between two looks whether to go on.
const ROWS_PER_LOOK: u64 = 1024;

/// The tables in the order in which connections take them: the largest first, so that none is left alone with one at
/// the end.
pub const LOADING_ORDER: [OrderTable; 9] = [
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

/// The tables that are left, and the rows that are in.
struct Progress<'a> {
    tables: Mutex<VecDeque<OrderTable>>,
    method: LoadMethod,
    n_rows: AtomicU64,
    stop: &'a AtomicBool,
    /// Set where one connection has failed, so that the others end too.
    has_failed: AtomicBool,
    /// The failure that came first.
    failure: Mutex<Option<DatabaseError>>,
}

impl Progress<'_> {
    fn next_table(&self) -> Option<OrderTable> {
        self.tables.lock().ok()?.pop_front()
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_failed.load(Ordering::Relaxed)
    }

    fn fail(&self, error: DatabaseError) {
        if !self.has_failed.swap(true, Ordering::Relaxed)
            && let Ok(mut failure) = self.failure.lock()
        {
            *failure = Some(error);
        }
    }
}

/// Loads a population by so many connections into a server where our schema is not. Each of the threads has `sessions` of
/// its own; `progress` gets the number of rows loaded so far, ten times a second. Blocks the calling thread. Returns how it
/// has loaded them.
///
/// # Errors
/// The schema exists, the server refuses or is lost, or `stop` is set: then the schema is there, and incomplete.
pub(crate) fn load<D: SqlDialect>(
    sessions: impl Fn() -> Result<D, DatabaseError> + Sync,
    population: &Population,
    n_connections: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64),
) -> Result<LoadMethod, DatabaseError> {
    let server = sessions()?;
    let is_stopped = || stop.load(Ordering::Relaxed);
    // Not stopped: without its metadata nobody would know that the schema is ours.
    let method = run(|| false, async { within(MAKING, MAKE_MAX, create_schema(&server)).await? })?;
    let state = Progress {
        tables: Mutex::new(LOADING_ORDER.into()),
        method,
        n_rows: AtomicU64::new(0),
        stop,
        has_failed: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let rows = std::thread::scope(|scope| {
        let work = || {
            let of_tables = |server: D| run(|| state.is_over(), load_tables(&server, population, &state));
            let loaded = sessions().and_then(of_tables);
            loaded.unwrap_or_else(|error| {
                state.fail(error);
                Vec::new()
            })
        };
        let threads: Vec<_> = (0..n_connections.max(1)).map(|_| scope.spawn(work)).collect();
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
    if is_stopped() {
        return Err(DatabaseError::Stopped);
    }
    match state.failure.into_inner() {
        Ok(Some(error)) => Err(error),
        _ => run(is_stopped, complete(&server, population, &rows)).map(|()| method),
    }
}

/// Runs work with a connection on this thread, until it is done or all is over: a server may never answer.
fn run<T>(
    is_over: impl Fn() -> bool,
    work: impl Future<Output = Result<T, DatabaseError>>,
) -> Result<T, DatabaseError> {
    let over = async {
        while !is_over() {
            tokio::time::sleep(PROGRESS_STEP).await;
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    runtime.map_err(DatabaseError::System)?.block_on(async {
        tokio::select! {
            result = work => result,
            () = over => Err(DatabaseError::Stopped),
        }
    })
}

/// Executes statements.
async fn execute<C: SqlConnection>(
    connection: &mut C,
    statements: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<(), SqlFailure> {
    for statement in statements {
        match statement.as_ref() {
            begin @ "BEGIN" => connection.begin(begin).await?,
            "COMMIT" => connection.commit().await?,
            statement => connection.command(statement).await?,
        }
    }
    Ok(())
}

/// Makes the schema, and marks it as ours. Returns how rows can be loaded.
async fn create_schema<D: SqlDialect>(server: &D) -> Result<LoadMethod, DatabaseError> {
    let mut connection = connect(server).await?;
    let mark = format!("INSERT INTO {ORDER_SCHEMA}.metadata VALUES ({}, {FORMAT})", quoted(FORMAT_FACT));
    let made = async {
        execute(&mut connection, D::CREATE).await?;
        execute(&mut connection, [METADATA, &mark]).await?;
        D::load_method(&mut connection).await
    };
    made.await.map_err(DatabaseError::of(MAKING))
}

/// Loads tables until none is left. Returns the number of rows of each.
async fn load_tables<D: SqlDialect>(
    server: &D,
    population: &Population,
    progress: &Progress<'_>,
) -> Result<Vec<(OrderTable, u64)>, DatabaseError> {
    let mut connection = connect(server).await?;
    let mut loaded = Vec::new();
    while let Some(table) = progress.next_table() {
        if progress.is_over() {
            break;
        }
        let rows = load_table::<D>(&mut connection, table, population, progress).await;
        loaded.push((table, rows.map_err(DatabaseError::of("loading"))?));
    }
    Ok(loaded)
}

async fn load_table<D: SqlDialect>(
    connection: &mut ConnectionOf<D>,
    table: OrderTable,
    population: &Population,
    progress: &Progress<'_>,
) -> Result<u64, SqlFailure> {
    execute(connection, D::before_rows(table)).await?;
    let n_rows = copy_table::<D>(connection, table, *population, progress).await?;
    execute(connection, D::after_rows(table)).await?;
    Ok(n_rows)
}

/// Copies the rows of a table. Returns their number.
async fn copy_table<D: SqlDialect>(
    connection: &mut ConnectionOf<D>,
    table: OrderTable,
    population: Population,
    progress: &Progress<'_>,
) -> Result<u64, SqlFailure> {
    let warehouses = 1..=population.scale().warehouses();
    let districts = warehouses.clone().flat_map(move |warehouse| population.district_keys(warehouse));
    let target = (connection, table, progress);
    match table {
        OrderTable::Warehouse => copy::<D, _>(target, warehouses.map(|one| population.warehouse(one))).await,
        OrderTable::Stock => copy::<D, _>(target, warehouses.flat_map(|one| population.stock(one))).await,
        OrderTable::Item => copy::<D, _>(target, population.items()).await,
        OrderTable::District => copy::<D, _>(target, districts.map(|key| population.district(key))).await,
        OrderTable::Customer => {
            copy::<D, _>(target, districts.flat_map(|key| population.customers(key))).await
        }
        OrderTable::History => copy::<D, _>(target, districts.flat_map(|key| population.history(key))).await,
        OrderTable::NewOrder => {
            copy::<D, _>(target, districts.flat_map(|key| population.new_orders(key))).await
        }
        OrderTable::Orders => copy::<D, _>(target, districts.flat_map(|key| population.orders(key))).await,
        OrderTable::OrderLine => {
            copy::<D, _>(target, districts.flat_map(|key| population.order_lines(key))).await
        }
    }
}

async fn copy<D: SqlDialect, R: CopiedRow>(
    (connection, table, progress): (&mut ConnectionOf<D>, OrderTable, &Progress<'_>),
    rows: impl Iterator<Item = R>,
) -> Result<u64, SqlFailure> {
    let mut sink = D::begin_rows(connection, table, progress.method).await?;
    let mut n_rows = 0;
    for row in rows {
        row.write(sink.writer());
        n_rows += 1;
        if sink.is_full() {
            sink.send().await?;
        }
        if n_rows % ROWS_PER_LOOK == 0 {
            progress.n_rows.fetch_add(ROWS_PER_LOOK, Ordering::Relaxed);
            if progress.is_over() {
                // The session ends, and with it the transaction, whose rows are undone.
                return Err(SqlFailure::closed());
            }
        }
    }
    sink.end().await?;
    progress.n_rows.fetch_add(n_rows % ROWS_PER_LOOK, Ordering::Relaxed);
    Ok(n_rows)
}

/// Makes the procedures, and completes the metadata.
async fn complete<D: SqlDialect>(
    server: &D,
    population: &Population,
    rows: &[(OrderTable, u64)],
) -> Result<(), DatabaseError> {
    let mut connection = connect(server).await?;
    let failed = DatabaseError::of("completing the schema");
    let of_rows = rows.iter().map(|(table, n_rows)| (rows_fact(*table), n_rows.cast_signed()));
    let of_population = facts(population).map(|(name, value)| (name.to_owned(), value));
    let complete = (COMPLETE_FACT.to_owned(), 1);
    let values: Vec<String> = (of_population.into_iter().chain(of_rows).chain([complete]))
        .map(|(name, value)| format!("({}, {value})", quoted(&name)))
        .collect();
    execute(&mut connection, D::procedures()).await.map_err(&failed)?;
    let insert = format!("INSERT INTO {ORDER_SCHEMA}.metadata VALUES {}", values.join(", "));
    execute(&mut connection, [insert]).await.map_err(&failed)?;
    match execute(&mut connection, D::FLUSH).await {
        // It is for the privileged; then the server does it in its own time.
        Ok(()) | Err(SqlFailure::Refused(_)) => Ok(()),
        Err(failure) => Err(failed(failure)),
    }
}
