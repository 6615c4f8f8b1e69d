//! Prices: every quotient of a price, multiplied by its divisor, is the same price; and a system has one price.

use std::collections::HashMap;

use crate::{PublishedReport, QuantityForm};

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;
use super::written::decimals;

/// A price that follows from figures of one row and class.
struct ImpliedPrice<'a> {
    row: &'a Row<'a>,
    entries: Vec<Entry<'a>>,
    range: ValueRange,
    /// Number of processors, if the row says so.
    processors: Option<f64>,
}

/// The prices of every system that has a name, in the order in which the report names them.
#[derive(Default)]
struct SystemPrices<'a> {
    places: HashMap<&'a str, usize>,
    prices: Vec<Vec<ImpliedPrice<'a>>>,
}

impl<'a> SystemPrices<'a> {
    fn keep(&mut self, subject: Option<&'a str>, source: Option<ImpliedPrice<'a>>) {
        let (Some(subject), Some(source)) = (subject, source) else { return };
        let place = *self.places.entry(subject).or_insert(self.prices.len());
        if place == self.prices.len() {
            self.prices.push(Vec::new());
        }
        self.prices[place].push(source);
    }
}

/// Checks the prices of every row, then those of every system.
pub(super) fn check(report: &PublishedReport) -> Vec<PublishedFinding> {
    let rows = Row::all(report);
    let mut findings = Vec::new();
    let mut systems = SystemPrices::default();
    for row in &rows {
        for class in row.classes() {
            let sources = implied(row, class);
            match disjoint(&sources) {
                Some([one, other]) => findings.push(finding(one, other, "imply")),
                None => systems.keep(row.subject, common(sources)),
            }
        }
        systems.keep(row.subject, stated(row));
    }
    findings.extend(systems.prices.iter().flat_map(|sources| of_one_system(sources)));
    findings
}

/// Returns the prices that the quotients of a class imply.
fn implied<'a>(row: &'a Row<'a>, class: Option<&str>) -> Vec<ImpliedPrice<'a>> {
    let quotients = row.entries.iter().filter(|entry| {
        entry.class == class && entry.column.quantity == crate::PublishedQuantity::Of(QuantityForm::Price)
    });
    quotients.filter_map(|quotient| of_quotient(row, quotient)).collect()
}

fn of_quotient<'a>(row: &'a Row<'a>, quotient: &Entry<'a>) -> Option<ImpliedPrice<'a>> {
    let per = quotient.column.per.as_deref()?;
    let form = QuantityForm::ALL.iter().find(|form| form.name() == per)?;
    let divisor = row.find(*form, quotient.class)?;
    // The divisor is the figure as printed: 2,917 per minute, not 48.6 per second.
    let printed = divisor.range().times(ValueRange::exact(1.0 / divisor.number.scale));
    let range = quotient.range().times(printed);
    let processors = processors(row, quotient.class);
    Some(ImpliedPrice { row, entries: vec![*quotient, divisor], range, processors })
}

fn stated<'a>(row: &'a Row<'a>) -> Option<ImpliedPrice<'a>> {
    let price = row.every(QuantityForm::Price).next()?;
    let processors = processors(row, price.class);
    Some(ImpliedPrice { row, entries: vec![price], range: price.range(), processors })
}

fn processors(row: &Row, class: Option<&str>) -> Option<f64> {
    row.find(QuantityForm::Processors, class).map(|entry| entry.number.value)
}

/// Returns whether two prices are of machines with different numbers of processors.
fn differ(one: &ImpliedPrice, other: &ImpliedPrice) -> bool {
    one.processors.zip(other.processors).is_some_and(|(one, other)| one != other)
}

/// Returns two implied prices that cannot be equal.
fn disjoint<'s, 'a>(sources: &'s [ImpliedPrice<'a>]) -> Option<[&'s ImpliedPrice<'a>; 2]> {
    let pairs = sources
        .iter()
        .enumerate()
        .flat_map(|(i, one)| sources[i + 1..].iter().map(move |other| [one, other]));
    pairs.into_iter().find(|[one, other]| !one.range.meets(other.range))
}

/// Returns one implied price for several that agree, with their common range.
fn common(sources: Vec<ImpliedPrice>) -> Option<ImpliedPrice> {
    sources.into_iter().reduce(|one, other| {
        let range = one.range.common(other.range).unwrap_or(one.range);
        let entries = one.entries.into_iter().chain(other.entries).collect();
        ImpliedPrice { row: one.row, entries, range, processors: one.processors }
    })
}

/// Returns each price of a system that is not the one that is stated or, without such, the first.
fn of_one_system(sources: &[ImpliedPrice]) -> Vec<PublishedFinding> {
    let reference = sources.iter().find(|source| source.entries.len() == 1).or(sources.first());
    let Some(reference) = reference else { return Vec::new() };
    let others =
        sources.iter().filter(|source| !source.range.meets(reference.range) && !differ(source, reference));
    others.map(|other| finding(reference, other, "are of one system, and imply")).collect()
}

fn finding(one: &ImpliedPrice, other: &ImpliedPrice, verb: &str) -> PublishedFinding {
    let figures = |source: &ImpliedPrice| {
        let figures: Vec<String> = source.entries.iter().map(Entry::shown).collect();
        let class = source.entries[0].class.map_or(String::new(), |class| format!("{class}: "));
        format!("{class}{}", figures.join(" · "))
    };
    let price = |range: ValueRange| match range.high - range.low {
        0.0 => decimals(range.low, 2),
        _ => format!("{} to {}", decimals(range.low, 0), decimals(range.high, 0)),
    };
    let text = format!(
        "{} and {} {verb} two prices, {} and {}",
        figures(one),
        figures(other),
        price(one.range),
        price(other.range)
    );
    let mut finding = PublishedFinding::of_row("price", other.row, &other.entries, text);
    if one.row.table.id == other.row.table.id && one.row.index == other.row.index {
        let own = PublishedFinding::of_row("price", one.row, &one.entries, String::new());
        finding.cells.extend(own.cells);
    }
    finding
}
