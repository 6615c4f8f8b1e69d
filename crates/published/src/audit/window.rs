//! Checks that total ÷ rate of everything counted over a run is the length of the same window.

use crate::QuantityForm as Form;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;
use super::written;

/// A total, its rate, and the window that they make.
struct Window<'a> {
    total: Entry<'a>,
    rate: Entry<'a>,
    range: ValueRange,
}

/// Checks the totals of a row against each other, where none of them agrees with a stated length; otherwise the law
/// `total` names those that do not.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let windows = windows(row);
    let agrees = |window: &Window| {
        row.find(Form::Duration, window.total.class).is_some_and(|length| window.range.meets(length.range()))
    };
    if windows.len() < 2 || windows.iter().any(agrees) {
        return Vec::new();
    }
    let n_unlike = |window: &Window| windows.iter().filter(|other| !window.range.meets(other.range)).count();
    let Some(odd) = windows.iter().max_by_key(|window| n_unlike(window)).filter(|odd| 0 < n_unlike(odd))
    else {
        return Vec::new();
    };
    let others = windows.iter().filter(|other| !odd.range.meets(other.range)).take(1);
    others.map(|other| finding(row, odd, other)).collect()
}

fn windows<'a>(row: &Row<'a>) -> Vec<Window<'a>> {
    let mut windows = Vec::new();
    for class in row.classes() {
        for (total, rate) in [(Form::Operations, Form::Rate), (Form::Errors, Form::ErrorRate)] {
            let (Some(total), Some(rate)) = (row.exactly(total, class), row.exactly(rate, class)) else {
                continue;
            };
            // A total with its own window is no evidence about the others.
            if class.is_some() && row.exactly(Form::Duration, class).is_some() {
                continue;
            }
            windows.extend(total.range().over(rate.range()).map(|range| Window { total, rate, range }));
        }
    }
    windows
}

fn finding(row: &Row, odd: &Window, other: &Window) -> PublishedFinding {
    let shown = |window: &Window| {
        let seconds = written::range(window.range, "s", 1.0);
        format!("{} ÷ {} is {seconds}", window.total.shown(), window.rate.shown())
    };
    let text = format!("{}, {}: both should be the same window", shown(odd), shown(other));
    PublishedFinding::of_row("window", row, &[odd.total, odd.rate, other.total, other.rate], text)
}
