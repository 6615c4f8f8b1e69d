//! Checks that a standard deviation is possible beside mean, extremes and percentiles.

use crate::{PublishedQuantity, QuantityForm as Form};

use super::PublishedFinding;
use super::entry::{Entry, Row};

/// The share by which a standard deviation may pass its bounds: reports seldom say whether they divide by n or n − 1.
const DEVIATION_SLACK: f64 = 0.01;

/// Mean and standard deviation of the response times of one class.
struct Spread<'a> {
    mean: Entry<'a>,
    deviation: Entry<'a>,
}

/// Checks the standard deviations of a row.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for class in row.classes() {
        let (Some(mean), Some(deviation)) =
            (row.exactly(Form::Response, class), row.exactly(Form::ResponseDeviation, class))
        else {
            continue;
        };
        let spread = Spread { mean, deviation };
        findings.extend(spread.too_wide(row, class));
        findings.extend(spread.too_narrow(row, class));
    }
    findings
}

impl Spread<'_> {
    /// Checks σ² ≤ (maximum − mean) · (mean − minimum), with a minimum of 0 where none is given.
    ///
    /// Source: Bhatia and Davis, "A better bound on the variance", 2000.
    fn too_wide(&self, row: &Row, class: Option<&str>) -> Option<PublishedFinding> {
        let most = row.exactly(Form::ResponseMax, class)?;
        let least = row.exactly(Form::ResponseMin, class);
        let low = least.map_or(0.0, |least| least.range().low.max(0.0));
        let high = most.range().high;
        let mean = self.mean.range();
        // The product is greatest for the mean in the middle of the extremes.
        let mean = (0.5 * (low + high)).clamp(mean.low, mean.high);
        let bound = ((high - mean) * (mean - low)).max(0.0).sqrt();
        if self.deviation.range().low <= bound * (1.0 + DEVIATION_SLACK) {
            return None;
        }
        let bound = self.deviation.in_its_unit(bound);
        let text =
            format!("{} is impossible: by mean and extremes it is at most {bound}", self.deviation.shown());
        let entries: Vec<Entry> = [self.deviation, self.mean, most].into_iter().chain(least).collect();
        Some(PublishedFinding::of_row("deviation", row, &entries, text))
    }

    /// Checks that extremes and percentiles are not farther from the mean than the deviation lets them be.
    fn too_narrow(&self, row: &Row, class: Option<&str>) -> Vec<PublishedFinding> {
        let n_operations = row.find(Form::Operations, class).map(|operations| operations.number.value);
        let is_ranked = |entry: &&Entry| entry.class == class && entry.column.per.is_none();
        let ranked = row.entries.iter().filter(is_ranked);
        ranked.filter_map(|entry| self.too_far(row, entry, n_operations)).collect()
    }

    fn too_far(&self, row: &Row, entry: &Entry, n_operations: Option<f64>) -> Option<PublishedFinding> {
        let (below, above) = reach(entry.column.quantity, n_operations)?;
        let deviation = self.deviation.range().high * (1.0 + DEVIATION_SLACK);
        let mean = self.mean.range();
        let value = entry.range();
        let least = mean.low - below * deviation;
        let most = mean.high + above * deviation;
        if least <= value.high && value.low <= most {
            return None;
        }
        let (bound, side) = if value.high < least { (least, "at least") } else { (most, "at most") };
        let bound = entry.in_its_unit(bound);
        let text = format!(
            "{} is impossible: by {} and {} it is {side} {bound}",
            entry.shown(),
            self.mean.shown(),
            self.deviation.shown()
        );
        Some(PublishedFinding::of_row("deviation", row, &[*entry, self.mean, self.deviation], text))
    }
}

/// Returns how many standard deviations a value can lie below and above the mean; `None` if nothing is known.
///
/// A percentile q lies at most √((1 − q) ÷ q) below and √(q ÷ (1 − q)) above it (Cantelli's inequality), and no value
/// of n lies farther away than √(n − 1) (Samuelson's inequality).
fn reach(quantity: PublishedQuantity, n_operations: Option<f64>) -> Option<(f64, f64)> {
    match quantity {
        PublishedQuantity::Percentile(percent) if 0.0 < percent && percent < 100.0 => {
            let odds = percent / (100.0 - percent);
            Some((odds.recip().sqrt(), odds.sqrt()))
        }
        PublishedQuantity::Percentile(_) | PublishedQuantity::Of(Form::ResponseMin | Form::ResponseMax) => {
            let most = (n_operations? - 1.0).max(0.0).sqrt();
            Some((most, most))
        }
        PublishedQuantity::Of(_) => None,
    }
}
