//! A database server by its recipe with the data of two warehouses, and terminals that use it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use drivers::Trust;
use drivers::database::{DatabaseEncryption, DatabaseError, DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseControl, DatabaseLoad, LoadMethod, load_database};
use model::{DatabaseProduct, OrderEntryWorkload, OrderRequest, OrderSql};
use observe::private_folder::private_folder_in;
use orders::{
    ConsistencyCondition, DataScale, InputGenerator, OrderTable, OrderTotals, Population, RunConstants,
    Terminal, TransactionType,
};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, make_private_folder};
use units::{RealClock, Rng, StreamPurpose, wall};

/// Time limit for the server to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

pub(crate) fn scale() -> DataScale {
    DataScale::new(2, 100).unwrap()
}

pub(crate) fn workload(sql: OrderSql) -> OrderEntryWorkload {
    OrderEntryWorkload { scale: scale(), sql, ..OrderEntryWorkload::default() }
}

pub(crate) fn population() -> Population {
    Population::new(workload(OrderSql::Client).population_seed, scale(), wall())
}

/// Returns the totals of the data as they were loaded.
pub(crate) fn fresh() -> OrderTotals {
    let orders = scale().rows(OrderTable::Orders);
    OrderTotals {
        orders,
        new_orders: scale().rows(OrderTable::NewOrder),
        next_orders: orders + scale().rows(OrderTable::District),
    }
}

/// All products.
pub(crate) const PRODUCTS: [DatabaseProduct; 2] = [DatabaseProduct::PostgreSql, DatabaseProduct::MariaDb];

/// The sessions of terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// All of them.
    All,
    /// Those that wait for a lock.
    Waiting,
}

/// The sessions that are ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndedSessions {
    OfTerminals,
    Asleep,
}

/// A place among the servers that run at a time.
type Permit = MutexGuard<'static, ()>;

/// Waits for a place: two servers run at a time, which wait for most of their time; more would need memory without end on a
/// machine with many CPUs.
fn permit() -> Permit {
    static PLACES: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
    let free = PLACES.iter().find_map(|place| match place.try_lock() {
        Ok(permit) => Some(permit),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    });
    free.unwrap_or_else(|| PLACES[0].lock().unwrap_or_else(PoisonError::into_inner))
}

/// A running server.
pub(crate) struct Database {
    pub(crate) product: DatabaseProduct,
    pub(crate) server: DatabaseServer,
    pub(crate) sut: RunningSut,
    _bases: [TempDir; 2],
    _permit: Permit,
}

impl Database {
    /// Starts a server without data.
    pub(crate) fn empty(product: DatabaseProduct) -> Database {
        Database::start(product, None)
    }

    /// Starts a server without data in a variant of its recipe.
    pub(crate) fn start(product: DatabaseProduct, variant: Option<&str>) -> Database {
        // In memory: most tests are not about disks.
        Database::start_within(Path::new("/dev/shm"), ResourceLimits::default(), product, variant)
    }

