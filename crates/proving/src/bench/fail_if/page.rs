//! The tables in `docs/ci.md`.

use anyhow::{Context, Result};

use super::pairs::{BOUNDS, CASES, NOT_MEASURED, Pair, PairKind};
use crate::bench::figures::section;
use crate::bench::harness::{Case, Facts};
use crate::bench::rounds::MeasuredRounds;
use crate::shell::{root, write_page};

/// The page, and the lines between which the tables are.
pub(super) const PAGE: &str = "docs/ci.md";
const BEGIN: &str = "<!-- tables: cargo xtask bench-fail-if --write -->\n";
const END: &str = "<!-- end of tables -->\n";

/// Returns the tables: pairs of identical code, and pairs of which one is slower.
pub(super) fn text(facts: &Facts, measured: &MeasuredRounds<Pair>) -> String {
    let Facts { options, command, load, table } = facts;
    format!(
        "Measured with `{command}`, load average before: {load}. Each side is a new process \
         of a server on Node with 20 connections and steady phases of {} s; bounds `{}`.\n\n{table}\n{}",
        options.seconds,
        BOUNDS.join("` and `"),
        tables(measured)
    )
}

fn tables(measured: &MeasuredRounds<Pair>) -> String {
    let table = |is_slower: bool, wanted: &str| {
        let cases = CASES.iter().filter(|case| case.load.is_slower == is_slower);
        let rows: String = cases.filter_map(|case| row(case, measured.ours(case.title))).collect();
        let head = format!(
            "| {wanted} | runs per side | pairs | exit 5 | undecided | invalid, repeated | rate, after ÷ before: median (range) |\n\
             |---|---:|---:|---:|---:|---:|---|\n"
        );
        section(rows, &head)
    };
    table(false, "must not fail") + &table(true, "must fail")
}

/// Returns the row of a case; `None` without pairs.
fn row(case: &Case<PairKind>, pairs: &[Option<Pair>]) -> Option<String> {
    let pairs: Vec<&Pair> = pairs.iter().flatten().collect();
    let count = |outcome: &str| pairs.iter().filter(|pair| pair.has(outcome)).count();
    let failed = count("exceeded");
    let undecided = pairs.iter().filter(|pair| !pair.has("exceeded") && pair.has("undecided")).count();
    let not_measured = match count(NOT_MEASURED) {
        0 => String::new(),
        n => format!(" ({n} not measured)"),
    };
    let again: u32 = pairs.iter().map(|pair| pair.again).sum();
    let mut ratios: Vec<f64> = pairs.iter().filter_map(|pair| pair.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = |index: usize| ratios.get(index).map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
    let middle = ratio(ratios.len() / 2);
    let last = ratio(ratios.len().saturating_sub(1));
    let row = format!(
        "| {} | {} | {}{not_measured} | {failed} | {undecided} | {again} | {middle} ({}–{last}) |\n",
        case.title,
        case.load.runs,
        pairs.len(),
        ratio(0)
    );
    (!pairs.is_empty()).then_some(row)
}

/// Writes the tables into the page.
pub(super) fn write(text: &str) -> Result<()> {
    let page = std::fs::read_to_string(root().join(PAGE)).context(PAGE)?;
    write_page(PAGE, &with(&page, text).with_context(|| format!("`{PAGE}` has no place for tables"))?)
}

/// Returns a page with other tables; `None` if it has no place for them.
fn with(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{text}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rounds::OURS;

    fn pair(outcomes: [&str; 2], ratio: f64) -> Pair {
        Pair { outcomes: outcomes.map(str::to_owned).to_vec(), ratio: Some(ratio), again: 0 }
    }

    #[test]
    fn pairs_are_counted_once() {
        let repeated = Pair { again: 2, ..pair(["exceeded", "undecided"], 0.7) };
        let slower = pair(["exceeded", "exceeded"], 0.71);
        let identical = [pair(["undecided", "kept"], 0.98), repeated];
        let measured = [(CASES[0].title, OURS, &identical[..]), (CASES[1].title, OURS, &[slower])];
        let tables = tables(&MeasuredRounds::by_hand(&measured));
        assert!(tables.contains("| identical code | 1 | 2 | 1 | 1 | 2 | 0.980 (0.700–0.980) |"), "{tables}");
        assert!(
            tables.contains("| 40 % more time per page | 1 | 1 | 1 | 0 | 0 | 0.710 (0.710–0.710) |"),
            "{tables}"
        );
    }

    #[test]
    fn tables_take_the_place_of_earlier_ones() {
        let page = format!("a\n{BEGIN}old\n{END}b\n");
        assert_eq!(with(&page, "new\n"), Some(format!("a\n{BEGIN}new\n{END}b\n")));
        assert_eq!(with("a\n", "new\n"), None);
        let kept = std::fs::read_to_string(root().join(PAGE)).unwrap();
        assert!(with(&kept, "").is_some(), "the page in this checkout");
    }
}
