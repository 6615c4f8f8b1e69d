//! Quotients that are nearly the same in all rows of a table: data per operation, operations per paced user.

use model::{PublishedTable, QuantityForm as Form};
use stats::median;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::written::decimals;

/// Rows from which the others say what one should be.
const ROWS_MIN: usize = 4;

/// Half width of a band in standard deviations, which are told from the median deviation.
const DEVIATIONS: f64 = 5.0;

/// Standard deviations per median absolute deviation, for a normal distribution: 1 ÷ Φ⁻¹(¾).
const DEVIATIONS_PER_MAD: f64 = 1.4826;

/// Least half width of data per operation, relative to the middle: sampling of large files moves a run's mean by 2 %.
const SIZE_BAND_MIN: f64 = 0.05;

/// Least half width of operations per user: a slow server takes some percent from the pace of a script.
const PACE_BAND_MIN: f64 = 0.10;

/// Half width from which the rows have nothing in common, relative to the middle.
const BAND_MAX: f64 = 0.25;

/// By which part data per operation may be less than the body of the workload: runs lose the largest files at their end.
const BELOW_BODY_MAX: f64 = 0.02;

/// By which part it may be more, besides heads of the size below.
const ABOVE_BODY_MAX: f64 = 0.10;

/// The largest head of a reply, in bytes. The published WebStone rows imply 32 to 331.
const HEAD_MAX: f64 = 350.0;

/// One row's quotient.
struct Quotient<'a> {
    row: Row<'a>,
    top: Entry<'a>,
    bottom: Entry<'a>,
    value: f64,
}

/// Checks the quotients of a table.
pub(super) fn check(table: &PublishedTable) -> Vec<PublishedFinding> {
    let rows: Vec<Row> = Row::of_table(table).collect();
    let mut classes: Vec<Option<&str>> = rows.iter().flat_map(|row| row.classes()).collect();
    classes.sort_unstable();
    classes.dedup();
    let mut findings = Vec::new();
    for class in classes {
        let sizes = quotients(&rows, Form::Throughput, Form::Rate, class);
        findings.extend(outside(&sizes, SIZE_BAND_MIN, "throughput", "data per operation"));
        findings.extend(body(table, &rows, &sizes, class));
        if table.is_paced {
            let paces = quotients(&rows, Form::Rate, Form::Users, class);
            findings.extend(outside(&paces, PACE_BAND_MIN, "pace", "operations per user"));
        }
    }
    findings
}

fn quotients<'a>(rows: &[Row<'a>], top: Form, bottom: Form, class: Option<&str>) -> Vec<Quotient<'a>> {
    let of_row = |row: &Row<'a>| {
        let (top, bottom) = (row.exactly(top, class)?, row.exactly(bottom, class)?);
        let value = top.number.value / bottom.number.value;
        value.is_finite().then(|| Quotient { row: row.clone(), top, bottom, value })
    };
    rows.iter().filter_map(of_row).collect()
}

/// Returns the rows whose quotient is far from that of the others; none if the rows have nothing in common.
fn outside(quotients: &[Quotient], least: f64, law: &'static str, what: &str) -> Vec<PublishedFinding> {
    let values: Vec<f64> = quotients.iter().map(|quotient| quotient.value).collect();
    let Some((middle, half)) = band(&values, least).filter(|(middle, half)| *half <= BAND_MAX * middle)
    else {
        return Vec::new();
    };
    let far = quotients.iter().filter(|quotient| half < (quotient.value - middle).abs());
    far.map(|quotient| finding(quotient, law, what, middle)).collect()
}

/// Returns middle and half width of the band in which quotients lie; `None` with too few of them.
fn band(values: &[f64], least: f64) -> Option<(f64, f64)> {
    if values.len() < ROWS_MIN {
        return None;
    }
    let middle = median(values)?;
    let spread = median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())?;
    Some((middle, (DEVIATIONS * DEVIATIONS_PER_MAD * spread).max(least * middle)))
}

fn finding(quotient: &Quotient, law: &'static str, what: &str, middle: f64) -> PublishedFinding {
    let Quotient { row, top, bottom, value } = quotient;
    let text = format!(
        "{} ÷ {} makes {what} {} % {} than in the other rows; `{}` {} would agree",
        top.shown(),
        bottom.shown(),
        decimals(100.0 * (value / middle - 1.0).abs(), 1),
        if middle < *value { "more" } else { "less" },
        top.column.name,
        top.in_its_unit(middle * bottom.number.value)
    );
    PublishedFinding::of_row(law, row, &[*top, *bottom], text)
}

/// Data per operation are the body and some heads.
fn body(
    table: &PublishedTable,
    rows: &[Row],
    sizes: &[Quotient],
    class: Option<&str>,
) -> Option<PublishedFinding> {
    let body = rows.iter().find_map(|row| row.find(Form::Body, class))?;
    let middle = median(&sizes.iter().map(|size| size.value).collect::<Vec<_>>())?;
    let least = (1.0 - BELOW_BODY_MAX) * body.range().low;
    let most = (1.0 + ABOVE_BODY_MAX) * body.range().high + HEAD_MAX;
    let text = format!(
        "throughput ÷ rate is {} B per operation in the middle of the rows, the workload says {}; is the unit right?",
        decimals(middle, 0),
        body.shown()
    );
    let finding = PublishedFinding { law: "throughput", place: table.title.clone(), text, cells: Vec::new() };
    (!(least..=most).contains(&middle)).then_some(finding)
}
