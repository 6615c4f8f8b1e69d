//! Cells that were copied: into another system's row, or into another column.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{PublishedQuantity, PublishedReport, QuantityForm};

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::percentiles::rank;

/// Number of measured figures that two systems must share to the last digit.
const SHARED_MIN: usize = 2;

/// Significant digits that a shared figure must have.
const DIGITS_MIN: usize = 3;

/// Significant digits that the shared figures must have together: with fewer, many pairs are alike by chance.
const DIGITS_SHARED_MIN: usize = 8;

/// The most rows that a figure is remembered of: one that more rows have is no evidence, and every pair of them would
/// be compared.
const SHARERS_MAX: usize = 8;

/// Significant digits from which equal figures of two quantities are evidence.
const DIGITS_MIN_IN_ROW: usize = 4;

/// Quantities whose values no two systems share by chance to three digits and more.
const MEASURED: [QuantityForm; 8] = [
    QuantityForm::Operations,
    QuantityForm::Rate,
    QuantityForm::Response,
    QuantityForm::InProgress,
    QuantityForm::Throughput,
    QuantityForm::Size,
    QuantityForm::Price,
    QuantityForm::Score,
];

/// Checks all pairs of rows of different systems, and rows with other findings.
pub(super) fn check(report: &PublishedReport, findings: &[PublishedFinding]) -> Vec<PublishedFinding> {
    let rows = Row::all(report);
    let mut copies = Vec::new();
    let mut sharers: HashMap<Figure, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        let mut earlier: BTreeSet<usize> = BTreeSet::new();
        for entry in measured(row) {
            let sharers = sharers.entry(Figure::of(&entry)).or_default();
            earlier.extend(sharers.iter().filter(|sharer| **sharer != index));
            if sharers.len() < SHARERS_MAX && sharers.last() != Some(&index) {
                sharers.push(index);
            }
        }
        copies.extend(earlier.into_iter().filter_map(|earlier| of_systems(&rows[earlier], row)));
    }
    let suspect: HashSet<&(String, usize, String)> =
        findings.iter().flat_map(|finding| &finding.cells).collect();
    copies.extend(rows.iter().flat_map(|row| within_row(row, &suspect)));
    copies
}

/// The identity of a figure that two rows may share.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Figure<'a> {
    quantity: String,
    per: Option<&'a str>,
    class: Option<&'a str>,
    bits: u64,
}

impl<'a> Figure<'a> {
    fn of(entry: &Entry<'a>) -> Figure<'a> {
        Figure {
            quantity: entry.column.quantity.name(),
            per: entry.column.per.as_deref(),
            class: entry.class,
            bits: entry.number.value.to_bits(),
        }
    }
}

/// Checks that two systems do not have the same measured figures.
fn of_systems(earlier: &Row, row: &Row) -> Option<PublishedFinding> {
    let differ = earlier.subject? != row.subject?;
    let shared: Vec<Entry> =
        measured(row).filter(|entry| measured(earlier).any(|other| is_same(entry, &other))).collect();
    let n_digits: usize = shared.iter().map(|entry| entry.number.n_digits()).sum();
    if !differ || shared.len() < SHARED_MIN || n_digits < DIGITS_SHARED_MIN {
        return None;
    }
    let figures: Vec<String> = shared.iter().map(Entry::shown).collect();
    let text = format!("{} are those of {} to the last digit", figures.join(" and "), earlier.place());
    Some(PublishedFinding::of_row("copied", row, &shared, text))
}

fn measured<'r, 'a>(row: &'r Row<'a>) -> impl Iterator<Item = Entry<'a>> + use<'r, 'a> {
    let is_measured = |entry: &&Entry| {
        let known = match entry.column.quantity {
            PublishedQuantity::Percentile(_) => true,
            PublishedQuantity::Of(form) => MEASURED.contains(&form),
        };
        known && entry.place.is_some() && DIGITS_MIN <= entry.number.n_digits()
    };
    row.entries.iter().filter(is_measured).copied()
}

fn is_same(one: &Entry, other: &Entry) -> bool {
    one.column.quantity == other.column.quantity
        && one.column.per == other.column.per
        && one.class == other.class
        && one.number.value == other.number.value
}

/// Returns whether both are percentiles or extremes of one class: two ranks can fall on the same operation.
fn may_coincide(one: &Entry, other: &Entry) -> bool {
    one.class == other.class && rank(one.column.quantity).is_some() && rank(other.column.quantity).is_some()
}

/// Checks figures that break a law and have the digits of another quantity of their row: one was copied from the other.
fn within_row(row: &Row, suspect: &HashSet<&(String, usize, String)>) -> Vec<PublishedFinding> {
    let is_suspect =
        |entry: &Entry| suspect.contains(&(row.table.id.clone(), row.index, entry.column.id.clone()));
    let long = row
        .entries
        .iter()
        .filter(|entry| entry.place.is_some() && DIGITS_MIN_IN_ROW <= entry.number.n_digits());
    let long: Vec<&Entry> = long.collect();
    let pairs =
        long.iter().enumerate().flat_map(|(i, one)| long[i + 1..].iter().map(move |other| [**one, **other]));
    let is_copy = |[one, other]: &[Entry; 2]| {
        one.column.quantity != other.column.quantity
            && one.number.digits() == other.number.digits()
            && !may_coincide(one, other)
            && (is_suspect(one) || is_suspect(other))
    };
    let finding = |pair: [Entry; 2]| {
        let text = format!("{} and {} are the same to the last digit", pair[0].shown(), pair[1].shown());
        PublishedFinding::of_row("copied", row, &pair, text)
    };
    pairs.filter(is_copy).map(finding).collect()
}
