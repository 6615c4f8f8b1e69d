//! `bench-orders`: the CPU time and the memory of terminals of order entry on PostgreSQL and MariaDB, beside the products'
//! own load generators, the loading of rows compared with that of files, and their restoring.
//!
//! In turns, the server has CPU 0 and the load generator CPU 1; loading and restoring have both.
//!
//! - `databases`: the servers
//! - `loads`: definitions and statements of the loads
//! - `peers`: pgbench and sysbench
//! - `turns`: the loads on their servers, and their costs
//! - `loading`: rows that we generate, and rows from files; `restoring`: rows from a golden copy
//! - `page`, `page_restoring`: the tables

mod databases;
mod loading;
mod loads;
mod page;
mod page_restoring;
mod peers;
mod restoring;
mod turns;

use anyhow::{Context, Result};

use self::databases::{NEEDED, POSTGRES_SERVER};
use self::loading::{LoadTimes, TARGETS};
use self::page::{DataRounds, Round, RoundsOf};
use self::restoring::RestoreTimes;
use self::turns::{CLIENT, Databases, MEMORY, PEERS, TURNS, Turn};
use super::CaseOptions;
use super::machine;
use super::site::Site;
use crate::build::packaged_binary;
use crate::packages::install;
use crate::shell::write_page;

/// The names of the cases that have no turns.
const LOADING: &str = "loading";
const RESTORING: &str = "restoring";

/// Names of the cases.
const CASES: [&str; 5] = [CLIENT, PEERS, MEMORY, LOADING, RESTORING];

/// Parses the command line: five rounds, with turns of five seconds, unless it says otherwise.
///
/// # Errors
/// Unknown options, missing or invalid values, and options that exclude each other.
pub fn options(arguments: &[&str]) -> Result<CaseOptions> {
    CaseOptions::parse(arguments, &CASES, (5, 5))
}

/// Runs the selected cases, prints the result as Markdown, and writes it to `docs/` on request.
///
/// # Errors
/// A program is missing and cannot be installed, or a measurement fails.
pub fn perform(options: &CaseOptions) -> Result<()> {
    install(&NEEDED)?;
    super::require_open_files()?;
    let plimsoll = options.binary.clone().map_or_else(packaged_binary, Ok)?;
    let site = Site::empty(&plimsoll)?;
    loads::write_files(&site)?;
    let head = page::head(options, &programs()?)?;
    let rounds = take_turns(options, &site)?;
    let data = DataRounds {
        loaded: if options.wants(LOADING) { load(options.rounds)? } else { Vec::new() },
        restored: if options.wants(RESTORING) { restore(options.rounds)? } else { Vec::new() },
    };
    let text = head + &page::tables(&rounds, &data);
    println!("\n{text}");
    if options.write {
        write_page("docs/bench-orders.md", &text)?;
    }
    Ok(())
}

/// Returns the table of the machine and the programs.
fn programs() -> Result<String> {
    let rows = [
        ("PostgreSQL", POSTGRES_SERVER, "--version"),
        ("MariaDB", "mariadbd", "--version"),
        ("SQLite's shell", "sqlite3", "--version"),
        ("sysbench", "sysbench", "--version"),
    ];
    let mut table = machine::without_servers()?;
    for (title, program, option) in rows {
        table += &machine::row(title, program, option)?;
    }
    Ok(table)
}

/// Takes the turns round by round, in the opposite order every other time.
fn take_turns(options: &CaseOptions, site: &Site) -> Result<Vec<Round>> {
    let is_wanted = |turn: &&Turn| turn.cases.iter().any(|case| options.wants(case));
    let mut turns: Vec<&Turn> = TURNS.iter().filter(is_wanted).collect();
    let (mut databases, mut rounds) = (Databases::default(), Vec::new());
    for n in 1..=options.rounds {
        let mut round = Round::default();
        for turn in &turns {
            let costs = turn.take(site, &mut databases, options.seconds).with_context(|| turn.title)?;
            println!("round {n}: {}: {costs}", turn.title);
            round.add(turn.name, costs);
        }
        rounds.push(round);
        turns.reverse();
    }
    Ok(rounds)
}

/// Loads rows into all targets.
fn load(rounds: usize) -> Result<RoundsOf<LoadTimes>> {
    let measure = |target: loading::LoadTarget| {
        println!("loading: {}", target.title());
        Ok((target, target.measure(rounds).with_context(|| target.title())?))
    };
    TARGETS.into_iter().map(measure).collect()
}

/// Restores the rows of all targets.
fn restore(rounds: usize) -> Result<RoundsOf<RestoreTimes>> {
    let measure = |target: loading::LoadTarget| {
        println!("restoring: {}", target.name());
        Ok((target, target.measure_restoring(rounds).with_context(|| target.name())?))
    };
    TARGETS.into_iter().map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_but_those_of_data_has_turns() {
        for case in CASES {
            let n_turns = TURNS.iter().filter(|turn| turn.cases.contains(&case)).count();
            assert_eq!(n_turns == 0, [LOADING, RESTORING].contains(&case), "{case}");
        }
        for turn in &TURNS {
            let is_known = turn.cases.iter().all(|case| CASES.contains(case));
            assert!(is_known && !turn.cases.is_empty(), "{}", turn.title);
        }
    }
}
