//! Loading: rows as we generate and load them, and the same rows from files by the product's own statement.
//!
//! Both begin without tables and end with their keys and indexes. The files are exported from data that we have loaded,
//! by the product itself.

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, ensure};
use drivers::orders::{LOADING_ORDER, row_statements, schema_statements};
use model::DatabaseProduct;
use orders::{DataScale, OrderTable, Population};
use tempfile::TempDir;
use units::{Clock, RealClock, wall};

use super::databases::{CONNECTIONS, Database, SqlClient};

/// The size of the data: 138 MB of rows.
const WAREHOUSES: u32 = 20;
const DIVISOR: u32 = 10;

/// A server or file that rows are loaded into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadTarget {
    /// A database server.
    Server(DatabaseProduct),
    /// A file of SQLite.
    Sqlite,
}

/// All of them.
pub(super) const TARGETS: [LoadTarget; 3] = [
    LoadTarget::Server(DatabaseProduct::PostgreSql),
    LoadTarget::Server(DatabaseProduct::MariaDb),
    LoadTarget::Sqlite,
];

/// The times of a round, in s.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadTimes {
    /// Generating and loading rows.
    pub(super) ours: f64,
    /// Loading them from files.
    pub(super) from_files: f64,
}

impl LoadTimes {
    /// Returns our rate as a share of that from files.
    pub(super) fn ratio(&self) -> f64 {
        self.from_files / self.ours
    }
}

impl LoadTarget {
    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        match self {
            LoadTarget::Server(DatabaseProduct::PostgreSql) => "PostgreSQL",
            LoadTarget::Server(DatabaseProduct::MariaDb) => "MariaDB",
            LoadTarget::Sqlite => "SQLite",
        }
    }

    /// Returns the name, with the statement that loads files.
    pub(super) fn title(self) -> &'static str {
        match self {
            LoadTarget::Server(DatabaseProduct::PostgreSql) => "PostgreSQL, `COPY FROM` a file",
            LoadTarget::Server(DatabaseProduct::MariaDb) => "MariaDB, `LOAD DATA INFILE`",
            LoadTarget::Sqlite => "SQLite, `.import`",
        }
    }

    /// Loads in both ways so many times, in the opposite order every other time.
    pub(super) fn measure(self, rounds: usize) -> Result<Vec<LoadTimes>> {
        match self {
            LoadTarget::Server(product) => measure(&ServerLoading::prepare(product)?, rounds),
            LoadTarget::Sqlite => measure(&SqliteLoading::prepare()?, rounds),
        }
    }
}

/// Returns the rows of the data before the first transaction, for the page: their number, and their bytes as TPC-C counts
/// them.
pub(super) fn amount() -> Result<(u64, u64)> {
    let scale = scale()?;
    Ok((OrderTable::ALL.into_iter().map(|table| scale.rows(table)).sum(), scale.raw_bytes()))
}

pub(super) fn scale() -> Result<DataScale> {
    Ok(DataScale::new(WAREHOUSES, DIVISOR)?)
}

pub(super) fn population() -> Result<Population> {
    Ok(Population::new(1, scale()?, wall()))
}

/// A place for the data, and the files with its rows.
trait Loading {
    /// Makes the place empty.
    fn clear(&self) -> Result<()>;

    /// Generates the rows and loads them.
    fn load(&self) -> Result<()>;

    /// Loads the rows from the files.
    fn load_files(&self) -> Result<()>;

    /// Returns the number of rows that are there.
    fn n_rows(&self) -> Result<u64>;
}

fn measure(loading: &impl Loading, rounds: usize) -> Result<Vec<LoadTimes>> {
    let ours = || timed(loading, || loading.load());
    let from_files = || timed(loading, || loading.load_files());
    let round = |n: usize| -> Result<LoadTimes> {
        let ((ours, n_ours), (from_files, n_from_files)) = if n % 2 == 1 {
            let from_files = from_files()?;
            (ours()?, from_files)
        } else {
            (ours()?, from_files()?)
        };
        ensure!(n_ours == n_from_files, "{n_ours} rows were generated, and {n_from_files} were in the files");
        println!("round {}: {ours:.2} s, from files {from_files:.2} s", n + 1);
        Ok(LoadTimes { ours, from_files })
    };
    (0..rounds).map(round).collect()
}

