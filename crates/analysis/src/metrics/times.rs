//! Summaries of times: percentiles with intervals, and the four statistics of WebStone.

use stats::{Histogram, Moments, batch_mean_interval};
use units::Ratio;

use crate::percentiles::{CONFIDENCE, QUANTILES};
use crate::{Percentile, SummaryStatistics, TimeSummary};

/// Batches for an interval of a mean: enough for a narrow t, few enough to outlast the SUT's autocorrelation.
const N_BATCHES: (usize, usize) = (10, 20);

/// The fewest batches of a load point that is running.
const N_BATCHES_SO_FAR: usize = 5;

/// Makes the summary of a histogram whose single seconds are not known: without an interval for the mean, and with
/// intervals for percentiles that assume independent values (order statistics).
pub(crate) fn summary(histogram: Histogram) -> TimeSummary {
    let percentiles = QUANTILES.iter().filter_map(|q| percentile(&histogram, *q)).collect();
    TimeSummary {
        mean: mean_in_s(&histogram),
        mean_interval: None,
        percentiles,
        max: histogram.max(),
        histogram,
    }
}

/// Returns the arithmetic mean in seconds, from exact sums; `None` without values.
pub(crate) fn mean_in_s(histogram: &Histogram) -> Option<f64> {
    (0 < histogram.n()).then(|| histogram.sum() as f64 / 1e9 / histogram.n() as f64)
}

/// Returns a 95 % interval by batch means of a value per second; `None` with fewer than ten seconds.
pub(crate) fn interval_of(seconds: &[f64]) -> Option<(f64, f64)> {
    interval_so_far(seconds).filter(|_| N_BATCHES.0 <= seconds.len())
}

/// Returns the same of the seconds so far; `None` with fewer than five, where it would say next to nothing.
pub(crate) fn interval_so_far(seconds: &[f64]) -> Option<(f64, f64)> {
    let n_batches = seconds.len().min(N_BATCHES.1);
    let estimate =
        batch_mean_interval(seconds, n_batches, CONFIDENCE).filter(|_| N_BATCHES_SO_FAR <= n_batches)?;
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

    #[test]
    fn a_percentile_appears_with_the_value_that_makes_it_possible() {
        let of = |n: u64| {
            let mut histogram = Histogram::new();
            (1..=n).for_each(|k| histogram.record(Nanos(k)));
            summary(histogram).percentiles.iter().map(|p| p.q).collect::<Vec<_>>()
        };
        assert!(of(5).is_empty());
        assert_eq!((of(6), of(71)), (vec![0.5], vec![0.5, 0.9]));
        assert_eq!((of(72), of(367)), (vec![0.5, 0.9, 0.95], vec![0.5, 0.9, 0.95]));
        assert_eq!(of(368), [0.5, 0.9, 0.95, 0.99]);
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
