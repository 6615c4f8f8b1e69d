//! The response time in fixed buckets, as monitoring systems require.

use stats::Histogram;
use units::Nanos;

/// The inclusive ends of buckets: 1, 2, 5 from 100 µs to 20 s, and the usual time limit of an operation.
pub(crate) const BOUNDS: [Nanos; 18] = [
    Nanos::from_micros(100),
    Nanos::from_micros(200),
    Nanos::from_micros(500),
    Nanos::from_millis(1),
    Nanos::from_millis(2),
    Nanos::from_millis(5),
    Nanos::from_millis(10),
    Nanos::from_millis(20),
    Nanos::from_millis(50),
    Nanos::from_millis(100),
    Nanos::from_millis(200),
    Nanos::from_millis(500),
    Nanos::from_secs(1),
    Nanos::from_secs(2),
    Nanos::from_secs(5),
    Nanos::from_secs(10),
    Nanos::from_secs(20),
    Nanos::from_secs(60),
];

/// A histogram of response times with fixed bounds, since the run began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResponseHistogram {
    /// Counts by bucket, not cumulative; the last one is beyond all bounds.
    pub(crate) counts: [u64; BOUNDS.len() + 1],
    /// The exact sum, in ns.
    pub(crate) sum_ns: u128,
}

impl ResponseHistogram {
    /// Adds the values of a histogram. Those within a thousandth below a bound may be counted above it.
    pub(crate) fn add(&mut self, histogram: &Histogram) {
        for bucket in histogram.buckets() {
            let index = BOUNDS.partition_point(|bound| *bound < bucket.high);
            self.counts[index] = self.counts[index].saturating_add(bucket.count);
        }
        self.sum_ns = self.sum_ns.saturating_add(histogram.sum());
    }

    /// Returns the number of values.
    pub(crate) fn n(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the sum in s.
    pub(crate) fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 90 µs and 99.9 µs are within 100 µs, 101 µs is not; 2 h is beyond all bounds.
    #[test]
    fn values_are_counted_up_to_the_bound_above_them() {
        let mut histogram = Histogram::new();
        for nanos in [90_000, 99_900, 101_000, 150_000_000, 7_200_000_000_000] {
            histogram.record(Nanos(nanos));
        }
        let mut response = ResponseHistogram::default();
        response.add(&histogram);
        response.add(&Histogram::new());
        let found: Vec<(usize, u64)> =
            response.counts.iter().copied().enumerate().filter(|(_, count)| 0 < *count).collect();
        assert_eq!(found, [(0, 2), (1, 1), (10, 1), (18, 1)]);
        assert_eq!((response.n(), response.sum_ns), (5, 7_200_150_290_900));
    }

    #[test]
    fn bounds_are_increasing() {
        assert!(BOUNDS.is_sorted_by(|one, next| one < next));
    }
}
