//! The loads: definitions of order entry with other pauses, and the fixed statements of other load generators.

use std::fs;

use anyhow::Result;

use super::databases::{Database, USER};
use crate::bench::site::Site;

/// Warehouses where CPU time is measured: so many that terminals seldom wait for each other's rows.
const WAREHOUSES_BUSY: u32 = 40;

/// Warehouses where memory is measured.
const WAREHOUSES_IDLE: u32 = 10;

/// Users where CPU time is measured.
pub(super) const USERS: u32 = 16;

/// The mean think time of users whose memory is measured: each makes some transactions, and is idle most of the time.
pub(super) const THINK_SECONDS: u32 = 2;

/// The time within which users whose memory is measured begin, in s: those who all begin at once are not idle at once.
pub(super) const RAMP_UP_SECONDS: u32 = 5;

/// Number of exchanges of the fixed transaction: its begin, queries by primary key, and its end.
pub(super) const EXCHANGES: u32 = 12;

/// Queries of the fixed transaction.
const QUERIES: u32 = EXCHANGES - 2;

/// Definitions of order entry.
const BUSY_FILE: &str = "busy.toml";
const IDLE_FILE: &str = "idle.toml";

/// Definition of the fixed transaction, as a user's own statements: the arguments of users who make it without pauses.
pub(super) const OWN: &str = "own.toml";

/// The arguments of users without pauses who send statements one by one.
pub(super) const BUSY: &str = "busy.toml --set sql=client";

/// The arguments of users who think most of the time, and send one statement for each transaction. The memory of the
/// monitor grows with a server that has a process or thread for each session, and is no session's.
pub(super) const IDLE: &str = "idle.toml --set sql=stored --monitor off";

/// Files of pgbench and sysbench.
pub(super) const PGBENCH_SCRIPT: &str = "statements.sql";
pub(super) const SYSBENCH_SCRIPT: &str = "statements.lua";
pub(super) const SYSBENCH_OPTIONS: &str = "sysbench.conf";

/// Writes the definitions and scripts.
pub(super) fn write_files(site: &Site) -> Result<()> {
    for (name, text) in [
        (BUSY_FILE, busy()),
        (IDLE_FILE, idle()),
        (OWN, own()),
        (PGBENCH_SCRIPT, pgbench()),
        (SYSBENCH_SCRIPT, sysbench()),
    ] {
        fs::write(site.path(name), text)?;
    }
    Ok(())
}

/// Writes the options with which sysbench connects: the password is on no command line.
pub(super) fn write_sysbench_options(site: &Site, database: &Database) -> Result<()> {
    let (port, (_, password)) = (database.port(), database.password());
    let text = format!(
        "db-driver=mysql\nmysql-host=127.0.0.1\nmysql-port={port}\nmysql-user={USER}\nmysql-password={password}\n\
         mysql-db=plimsoll_orderentry\n"
    );
    Ok(fs::write(site.path(SYSBENCH_OPTIONS), text)?)
}

fn busy() -> String {
    definition("flat", &format!("warehouses = {WAREHOUSES_BUSY}\n"), 0)
}

fn idle() -> String {
    let protocol = format!("warehouses = {WAREHOUSES_IDLE}\nthink-time = \"{THINK_SECONDS} s\"\n");
    definition("bf", &protocol, RAMP_UP_SECONDS)
}

/// Returns the end of a definition, with the time within which users begin, in s.
fn load(ramp_up: u32) -> String {
    format!(
        "time-limit = \"60 s\"\n[load]\nusers = \"{USERS}\"\n\
         [phases]\nramp-up = \"{ramp_up} s\"\nsettle = \"500 ms\"\nsteady = \"5 s\"\ndrain = \"10 s\"\n"
    )
}

fn definition(pacing: &str, protocol: &str, ramp_up: u32) -> String {
    format!(
        "format = 1\nid = \"orders\"\nversion = 1\ntitle = \"Orders\"\nsummary = \"Transactions of order entry.\"\n\
         family = \"order-entry\"\nheadline = \"new-order-rate\"\n[workload]\n[protocol]\npacing = \"{pacing}\"\n\
         {protocol}{}",
        load(ramp_up)
    )
}

/// Returns the definition of the fixed transaction, each of whose queries must return one row.
fn own() -> String {
    let statements: String =
        queries().map(|query| format!("    {{ sql = \"{query}\", rows = 1 }},\n")).collect();
    format!(
        "format = 1\nid = \"statements\"\nversion = 1\ntitle = \"Statements\"\nsummary = \"A fixed transaction.\"\n\
         family = \"sql\"\nheadline = \"operation-rate\"\n[[workload.transactions]]\nname = \"fixed\"\nweight = 1\n\
         atomic = true\nstatements = [\n{statements}]\n[protocol]\n{}",
        load(0)
    )
}

/// Returns the queries of the fixed transaction: a row of a small table each.
fn queries() -> impl Iterator<Item = String> {
    (1..=QUERIES).map(|item| {
        format!("SELECT i_name, i_price, i_data FROM plimsoll_orderentry.item WHERE i_id = {item}")
    })
}

/// Returns the fixed transaction as pgbench reads it.
fn pgbench() -> String {
    let queries: String = queries().map(|query| query + ";\n").collect();
    format!("BEGIN;\n{queries}COMMIT;\n")
}

/// Returns the fixed transaction as sysbench reads it.
fn sysbench() -> String {
    let queries: String = queries().map(|query| format!("    \"{query}\",\n")).collect();
    format!(
        "local queries = {{\n{queries}}}\n\
         function thread_init()\n    connection = sysbench.sql.driver():connect()\n    prepared = {{}}\n    \
         for i, text in ipairs(queries) do prepared[i] = connection:prepare(text) end\nend\n\
         function event()\n    connection:query(\"BEGIN\")\n    \
         for i = 1, #prepared do prepared[i]:execute() end\n    connection:query(\"COMMIT\")\nend\n\
         function thread_done()\n    for i = 1, #prepared do prepared[i]:close() end\n    \
         connection:disconnect()\nend\n"
    )
}

#[cfg(test)]
mod tests {
    use model::Definition;

    use super::*;

    #[test]
    fn definitions_are_valid() {
        for text in [busy(), idle(), own()] {
            if let Err(problems) = Definition::parse("orders.toml", &text) {
                panic!("{problems:?}\n{text}");
            }
        }
    }

    /// All generators send the same queries between begin and end.
    #[test]
    fn the_fixed_transaction_has_twelve_statements() {
        let of_pgbench = pgbench();
        let of_sysbench = sysbench();
        let ours = own();
        assert_eq!(ours.matches("SELECT").count() + 2, EXCHANGES as usize);
        assert!(queries().all(|query| ours.contains(&query)));
        assert_eq!(of_pgbench.lines().count(), EXCHANGES as usize);
        assert!(queries().all(|query| of_pgbench.contains(&query) && of_sysbench.contains(&query)));
        assert_eq!(of_sysbench.matches("SELECT").count() + 2, EXCHANGES as usize);
    }
}
