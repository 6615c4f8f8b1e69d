//! The page about all of it.

use anyhow::{Context, Result};
use testbed::accelerators;

use super::cases::{Bar, Case, Limit, SETTLE_S};
use super::lab::Lab;
use super::{Measured, OURS, Options};
use crate::bench::figures::word;
use crate::bench::{LOAD_CPU, SERVER_CPU};

/// Returns the beginning: what this is, and on what it was measured; `machine` is the beginning of a table.
pub fn head(options: &Options, lab: &Lab, machine: &str) -> String {
    let Options { rounds, seconds, .. } = options;
    let (files, bytes) = lab.size();
    let more = options.cases.iter().map(|name| format!(" --case {name}"));
    let more: String = more.chain(options.peers.iter().map(|name| format!(" --peer {name}"))).collect();
    format!(
        "# The accelerator, measured\n\n\
        Made by `cargo xtask bench-accelerator --rounds {rounds} --seconds {seconds}{more}`; the machine should do \
        nothing else.\n\n\
        Each accelerator is started by its [recipe](../recipes/accelerators), has CPU {SERVER_CPU} to itself, and is asked \
        twice for every file before its turn. All take turns of {seconds} s in each case, another one first in each \
        round. CPU {LOAD_CPU} has the load generator, with one thread and 100 connections: wrk, or Plimsoll where a rate \
        is set. The server behind, nginx, is there too and has nothing to do while replies come from caches. The \
        files are those of web96 for 100 directories and two more: {files} files, {bytes} bytes, in memory, as are all \
        copies. *The mix* asks for them as web96 does: classes 35 : 50 : 14 : 1, directories by Zipf's law.\n\n\
        CPU time is that of all processes of the accelerator (user and system) by the account of its control group, \
        while wrk runs; requests are those that wrk saw answered. At a set rate, times run from when a request was due, \
        and every byte is compared; one second before is not measured. Resident is what its processes have of their \
        own, their programs, and its files in memory. Hits are requests for which the server behind was not asked; \
        before they are counted, the same load has run for {} s. The slow page takes a second to make; how often it was \
        made is counted where it is made, and the wait runs from when it was first sent from there.\n\n{machine}",
        SETTLE_S.max(*seconds)
    )
}

/// Returns the rest of the table of programs.
pub fn versions(lab: &Lab, peers: &[&str]) -> Result<String> {
    let listed = accelerators(&[], &lab.plimsoll);
    let mut text = String::new();
    // What Plimsoll and nginx are is known already.
    let others = listed.iter().filter(|one| ![OURS, "nginx"].contains(&one.name.as_str()));
    for one in others.filter(|one| peers.contains(&one.name.as_str())) {
        let installed = one.installed.as_ref().with_context(|| format!("{} is not installed", one.title))?;
        text += &format!("| {} | {} |\n", one.title, installed.version.as_deref().unwrap_or("unknown"));
    }
    Ok(text + &format!("| wrk | {} |\n", crate::bench::machine::version("wrk", "-v")?))
}

/// Returns the values of a turn.
pub fn row(case: &Case, values: &[f64]) -> String {
    let cells = case.columns.iter().copied().zip(values);
    let cells = cells.map(|((name, decimals), value)| format!("{name} {value:.decimals$}"));
    cells.collect::<Vec<_>>().join(", ")
}

/// Returns the summary and a table for each case.
pub fn tables(measured: &[Measured]) -> String {
    let mut text = "\n## What is to be reached\n\n\
        Medians of all rounds. A ratio is the median of the ratios of the rounds, to the other that has the best median.\n\n\
        | case | Plimsoll | best other | | ratio or limit | bar | |\n|---|---:|---:|---|---:|---:|---|\n"
        .to_owned();
    for one in measured {
        text += &summary_row(one).unwrap_or_else(|| format!("| {} | not measured |\n", one.case.title));
    }
    text + &measured.iter().map(details).collect::<String>()
}

/// Returns the median of a column over the rounds in which a peer did not fail; `None` if it failed in all.
fn median(rounds: &[Option<Vec<f64>>], column: usize) -> Option<f64> {
    let values = rounds.iter().flatten().filter_map(|values| values.get(column).copied());
    stats::median(&values.collect::<Vec<_>>())
}

fn rounds_of<'a>(measured: &'a Measured, peer: &str) -> Option<&'a [Option<Vec<f64>>]> {
    let (_, rounds) = measured.peers.iter().find(|(name, _)| *name == peer)?;
    Some(rounds.as_slice())
}

