//! Database servers by their recipes, with their data in memory, and their products' own clients.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseLoad, ORDER_SCHEMA, contents_of, load_database};
use model::DatabaseProduct;
use observe::private_folder::private_folder_in;
use orders::Population;
use tempfile::TempDir;
use testbed::{
    DataContents, Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, make_private_folder,
};
use units::{Clock, RealClock};

use super::data::count_all;
use crate::shell::output;

/// The programs of PostgreSQL, by their paths: in `/usr/bin` is a script that looks for them first.
pub(super) const POSTGRES_SERVER: &str = "/usr/lib/postgresql/15/bin/postgres";
pub(super) const PSQL: &str = "/usr/lib/postgresql/15/bin/psql";
pub(super) const PGBENCH: &str = "/usr/lib/postgresql/15/bin/pgbench";

/// User and database of the recipes.
pub(super) const USER: &str = "plimsoll";

/// Connections by which rows are loaded: as many as a run has on two CPUs.
pub(super) const CONNECTIONS: usize = 2;

/// The longest that a server takes to answer.
const READY_MAX: Duration = Duration::from_secs(60);

/// A running server, which ends when it is dropped.
pub(super) struct Database {
    product: DatabaseProduct,
    sut: RunningSut,
    folder: TempDir,
    started: RealClock,
}

impl Database {
    /// Starts a server without data of ours, on these CPUs; on all of them if none is named.
    pub(super) fn start(product: DatabaseProduct, cpus: Vec<u32>) -> Result<Database> {
        Database::start_in(Path::new("/dev/shm"), product, cpus, None)
    }

    /// Starts a server in a folder on a disk, loads rows into it, and makes the golden copy of its data, as a run does.
    pub(super) fn start_with_golden(product: DatabaseProduct, population: &Population) -> Result<Database> {
        let contents = DataContents {
            identity: contents_of(population),
            bytes: Some(population.scale().loaded_bytes()),
        };
        let mut database = Database::start_in(Path::new("/var/tmp"), product, Vec::new(), Some(&contents))?;
        database.load(population)?;
        database.sut.keep_contents()?;
        Ok(database)
    }

    fn start_in(
        parent: &Path,
        product: DatabaseProduct,
        cpus: Vec<u32>,
        contents: Option<&DataContents>,
    ) -> Result<Database> {
        // The server's own account has to reach its data, and the files that it reads.
        let open = Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().permissions(open).tempdir_in(parent)?;
        let private = |name: &str| -> Result<PathBuf> {
            let path = folder.path().join(name);
            fs::create_dir(&path)?;
            Ok(make_private_folder(&private_folder_in(&path))?)
        };
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(Recipe::load(recipe_of(product))?)),
            work_dir: private("work")?,
            data_dir: private("data")?,
            limits: ResourceLimits { cpus, ..ResourceLimits::default() },
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start_with(request, contents)?;
        sut.wait_ready(READY_MAX)?;
        Ok(Database { product, sut, folder, started: RealClock::start() })
    }

    /// Returns the address for `--target`.
    pub(super) fn target(&self) -> String {
        let address = self.sut.addr();
        match self.product {
            DatabaseProduct::PostgreSql => format!("postgres://{USER}@{address}/{USER}"),
            DatabaseProduct::MariaDb => format!("mysql://{USER}@{address}"),
        }
    }

    /// Returns the product.
    pub(super) fn product(&self) -> DatabaseProduct {
        self.product
    }

    /// Returns the port on the loopback interface.
    pub(super) fn port(&self) -> u16 {
        self.sut.addr().port()
    }

    /// Returns the variable of the environment from which clients take the password, and the password.
    pub(super) fn password(&self) -> (&'static str, &str) {
        (password_variable(self.product), self.sut.password())
    }

    /// Returns the server as our driver reaches it.
    fn server(&self) -> DatabaseServer {
        let database = match self.product {
            DatabaseProduct::PostgreSql => USER,
            DatabaseProduct::MariaDb => "",
        };
        DatabaseServer {
            product: self.product,
            place: DatabasePlace::Tcp(self.sut.addr()),
            encryption: None,
            user: USER.to_owned(),
            password: Some(DatabasePassword::new(self.sut.password())),
            database: database.to_owned(),
        }
    }

    /// Loads rows into a server without our schema, by as many connections as a run has here.
    pub(super) fn load(&self, population: &Population) -> Result<()> {
        let load =
            DatabaseLoad { server: &self.server(), population: *population, n_connections: CONNECTIONS };
        load_database(&load, &AtomicBool::new(false), |_| {})?;
        Ok(())
    }

    /// Restores the data from their golden copy, as before a load point: the server is stopped meanwhile.
    pub(super) fn restore(&mut self) -> Result<()> {
        self.sut.reset()?;
        Ok(())
    }

    /// Drops our schema, and has PostgreSQL write what it has in memory only; MariaDB does so in its own time.
    pub(super) fn clear(&self) -> Result<()> {
        let client = self.client();
        match self.product {
            DatabaseProduct::PostgreSql => {
                client.execute_outside(&format!("DROP SCHEMA IF EXISTS {ORDER_SCHEMA} CASCADE"))?;
                client.execute_outside("CHECKPOINT")?;
            }
            DatabaseProduct::MariaDb => {
                client.execute_outside(&format!("DROP DATABASE IF EXISTS {ORDER_SCHEMA}"))?;
            }
        }
        Ok(())
    }

    /// Returns a folder that everybody may write to: the server's own account does.
    pub(super) fn shared_folder(&self) -> Result<PathBuf> {
        let path = self.folder.path().join("files");
        if !path.exists() {
            fs::create_dir(&path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o777))?;
        }
        Ok(path)
    }

    /// Returns the product's own client.
    pub(super) fn client(&self) -> SqlClient {
        let product = self.product;
        let port = self.port();
        let password = self.sut.password().to_owned();
        SqlClient { product, port, password }
    }

    /// Returns the CPU time of the server so far and the time since it was ready, both in s.
    pub(super) fn cpu_and_time(&self) -> (f64, f64) {
        let cpu_s = self.sut.usage().map_or(f64::NAN, |usage| usage.cpu.as_secs_f64());
        (cpu_s, self.started.now().as_secs_f64())
    }
}

