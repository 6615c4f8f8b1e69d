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
use orders::OrderTable;
use tempfile::TempDir;

use super::data::{DataTarget, Refillable, RowSource, count_all, population};
use super::databases::{CONNECTIONS, Database, SqlClient};

/// Returns a target with the files of its rows.
pub(super) fn prepare(target: DataTarget) -> Result<Box<dyn Refillable>> {
    Ok(match target {
        DataTarget::Server(product) => Box::new(ServerLoading::prepare(product)?),
        DataTarget::Sqlite => Box::new(SqliteLoading::prepare()?),
    })
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
        let client = database.client();
        let folder = database.shared_folder()?;
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
        self.client.execute_outside(&schema_statements(self.product).join("; "))?;
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
        })?;
        self.flush()
    }

    /// Has the server write what it has in memory only; MariaDB does so in its own time.
    fn flush(&self) -> Result<()> {
        match self.product {
            DatabaseProduct::PostgreSql => self.client.execute_outside("CHECKPOINT").map(drop),
            DatabaseProduct::MariaDb => Ok(()),
        }
    }
}

impl Refillable for ServerLoading {
    fn clear(&mut self, _: RowSource) -> Result<()> {
        self.database.clear()
    }

    fn fill(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => self.database.load(&population()?),
            RowSource::Kept => self.files.load_all(),
        }
    }

    fn n_rows(&self, _: RowSource) -> Result<u64> {
        self.files.client.n_rows()
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
            let name = table.schema().name;
            let file = loading.file(table);
            format!(".output {}\nSELECT * FROM {name};\n", file.display())
        };
        let exports: String = LOADING_ORDER.into_iter().map(export).collect();
        loading.shell(&format!(".mode tabs\n{exports}"))?;
        // A strict table refuses the empty texts that `.import` has for null.
        loading.tables = loading.statements("table")?.replace(" STRICT, ", " ").replace(" STRICT", "");
        loading.indexes = loading.statements("index")?;
        Ok(loading)
    }

    fn load(&self) -> Result<()> {
        Ok(orderstore::create(&self.database(), &population()?, |_| ControlFlow::Continue(()))?)
    }

    fn load_files(&self) -> Result<()> {
        let import = |table: OrderTable| {
            let name = table.schema().name;
            let file = self.file(table);
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

impl Refillable for SqliteLoading {
    fn clear(&mut self, _: RowSource) -> Result<()> {
        Ok(orderstore::remove(&self.database())?)
    }

    fn fill(&mut self, source: RowSource) -> Result<()> {
        match source {
            RowSource::Generated => self.load(),
            RowSource::Kept => self.load_files(),
        }
    }

    fn n_rows(&self, _: RowSource) -> Result<u64> {
        Ok(self.shell(&format!("{};\n", count_all()))?.trim().parse()?)
    }
}