    /// Starts a server without data whose data directory is in a new folder of another one, within limits. Its other files
    /// are in memory.
    pub(crate) fn start_within(
        parent: &Path,
        limits: ResourceLimits,
        product: DatabaseProduct,
        variant: Option<&str>,
    ) -> Database {
        let permit = permit();
        let bases = [Path::new("/dev/shm"), parent].map(passable_folder);
        let [work_dir, data_dir] = [&bases[0], &bases[1]].map(|base| {
            make_private_folder(&private_folder_in(base.path())).unwrap_or_else(|error| panic!("{error}"))
        });
        let (recipe, database) = match product {
            DatabaseProduct::PostgreSql => ("postgresql", "plimsoll"),
            DatabaseProduct::MariaDb => ("mariadb", ""),
        };
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(Recipe::load(recipe).unwrap())),
            work_dir,
            data_dir,
            limits,
            port: None,
            search_path: Vec::new(),
            profile: Some("default".to_owned()),
            variant: variant.map(str::to_owned),
            users: 1,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        let server = DatabaseServer {
            product,
            place: DatabasePlace::Tcp(sut.addr()),
            encryption: sut.certificate_der().map(|der| tls(Trust::Certificate(der.to_owned()))),
            user: "plimsoll".to_owned(),
            password: Some(DatabasePassword::new(sut.password())),
            database: database.to_owned(),
        };
        Database { product, server, sut, _bases: bases, _permit: permit }
    }

    /// Starts a server with the data.
    pub(crate) fn loaded(product: DatabaseProduct) -> Database {
        let database = Database::empty(product);
        database.load().unwrap_or_else(|error| panic!("{error}"));
        database
    }

    /// Loads the data by two connections.
    pub(crate) fn load(&self) -> Result<LoadMethod, DatabaseError> {
        self.load_population(population())
    }

    /// Loads a population by two connections.
    pub(crate) fn load_population(&self, population: Population) -> Result<LoadMethod, DatabaseError> {
        let load = DatabaseLoad { server: &self.server, population, n_connections: 2 };
        load_database(&load, &AtomicBool::new(false), |_| {})
    }

    pub(crate) fn context(&self, sql: OrderSql) -> Rc<DatabaseContext> {
        DatabaseContext::new(&workload(sql), &self.server, &[], RealClock::start()).unwrap()
    }

    /// Returns the command of the product's own client that executes a statement, with tabs between columns. Names without a
    /// schema are those of our own, or of another one.
    fn client(&self, is_ours: bool, statement: &str) -> Command {
        let port = format!("--port={}", self.sut.addr().port());
        match self.product {
            DatabaseProduct::PostgreSql => {
                let mut client = Command::new("psql");
                client
                    .args(["-XAtq", "--field-separator=\t", "--host=127.0.0.1", "--username=plimsoll"])
                    .args([&port, "--dbname=plimsoll", "-v", "ON_ERROR_STOP=1", "-c", statement])
                    .env("PGPASSWORD", self.sut.password());
                if is_ours {
                    client.env("PGOPTIONS", "-c search_path=plimsoll_orderentry");
                }
                client
            }
            DatabaseProduct::MariaDb => {
                let mut client = Command::new("mariadb");
                let database = if is_ours { "plimsoll_orderentry" } else { "plimsoll" };
                client
                    .args([
                        "--no-defaults",
                        "--protocol=tcp",
                        "--host=127.0.0.1",
                        "--user=plimsoll",
                        "-BN",
                        "--raw",
                    ])
                    .args([&port, database, "-e", statement])
                    .env("MYSQL_PWD", self.sut.password());
                client
            }
        }
    }

    /// Executes a statement with the tables of our schema, and returns the rows.
    pub(crate) fn query(&self, statement: &str) -> String {
        printed(self.client(true, statement))
    }

    /// Executes a statement that needs no schema of ours, and returns the rows.
    pub(crate) fn query_outside(&self, statement: &str) -> String {
        printed(self.client(false, statement))
    }

    /// Executes a statement that needs no schema of ours while the terminals of this thread go on, and returns the rows.
    pub(crate) async fn query_meanwhile(&self, statement: &str) -> String {
        let client = self.client(false, statement);
        tokio::task::spawn_blocking(|| printed(client)).await.unwrap()
    }

    /// Executes a statement of MariaDB's as `root`, whose account the recipe locks, over the server's socket.
    pub(crate) fn execute_as_root(&self, statement: &str) {
        self.query_outside("ALTER USER 'root'@'localhost' ACCOUNT UNLOCK");
        printed(client_of_root(&self.query_outside(SOCKET), statement));
    }

    /// The same, while the terminals of this thread go on.
    pub(crate) async fn execute_as_root_meanwhile(&self, statement: &str) {
        let socket = self.client(false, SOCKET);
        let statement = statement.to_owned();
        let execute = move || printed(client_of_root(&printed(socket), &statement));
        tokio::task::spawn_blocking(execute).await.unwrap();
    }

    /// Begins a statement that needs no schema of ours, and goes on.
    pub(crate) fn spawn_outside(&self, statement: &str) -> Child {
        self.client(false, statement).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Returns the number of sessions of terminals.
    pub(crate) fn n_sessions(&self, sessions: Sessions) -> u32 {
        let of_terminals = match self.product {
            DatabaseProduct::PostgreSql => {
                "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'plimsoll'"
            }
            DatabaseProduct::MariaDb => {
                "SELECT COUNT(*) FROM information_schema.PROCESSLIST LEFT JOIN information_schema.INNODB_TRX \
                 ON TRX_MYSQL_THREAD_ID = ID WHERE DB = 'plimsoll_orderentry'"
            }
        };
        let condition = match (sessions, self.product) {
            (Sessions::All, _) => "",
            (Sessions::Waiting, DatabaseProduct::PostgreSql) => " AND wait_event_type = 'Lock'",
            (Sessions::Waiting, DatabaseProduct::MariaDb) => " AND TRX_STATE = 'LOCK WAIT'",
        };
        self.query_outside(&format!("{of_terminals}{condition}")).parse().unwrap()
    }

    /// Waits until there are so many sessions of terminals.
    pub(crate) fn wait_for_sessions(&self, n: u32, sessions: Sessions) {
        for _ in 0..200 {
            if self.n_sessions(sessions) == n {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("not {n} sessions ({sessions:?}) within 10 s, but {}", self.n_sessions(sessions));
    }

    /// Ends sessions that a condition describes, from the server's side.
    pub(crate) fn end_sessions(&self, which: EndedSessions) {
        match (self.product, which) {
            (DatabaseProduct::PostgreSql, EndedSessions::OfTerminals) => {
                self.query_outside(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plimsoll'",
                );
            }
            (DatabaseProduct::PostgreSql, EndedSessions::Asleep) => {
                self.query_outside(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'",
                );
            }
            (DatabaseProduct::MariaDb, which) => {
                let condition = match which {
                    EndedSessions::OfTerminals => "DB = 'plimsoll_orderentry'",
                    EndedSessions::Asleep => "STATE = 'User sleep'",
                };
                let sessions = self.query_outside(&format!(
                    "SELECT ID FROM information_schema.PROCESSLIST WHERE {condition}"
                ));
                for session in sessions.lines() {
                    self.query_outside(&format!("KILL {session}"));
                }
            }
        }
    }

    /// Returns whether a session sleeps within a statement.
    pub(crate) fn is_asleep(&self) -> bool {
        let sql = match self.product {
            DatabaseProduct::PostgreSql => {
                "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            }
            DatabaseProduct::MariaDb => {
                "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User sleep'"
            }
        };
        self.query_outside(sql) == "1"
    }

    /// Returns the totals of the orders; all conditions that hold after deliveries do.
    pub(crate) async fn consistent_totals(&self, sql: OrderSql) -> OrderTotals {
        let mut control = DatabaseControl::open(&self.context(sql)).await.unwrap();
        for condition in ConsistencyCondition::ALL.into_iter().filter(|one| one.holds_after_deliveries()) {
            let found = control.violations(condition, &scale()).await.unwrap();
            assert_eq!(found.n_violations, 0, "{}: {:?}", condition.sentence(), found.rows);
        }
        control.totals().await.unwrap()
    }
}

/// The query for the Unix socket of MariaDB's server.
const SOCKET: &str = "SELECT @@socket";

/// Returns the command of MariaDB's client that executes a statement as `root`, who needs no password there.
fn client_of_root(socket: &str, statement: &str) -> Command {
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--user=root", "-BN", "-e", statement]).arg(format!("--socket={socket}"));
    client
}

/// Makes a folder in another one which the servers' accounts may enter.
pub(crate) fn passable_folder(parent: &Path) -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in(parent).unwrap()
}

/// Returns the encryption of connections to the servers here.
pub(crate) fn tls(trust: Trust) -> DatabaseEncryption {
    DatabaseEncryption { host: "127.0.0.1".to_owned(), trust }
}

/// Returns what a command prints.
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Spoils what a peer says in one of its steps: cuts it off, or adds or changes a byte.
pub(crate) fn spoil(steps: &mut [Vec<u8>], rng: &mut Rng) {
    let step = rng.index(steps.len());
    let bytes = &mut steps[step];
    let at = rng.index(bytes.len());
    match rng.below(3) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, rng.below(256) as u8),
        _ => bytes[at] = rng.below(256) as u8,
    }
}

/// Draws inputs of a terminal.
pub(crate) struct Inputs {
    generator: InputGenerator,
    terminal: Terminal,
    rng: Rng,
}

impl Inputs {
    pub(crate) fn of(user: u32) -> Inputs {
        let mut rng = Rng::new(7, StreamPurpose::User, user.into());
        let constants = RunConstants::draw(&scale(), population().c_load(), &mut rng);
        let terminal = Terminal::of_user(user, &scale());
        Inputs { generator: InputGenerator::new(&scale(), &constants), terminal, rng }
    }

    pub(crate) fn next(&mut self, kind: TransactionType) -> OrderRequest {
        OrderRequest { input: self.generator.input(kind, &self.terminal, &mut self.rng) }
    }
}
