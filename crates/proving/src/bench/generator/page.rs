//! The page of results.

use super::cases::{CASES, GeneratorLoad, MEMORY};
use super::{COLUMNS, COST, GeneratorCosts};
use crate::bench::figures::{Bar, compare, median};
use crate::bench::harness::{Case, Facts};
use crate::bench::rounds::{MeasuredRounds, OURS};
use crate::bench::site::{FEW, MANY};
use crate::bench::{LOAD_CPU, SERVER_CPU};

/// Maximum memory of an additional connection, in KiB.
const MEMORY_BAR: f64 = 2.0;

/// The costs of a contender, by round.
type Rounds = [Option<GeneratorCosts>];

/// Returns the head of the page.
pub(super) fn head(facts: &Facts) -> String {
    let setup = format!(
        "nginx with one worker has CPU {SERVER_CPU} and its files in memory. Plimsoll and the other generator, wrk or h2load, \
        take turns on CPU {LOAD_CPU}, in changing order; each turn has one thread and {} s, in the open loop and \
        the stall as stated. nginx counts the requests. CPU time is that of the whole process: Plimsoll's includes its \
        start, one second of settle where the benchmark has it, checking every byte, recording, the analysis, and \
        the HTML report. The other generators check and store nothing. wrk selects the files of a mix by a \
        script with tables. TLS \
        is version 1.3 with TLS_AES_128_GCM_SHA256 for all; HTTP/2 is without TLS, by prior knowledge. The \
        generator is saturated on purpose, so these runs are not valid as measurements of nginx.",
        facts.options.seconds
    );
    facts.head("The load generator, measured", &setup) + "\n"
}

/// Returns the tables of the cases; empty if nothing was measured.
pub(super) fn tables(measured: &MeasuredRounds<GeneratorCosts>) -> String {
    if measured.0.is_empty() {
        String::new()
    } else {
        summary(measured) + &memory(measured).unwrap_or_default() + &details(measured)
    }
}

/// Returns the cases that were measured, with the costs of Plimsoll and of the other generator.
fn pairs(
    measured: &MeasuredRounds<GeneratorCosts>,
) -> impl Iterator<Item = (&'static Case<GeneratorLoad>, &Rounds, &Rounds)> {
    let rounds = |case: &'static Case<GeneratorLoad>| {
        let theirs = measured.of(case.title, case.load.other.name());
        (case, measured.ours(case.title), theirs)
    };
    CASES.iter().map(rounds)
}

fn summary(measured: &MeasuredRounds<GeneratorCosts>) -> String {
    let mut text = "## CPU per request compared with others\n\n\
        CPU seconds (user and system) per million requests; medians of all rounds. The ratio is the median of the \
        ratios of the rounds.\n\n\
        | case | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n"
        .to_owned();
    for (case, ours, theirs) in pairs(measured) {
        let Some(compared) = compare(&COST, ours, theirs) else { continue };
        let judged = Bar::AtMost(case.load.bar).cells(2, compared.ratio);
        text += &format!("| {} | {} |\n", case.title, compared.cells(case.load.other.name(), &judged));
    }
    text
}

fn memory(measured: &MeasuredRounds<GeneratorCosts>) -> Option<String> {
    let bar = Bar::AtMost(MEMORY_BAR);
    let row = |title: &str, contender: &str, judge: fn(Bar, f64) -> &'static str| {
        let rss = |case| median(measured.of(case, contender), |costs| costs.rss_kib);
        let [few, many] = MEMORY.map(rss);
        let more = (many? - few?) / f64::from(MANY - FEW);
        Some(format!("| {title} | {:.0} | {:.0} | {more:.2} | {} |\n", few?, many?, judge(bar, more)))
    };
    Some(format!(
        "\n## Memory per connection\n\n\
        Maximum resident memory (KiB) in the first four fifths of the turn, with kept connections; the \
        additional memory of 9,900 more connections, divided by 9,900. At most {MEMORY_BAR:.0} KiB.\n\n\
        | | at 100 | at 10,000 | per connection | |\n|---|---:|---:|---:|---|\n{}{}",
        row("Plimsoll", OURS, Bar::judge)?,
        row("wrk", "wrk", |_, _| "")?,
    ))
}

fn details(measured: &MeasuredRounds<GeneratorCosts>) -> String {
    let mut text = "\n## Round by round\n\n\
        | case | round | Plimsoll, s per million | requests | the other, s per million | requests | ratio |\n\
        |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (case, ours, theirs) in pairs(measured) {
        let both = ours.iter().flatten().zip(theirs.iter().flatten());
        for (n, (ours, theirs)) in (1..).zip(both) {
            let cells = [ours, theirs].map(|costs| COLUMNS.map(|column| column.cell(costs)).join(" | "));
            let ratio = ours.cost / theirs.cost;
            text += &format!("| {} | {n} | {} | {ratio:.3} |\n", case.title, cells.join(" | "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Medians 8 of 10 with round ratios 0.8, 0.9, 0.7; memory (21,000 − 1,200) KiB ÷ 9,900 = 2.00.
    #[test]
    fn tables_show_medians_of_rounds_and_memory_per_connection() {
        let turns =
            |costs: [f64; 3], rss_kib| costs.map(|cost| GeneratorCosts { cost, requests: 1_000, rss_kib });
        let few = turns([8.0, 9.0, 7.0], 1_200.0);
        let many = turns([8.0, 9.0, 7.0], 21_000.0);
        let others = turns([10.0; 3], 500.0);
        let of_case = |case: &'static Case<GeneratorLoad>| {
            let ours = if case.title == MEMORY[1] { &many } else { &few };
            [(case.title, OURS, &ours[..]), (case.title, case.load.other.name(), &others[..])]
        };
        let mut measured = MeasuredRounds::by_hand(&CASES.iter().flat_map(of_case).collect::<Vec<_>>());
        let text = tables(&measured);
        assert!(text.contains("100 connections | 8.00 | 10.00 | wrk | 0.800 | ≤ 0.95 | met |"), "{text}");
        assert!(text.contains("one connection | 8.00 | 10.00 | h2load | 0.800 | ≤ 1.15 | met |"), "{text}");
        assert!(text.contains("| Plimsoll | 1200 | 21000 | 2.00 | met |"), "{text}");
        assert!(text.contains("100 connections | 2 | 9.00 | 1000 | 10.00 | 1000 | 0.900 |"), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with("| 0.900 |")).count(), CASES.len());
        // One of the two cases of memory is missing.
        measured.0.retain(|one| one.case != MEMORY[0]);
        let text = tables(&measured);
        assert!(!text.contains("## Memory") && text.contains("## Round by round"), "{text}");
        assert_eq!(tables(&MeasuredRounds(Vec::new())), "");
    }
}