/// Returns the row, or rows, of a case; `None` if Plimsoll failed in one of its rounds or there is nothing to compare it
/// with. Another one that failed in a round is compared all the same.
fn summary_row(measured: &Measured) -> Option<String> {
    let case = measured.case;
    let ours = rounds_of(measured, OURS).filter(|rounds| rounds.iter().all(Option::is_some))?;
    let decimals = case.columns[0].1;
    match case.bar {
        Bar::OfBest(bar) => {
            let others = measured.peers.iter().filter(|(name, _)| *name != OURS);
            let medians = others.filter_map(|(name, rounds)| Some((*name, rounds, median(rounds, 0)?)));
            let (best, rounds, value) = medians.min_by(|one, other| one.2.total_cmp(&other.2))?;
            let ratios = ours
                .iter()
                .zip(rounds)
                .filter_map(|(ours, best)| Some(ours.as_ref()?[0] / best.as_ref()?[0]));
            let ratio = stats::median(&ratios.collect::<Vec<_>>())?;
            let (title, mine, met) = (case.title, median(ours, 0)?, word(ratio <= bar));
            Some(format!(
                "| {title} ({}) | {mine:.decimals$} | {value:.decimals$} | {best} | {ratio:.3} | ≤ {bar:.2} | {met} |\n",
                case.columns[0].0
            ))
        }
        Bar::Within(limits) => {
            let row = |(column, limit): &(usize, Limit)| {
                let ((name, decimals), mine) = (case.columns[*column], median(ours, *column)?);
                let others = measured.peers.iter().filter(|(peer, _)| *peer != OURS);
                let others = others.filter_map(|(peer, rounds)| Some((*peer, median(rounds, *column)?)));
                let best = others.min_by(|one, other| match limit {
                    Limit::AtLeast(_) => other.1.total_cmp(&one.1),
                    Limit::AtMost(_) => one.1.total_cmp(&other.1),
                });
                let (best, value) = best
                    .map_or(("", "–".to_owned()), |(peer, value)| (peer, format!("{value:.decimals$}")));
                let (sign, bound) = match limit {
                    Limit::AtLeast(bound) => ("≥", bound),
                    Limit::AtMost(bound) => ("≤", bound),
                };
                let met = word(limit.is_met(mine));
                Some(format!(
                    "| {}: {name} | {mine:.decimals$} | {value} | {best} | | {sign} {bound} | {met} |\n",
                    case.title
                ))
            };
            limits.iter().map(row).collect()
        }
    }
}

/// Returns the table of one case: medians of each accelerator, and the first value of every round.
fn details(measured: &Measured) -> String {
    let case = measured.case;
    let names: String = case.columns.iter().map(|(name, _)| format!(" {name} |")).collect();
    let rule = "---:|".repeat(case.columns.len());
    let first = case.columns[0];
    let mut text = format!(
        "\n## {}\n\n| |{names} {}, round by round |\n|---|{rule}---|\n",
        capital(case.title),
        first.0
    );
    for (peer, rounds) in &measured.peers {
        let cell = |(column, (_, decimals)): (usize, (&str, usize))| match median(rounds, column) {
            Some(value) => format!(" {value:.decimals$} |"),
            None => " failed |".to_owned(),
        };
        let medians: String = case.columns.iter().copied().enumerate().map(cell).collect();
        let decimals = first.1;
        let each = rounds.iter().map(|round| match round {
            Some(values) => format!("{:.decimals$}", values[0]),
            None => "–".to_owned(),
        });
        text += &format!("| {peer} |{medians} {} |\n", each.collect::<Vec<_>>().join(", "));
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    fn measured(name: &str, peers: &[(&'static str, &[&[f64]])]) -> Measured {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let peers = peers.iter().map(|(peer, rounds)| {
            (*peer, rounds.iter().map(|values| (!values.is_empty()).then(|| values.to_vec())).collect())
        });
        Measured { case, peers: peers.collect() }
    }

    /// Ratios of the rounds to HAProxy, which has the best median of the others: 0.8, 0.7, 0.5; the median misses 0.75
    /// by nothing.
    #[test]
    fn the_best_other_is_what_a_ratio_is_of() {
        let one = measured(
            "mix",
            &[
                (OURS, &[&[8.0, 1.0, 1.0], &[7.0, 1.0, 1.0], &[6.0, 1.0, 1.0]]),
                ("haproxy", &[&[10.0, 1.0, 1.0], &[10.0, 1.0, 1.0], &[12.0, 1.0, 1.0]]),
                ("squid", &[&[9.0, 1.0, 1.0], &[50.0, 1.0, 1.0], &[50.0, 1.0, 1.0]]),
            ],
        );
        let row = summary_row(&one).unwrap();
        assert!(row.ends_with("| 7.00 | 10.00 | haproxy | 0.700 | ≤ 0.75 | met |\n"), "{row}");
        assert!(
            details(&one).contains("| squid | 50.00 | 1 | 1.00 | 9.00, 50.00, 50.00 |"),
            "{}",
            details(&one)
        );
    }

    #[test]
    fn failing_in_a_round_helps_nobody() {
        let one = measured(
            "mix",
            &[
                (OURS, &[&[8.0], &[7.0], &[6.0]]),
                ("haproxy", &[&[10.0], &[], &[10.0]]),
                ("squid", &[&[50.0], &[50.0], &[50.0]]),
            ],
        );
        let row = summary_row(&one).unwrap();
        assert!(row.ends_with("| 7.00 | 10.00 | haproxy | 0.700 | ≤ 0.75 | met |\n"), "{row}");
        let ours_failed = measured("mix", &[(OURS, &[&[8.0], &[]]), ("haproxy", &[&[10.0], &[10.0]])]);
        assert_eq!(summary_row(&ours_failed), None);
    }

    #[test]
    fn limits_are_held_one_by_one_and_what_failed_is_said() {
        let one = measured("hits", &[(OURS, &[&[0.98, 120.0, 1.0]]), ("varnish", &[&[]])]);
        let row = summary_row(&one).unwrap();
        let (first, second) = row.split_once('\n').unwrap();
        assert!(
            first.contains("hit ratio | 0.9800 | – |") && first.ends_with("| ≥ 0.975 | met |"),
            "{first}"
        );
        assert!(second.contains("| 120.0 |") && second.ends_with("| ≤ 110 | **missed** |\n"), "{second}");
        assert!(details(&one).contains("| varnish | failed | failed | failed | – |"), "{}", details(&one));
        let alone = measured("mix", &[("squid", &[&[1.0, 1.0, 1.0]])]);
        assert!(tables(&[alone]).contains("not measured"));
    }
}
