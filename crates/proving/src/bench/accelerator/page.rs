//! The page of results.

use anyhow::{Context, Result};
use model::capitalized;
use testbed::accelerators;

use super::cases::{AcceleratorLoad, CASES, PassCriterion, SETTLE_S, Values};
use super::fixture::Fixture;
use crate::bench::figures::{Bar, Column, compare, heads, median};
use crate::bench::harness::{Case, Facts};
use crate::bench::rounds::{ContenderRounds, MeasuredRounds, OURS};
use crate::bench::{LOAD_CPU, SERVER_CPU, machine};

/// Returns the head of the page.
pub(super) fn head(facts: &Facts, fixture: &Fixture) -> String {
    let seconds = facts.options.seconds;
    let (files, bytes) = fixture.size();
    let setup = format!(
        "Each accelerator is started by its [recipe](../recipes/accelerators), has CPU {SERVER_CPU} to \
        itself, and every file is requested twice before its turn. They take turns of {seconds} s in each \
        case, starting with another one in each round. CPU {LOAD_CPU} runs the load generator, with one \
        thread and 100 connections: wrk, or Plimsoll for cases with a fixed rate. The origin, nginx, runs \
        there as well and is idle while responses come from caches. The \
        files are those of web96 for 100 directories and two more: {files} files, {bytes} bytes, in memory, \
        like all caches. *The mix* requests them as web96 does: classes 35 : 50 : 14 : 1, directories by \
        Zipf's law.\n\n\
        CPU time is that of all processes of the accelerator (user and system) from its control group, while \
        wrk runs; requests are those that wrk reports as answered. At a fixed rate, times count from when a \
        request was due, and every byte is compared; the first second is not measured. Resident memory is \
        the anonymous memory of its processes, their programs, and its files in memory. Hits are requests \
        that did not reach the origin; before they are counted, the same load has run for {} s. The slow \
        page takes a second to generate; the origin counts how often it was generated, and the wait counts \
        from when the origin first sent it.",
        SETTLE_S.max(seconds)
    );
    facts.head("The accelerator, measured", &setup)
}

/// Returns the rest of the table of programs: the accelerators that take turns, and wrk.
pub(super) fn versions(facts: &Facts, fixture: &Fixture) -> Result<String> {
    let listed = accelerators(&[], &fixture.plimsoll);
    let mut text = String::new();
    // Plimsoll and nginx are already in the table.
    let others = listed.iter().filter(|one| ![OURS, "nginx"].contains(&one.name.as_str()));
    for one in others.filter(|one| facts.options.wants_peer(&one.name)) {
        let installed = one.installed.as_ref().with_context(|| format!("{} is not installed", one.title))?;
        text += &format!("| {} | {} |\n", one.title, installed.version.as_deref().unwrap_or("unknown"));
    }
    Ok(text + &machine::row("wrk", "wrk", "-v")?)
}

/// Returns the summary and a table for each case.
pub(super) fn tables(measured: &MeasuredRounds<Values>) -> String {
    let mut text = "\n## Criteria\n\n\
        Medians of all rounds. A ratio is the median of the ratios of the rounds, to the other that has the best median.\n\n\
        | case | Plimsoll | best other | | ratio or limit | bar | |\n|---|---:|---:|---|---:|---:|---|\n"
        .to_owned();
    let cases = || CASES.iter().filter(|case| measured.in_case(case.title).next().is_some());
    for case in cases() {
        let row = summary_row(case, measured);
        text += &row.unwrap_or_else(|| format!("| {} | not measured |\n", case.title));
    }
    text + &cases().map(|case| details(case, measured)).collect::<String>()
}

/// Returns the row, or rows, of a case; `None` if Plimsoll failed in one of its rounds or there is no
/// competitor. A competitor that failed in a round is still compared.
fn summary_row(case: &Case<AcceleratorLoad>, measured: &MeasuredRounds<Values>) -> Option<String> {
    let Case { title, load, .. } = case;
    let ours = measured.ours(title);
    if ours.is_empty() || !ours.iter().all(Option::is_some) {
        return None;
    }
    match load.bar {
        PassCriterion::OfBest(most) => {
            let column = &load.columns[0];
            let bar = Bar::AtMost(most);
            let (best, _) = best(case, measured, column, bar)?;
            let compared = compare(column, ours, measured.of(title, best))?;
            let cells = compared.cells(best, &bar.cells(2, compared.ratio));
            Some(format!("| {title} ({}) | {cells} |\n", column.title))
        }
        PassCriterion::Within(bars) => {
            let row = |(column, bar): &(usize, Bar)| {
                let column = &load.columns[*column];
                let mine = median(ours, column.value)?;
                let (best, value) = best(case, measured, column, *bar).unwrap_or(("", f64::NAN));
                let [ours, theirs] = [mine, value].map(|value| column.text(value, None));
                let verdict = bar.judge(mine);
                Some(format!(
                    "| {title}: {} | {ours} | {theirs} | {best} | | {bar} | {verdict} |\n",
                    column.title
                ))
            };
            bars.iter().map(row).collect()
        }
    }
}

