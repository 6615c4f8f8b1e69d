//! The tables in `docs/ci.md`.

use anyhow::{Context, Result};

use super::super::CaseOptions;
use super::super::machine;
use super::pairs::{BOUNDS, Case, NOT_MEASURED, Pair};
use crate::shell::{root, write_page};

/// The page, and the lines between which the tables are.
const PAGE: &str = "docs/ci.md";
const BEGIN: &str = "<!-- tables: cargo xtask bench-fail-if --write -->\n";
const END: &str = "<!-- end of tables -->\n";

/// Cases with their pairs.
type Measured<'a> = [(&'a Case, Vec<Pair>)];

/// Returns the tables: pairs of identical code, and pairs of which one is slower.
pub(super) fn text(options: &CaseOptions, load: &str, measured: &Measured) -> Result<String> {
    let version = machine::row("Node", "node", "--version")?;
    let (program, facts) = (options.line(), machine::without_servers()?);
    Ok(format!(
        "Measured with `cargo xtask bench-fail-if {program}`, load average before: {load}. Each side is a new process \
         of a server on Node with 20 connections and steady phases of {} s; bounds `{}`.\n\n{facts}{version}\n{}",
        options.seconds,
        BOUNDS.join("` and `"),
        tables(measured)
    ))
}

fn tables(measured: &Measured) -> String {
    let table = |is_slower: bool, wanted: &str| {
        let rows: String = measured.iter().filter(|(case, _)| case.is_slower == is_slower).map(row).collect();
        let head = format!(
            "| {wanted} | runs per side | pairs | exit 5 | undecided | invalid, repeated | rate, after ÷ before: median (range) |\n\
             |---|---:|---:|---:|---:|---:|---|\n"
        );
        if rows.is_empty() { String::new() } else { head + &rows + "\n" }
    };
    table(false, "must not fail") + &table(true, "must fail")
}

fn row((case, pairs): &(&Case, Vec<Pair>)) -> String {
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
    let (middle, last) = (ratio(ratios.len() / 2), ratio(ratios.len().saturating_sub(1)));
    format!(
        "| {} | {} | {}{not_measured} | {failed} | {undecided} | {again} | {middle} ({}–{last}) |\n",
        case.title,
        case.runs,
        pairs.len(),
        ratio(0)
    )
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
    use super::super::pairs::CASES;
    use super::*;

    fn pair(outcomes: [&str; 2], ratio: f64) -> Pair {
        Pair { outcomes: outcomes.map(str::to_owned).to_vec(), ratio: Some(ratio), again: 0 }
    }

    #[test]
    fn pairs_are_counted_once() {
        let repeated = Pair { again: 2, ..pair(["exceeded", "undecided"], 0.7) };
        let identical = vec![pair(["undecided", "kept"], 0.98), repeated];
        let slower = vec![pair(["exceeded", "exceeded"], 0.71)];
        let tables = tables(&[(&CASES[0], identical), (&CASES[1], slower)]);
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