/// Returns the duration of work into an empty place in s, and the rows that are there then.
fn timed(loading: &impl Loading, work: impl FnOnce() -> Result<()>) -> Result<(f64, u64)> {
    loading.clear()?;
    let clock = RealClock::start();
    work()?;
    Ok((clock.now().as_secs_f64(), loading.n_rows()?))
}

/// Returns a query for the number of rows of all tables.
pub(super) fn count_all() -> String {
    let counts = LOADING_ORDER.map(|table| format!("(SELECT COUNT(*) FROM {})", table.schema().name));
    format!("SELECT {}", counts.join(" + "))
}

/// A server with all CPUs of the machine.
struct ServerLoading {
    database: Database,
    files: RowFiles,
}

/// The files with the rows of all tables, and the client that has the server read and write them.
struct RowFiles {
    product: DatabaseProduct,
    client: SqlClient,
    folder: PathBuf,
}

impl ServerLoading {
    /// Starts the server, and has it export the rows.
    fn prepare(product: DatabaseProduct) -> Result<ServerLoading> {
        let database = Database::start(product, Vec::new())?;
        database.load(&population()?)?;
        let (client, folder) = (database.client(), database.shared_folder()?);
        let files = RowFiles { product, client, folder };
        LOADING_ORDER.into_iter().try_for_each(|table| files.export(table))?;
        Ok(ServerLoading { database, files })
    }
}

impl RowFiles {
    fn of(&self, table: OrderTable) -> (&'static str, String) {
        let name = table.schema().name;
        (name, self.folder.join(name).display().to_string())
    }

    fn export(&self, table: OrderTable) -> Result<()> {
        let (name, file) = self.of(table);
        let export = match self.product {
            DatabaseProduct::PostgreSql => format!("COPY {name} TO '{file}'"),
            DatabaseProduct::MariaDb => format!("SELECT * FROM {name} INTO OUTFILE '{file}'"),
        };
        self.client.execute(&export).map(drop)
    }

    /// Makes a table, loads its rows, and makes its indexes, as our loading does.
    fn load(&self, table: OrderTable) -> Result<()> {
        let (name, file) = self.of(table);
        let copy = match self.product {
            DatabaseProduct::PostgreSql => format!("COPY {name} FROM '{file}' WITH (FREEZE)"),
            DatabaseProduct::MariaDb => {
                format!("LOAD DATA INFILE '{file}' INTO TABLE {name} CHARACTER SET utf8mb4")
            }
        };
        let (before, after) = row_statements(self.product, table);
        let statements = [before, vec![copy], after].concat();
        self.client.execute(&statements.join("; ")).map(drop)
    }

    /// Loads the rows of all tables by several connections, each of which takes the next table.
    fn load_all(&self) -> Result<()> {
        let tables = Mutex::new(VecDeque::from(LOADING_ORDER));
        let next = || tables.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        thread::scope(|scope| {
            let work = || -> Result<()> {
                while let Some(table) = next() {
                    self.load(table)?;
                }
                Ok(())
            };
            let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(work)).collect();
            // A panic is ours, and goes on.
            let join = |thread: thread::ScopedJoinHandle<'_, Result<()>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().try_for_each(join)
        })
    }

    /// Has the server write what it has in memory only; MariaDB does so in its own time.
    fn flush(&self) -> Result<()> {
        match self.product {
            DatabaseProduct::PostgreSql => self.client.execute_outside("CHECKPOINT").map(drop),
            DatabaseProduct::MariaDb => Ok(()),
        }
    }
}

impl Loading for ServerLoading {
    fn clear(&self) -> Result<()> {
        self.database.clear()
    }

    fn load(&self) -> Result<()> {
        self.database.load(&population()?)
    }

    fn load_files(&self) -> Result<()> {
        self.files.client.execute_outside(&schema_statements(self.files.product).join("; "))?;
        self.files.load_all()?;
        self.files.flush()
    }

