//! Percentiles rise, and means lie between extremes.

use model::{PublishedQuantity, QuantityForm};

use super::PublishedFinding;
use super::entry::{Entry, Row};

/// Checks the response times of a row.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for class in row.classes() {
        findings.extend(rising(row, class));
    }
    findings.extend(between_classes(row));
    findings
}

/// Returns where in the order of response times a quantity stands: the minimum first, the maximum last.
fn rank(quantity: PublishedQuantity) -> Option<f64> {
    match quantity {
        PublishedQuantity::Percentile(number) => Some(number),
        PublishedQuantity::Of(QuantityForm::ResponseMin) => Some(f64::NEG_INFINITY),
        PublishedQuantity::Of(QuantityForm::ResponseMax) => Some(f64::INFINITY),
        PublishedQuantity::Of(_) => None,
    }
}

/// Minimum, percentiles and maximum stand in this order; the mean lies between minimum and maximum.
fn rising(row: &Row, class: Option<&str>) -> Vec<PublishedFinding> {
    let of_class = |entry: &&Entry| entry.class == class && entry.column.per.is_none();
    let mut ranked: Vec<(f64, Entry)> = row
        .entries
        .iter()
        .filter(of_class)
        .filter_map(|entry| Some((rank(entry.column.quantity)?, *entry)))
        .collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut pairs: Vec<[Entry; 2]> = ranked.windows(2).map(|pair| [pair[0].1, pair[1].1]).collect();
    if let Some(mean) = row.exactly(QuantityForm::Response, class) {
        let extreme = |form| row.exactly(form, class);
        pairs.extend(extreme(QuantityForm::ResponseMin).map(|least| [least, mean]));
        pairs.extend(extreme(QuantityForm::ResponseMax).map(|most| [mean, most]));
    }
    let is_broken = |pair: &[Entry; 2]| !pair[0].range().may_be_at_most(pair[1].range());
    let finding = |pair: [Entry; 2]| {
        let text = format!("{} is more than {}", pair[0].shown(), pair[1].shown());
        PublishedFinding::of_row("percentiles", row, &pair, text)
    };
    pairs.into_iter().filter(is_broken).map(finding).collect()
}

/// A mean or percentile of all classes lies between the smallest and the greatest of the classes.
fn between_classes(row: &Row) -> Vec<PublishedFinding> {
    let is_time = |quantity| {
        matches!(quantity, PublishedQuantity::Percentile(_) | PublishedQuantity::Of(QuantityForm::Response))
    };
    let of_all = row.entries.iter().filter(|entry| entry.class.is_none() && is_time(entry.column.quantity));
    of_all.filter_map(|whole| outside(row, whole)).collect()
}

fn outside(row: &Row, whole: &Entry) -> Option<PublishedFinding> {
    let is_part = |entry: &&Entry| entry.class.is_some() && entry.column.quantity == whole.column.quantity;
    let parts: Vec<Entry> = row.entries.iter().filter(is_part).copied().collect();
    let by_value = |one: &&Entry, other: &&Entry| one.number.value.total_cmp(&other.number.value);
    let (least, most) = (parts.iter().min_by(by_value)?, parts.iter().max_by(by_value)?);
    let is_between =
        least.range().may_be_at_most(whole.range()) && whole.range().may_be_at_most(most.range());
    let text = || format!("{} is not between {} and {}", whole.shown(), least.shown(), most.shown());
    (1 < parts.len() && !is_between)
        .then(|| PublishedFinding::of_row("percentiles", row, &[*whole, *least, *most], text()))
}
