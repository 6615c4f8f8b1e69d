//! The cases that measure CPU time and memory, and the servers that they share.

use anyhow::{Context, Result};
use model::DatabaseProduct;
use orders::{DataScale, Population};
use units::wall;

use super::databases::Database;
use super::loads::{BUSY, IDLE, OWN, USERS};
use crate::bench::SERVER_CPU;
use crate::bench::harness::Case;
use crate::bench::site::{FEW, MANY};

use DatabaseProduct::{MariaDb, PostgreSql};

/// Names of the cases: CPU time of the load, that beside other generators, its memory.
const CLIENT: &str = "client";
pub(super) const PEERS: &str = "peers";
const MEMORY: &str = "memory";

/// Users where memory is measured on a database: as many as it has connections for.
pub(super) const DATABASE_USERS: u32 = 1_000;

/// The steady phase of a turn that measures memory, and when memory is read after its start, in s: most of that is after
/// the sessions have been opened.
pub(super) const MEMORY_SECONDS: u32 = 16;

/// A load on a server.
#[derive(Debug)]
pub(in crate::bench) struct OrderLoad {
    /// The database; `None`: the stub of PostgreSQL's protocol.
    pub(super) product: Option<DatabaseProduct>,
    /// The benchmark with its overrides, separated by spaces.
    pub(super) arguments: &'static str,
    pub(super) users: u32,
    /// Length of the steady phase in s; `None`: that of a turn.
    pub(super) seconds: Option<u32>,
    /// The product's own load generator, which can make the same transactions.
    pub(super) peer: Option<&'static str>,
}

/// Titles of the cases of CPU time.
pub(super) const CLIENT_POSTGRES: &str = "order entry, PostgreSQL";
pub(super) const CLIENT_MARIADB: &str = "order entry, MariaDB";
pub(super) const OWN_POSTGRES: &str = "own statements, PostgreSQL";
pub(super) const OWN_MARIADB: &str = "own statements, MariaDB";

/// All cases.
pub(super) const CASES: [Case<OrderLoad>; 10] = [
    Case::new(&[CLIENT], CLIENT_POSTGRES, busy(PostgreSql, BUSY, None)),
    Case::new(&[CLIENT, PEERS], OWN_POSTGRES, busy(PostgreSql, OWN, Some("pgbench"))),
    Case::new(&[CLIENT], CLIENT_MARIADB, busy(MariaDb, BUSY, None)),
    Case::new(&[CLIENT, PEERS], OWN_MARIADB, busy(MariaDb, OWN, Some("sysbench"))),
    Case::new(&[MEMORY], "stub, 100 users", idle(None, FEW)),
    Case::new(&[MEMORY], "stub, 10,000 users", idle(None, MANY)),
    Case::new(&[MEMORY], "PostgreSQL, 100 users", idle(Some(PostgreSql), FEW)),
    Case::new(&[MEMORY], "PostgreSQL, 1,000 users", idle(Some(PostgreSql), DATABASE_USERS)),
    Case::new(&[MEMORY], "MariaDB, 100 users", idle(Some(MariaDb), FEW)),
    Case::new(&[MEMORY], "MariaDB, 1,000 users", idle(Some(MariaDb), DATABASE_USERS)),
];

/// Returns the load of users without pauses.
const fn busy(product: DatabaseProduct, arguments: &'static str, peer: Option<&'static str>) -> OrderLoad {
    OrderLoad { product: Some(product), arguments, users: USERS, seconds: None, peer }
}

/// Returns the load of users who think most of the time.
const fn idle(product: Option<DatabaseProduct>, users: u32) -> OrderLoad {
    OrderLoad { product, arguments: IDLE, users, seconds: Some(MEMORY_SECONDS), peer: None }
}

/// Running servers, one of each product, which turns share. The other one is idle during a turn.
#[derive(Default)]
pub(super) struct SharedDatabases(Vec<(DatabaseProduct, Database)>);

impl SharedDatabases {
    /// Returns the server of a product, which runs on the server's CPU from now on and has some data.
    pub(super) fn get(&mut self, product: DatabaseProduct) -> Result<&Database> {
        let is_running = self.0.iter().any(|(one, _)| *one == product);
        if !is_running {
            let cpu = SERVER_CPU.parse().context("the server's CPU")?;
            let database = Database::start(product, vec![cpu])?;
            // The fixed transaction reads them; a run of order entry loads its own.
            database.load(&Population::new(1, DataScale::new(1, 100)?, wall()))?;
            self.0.push((product, database));
        }
        let found = self.0.iter().find(|(one, _)| *one == product);
        Ok(&found.context("the server has just been started")?.1)
    }
}
