//! A PostgreSQL server by its recipe with the data of two warehouses, and terminals that use it.

use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drivers::orders::postgres::{
    PostgresContext, PostgresControl, PostgresLoad, PostgresPassword, PostgresPlace, PostgresServer,
    load_postgres,
};
use model::{OrderEntryWorkload, OrderRequest, OrderSql};
use observe::private_folder::private_folder_in;
use orders::{
    ConsistencyCondition, DataScale, InputGenerator, OrderTotals, Population, RunConstants, Terminal,
    TransactionType,
};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use testbed::{Recipe, ResourceLimits, RunningSut, Server, SutRequest, WebParts, make_private_folder};
use units::{Purpose, RealClock, Rng, wall};

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

/// A running server.
pub(crate) struct Database {
    pub(crate) server: PostgresServer,
    pub(crate) sut: RunningSut,
    _base: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Database {
    /// Starts a server without data.
    pub(crate) fn empty() -> Database {
        static RUNNING: Mutex<()> = Mutex::new(());
        let alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        // In memory: the tests are not about disks.
        let base = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir_in("/dev/shm");
        let base = base.unwrap();
        let private = |name: &str| {
            let folder = base.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            make_private_folder(&private_folder_in(&folder)).unwrap_or_else(|error| panic!("{error}"))
        };
        let files = model::FileSet { content_seed: 1, files: Vec::new() };
        let request = SutRequest {
            server: Server::Recipe(Box::new(Recipe::load("postgresql").unwrap())),
            work_dir: private("work"),
            data_dir: private("data"),
            files: &files,
            root: None,
            limits: ResourceLimits::default(),
            port: None,
            search_path: Vec::new(),
            profile: Some("default".to_owned()),
            variant: None,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        let server = PostgresServer {
            place: PostgresPlace::Tcp(sut.addr()),
            user: "plimsoll".to_owned(),
            password: Some(PostgresPassword::new(sut.password())),
            database: "plimsoll".to_owned(),
        };
        Database { server, sut, _base: base, _alone: alone }
    }

    /// Starts a server with the data.
    pub(crate) fn loaded() -> Database {
        let database = Database::empty();
        database.load().unwrap_or_else(|error| panic!("{error}"));
        database
    }

    /// Loads the data by two connections.
    pub(crate) fn load(&self) -> Result<(), drivers::orders::postgres::PostgresError> {
        let load = PostgresLoad { server: &self.server, population: population(), n_connections: 2 };
        load_postgres(&load, &AtomicBool::new(false), |_| {})
    }

    pub(crate) fn context(&self, sql: OrderSql) -> Rc<PostgresContext> {
        PostgresContext::new(&workload(sql), &self.server, &[], RealClock::start()).unwrap()
    }

    /// Returns the `psql` command that executes a statement, with rows as they are.
    pub(crate) fn psql(&self, statement: &str) -> Command {
        let mut psql = Command::new("psql");
        psql.args(["-XAtq", "--host=127.0.0.1", "--username=plimsoll", "--dbname=plimsoll"])
            .arg(format!("--port={}", self.sut.addr().port()))
            .args(["-v", "ON_ERROR_STOP=1", "-c", statement])
            .env("PGPASSWORD", self.sut.password())
            .env("PGOPTIONS", "-c search_path=plimsoll_orderentry");
        psql
    }

    /// Executes a statement, and returns the rows.
    pub(crate) fn query(&self, statement: &str) -> String {
        let output = self.psql(statement).output().unwrap();
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Returns the sessions of terminals that are doing something, or wait for a lock.
    pub(crate) fn n_sessions(&self, condition: &str) -> u32 {
        let of_terminals = "application_name = 'plimsoll' AND pid <> pg_backend_pid()";
        let sql = format!("SELECT COUNT(*) FROM pg_stat_activity WHERE {of_terminals} AND {condition}");
        self.query(&sql).parse().unwrap()
    }

    /// Waits until there are so many sessions of a condition.
    pub(crate) fn wait_for_sessions(&self, n: u32, condition: &str) {
        for _ in 0..200 {
            if self.n_sessions(condition) == n {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no {n} sessions of {condition} within 10 s");
    }

    /// Returns the totals of the orders; all conditions that hold after deliveries do.
    pub(crate) async fn consistent_totals(&self, sql: OrderSql) -> OrderTotals {
        let mut control = PostgresControl::open(&self.context(sql)).await.unwrap();
        for condition in ConsistencyCondition::ALL.into_iter().filter(|one| one.holds_after_deliveries()) {
            let found = control.violations(condition, &scale()).await.unwrap();
            assert_eq!(found.n_violations, 0, "{}: {:?}", condition.sentence(), found.rows);
        }
        control.totals().await.unwrap()
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
        let mut rng = Rng::new(7, Purpose::User, user.into());
        let constants = RunConstants::draw(&scale(), population().c_load(), &mut rng);
        let terminal = Terminal::of_user(user, &scale());
        Inputs { generator: InputGenerator::new(&scale(), &constants), terminal, rng }
    }

    pub(crate) fn next(&mut self, kind: TransactionType) -> OrderRequest {
        OrderRequest { input: self.generator.input(kind, &self.terminal, &mut self.rng) }
    }
}
