//! Checks that percentiles rise, and that means are within the bounds of percentiles and extremes.

use crate::{PublishedQuantity, QuantityForm};

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;

/// The share by which a mean may pass what its percentiles allow: ways to take a percentile differ by one operation.
const MEAN_SLACK: f64 = 0.01;

/// Checks the response times of a row.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for class in row.classes() {
        let ranked = ranked(row, class);
        let unordered = rising(row, class, &ranked);
        if unordered.is_empty() {
            findings.extend(mean(row, class, &ranked));
        } else {
            findings.extend(unordered);
        }
    }
    findings.extend(between_classes(row));
    findings
}

/// Returns the rank of a quantity in the order of response times: the minimum first, the maximum last.
pub(super) fn rank(quantity: PublishedQuantity) -> Option<f64> {
    match quantity {
        PublishedQuantity::Percentile(number) => Some(number),
        PublishedQuantity::Of(QuantityForm::ResponseMin) => Some(f64::NEG_INFINITY),
        PublishedQuantity::Of(QuantityForm::ResponseMax) => Some(f64::INFINITY),
        PublishedQuantity::Of(_) => None,
    }
}

/// Returns minimum, percentiles and maximum of a class in the order in which they must stand.
fn ranked<'a>(row: &Row<'a>, class: Option<&str>) -> Vec<(f64, Entry<'a>)> {
    let of_class = |entry: &&Entry| entry.class == class && entry.column.per.is_none();
    let mut ranked: Vec<(f64, Entry)> = row
        .entries
        .iter()
        .filter(of_class)
        .filter_map(|entry| Some((rank(entry.column.quantity)?, *entry)))
        .collect();
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    ranked
}

/// Checks that minimum, percentiles and maximum are in this order, and the mean between minimum and maximum.
fn rising(row: &Row, class: Option<&str>, ranked: &[(f64, Entry)]) -> Vec<PublishedFinding> {
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

/// Checks that the mean is within the bounds of percentiles and extremes.
///
/// Between two neighbors p₁ < p₂ of the values v₁ ≤ v₂ lie (p₂ − p₁) % of the operations, each of v₁ to v₂, so
/// Σ (p₂ − p₁) · v₁ ≤ 100 · mean ≤ Σ (p₂ − p₁) · v₂. Without a minimum the first v₁ is 0; without a maximum (or a
/// percentile of 100) there is no upper bound.
fn mean(row: &Row, class: Option<&str>, ranked: &[(f64, Entry)]) -> Option<PublishedFinding> {
    let mean = row.exactly(QuantityForm::Response, class)?;
    let has_percentile = |(rank, _): &(f64, Entry)| rank.is_finite();
    if !ranked.iter().any(has_percentile) {
        return None;
    }
    let mut least = ValueRange::ZERO;
    let mut most = ValueRange::ZERO;
    let mut below = 0.0;
    let mut low = ValueRange::ZERO;
    for (rank, entry) in ranked {
        let percent = rank.clamp(0.0, 100.0);
        let value = entry.range();
        let part = ValueRange::exact((percent - below) / 100.0);
        least = least.plus(part.times(low));
        most = most.plus(part.times(value));
        (below, low) = (percent, value);
    }
    // Values above the last percentile are at least that.
    least = least.plus(ValueRange::exact((100.0 - below) / 100.0).times(low));
    let most = if 100.0 <= below { most } else { ValueRange::ANY };
    let is_low = !least.may_be_at_most(mean.range().widened(MEAN_SLACK));
    let is_high = !mean.range().may_be_at_most(most.widened(MEAN_SLACK));
    let text = || {
        let (bound, side) = if is_low { (least.low, "at least") } else { (most.high, "at most") };
        let bound = mean.in_its_unit(bound);
        format!("{} is impossible: by percentiles and extremes it is {side} {bound}", mean.shown())
    };
    let entries: Vec<Entry> = [mean].into_iter().chain(ranked.iter().map(|(_, entry)| *entry)).collect();
    (is_low || is_high).then(|| PublishedFinding::of_row("percentiles", row, &entries, text()))
}

/// Checks that a mean or percentile of all classes is between the smallest and the greatest of the classes.
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
    let least = parts.iter().min_by(by_value)?;
    let most = parts.iter().max_by(by_value)?;
    let is_between =
        least.range().may_be_at_most(whole.range()) && whole.range().may_be_at_most(most.range());
    let text = || format!("{} is not between {} and {}", whole.shown(), least.shown(), most.shown());
    (1 < parts.len() && !is_between)
        .then(|| PublishedFinding::of_row("percentiles", row, &[*whole, *least, *most], text()))
}