    fn n_rows(&self) -> Result<u64> {
        Ok(self.files.client.execute(&count_all())?.trim().parse()?)
    }
}

/// Files of SQLite in memory: one that we load, and one that its shell loads.
struct SqliteLoading {
    folder: TempDir,
    /// The statements that make tables, and those that make indexes.
    tables: String,
    indexes: String,
}

impl SqliteLoading {
    /// Has the shell export the rows.
    fn prepare() -> Result<SqliteLoading> {
        let folder = tempfile::tempdir_in("/dev/shm")?;
        let mut loading = SqliteLoading { folder, tables: String::new(), indexes: String::new() };
        loading.load()?;
        let export = |table: OrderTable| {
            let (name, file) = (table.schema().name, loading.file(table));
            format!(".output {}\nSELECT * FROM {name};\n", file.display())
        };
        let exports: String = LOADING_ORDER.into_iter().map(export).collect();
        loading.shell(&format!(".mode tabs\n{exports}"))?;
        // A strict table refuses the empty texts that `.import` has for null.
        loading.tables = loading.statements("table")?.replace(" STRICT, ", " ").replace(" STRICT", "");
        loading.indexes = loading.statements("index")?;
        Ok(loading)
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("orders.db")
    }

    fn file(&self, table: OrderTable) -> PathBuf {
        self.folder.path().join(table.schema().name)
    }

    fn statements(&self, kind: &str) -> Result<String> {
        self.shell(&format!(
            "SELECT sql || ';' FROM sqlite_schema WHERE type = '{kind}' AND sql IS NOT NULL \
             AND tbl_name <> 'plimsoll_orderentry';\n"
        ))
    }

    /// Has the shell execute a script.
    fn shell(&self, script: &str) -> Result<String> {
        let mut shell = Command::new("sqlite3");
        shell.args(["-batch", "-bail"]).arg(self.database());
        let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("sqlite3")?;
        shell.stdin.take().context("sqlite3 has no input")?.write_all(script.as_bytes())?;
        let ended = shell.wait_with_output()?;
        ensure!(ended.status.success(), "sqlite3 ended with {}", ended.status);
        Ok(String::from_utf8(ended.stdout)?)
    }
}

impl Loading for SqliteLoading {
    fn clear(&self) -> Result<()> {
        Ok(orderstore::remove(&self.database())?)
    }

    fn load(&self) -> Result<()> {
        Ok(orderstore::create(&self.database(), &population()?, |_| ControlFlow::Continue(()))?)
    }

    fn load_files(&self) -> Result<()> {
        let import = |table: OrderTable| {
            let (name, file) = (table.schema().name, self.file(table));
            format!(".import {} {name}\n", file.display())
        };
        let imports: String = LOADING_ORDER.into_iter().map(import).collect();
        // The settings of our own loading.
        self.shell(&format!(
            "PRAGMA locking_mode = EXCLUSIVE;\nPRAGMA journal_mode = OFF;\nPRAGMA synchronous = OFF;\n\
             PRAGMA cache_size = -65536;\nBEGIN;\n{}.mode tabs\n{imports}{}COMMIT;\n",
            self.tables, self.indexes
        ))?;
        Ok(fs::File::open(self.database())?.sync_all()?)
    }

    fn n_rows(&self) -> Result<u64> {
        Ok(self.shell(&format!("{};\n", count_all()))?.trim().parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 3 s in place of 2.4 s are a rate of 0.8.
    #[test]
    fn the_ratio_is_that_of_rates() {
        let times = LoadTimes { ours: 3.0, from_files: 2.4 };
        assert!((times.ratio() - 0.8).abs() < 1e-9);
    }

    #[test]
    fn all_tables_are_loaded_and_counted() {
        assert!(OrderTable::ALL.into_iter().all(|table| LOADING_ORDER.contains(&table)));
        let count = count_all();
        assert!(count.starts_with("SELECT (SELECT COUNT(*) FROM stock) + (SELECT"), "{count}");
        let (n_rows, bytes) = amount().unwrap();
        assert!((500_000..2_000_000).contains(&n_rows) && (100e6 as u64..500e6 as u64).contains(&bytes));
    }
}
