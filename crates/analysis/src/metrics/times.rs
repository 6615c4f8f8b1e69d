//! Percentiles with intervals.

use stats::{Histogram, Moments, batch_mean_interval};
use units::Ratio;

use crate::{Percentile, SummaryStatistics, TimeSummary};

/// The percentiles of every time.
pub(crate) const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Confidence of every interval that is printed.
pub(crate) const CONFIDENCE: Ratio = Ratio(0.95);

/// Batches for an interval of a mean: enough for a narrow t, few enough to outlast the SUT's autocorrelation.
const N_BATCHES: (usize, usize) = (10, 20);

/// Returns the number of values from which a 95 % interval exists for a quantile.
///
/// The smallest n with pⁿ ≤ 0.025, p = max(q, 1 − q): only then does an order statistic bound the
/// quantile on its far side. p50 needs 6 values, p90 36, p99 368, p99.9 3,688. `u64::MAX` for 0 and 1.
///
/// Source: David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
pub fn values_needed(q: Ratio) -> u64 {
    let tail = (1.0 - CONFIDENCE.0) / 2.0;
    let far = q.0.max(1.0 - q.0);
    if far < 1.0 { (tail.ln() / far.ln()).ceil() as u64 } else { u64::MAX }
}

/// Makes the summary of a histogram whose single seconds are not known: without an interval for the mean, and with
/// intervals for percentiles that assume independent values (order statistics).
pub(crate) fn summary(histogram: Histogram) -> TimeSummary {
    let percentiles = QUANTILES.iter().filter_map(|q| percentile(&histogram, *q)).collect();
    let mean = (0 < histogram.n()).then(|| histogram.sum() as f64 / 1e9 / histogram.n() as f64);
    TimeSummary { mean, mean_interval: None, percentiles, max: histogram.max(), histogram }
}

/// Returns a 95 % interval by batch means of a value per second; `None` with fewer than ten seconds.
pub(crate) fn interval_of(seconds: &[f64]) -> Option<(f64, f64)> {
    let n_batches = seconds.len().min(N_BATCHES.1);
    let estimate =
        batch_mean_interval(seconds, n_batches, CONFIDENCE).filter(|_| N_BATCHES.0 <= n_batches)?;
    Some((estimate.low, estimate.high))
}

/// Returns the four statistics that WebStone prints, values divided by `unit`.
pub(crate) fn four(moments: &Moments, unit: f64) -> SummaryStatistics {
    SummaryStatistics {
        mean: moments.mean().map(|value| value / unit),
        deviation: moments.deviation().map(|value| value / unit),
        min: moments.min().map(|value| value as f64 / unit),
        max: moments.max().map(|value| value as f64 / unit),
    }
}

fn percentile(histogram: &Histogram, q: f64) -> Option<Percentile> {
    let found = histogram.quantile_interval(Ratio(q), CONFIDENCE)?;
    Some(Percentile { q, value: found.value, interval: Some((found.low, found.high)), n: found.n })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    /// By hand: ln 0.025 = −3.68888; ÷ ln 0.5 = 5.32, ÷ ln 0.9 = 35.01, ÷ ln 0.99 = 367.04,
    /// ÷ ln 0.999 = 3,687.03.
    #[test]
    fn the_values_that_percentiles_need() {
        assert_eq!([0.5, 0.9, 0.99, 0.999].map(|q| values_needed(Ratio(q))), [6, 36, 368, 3_688]);
        assert_eq!([0.01, 0.0, 1.0].map(|q| values_needed(Ratio(q))), [368, u64::MAX, u64::MAX]);
    }

    #[test]
    fn a_percentile_appears_with_the_value_that_makes_it_possible() {
        let of = |n: u64| {
            let mut histogram = Histogram::new();
            (1..=n).for_each(|k| histogram.record(Nanos(k)));
            summary(histogram).percentiles.iter().map(|p| p.q).collect::<Vec<_>>()
        };
        assert!(of(5).is_empty());
        assert_eq!((of(6), of(367), of(368)), (vec![0.5], vec![0.5, 0.9], vec![0.5, 0.9, 0.99]));
    }

    /// By hand: 2, 4, 4, 4, 5, 5, 7, 9 ns: mean 5, population deviation 2.
    #[test]
    fn the_four_statistics_in_seconds() {
        let mut moments = Moments::default();
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|value| moments.record(value));
        let found = four(&moments, 1e9);
        assert_eq!([found.mean, found.deviation, found.min, found.max], [5e-9, 2e-9, 2e-9, 9e-9].map(Some));
        assert_eq!(four(&Moments::default(), 1.0), SummaryStatistics::default());
    }
}
