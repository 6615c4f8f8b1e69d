//! `bench-application`: the CPU time of a small transaction with the built-in application server, at both ends,
//! compared with HTTP requests of the same size to nginx; and the load generator's memory per session.
//!
//! The server has CPU 0, the generator CPU 1. All load is Plimsoll's own, and the CPU times of both ends are those
//! that it reports for the steady phase.
//!
//! - `loads`: the definitions of the loads
//! - `servers`: starting the servers
//! - `turns`: the loads on their servers, and their costs
//! - `page`: the tables

mod loads;
mod page;
mod servers;
mod turns;

use anyhow::{Context, Result};

use self::page::Round;
use self::turns::{CASES, TURNS, Turn};
use super::CaseOptions;
use super::machine;
use super::site::Site;
use crate::build::packaged_binary;
use crate::packages::install;
use crate::shell::write_page;

/// Parses the command line: nine rounds, with turns of four seconds, unless it says otherwise.
///
/// # Errors
/// Unknown options, missing or invalid values, and options that exclude each other.
pub fn options(arguments: &[&str]) -> Result<CaseOptions> {
    CaseOptions::parse(arguments, &CASES, (9, 4))
}

/// Runs the selected cases, prints the result as Markdown, and writes it to `docs/` on request.
///
/// # Errors
/// A program is missing and cannot be installed, or a measurement fails.
pub fn perform(options: &CaseOptions) -> Result<()> {
    install(&[("nginx", "nginx-light"), ("taskset", "util-linux")])?;
    super::require_open_files()?;
    let plimsoll = options.binary.clone().map_or_else(packaged_binary, Ok)?;
    let site = Site::empty(&plimsoll)?;
    loads::write_files(&site)?;
    let head = page::head(options, &machine::table()?)?;
    let rounds = measure(options, &site)?;
    let text = head + &page::tables(&rounds);
    println!("\n{text}");
    if options.write {
        write_page("docs/bench-application.md", &text)?;
    }
    Ok(())
}

/// Takes the turns round by round, in the opposite order every other time.
fn measure(options: &CaseOptions, site: &Site) -> Result<Vec<Round>> {
    let (mut turns, mut rounds) = (wanted(options), Vec::new());
    for n in 1..=options.rounds {
        let mut round = Round::default();
        for turn in &turns {
            let costs = turn.take(site, options.seconds).with_context(|| turn.title)?;
            println!("round {n}: {}: {costs}", turn.title);
            round.add(turn.name, costs);
        }
        rounds.push(round);
        turns.reverse();
    }
    Ok(rounds)
}

/// Returns the turns that the cases need.
fn wanted(options: &CaseOptions) -> Vec<&'static Turn> {
    TURNS.iter().filter(|turn| turn.cases.iter().any(|case| options.wants(case))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_the_turns_that_they_need() {
        assert_eq!(wanted(&options(&[]).unwrap()).len(), TURNS.len());
        let memory = wanted(&options(&["--case", "memory"]).unwrap());
        let titles: Vec<&str> = memory.iter().map(|turn| turn.title).collect();
        assert_eq!(titles, ["NET, 100 clients", "NET, 10,000 clients"]);
    }
}
