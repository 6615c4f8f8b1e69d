//! `bench-orders`: the CPU time and the memory of terminals of order entry on PostgreSQL and MariaDB, beside the products'
//! own load generators, the loading of rows compared with that of files, and their restoring.
//!
//! In turns, the server has CPU 0 and the load generator CPU 1; loading and restoring have both.
//!
//! - `cases`: the cases that are taken in turns
//! - `databases`: the servers
//! - `loads`: definitions and statements of the loads; `peers`: pgbench and sysbench
//! - `data`: rows in two ways: `loading`, that we generate or from files; `restoring`, from a golden copy
//! - `page`, `page_data`: the tables

mod cases;
mod data;
mod databases;
mod loading;
mod loads;
mod page;
mod page_data;
mod peers;
mod restoring;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use testkit::PostgresStub;

use self::cases::{CASES, OrderLoad, PEERS, SharedDatabases};
use self::databases::{Database, POSTGRES_SERVER, PSQL};
use self::page_data::DataComparison;
use super::figures::Column;
use super::harness::{Case, Facts, Measurement};
use super::load_tools::{PlimsollRun, number};
use super::machine::Program;
use super::options::BenchOptions;
use super::require_open_files;
use super::rounds::{Contender, MeasuredRounds};
use super::site::Site;
use crate::packages::RequiredPackage;

/// Terminals and other load generators in turns.
pub(super) struct OrderMeasurement {
    site: Site,
    databases: SharedDatabases,
    seconds: u32,
    has_peers: bool,
}

/// The costs of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct OrderCosts {
    /// CPU time of the load generator per transaction, in µs.
    transaction_us: f64,
    /// Requests to the server per transaction.
    exchanges: f64,
    /// CPUs that the load generator has used, of one.
    load_cpus: f64,
    /// CPUs that the server has used, of one; NaN where they were not seen.
    server_cpus: f64,
    /// Maximum resident memory of Plimsoll near the end of its load, in KiB; of other generators 0.
    rss_kib: f64,
}

impl OrderCosts {
    /// Returns the CPU time of the load generator per exchange, in µs.
    fn exchange_us(&self) -> f64 {
        self.transaction_us / self.exchanges
    }
}

const TRANSACTION: Column<OrderCosts> = Column::new("µs per transaction", 1, |costs| costs.transaction_us);
const EXCHANGES_EACH: Column<OrderCosts> = Column::new("exchanges", 1, |costs| costs.exchanges);
const EXCHANGE: Column<OrderCosts> = Column::new("µs per exchange", 2, OrderCosts::exchange_us);
const LOAD_CPUS: Column<OrderCosts> = Column::new("CPUs, load", 2, |costs| costs.load_cpus);
const SERVER_CPUS: Column<OrderCosts> = Column::new("CPUs, server", 2, |costs| costs.server_cpus);
const MEMORY: Column<OrderCosts> = Column::new("KiB", 0, |costs| costs.rss_kib);

/// The columns of every turn.
const COLUMNS: [Column<OrderCosts>; 6] =
    [TRANSACTION, EXCHANGES_EACH, EXCHANGE, LOAD_CPUS, SERVER_CPUS, MEMORY];

impl Measurement for OrderMeasurement {
    type Load = OrderLoad;
    type Costs = OrderCosts;

    const NAME: &'static str = "bench-orders";
    const PAGE: &'static str = "docs/bench-orders.md";
    const NEEDED: &'static [RequiredPackage] = &[
        (POSTGRES_SERVER, "postgresql-15"),
        (PSQL, "postgresql-client-15"),
        ("mariadbd", "mariadb-server"),
        ("mariadb", "mariadb-client"),
        ("sqlite3", "sqlite3"),
        ("sysbench", "sysbench"),
        ("taskset", "util-linux"),
    ];
    const PROGRAMS: &'static [Program] = &[
        ("PostgreSQL", POSTGRES_SERVER, "--version"),
        ("MariaDB", "mariadbd", "--version"),
        ("SQLite's shell", "sqlite3", "--version"),
        ("sysbench", "sysbench", "--version"),
    ];
    const ROUNDS: usize = 5;
    const SECONDS: u32 = 5;
    const CASES: &'static [Case<OrderLoad>] = &CASES;
    const OTHERS: &'static [&'static str] = &[DataComparison::LOADING.name, DataComparison::RESTORING.name];

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<OrderMeasurement> {
        require_open_files()?;
        let site = Site::empty(plimsoll)?;
        loads::write_files(&site)?;
        let databases = SharedDatabases::default();
        Ok(OrderMeasurement { site, databases, seconds: options.seconds, has_peers: options.wants(PEERS) })
    }

    fn peers(&self, load: &OrderLoad) -> Vec<&'static str> {
        load.peer.into_iter().filter(|_| self.has_peers).collect()
    }

    fn take(&mut self, load: &OrderLoad, contender: &Contender) -> Result<OrderCosts> {
        let OrderMeasurement { site, databases, seconds, .. } = self;
        let database = load.product.map(|product| databases.get(product)).transpose()?;
        let Some(program) = &contender.program else {
            return peers::take(site, database.context("no database")?, *seconds);
        };
        let stub = PostgresStub::start()?;
        let of_stub = || format!("postgres://plimsoll@{}/plimsoll", stub.address());
        let target = database.map_or_else(of_stub, Database::target);
        let environment: Vec<(&str, &str)> = database.map(Database::password).into_iter().collect();
        let seconds = load.seconds.unwrap_or(*seconds);
        let arguments = format!("{} --load {} --duration {seconds}s", load.arguments, load.users);
        let run = site.run(&arguments, &target);
        let look_after = seconds.into();
        let (ended, point) =
            PlimsollRun { program, environment: &environment, look_after, ..run }.perform()?;
        let exchanges = number(&point, "/total/round_trips/mean")?;
        ensure!(0.0 < exchanges, "transactions without round trips");
        Ok(OrderCosts {
            transaction_us: 1e6 * number(&point, "/generator/cpu_per_operation_s")?,
            exchanges,
            load_cpus: number(&point, "/generator/busy_ratio")?,
            server_cpus: number(&point, "/sut/cpus").unwrap_or(f64::NAN),
            rss_kib: ended.rss_kib,
        })
    }

    fn columns(_: &'static OrderLoad) -> &'static [Column<OrderCosts>] {
        &COLUMNS
    }

    fn compared(load: &'static OrderLoad) -> &'static [Column<OrderCosts>] {
        if load.seconds.is_none() { &[EXCHANGE] } else { &[] }
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<OrderCosts>) -> Result<String> {
        // Loading and restoring have the machine for themselves.
        self.databases = SharedDatabases::default();
        let loaded = DataComparison::LOADING.measured(facts.options)?;
        let restored = DataComparison::RESTORING.measured(facts.options)?;
        Ok(page::head(facts) + &page::tables(measured, &loaded, &restored)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::tests::selected;

    #[test]
    fn data_are_measured_without_turns() {
        for (case, n_turns) in [("client", 4), ("peers", 2), ("memory", 6), ("loading", 0), ("restoring", 0)]
        {
            assert_eq!(selected::<OrderMeasurement>(&["--case", case]).len(), n_turns, "{case}");
        }
    }
}
