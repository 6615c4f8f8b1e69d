//! The page of results.

use anyhow::Result;

use super::cases::{
    CLIENT_MARIADB, CLIENT_POSTGRES, DATABASE_USERS, MEMORY_SECONDS, OWN_MARIADB, OWN_POSTGRES,
};
use super::loads::{EXCHANGES, RAMP_UP_SECONDS, THINK_SECONDS, USERS};
use super::page_data::DataComparison;
use super::{COLUMNS, EXCHANGE, EXCHANGES_EACH, LOAD_CPUS, MEMORY, OrderCosts, SERVER_CPUS};
use crate::bench::figures::{Bar, Column, compare, median, median_of_both, section};
use crate::bench::harness::Facts;
use crate::bench::rounds::MeasuredRounds;
use crate::bench::site::{FEW, MANY};
use crate::bench::{LOAD_CPU, SERVER_CPU};

/// Maximum CPU time of the load generator for a transaction of twelve exchanges, in ms.
const CLIENT_MS_MAX: Bar = Bar::AtMost(0.1);

/// Maximum memory of an additional idle user, in KB.
const MEMORY_KB_MAX: Bar = Bar::AtMost(10.0);

/// Maximum CPU time of the load generator as a multiple of pgbench's, for the same transaction.
const PGBENCH_MAX: Bar = Bar::AtMost(1.0);

/// The rows of CPU time: title, and title of the case.
const CLIENTS: [(&str, &str); 4] = [
    ("fixed transaction, PostgreSQL", OWN_POSTGRES),
    (CLIENT_POSTGRES, CLIENT_POSTGRES),
    ("fixed transaction, MariaDB", OWN_MARIADB),
    (CLIENT_MARIADB, CLIENT_MARIADB),
];

/// The comparisons with other load generators: title, title of the case, the other one, and the greatest ratio if there
/// is a bar.
const PEER_COMPARISONS: [(&str, &str, &str, Option<Bar>); 2] =
    [("PostgreSQL", OWN_POSTGRES, "pgbench", Some(PGBENCH_MAX)), ("MariaDB", OWN_MARIADB, "sysbench", None)];

/// CPU time per exchange, with the CPUs of the server.
const PEER_COLUMN: Column<OrderCosts> =
    Column::with_cpus("µs per exchange", OrderCosts::exchange_us, |costs| costs.server_cpus);

