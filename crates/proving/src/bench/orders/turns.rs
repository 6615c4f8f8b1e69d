//! The turns of a round that measure CPU time and memory: each a load on a server, and its costs.

use std::fmt::{self, Display};

use anyhow::{Context, Result, ensure};
use model::DatabaseProduct;
use orders::{DataScale, Population};
use serde_json::Value;
use testkit::PostgresStub;
use units::wall;

use super::databases::Database;
use super::loads::{EXCHANGES, USERS, busy_arguments, idle_arguments, own_arguments};
use super::peers::{self, PeerCosts};
use crate::bench::SERVER_CPU;
use crate::bench::generator::plimsoll_with;
use crate::bench::site::Site;

use DatabaseProduct::{MariaDb, PostgreSql};
use MemoryServer::{OfProduct, Stub};
use TurnName::{Client, Idle, Own, Peer};

/// Names of the cases that consist of such turns: CPU time of the load, that beside other generators, its memory.
pub(super) const CLIENT: &str = "client";
pub(super) const PEERS: &str = "peers";
pub(super) const MEMORY: &str = "memory";

/// Users where memory is measured: few, as many as a database has connections for, and as many as a stub has.
pub(super) const FEW: u32 = 100;
pub(super) const MANY: u32 = 1_000;
pub(super) const MOST: u32 = 10_000;

/// The steady phase of a turn that measures memory, and when memory is read after its start, in s: most of that is after the
/// sessions have been opened.
pub(super) const MEMORY_SECONDS: u32 = 16;

/// A name of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnName {
    /// Order entry by single statements.
    Client(DatabaseProduct),
    /// The fixed transaction as own statements.
    Own(DatabaseProduct),
    /// The fixed transaction by the generator of a product.
    Peer(DatabaseProduct),
    /// So many users that are mostly idle, on a database or a stub.
    Idle(MemoryServer, u32),
}

/// A server for idle users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryServer {
    /// The stub of PostgreSQL's protocol.
    Stub,
    /// A database.
    OfProduct(DatabaseProduct),
}

/// A turn of a round: one measurement of one server, with the cases that need it.
pub(super) struct Turn {
    /// Its name.
    pub(super) name: TurnName,
    /// Its title in the tables.
    pub(super) title: &'static str,
    /// The cases that need it.
    pub(super) cases: &'static [&'static str],
}

/// All turns, in the order in which a round takes them.
pub(super) const TURNS: [Turn; 12] = [
    turn(Client(PostgreSql), "order entry, PostgreSQL", &[CLIENT]),
    turn(Own(PostgreSql), "own statements, PostgreSQL", &[CLIENT, PEERS]),
    turn(Peer(PostgreSql), "pgbench", &[PEERS]),
    turn(Client(MariaDb), "order entry, MariaDB", &[CLIENT]),
    turn(Own(MariaDb), "own statements, MariaDB", &[CLIENT, PEERS]),
    turn(Peer(MariaDb), "sysbench", &[PEERS]),
    turn(Idle(Stub, FEW), "stub, 100 users", &[MEMORY]),
    turn(Idle(Stub, MOST), "stub, 10,000 users", &[MEMORY]),
    turn(Idle(OfProduct(PostgreSql), FEW), "PostgreSQL, 100 users", &[MEMORY]),
    turn(Idle(OfProduct(PostgreSql), MANY), "PostgreSQL, 1,000 users", &[MEMORY]),
    turn(Idle(OfProduct(MariaDb), FEW), "MariaDB, 100 users", &[MEMORY]),
    turn(Idle(OfProduct(MariaDb), MANY), "MariaDB, 1,000 users", &[MEMORY]),
];

const fn turn(name: TurnName, title: &'static str, cases: &'static [&'static str]) -> Turn {
    Turn { name, title, cases }
}

/// The costs of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnCosts {
    /// CPU time of the load generator per transaction, in µs.
    pub(super) transaction_us: f64,
    /// Requests to the server per transaction.
    pub(super) exchanges: f64,
    /// CPUs that the load generator has used, of one.
    pub(super) load_cpus: f64,
    /// CPUs that the server has used, of one; NaN where they were not seen.
    pub(super) server_cpus: f64,
    /// Maximum resident memory of Plimsoll until [`MEMORY_SECONDS`] after its start, in KiB; of other generators 0.
    pub(super) rss_kib: f64,
}

impl TurnCosts {
    /// Returns the CPU time of the load generator per exchange, in µs.
    pub(super) fn exchange_us(&self) -> f64 {
        self.transaction_us / self.exchanges
    }

    /// Returns the CPUs of the server for tables; a dash where they were not seen.
    pub(super) fn server_text(&self) -> String {
        if self.server_cpus.is_nan() { "–".to_owned() } else { format!("{:.2}", self.server_cpus) }
    }
}

/// Running servers, one of each product, which turns share. The other one is idle during a turn.
#[derive(Default)]
pub(super) struct Databases(Vec<(DatabaseProduct, Database)>);

