//! Checks that counts are whole numbers, and that a rate times a length is one.

use crate::QuantityForm as Form;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;
use super::written::digits;

/// Rates of rare events, for which a whole number is evidence.
const RARE: [(Form, &str); 1] = [(Form::ErrorRate, "errors")];

/// Checks the numbers of a row.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let counted = row
        .entries
        .iter()
        .filter(|entry| entry.column.per.is_none())
        .filter_map(|entry| fraction(row, entry));
    let mut findings: Vec<PublishedFinding> = counted.collect();
    for (form, what) in RARE {
        findings.extend(row.every(form).filter_map(|entry| count(row, &entry, what)));
    }
    findings
}

fn fraction(row: &Row, entry: &Entry) -> Option<PublishedFinding> {
    let is_fraction = entry.column.quantity.is_counted() && entry.number.value.fract() != 0.0;
    let text = || format!("{} is a count, but not a whole number", entry.shown());
    is_fraction.then(|| PublishedFinding::of_row("whole", row, &[*entry], text()))
}

/// Reports a rate of events that over the given length is not a whole number.
fn count(row: &Row, rate: &Entry, what: &str) -> Option<PublishedFinding> {
    let length = row.find(Form::Duration, rate.class)?;
    let count = rate.range().times(length.range());
    let whole = ValueRange::exact(count.middle().round());
    let text = || {
        let found = digits(count.middle());
        format!("{} · {} = {found} {what}, not a whole number", rate.shown(), length.shown())
    };
    (!count.meets(whole)).then(|| PublishedFinding::of_row("whole", row, &[*rate, length], text()))
}