/// A product's own client for statements, which threads can share.
pub(super) struct SqlClient {
    product: DatabaseProduct,
    port: u16,
    password: String,
}

impl SqlClient {
    /// Executes statements with the names of our schema, and returns what the client prints.
    pub(super) fn execute(&self, sql: &str) -> Result<String> {
        self.execute_in(Some(ORDER_SCHEMA), sql)
    }

    /// Executes statements where our schema need not be there.
    pub(super) fn execute_outside(&self, sql: &str) -> Result<String> {
        self.execute_in(None, sql)
    }

    /// Returns the number of rows of all tables.
    pub(super) fn n_rows(&self) -> Result<u64> {
        Ok(self.execute(&count_all())?.trim().parse()?)
    }

    fn execute_in(&self, schema: Option<&str>, sql: &str) -> Result<String> {
        let port = format!("--port={}", self.port);
        let user = USER;
        let mut client = match self.product {
            DatabaseProduct::PostgreSql => {
                let mut psql = Command::new(PSQL);
                let schema = schema.unwrap_or("public");
                psql.args(["-XAtq", "--host=127.0.0.1", &port, &format!("--username={user}")])
                    .args([&format!("--dbname={user}"), "-v", "ON_ERROR_STOP=1", "-c", sql])
                    .env("PGOPTIONS", format!("-c search_path={schema}"));
                psql
            }
            DatabaseProduct::MariaDb => {
                let mut mariadb = Command::new("mariadb");
                mariadb
                    .args(["--no-defaults", "--protocol=tcp", "--host=127.0.0.1", &port])
                    .args(["-BN", &format!("--user={user}"), "-e", sql])
                    .args(schema);
                mariadb
            }
        };
        output(client.env(password_variable(self.product), &self.password))
    }
}

fn password_variable(product: DatabaseProduct) -> &'static str {
    match product {
        DatabaseProduct::PostgreSql => "PGPASSWORD",
        DatabaseProduct::MariaDb => "MYSQL_PWD",
    }
}

fn recipe_of(product: DatabaseProduct) -> &'static str {
    match product {
        DatabaseProduct::PostgreSql => "postgresql",
        DatabaseProduct::MariaDb => "mariadb",
    }
}
