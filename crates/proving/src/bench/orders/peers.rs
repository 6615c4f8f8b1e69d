//! Other load generators with the fixed transaction: pgbench on PostgreSQL, sysbench on MariaDB.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use model::DatabaseProduct;

use super::OrderCosts;
use super::databases::{Database, PGBENCH, USER};
use super::loads::{
    EXCHANGES, PGBENCH_SCRIPT, SYSBENCH_OPTIONS, SYSBENCH_SCRIPT, USERS, write_sysbench_options,
};
use crate::bench::LOAD_CPU;
use crate::bench::process::{FinishedProcess, measure, pinned};
use crate::bench::site::Site;

/// Takes a turn of the load generator of a database's product.
pub(super) fn take(site: &Site, database: &Database, seconds: u32) -> Result<OrderCosts> {
    let (mut command, count): (Command, fn(&str) -> Option<u64>) = match database.product() {
        DatabaseProduct::PostgreSql => (pgbench(site, database, seconds), pgbench_transactions),
        DatabaseProduct::MariaDb => (sysbench(site, database, seconds)?, sysbench_transactions),
    };
    let (cpu_before, time_before) = database.cpu_and_time();
    let ended = measure(&mut command, site.folder(), Duration::ZERO)?;
    let (cpu_after, time_after) = database.cpu_and_time();
    let FinishedProcess { cpu_s, code, output, .. } = &ended;
    ensure!(*code == Some(0), "it ended with {code:?}: {output}");
    let transactions = count(output).with_context(|| format!("it states no transactions: {output}"))?;
    ensure!(0 < transactions, "it made no transactions: {output}");
    let time = time_after - time_before;
    Ok(OrderCosts {
        transaction_us: 1e6 * cpu_s / transactions as f64,
        exchanges: EXCHANGES.into(),
        load_cpus: cpu_s / time,
        server_cpus: (cpu_after - cpu_before) / time,
        rss_kib: 0.0,
    })
}

/// Returns pgbench, which has a thread for all of its sessions.
fn pgbench(site: &Site, database: &Database, seconds: u32) -> Command {
    let mut command = pinned(LOAD_CPU, Path::new(PGBENCH));
    let (name, password) = database.password();
    command
        .args(["--no-vacuum", "--protocol=prepared", "--jobs=1", &format!("--client={USERS}")])
        .args([format!("--time={seconds}"), format!("--file={}", site.path(PGBENCH_SCRIPT).display())])
        .args(["--host=127.0.0.1", &format!("--port={}", database.port()), "--username", USER, USER])
        .env(name, password);
    command
}

/// Returns sysbench, which has a thread for each session.
fn sysbench(site: &Site, database: &Database, seconds: u32) -> Result<Command> {
    write_sysbench_options(site, database)?;
    let mut command = pinned(LOAD_CPU, Path::new("sysbench"));
    command
        .arg(format!("--config-file={}", site.path(SYSBENCH_OPTIONS).display()))
        .args([format!("--threads={USERS}"), format!("--time={seconds}")])
        .arg(site.path(SYSBENCH_SCRIPT))
        .arg("run");
    Ok(command)
}

/// Reads the transactions of pgbench; `None` where some have failed.
fn pgbench_transactions(output: &str) -> Option<u64> {
    let after = |start: &str| output.lines().find_map(|line| line.strip_prefix(start));
    let is_clean = after("number of failed transactions: ")?.starts_with("0 ");
    after("number of transactions actually processed: ")?.parse().ok().filter(|_| is_clean)
}

/// Reads the events of sysbench; `None` where errors were ignored or a session was opened again.
fn sysbench_transactions(output: &str) -> Option<u64> {
    let after = |start: &str| {
        let mut lines = output.lines().map(str::trim);
        lines.find_map(|line| line.strip_prefix(start))?.split_whitespace().next()?.parse::<u64>().ok()
    };
    let n_failures = after("ignored errors:")? + after("reconnects:")?;
    after("total number of events:").filter(|_| n_failures == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_of_pgbench_are_read_unless_some_failed() {
        let clean = "number of threads: 1\nnumber of transactions actually processed: 812\n\
                     number of failed transactions: 0 (0.000%)\n";
        assert_eq!(pgbench_transactions(clean), Some(812));
        assert_eq!(pgbench_transactions(&clean.replace(": 0 (", ": 3 (")), None);
        assert_eq!(pgbench_transactions(""), None);
    }

    #[test]
    fn events_of_sysbench_are_read_unless_some_failed() {
        let clean = "SQL statistics:\n    ignored errors:                      0      (0.00 per sec.)\n    \
                     reconnects:                          0      (0.00 per sec.)\n\nGeneral statistics:\n    \
                     total time:                          5.0s\n    total number of events:              734\n";
        assert_eq!(sysbench_transactions(clean), Some(734));
        let failed = clean.replace("reconnects:                          0", "reconnects: 1");
        assert_eq!(sysbench_transactions(&failed), None);
    }
}
