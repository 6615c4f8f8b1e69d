//! The tables of the cases.

use super::cases::{FEW, GeneratorCase, MANY, MEMORY, Round};
use super::figures::{over, word};

/// Maximum memory of an additional connection, in KiB.
const MEMORY_BAR: f64 = 2.0;

/// Cases with the rounds in which they were measured.
type Measured<'a> = [(&'a GeneratorCase, Vec<Round>)];

/// Returns all tables; empty if nothing was measured.
pub(super) fn all(measured: &Measured) -> String {
    if measured.is_empty() {
        String::new()
    } else {
        summary(measured) + &memory(measured) + &details(measured)
    }
}

fn summary(measured: &Measured) -> String {
    let mut text = "## CPU per request compared with others\n\n\
        CPU seconds (user and system) per million requests; medians of all rounds. The ratio is the median of the \
        ratios of the rounds.\n\n\
        | case | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n"
        .to_owned();
    for (case, rounds) in measured {
        let (plimsoll, reference) =
            (over(rounds, |round| round.plimsoll.cost), over(rounds, |round| round.reference.cost));
        let ratio = over(rounds, Round::ratio);
        let (title, bar, met, name) = (case.title, case.bar, word(ratio <= case.bar), case.reference.name());
        text += &format!(
            "| {title} | {plimsoll:.2} | {reference:.2} | {name} | {ratio:.3} | ≤ {bar:.2} | {met} |\n"
        );
    }
    text
}

fn memory(measured: &Measured) -> String {
    let find = |name| measured.iter().find(|(case, _)| case.name == name).map(|(_, rounds)| rounds);
    let (Some(few), Some(many)) = (find(MEMORY[0]), find(MEMORY[1])) else { return String::new() };
    let each = |value: fn(&Round) -> f64| {
        let (few, many) = (over(few, value), over(many, value));
        (few, many, (many - few) / f64::from(MANY - FEW))
    };
    let row = |name: &str, (few, many, more): (f64, f64, f64), verdict: &str| {
        format!("| {name} | {few:.0} | {many:.0} | {more:.2} | {verdict} |\n")
    };
    let (plimsoll, wrk) = (each(|round| round.plimsoll.rss_kib), each(|round| round.reference.rss_kib));
    format!(
        "\n## Memory per connection\n\n\
        Maximum resident memory (KiB) in the first four fifths of the turn, with kept connections; the \
        additional memory of 9,900 more connections, divided by 9,900. At most {MEMORY_BAR:.0} KiB.\n\n\
        | | at 100 | at 10,000 | per connection | |\n|---|---:|---:|---:|---|\n{}{}",
        row("Plimsoll", plimsoll, word(plimsoll.2 <= MEMORY_BAR)),
        row("wrk", wrk, ""),
    )
}

fn details(measured: &Measured) -> String {
    let mut text = "\n## Round by round\n\n\
        | case | round | Plimsoll, s per million | requests | the other, s per million | requests | ratio |\n\
        |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (case, rounds) in measured {
        for (n, round) in rounds.iter().enumerate() {
            let Round { plimsoll, reference } = round;
            text += &format!(
                "| {} | {} | {:.2} | {} | {:.2} | {} | {:.3} |\n",
                case.title,
                n + 1,
                plimsoll.cost,
                plimsoll.requests,
                reference.cost,
                reference.requests,
                round.ratio()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::super::generator::TurnResult;
    use super::*;

    fn turn(cost: f64, rss_kib: f64) -> TurnResult {
        TurnResult { cost, requests: 1_000, rss_kib }
    }

    /// Medians 8 of 10 with round ratios 0.8, 0.9, 0.7; memory (21,000 − 1,200) KiB ÷ 9,900 = 2.00.
    #[test]
    fn tables_show_medians_of_rounds_and_memory_per_connection() {
        let round = |plimsoll, rss| Round { plimsoll: turn(plimsoll, rss), reference: turn(10.0, 500.0) };
        let rounds = |rss| vec![round(8.0, rss), round(9.0, rss), round(7.0, rss)];
        let memory_of = |case: &GeneratorCase| if case.name == MEMORY[1] { 21_000.0 } else { 1_200.0 };
        let measured: Vec<_> = CASES.iter().map(|case| (case, rounds(memory_of(case)))).collect();
        let text = summary(&measured);
        assert!(text.contains("100 connections | 8.00 | 10.00 | wrk | 0.800 | ≤ 0.95 | met |"), "{text}");
        assert!(text.contains("one connection | 8.00 | 10.00 | h2load | 0.800 | ≤ 1.15 | met |"), "{text}");
        let text = memory(&measured);
        assert!(text.contains("| Plimsoll | 1200 | 21000 | 2.00 | met |"), "{text}");
        let count = details(&measured).lines().filter(|line| line.ends_with("| 0.900 |")).count();
        assert_eq!(count, CASES.len());
        // One of the two cases is missing.
        assert_eq!(memory(&measured[1..]), "");
        assert_eq!(all(&[]), "");
    }
}
