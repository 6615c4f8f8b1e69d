//! Quotients that are nearly the same in all rows of a table: data per operation, operations per paced user.

use crate::{PublishedTable, QuantityForm as Form};
use stats::median;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::written::decimals;

/// The fewest rows with a band.
const ROWS_MIN: usize = 4;

/// Half width of a band in standard deviations, which are estimated from the median deviation.
const DEVIATIONS: f64 = 5.0;

/// Standard deviations per median absolute deviation, for a normal distribution: 1 ÷ Φ⁻¹(¾).
const DEVIATIONS_PER_MAD: f64 = 1.4826;

/// Least half width of data per operation, relative to the middle: sampling of large files moves a run's mean by 2 %.
const SIZE_BAND_MIN: f64 = 0.05;

/// Least half width of operations per user: a slow server takes some percent from the pace of a script.
const PACE_BAND_MIN: f64 = 0.10;

/// Half width from which the rows have nothing in common, relative to the middle.
const BAND_MAX: f64 = 0.25;

/// The share by which data per operation may be less than the body of the workload: runs lose the largest files at
/// their end.
const BELOW_BODY_MAX: f64 = 0.02;

/// The share by which it may be more, besides heads of the size below.
const ABOVE_BODY_MAX: f64 = 0.10;

/// The largest head of a reply, in bytes. The published WebStone rows imply 32 to 331.
const HEAD_MAX: f64 = 350.0;

/// A quotient of two figures of a row.
struct Quotient<'a> {
    top: Entry<'a>,
    bottom: Entry<'a>,
    value: f64,
}

/// The bands that the rows of a table have in common.
pub(super) struct Bands {
    bands: Vec<Band>,
    findings: Vec<PublishedFinding>,
}

/// The band in which a quotient of one class lies in the rows of a table.
struct Band {
    law: &'static str,
    what: &'static str,
    top: Form,
    bottom: Form,
    class: Option<String>,
    middle: f64,
    half: f64,
}

impl Bands {
    /// Finds the bands of a table's rows, or of some of them.
    pub(super) fn of(table: &PublishedTable, rows: &[Row]) -> Bands {
        let mut classes: Vec<Option<&str>> = rows.iter().flat_map(|row| row.classes()).collect();
        classes.sort_unstable();
        classes.dedup();
        let mut bands = Vec::new();
        let mut findings = Vec::new();
        for class in classes {
            let sizes = quotients(rows, Form::Throughput, Form::Rate, class);
            let kind = ("throughput", "data per operation", Form::Throughput, Form::Rate);
            bands.extend(Band::new(kind, class, &sizes, SIZE_BAND_MIN));
            findings.extend(body(table, rows, &sizes, class));
            if table.is_paced {
                let paces = quotients(rows, Form::Rate, Form::Users, class);
                let kind = ("pace", "operations per user", Form::Rate, Form::Users);
                bands.extend(Band::new(kind, class, &paces, PACE_BAND_MIN));
            }
        }
        Bands { bands, findings }
    }

    /// Returns the findings about the table as a whole.
    pub(super) fn table_findings(&self) -> &[PublishedFinding] {
        &self.findings
    }

    /// Returns the findings about a row that is far from the others.
    pub(super) fn row_findings(&self, row: &Row) -> Vec<PublishedFinding> {
        self.bands.iter().filter_map(|band| band.check(row)).collect()
    }
}

impl Band {
    /// Returns the band of quotients; `None` if there are too few or they have nothing in common.
    fn new(
        (law, what, top, bottom): (&'static str, &'static str, Form, Form),
        class: Option<&str>,
        values: &[f64],
        least: f64,
    ) -> Option<Band> {
        let (middle, half) = band(values, least).filter(|(middle, half)| *half <= BAND_MAX * middle)?;
        Some(Band { law, what, top, bottom, class: class.map(str::to_owned), middle, half })
    }

    fn check(&self, row: &Row) -> Option<PublishedFinding> {
        let quotient = quotient(row, self.top, self.bottom, self.class.as_deref())?;
        (self.half < (quotient.value - self.middle).abs()).then(|| self.finding(row, &quotient))
    }

    fn finding(&self, row: &Row, quotient: &Quotient) -> PublishedFinding {
        let Quotient { top, bottom, value } = quotient;
        let text = format!(
            "{} ÷ {} makes {} {} % {} than in the other rows; `{}` {} would agree",
            top.shown(),
            bottom.shown(),
            self.what,
            decimals(100.0 * (value / self.middle - 1.0).abs(), 1),
            if self.middle < *value { "more" } else { "less" },
            top.column.name,
            top.in_its_unit(self.middle * bottom.number.value)
        );
        PublishedFinding::of_row(self.law, row, &[*top, *bottom], text)
    }
}

fn quotient<'a>(row: &Row<'a>, top: Form, bottom: Form, class: Option<&str>) -> Option<Quotient<'a>> {
    let top = row.exactly(top, class)?;
    let bottom = row.exactly(bottom, class)?;
    let value = top.number.value / bottom.number.value;
    value.is_finite().then_some(Quotient { top, bottom, value })
}

fn quotients(rows: &[Row], top: Form, bottom: Form, class: Option<&str>) -> Vec<f64> {
    rows.iter().filter_map(|row| quotient(row, top, bottom, class)).map(|quotient| quotient.value).collect()
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

/// Checks that data per operation are the body and some heads.
fn body(
    table: &PublishedTable,
    rows: &[Row],
    sizes: &[f64],
    class: Option<&str>,
) -> Option<PublishedFinding> {
    let body = rows.iter().find_map(|row| row.find(Form::Body, class))?;
    let middle = median(sizes)?;
    let least = (1.0 - BELOW_BODY_MAX) * body.range().low;
    let most = (1.0 + ABOVE_BODY_MAX) * body.range().high + HEAD_MAX;
    let text = format!(
        "throughput ÷ rate is {} B per operation in the middle of the rows, but {} by the workload; check the unit",
        decimals(middle, 0),
        body.shown()
    );
    let finding = PublishedFinding { law: "throughput", place: table.title.clone(), text, cells: Vec::new() };
    (!(least..=most).contains(&middle)).then_some(finding)
}