impl Databases {
    /// Returns the server of a product, which runs on the server's CPU from now on and has some data.
    fn get(&mut self, product: DatabaseProduct) -> Result<&Database> {
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

impl Turn {
    /// Runs the load for this many seconds.
    pub(super) fn take(&self, site: &Site, databases: &mut Databases, seconds: u32) -> Result<TurnCosts> {
        match self.name {
            Client(product) => busy(site, databases.get(product)?, &busy_arguments(), seconds),
            Own(product) => busy(site, databases.get(product)?, &own_arguments(), seconds),
            Peer(product) => peer(site, databases.get(product)?, product, seconds),
            Idle(Stub, users) => {
                let stub = PostgresStub::start()?;
                idle(site, &format!("postgres://plimsoll@{}/plimsoll", stub.address()), &[], users)
            }
            Idle(OfProduct(product), users) => {
                let database = databases.get(product)?;
                idle(site, &database.target(), &[database.password()], users)
            }
        }
    }
}

/// Takes a turn of users without pauses.
fn busy(site: &Site, database: &Database, arguments: &[&str], seconds: u32) -> Result<TurnCosts> {
    let (users, duration) = (USERS.to_string(), format!("{seconds} s"));
    let arguments = [arguments, &["--load", &users, "--duration", &duration]].concat();
    let environment = [database.password()];
    let look_after = seconds.into();
    let (ended, result) = plimsoll_with(
        &environment,
        &site.plimsoll,
        site.folder(),
        &arguments,
        &database.target(),
        look_after,
    )?;
    costs(&result["load_points"][0], ended.rss_kib)
}

/// Takes a turn of users who think most of the time.
fn idle(site: &Site, target: &str, environment: &[(&str, &str)], users: u32) -> Result<TurnCosts> {
    let mut arguments = idle_arguments();
    let (users, duration) = (users.to_string(), format!("{MEMORY_SECONDS} s"));
    // The memory of the monitor grows with a server that has a process or thread for each session, and is no session's.
    arguments.extend(["--load", &users, "--duration", &duration, "--monitor", "off"]);
    let look_after = MEMORY_SECONDS.into();
    let (ended, result) =
        plimsoll_with(environment, &site.plimsoll, site.folder(), &arguments, target, look_after)?;
    costs(&result["load_points"][0], ended.rss_kib)
}

/// Reads the costs from the results of a load point.
fn costs(point: &Value, rss_kib: f64) -> Result<TurnCosts> {
    let number =
        |value: &Value, what: &str| value.as_f64().with_context(|| format!("no {what} in the results"));
    let generator = &point["generator"];
    let exchanges = number(&point["total"]["round_trips"]["mean"], "round trips")?;
    ensure!(0.0 < exchanges, "transactions without round trips");
    Ok(TurnCosts {
        transaction_us: 1e6 * number(&generator["cpu_per_operation_s"], "CPU time")?,
        exchanges,
        load_cpus: number(&generator["busy_ratio"], "use of the generator's CPU")?,
        server_cpus: point["sut"]["cpus"].as_f64().unwrap_or(f64::NAN),
        rss_kib,
    })
}

/// Takes a turn of the product's own load generator.
fn peer(site: &Site, database: &Database, product: DatabaseProduct, seconds: u32) -> Result<TurnCosts> {
    let (cpu_before, time_before) = database.cpu_and_time();
    let PeerCosts { cpu_s, transactions } = match product {
        PostgreSql => peers::pgbench(site, database, seconds)?,
        MariaDb => peers::sysbench(site, database, seconds)?,
    };
    let (cpu_after, time_after) = database.cpu_and_time();
    let time = time_after - time_before;
    Ok(TurnCosts {
        transaction_us: 1e6 * cpu_s / transactions as f64,
        exchanges: EXCHANGES.into(),
        load_cpus: cpu_s / time,
        server_cpus: (cpu_after - cpu_before) / time,
        rss_kib: 0.0,
    })
}

impl Display for TurnCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TurnCosts { transaction_us, exchanges, load_cpus, server_cpus: _, rss_kib } = self;
        write!(
            f,
            "{transaction_us:.1} µs in {exchanges:.1} exchanges ({:.2} µs each), load {load_cpus:.2} CPUs, server \
             {} CPUs, {rss_kib:.0} KiB",
            self.exchange_us(),
            self.server_text()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 200 µs ÷ 25 = 8 µs.
    #[test]
    fn costs_are_those_of_the_steady_phase() {
        let point = serde_json::json!({
            "generator": { "busy_ratio": 0.3, "cpu_per_operation_s": 200e-6 },
            "sut": { "cpus": 0.99 },
            "total": { "round_trips": { "mean": 25.0 } },
        });
        let found = costs(&point, 20_000.0).unwrap();
        assert!((found.exchange_us() - 8.0).abs() < 1e-9, "{found}");
        assert_eq!((found.load_cpus, found.server_cpus, found.rss_kib), (0.3, 0.99, 20_000.0));
        let without = serde_json::json!({ "generator": { "busy_ratio": 0.3, "cpu_per_operation_s": 2e-4 } });
        assert!(costs(&without, 0.0).is_err());
    }
}