/// Returns the competitor with the best median of a column, as the bar asks for, and the median; `None` if all failed.
fn best(
    case: &Case<AcceleratorLoad>,
    measured: &MeasuredRounds<Values>,
    column: &Column<Values>,
    bar: Bar,
) -> Option<(&'static str, f64)> {
    let others = measured.in_case(case.title).filter(|one| one.contender != OURS);
    let medians = others.filter_map(|one| Some((one.contender, median(&one.rounds, column.value)?)));
    medians.min_by(|one, other| match bar {
        Bar::AtMost(_) => one.1.total_cmp(&other.1),
        Bar::AtLeast(_) | Bar::Above(_) => other.1.total_cmp(&one.1),
    })
}

/// Returns the table of one case: medians of each accelerator, and the first value of every round.
fn details(case: &Case<AcceleratorLoad>, measured: &MeasuredRounds<Values>) -> String {
    let Case { title, load, .. } = case;
    let first = &load.columns[0];
    let (names, rule) = heads(load.columns);
    let mut text = format!(
        "\n## {}\n\n| |{names} {}, round by round |\n|---|{rule}---|\n",
        capitalized(title),
        first.title
    );
    for ContenderRounds { contender, rounds, .. } in measured.in_case(title) {
        let cell = |column: &Column<Values>| column.median(rounds).unwrap_or("failed".to_owned());
        let medians: String = load.columns.iter().map(|column| format!(" {} |", cell(column))).collect();
        let each =
            rounds.iter().map(|costs| costs.as_ref().map_or("–".to_owned(), |costs| first.cell(costs)));
        text += &format!("| {contender} |{medians} {} |\n", each.collect::<Vec<_>>().join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str) -> &'static Case<AcceleratorLoad> {
        CASES.iter().find(|case| case.names == [name]).unwrap()
    }

    fn measured(name: &str, peers: &[(&'static str, &[&[f64]])]) -> MeasuredRounds<Values> {
        let title = case(name).title;
        let costs = |values: &&[f64]| (!values.is_empty()).then(|| values.to_vec());
        let of = |(contender, rounds): &(&'static str, &[&[f64]])| ContenderRounds {
            case: title,
            contender,
            rounds: rounds.iter().map(costs).collect(),
        };
        MeasuredRounds(peers.iter().map(of).collect())
    }

    /// Ratios of the rounds to HAProxy, which has the best median of the others: 0.8, 0.7, 0.5; the median
    /// just meets 0.75.
    #[test]
    fn ratios_are_relative_to_the_best_competitor() {
        let one = measured(
            "mix",
            &[
                (OURS, &[&[8.0, 1.0, 1.0], &[7.0, 1.0, 1.0], &[6.0, 1.0, 1.0]]),
                ("haproxy", &[&[10.0, 1.0, 1.0], &[10.0, 1.0, 1.0], &[12.0, 1.0, 1.0]]),
                ("squid", &[&[9.0, 1.0, 1.0], &[50.0, 1.0, 1.0], &[50.0, 1.0, 1.0]]),
            ],
        );
        let text = tables(&one);
        assert!(text.contains("| 7.00 | 10.00 | haproxy | 0.700 | ≤ 0.75 | met |\n"), "{text}");
        assert!(text.contains("| squid | 50.00 | 1 | 1.00 | 9.00, 50.00, 50.00 |"), "{text}");
    }

    #[test]
    fn failing_in_a_round_is_no_advantage() {
        let one = measured(
            "mix",
            &[
                (OURS, &[&[8.0], &[7.0], &[6.0]]),
                ("haproxy", &[&[10.0], &[], &[10.0]]),
                ("squid", &[&[50.0], &[50.0], &[50.0]]),
            ],
        );
        let row = summary_row(case("mix"), &one).unwrap();
        assert!(row.ends_with("| 7.00 | 10.00 | haproxy | 0.700 | ≤ 0.75 | met |\n"), "{row}");
        let ours_failed = measured("mix", &[(OURS, &[&[8.0], &[]]), ("haproxy", &[&[10.0], &[10.0]])]);
        assert_eq!(summary_row(case("mix"), &ours_failed), None);
    }

    #[test]
    fn limits_are_checked_one_by_one_and_failures_are_reported() {
        let one = measured("hits", &[(OURS, &[&[0.98, 120.0, 1.0]]), ("varnish", &[&[]])]);
        let row = summary_row(case("hits"), &one).unwrap();
        let (first, second) = row.split_once('\n').unwrap();
        assert!(
            first.contains("hit ratio | 0.9800 | – |") && first.ends_with("| ≥ 0.975 | met |"),
            "{first}"
        );
        assert!(second.contains("| 120.0 |") && second.ends_with("| ≤ 110 | **missed** |\n"), "{second}");
        let text = tables(&one);
        assert!(text.contains("| varnish | failed | failed | failed | – |"), "{text}");
        let alone = measured("mix", &[("squid", &[&[1.0, 1.0, 1.0]])]);
        assert!(tables(&alone).contains("not measured"));
    }
}