/// The title of a case, and its number of users.
type UserCase = (&'static str, u32);

/// The comparisons of memory: title, and the cases with few and with many users.
const MEMORIES: [(&str, UserCase, UserCase); 3] = [
    ("stub of PostgreSQL", ("stub, 100 users", FEW), ("stub, 10,000 users", MANY)),
    ("PostgreSQL", ("PostgreSQL, 100 users", FEW), ("PostgreSQL, 1,000 users", DATABASE_USERS)),
    ("MariaDB", ("MariaDB, 100 users", FEW), ("MariaDB, 1,000 users", DATABASE_USERS)),
];

/// Returns the head of the page.
pub(super) fn head(facts: &Facts) -> String {
    let setup = format!(
        "The server has CPU {SERVER_CPU}, the load generator CPU {LOAD_CPU}; both are connected by TCP on the loopback \
        interface, without TLS. The data of servers are in memory, so that no disk is measured. A round has a turn of \
        {} s for each load; every other round takes them in the opposite order. The server is saturated on \
        purpose, so these runs are not valid as measurements of it.",
        facts.options.seconds
    );
    facts.head("Order entry on databases, measured", &setup) + "\n"
}

/// Returns the tables of what was measured.
pub(super) fn tables(
    measured: &MeasuredRounds<OrderCosts>,
    loaded: &MeasuredRounds<f64>,
    restored: &MeasuredRounds<f64>,
) -> Result<String> {
    let data = [(DataComparison::LOADING, loaded), (DataComparison::RESTORING, restored)];
    let mut text = client(measured) + &peers(measured) + &memory(measured);
    for (comparison, measured) in &data {
        text += &comparison.table(measured)?;
    }
    text += &section(measured.details(&COLUMNS), "## Round by round\n\n");
    Ok(text + &data.iter().map(|(comparison, measured)| comparison.rounds(measured)).collect::<String>())
}

fn client(measured: &MeasuredRounds<OrderCosts>) -> String {
    let row = |(title, case): (&str, &str)| {
        let rounds = measured.ours(case);
        let columns = [EXCHANGES_EACH, EXCHANGE, LOAD_CPUS, SERVER_CPUS];
        let cells: Option<Vec<String>> = columns.iter().map(|column| column.median(rounds)).collect();
        let ms = median(rounds, OrderCosts::exchange_us)? * f64::from(EXCHANGES) / 1000.0;
        let bar = CLIENT_MS_MAX;
        Some(format!("| {title} | {} | {ms:.4} | {bar} | {} |\n", cells?.join(" | "), bar.judge(ms)))
    };
    section(
        CLIENTS.into_iter().filter_map(row).collect(),
        &format!(
            "## CPU time of the load generator\n\n\
            A fixed transaction of own statements, and order entry by single statements (`sql=client`), by {USERS} users \
            without pauses; the CPU time (user and system) of the load thread in the steady phase, medians of all rounds. An exchange is a request and its \
            reply: a statement, the begin or the end of a transaction. The CPU time per exchange times {EXCHANGES} is \
            that of a transaction of {EXCHANGES} exchanges.\n\n\
            | | exchanges per transaction | µs per exchange | CPUs, load | CPUs, server | ms per {EXCHANGES} | bar | |\n\
            |---|---:|---:|---:|---:|---:|---:|---|\n"
        ),
    )
}

fn peers(measured: &MeasuredRounds<OrderCosts>) -> String {
    let row = |(title, case, peer, bar): (&str, &str, &str, Option<Bar>)| {
        let compared = compare(&PEER_COLUMN, measured.ours(case), measured.of(case, peer))?;
        let judged = bar.map_or("stated |".to_owned(), |bar| bar.cells(1, compared.ratio));
        Some(format!("| {title} | {} |\n", compared.cells(peer, &judged)))
    };
    section(
        PEER_COMPARISONS.into_iter().filter_map(row).collect(),
        &format!(
            "## Beside other load generators\n\n\
            Plimsoll, pgbench (`-M prepared`) and sysbench with {USERS} sessions send the same fixed transaction of \
            {EXCHANGES} exchanges: its begin, queries of one row by primary key, its end. Plimsoll checks that each query \
            returns one row. Its CPU time is that of the load thread in the steady phase; of the others, that of their \
            whole process, with its start. µs per exchange, medians of all rounds; in brackets the CPUs of the server. The \
            ratio is the median of the ratios of the rounds.\n\n\
            | | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n"
        ),
    )
}

fn memory(measured: &MeasuredRounds<OrderCosts>) -> String {
    let row = |(title, (few, n_few), (many, n_many)): (&str, (&str, u32), (&str, u32))| {
        let [few, many] = [few, many].map(|case| measured.ours(case));
        let more = median_of_both(few, many, |few, many| many.rss_kib - few.rss_kib)?;
        let kb = more * 1.024 / f64::from(n_many - n_few);
        let [few, many] = [MEMORY.median(few)?, MEMORY.median(many)?];
        let bar = MEMORY_KB_MAX;
        Some(format!(
            "| {title} | {n_few} | {few} | {n_many} | {many} | {kb:.2} | {bar} | {} |\n",
            bar.judge(kb)
        ))
    };
    section(
        MEMORIES.into_iter().filter_map(row).collect(),
        &format!(
            "## Memory per user\n\n\
            Maximum resident memory (KiB) of Plimsoll without its monitor until {MEMORY_SECONDS} s after its start, with \
            users who begin within {RAMP_UP_SECONDS} s, think for {THINK_SECONDS} s on average and call a stored procedure \
            for each transaction; medians of all rounds. The additional memory of the additional users, divided by their \
            number, in KB. The stub speaks PostgreSQL's protocol and has no data.\n\n\
            | | users | KiB | users | KiB | KB per user | bar | |\n|---|---:|---:|---:|---:|---:|---:|---|\n"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::super::OrderMeasurement;
    use super::*;
    use crate::bench::harness::tests::check_titles;
    use crate::bench::rounds::OURS;

    /// Returns rounds of so many exchanges, each of which costs so much.
    fn turns(exchanges: f64, exchange_us: [f64; 3], rss_kib: f64) -> [OrderCosts; 3] {
        exchange_us.map(|exchange_us| OrderCosts {
            transaction_us: exchanges * exchange_us,
            exchanges,
            load_cpus: 0.4,
            server_cpus: 0.99,
            rss_kib,
        })
    }

    fn text(all: &[(&'static str, &'static str, &[OrderCosts])]) -> String {
        tables(&MeasuredRounds::by_hand(all), &MeasuredRounds(Vec::new()), &MeasuredRounds(Vec::new()))
            .unwrap()
    }

    /// By hand: the median of 8, 7 and 9 µs is 8 µs, and 12 of them are 0.096 ms; 0.8 of pgbench's 10 µs.
    #[test]
    fn rows_show_the_medians_of_the_rounds() {
        let text = text(&[
            (CLIENT_POSTGRES, OURS, &turns(25.0, [8.0, 7.0, 9.0], 20_000.0)),
            (OWN_POSTGRES, OURS, &turns(12.0, [8.0, 7.0, 9.0], 20_000.0)),
            (OWN_POSTGRES, "pgbench", &turns(12.0, [10.0; 3], 0.0)),
        ]);
        for row in [
            "| order entry, PostgreSQL | 25.0 | 8.00 | 0.40 | 0.99 | 0.0960 | ≤ 0.1 | met |",
            "| fixed transaction, PostgreSQL | 12.0 | 8.00 | 0.40 | 0.99 | 0.0960 | ≤ 0.1 | met |",
            "| PostgreSQL | 8.00 (0.99) | 10.00 (0.99) | pgbench | 0.800 | ≤ 1.0 | met |",
            "| round | turn | µs per transaction | exchanges | µs per exchange | CPUs, load | CPUs, server | KiB |\n\
             |---:|---|---:|---:|---:|---:|---:|---:|\n",
            "| 3 | pgbench | 120.0 | 12.0 | 10.00 | 0.40 | 0.99 | 0 |",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
        for absent in ["| MariaDB", "## Memory", "## Loading"] {
            assert!(!text.contains(absent), "{absent}\n{text}");
        }
    }

    /// By hand: (119,000 − 20,000) KiB · 1.024 ÷ 9,900 = 10.24 KB.
    #[test]
    fn memory_is_that_of_the_additional_users() {
        let text = text(&[
            ("stub, 100 users", OURS, &turns(1.0, [50.0; 3], 20_000.0)),
            ("stub, 10,000 users", OURS, &turns(1.0, [50.0; 3], 119_000.0)),
        ]);
        let row = "| stub of PostgreSQL | 100 | 20000 | 10000 | 119000 | 10.24 | ≤ 10 | **missed** |";
        assert!(text.contains(row), "{text}");
    }

    #[test]
    fn what_is_compared_is_measured() {
        let memories = MEMORIES.iter().flat_map(|(_, few, many)| [few.0, many.0]);
        let named = CLIENTS.iter().map(|(_, case)| *case).chain(memories);
        check_titles::<OrderMeasurement>(&named.collect::<Vec<_>>());
    }
}
