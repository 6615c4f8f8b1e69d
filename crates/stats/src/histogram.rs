//! Histograms of times, mergeable without loss.

use std::fmt;
use std::ops::RangeInclusive;

use thiserror::Error;
use units::{Nanos, Ratio};

use crate::buckets::{HIGHEST, bounds_of, index_of};
use crate::octaves::OctaveCounts;
use crate::order::{interval_ranks, quantile_rank};

/// A histogram of times with three significant digits, and exact count, sum, smallest and largest.
///
/// Values are in ns, from 0 to one hour; longer ones are counted at one hour and in [`beyond`],
/// while sum and largest stay exact. A histogram that never held a value is a few words; the first value of an
/// octave (from a power of two to the next) brings an allocation of 8 KB, which [`clear`] keeps.
///
/// Two histograms are equal if they hold the same counts in the same buckets and the same exact figures.
///
/// [`beyond`]: Histogram::beyond
/// [`clear`]: Histogram::clear
#[derive(Default)]
pub struct Histogram {
    pub(crate) n: u64,
    pub(crate) sum: u128,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) beyond: u64,
    /// Invariant: they add up to `n`, and are zero outside [`Histogram::extreme_buckets`].
    pub(crate) counts: OctaveCounts,
}

/// An error of [`Histogram::merge`]: both histograms together have more values than a `u64` can count.
///
/// Values recorded one by one are never so many; a damaged file can claim them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("histograms hold too many values to be merged")]
pub struct HistogramOverflow;

/// A quantile with its confidence interval and sample size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantile {
    /// The estimate: the value at rank ⌈q·n⌉.
    pub value: Nanos,
    /// The lower end of its confidence interval.
    pub low: Nanos,
    /// The upper end of its confidence interval.
    pub high: Nanos,
    /// Number of values.
    pub n: u64,
}

/// One bucket of a histogram that holds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest value that falls into it.
    pub low: Nanos,
    /// The largest value that falls into it (the last bucket also has all that is beyond).
    pub high: Nanos,
    /// Number of values in the bucket, above zero.
    pub count: u64,
}

impl Histogram {
    /// The highest value that has a bucket of its own: one hour.
    pub const HIGHEST: Nanos = Nanos(HIGHEST);

    /// Makes an empty histogram; allocates nothing.
    pub const fn new() -> Histogram {
        Histogram { n: 0, sum: 0, min: 0, max: 0, beyond: 0, counts: OctaveCounts::new() }
    }

    /// Adds one value; allocates on the first one of an octave only.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        let value = value.0;
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        self.sum += u128::from(value);
        self.beyond += u64::from(HIGHEST < value);
        self.counts.add(index_of(value.min(HIGHEST)), 1);
    }

    /// Returns the number of values recorded.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the exact sum of all values, in ns.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the exact smallest value. `None` if there is none.
    pub fn min(&self) -> Option<Nanos> {
        (0 < self.n).then_some(Nanos(self.min))
    }

    /// Returns the exact largest value. `None` if there is none.
    pub fn max(&self) -> Option<Nanos> {
        (0 < self.n).then_some(Nanos(self.max))
    }

    /// Returns the arithmetic mean, from the exact sum, rounded to the nearest ns. `None` if there is no value.
    pub fn mean(&self) -> Option<Nanos> {
        let n = u128::from(self.n);
        let rounded = (self.sum + n / 2).checked_div(n)?;
        Some(Nanos(u64::try_from(rounded).unwrap_or(u64::MAX)))
    }

    /// Returns the number of values above one hour, the highest that has a bucket.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Adds all values of `other`; exact, and independent of order and grouping.
    ///
    /// All histograms have the same buckets, so that any two can be merged.
    ///
    /// # Errors
    ///
    /// [`HistogramOverflow`], and the histogram stays as it was.
    pub fn merge(&mut self, other: &Histogram) -> Result<(), HistogramOverflow> {
        if other.n == 0 {
            return Ok(());
        }
        let n = self.n.checked_add(other.n).ok_or(HistogramOverflow)?;
        self.min = if self.n == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.n = n;
        // Nothing else overflows: no count is above `n`, and the sum is at most `n` times the largest value.
        self.sum += other.sum;
        self.beyond += other.beyond;
        self.counts.add_all(&other.counts, other.extreme_buckets());
        Ok(())
    }

    /// Empties the histogram and keeps its memory.
    pub fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.clear(self.extreme_buckets());
        *self = Histogram { counts, ..Histogram::new() };
    }

    /// Returns the memory that the histogram takes beside its own fields, in bytes.
    pub fn memory(&self) -> usize {
        self.counts.memory()
    }

    /// Returns the value at rank ⌈q·n⌉ (the smallest for q = 0). `None` if there is no value or q is not from 0 to 1.
    ///
    /// A bucket stands for its highest value, so the answer is at most 1/1,024 too large, never too
    /// small; and it stays from the exact smallest to the exact largest value: whatever shares the
    /// bucket of the largest value is reported as that.
    ///
    /// Source: the inverse of the empirical distribution function (definition 1 of Hyndman and Fan 1996).
    pub fn quantile(&self, q: Ratio) -> Option<Nanos> {
        let rank = quantile_rank(q.0, self.n)?;
        Some(self.bucket_at(rank)?.high)
    }

    /// Returns the quantile of `n` values, of which only those that were recorded are known: all others are greater.
    ///
    /// `None` if the value at rank ⌈q·n⌉ is one of the others, there is no value, or q is not from 0 to 1.
    pub fn quantile_of(&self, q: Ratio, n: u64) -> Option<Nanos> {
        let rank = quantile_rank(q.0, n)?;
        Some(self.bucket_at(rank)?.high)
    }

    /// Returns the quantile with an interval that covers the true one with at least the given confidence.
    ///
    /// The interval runs between two order statistics, whose ranks l < u are the closest with
    /// P(B < l) ≤ α/2 and P(B ≥ u) ≤ α/2, where B is binomial (n, q) and α = 1 − confidence; it
    /// assumes nothing about the distribution except independent values. Its ends are widened
    /// to the edges of their buckets. `None` if n is too small for such an interval to exist
    /// (p99 at 95 % needs 368 values, p99.9 needs 3,688), or q or confidence are not between 0 and 1.
    ///
    /// Source: David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
    pub fn quantile_interval(&self, q: Ratio, confidence: Ratio) -> Option<Quantile> {
        let (below, above) = interval_ranks(self.n, q.0, confidence.0)?;
        Some(Quantile {
            value: self.quantile(q)?,
            low: self.bucket_at(below)?.low,
            high: self.bucket_at(above)?.high,
            n: self.n,
        })
    }

    /// Returns the buckets that hold something, in the order of their values.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.counted(self.extreme_buckets()).map(|(index, count)| {
            let (low, high) = bounds_of(index);
            Bucket { low: Nanos(low), high: Nanos(high), count }
        })
    }

    /// Returns how many values fell into the bucket of `value` or a lower one.
    pub(crate) fn n_up_to(&self, value: Nanos) -> u64 {
        let last = index_of(value.0.min(HIGHEST));
        let counted = self.counts.counted(self.extreme_buckets());
        counted.take_while(|(index, _)| *index <= last).map(|(_, count)| count).sum()
    }

    /// Returns the indexes of the buckets from that of the smallest value to that of the largest.
    pub(crate) fn extreme_buckets(&self) -> RangeInclusive<usize> {
        index_of(self.min.min(HIGHEST))..=index_of(self.max.min(HIGHEST))
    }

    /// Returns the bucket that holds the value of a rank from 1 to n, its edges drawn in to the exact extremes.
    pub(crate) fn bucket_at(&self, rank: u64) -> Option<Bucket> {
        let mut seen = 0;
        let bucket = self.buckets().find(|bucket| {
            seen += bucket.count;
            rank <= seen
        })?;
        let (low, high) = self.edges(index_of(bucket.low.0));
        Some(Bucket { low: Nanos(low), high: Nanos(high), ..bucket })
    }

    /// Returns the edges of a bucket, drawn in to the exact smallest and largest value.
    pub(crate) fn edges(&self, index: usize) -> (u64, u64) {
        let (low, high) = bounds_of(index);
        // The last bucket has no upper edge: it also has what is beyond.
        let high = if index == index_of(HIGHEST) { self.max } else { high.min(self.max) };
        (low.max(self.min), high)
    }
}

impl Clone for Histogram {
    /// Copies the values, without memory that is kept for others.
    fn clone(&self) -> Histogram {
        let mut counts = OctaveCounts::new();
        counts.add_all(&self.counts, self.extreme_buckets());
        Histogram { counts, ..*self }
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        let figures = |h: &Histogram| (h.n, h.sum, h.min, h.max, h.beyond);
        figures(self) == figures(other) && self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("n", &self.n)
            .field("sum", &self.sum)
            .field("min", &self.min)
            .field("max", &self.max)
            .field("beyond", &self.beyond)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(Nanos(*value)));
        histogram
    }

    fn merged(parts: &[&Histogram]) -> Histogram {
        let mut whole = Histogram::new();
        parts.iter().for_each(|part| whole.merge(part).unwrap());
        whole
    }

    #[test]
    fn an_empty_histogram_is_small_and_has_no_figures() {
        let empty = Histogram::new();
        assert!(size_of::<Histogram>() < 100 && empty.memory() == 0);
        assert_eq!(
            (empty.min(), empty.max(), empty.mean(), empty.quantile(Ratio(0.5))),
            (None, None, None, None)
        );
        assert_eq!((empty.n(), empty.sum(), empty.buckets().count()), (0, 0, 0));
    }

    /// By hand: ranks 1 to 100 hold 1 to 100 ms; ⌈0.9·100⌉ = 90, ⌈0.999·100⌉ = 100. Buckets at 90 ms
    /// are 2¹⁶ ns wide: 90,000,000 lies in 1,373·65,536 = 89,980,928 to 90,046,463.
    #[test]
    fn quantiles_are_the_upper_ends_of_buckets_and_the_exact_largest_value() {
        let values: Vec<u64> = (1..=100).map(|k| k * 1_000_000).collect();
        let histogram = of(&values);
        for (q, nanos) in [(0.9, 90_046_463), (0.999, 100_000_000), (1.0, 100_000_000)] {
            assert_eq!(histogram.quantile(Ratio(q)), Some(Nanos(nanos)), "q {q}");
        }
        assert_eq!(histogram.mean(), Some(Nanos(50_500_000)));
        assert_eq!(histogram.quantile(Ratio(1.01)), None);
    }

    #[test]
    fn one_value_is_every_quantile_exactly() {
        let histogram = of(&[123_456_789]);
        for q in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(histogram.quantile(Ratio(q)), Some(Nanos(123_456_789)));
        }
    }

    #[test]
    fn values_beyond_an_hour_are_counted_and_stay_exact_in_sum_and_largest() {
        let histogram = of(&[1_000, HIGHEST + 1, u64::MAX]);
        assert_eq!((histogram.n(), histogram.beyond()), (3, 2));
        assert_eq!(histogram.sum(), 1_000 + u128::from(HIGHEST) + 1 + u128::from(u64::MAX));
        assert_eq!(histogram.quantile(Ratio(1.0)), Some(Nanos::MAX));
        assert_eq!(histogram.quantile(Ratio(0.1)), Some(Nanos(1_000)));
    }

    /// Ranks 39 and 61 of 100 bound the median at 95 %: P(B ≤ 39) = 0.0176 ≤ 0.025 < P(B ≤ 40) = 0.0284, so
    /// l = 40 and by symmetry u = 61. Below 2,048 ns every value has its own bucket.
    #[test]
    fn an_interval_runs_between_two_order_statistics() {
        let values: Vec<u64> = (1..=100).collect();
        let quantile = of(&values).quantile_interval(Ratio(0.5), Ratio(0.95));
        assert_eq!(quantile, Some(Quantile { value: Nanos(50), low: Nanos(40), high: Nanos(61), n: 100 }));
    }

    #[test]
    fn a_percentile_from_too_few_values_has_no_interval() {
        let values: Vec<u64> = (0..367).collect();
        assert_eq!(of(&values).quantile_interval(Ratio(0.99), Ratio(0.95)), None);
        assert_eq!(Histogram::new().quantile_interval(Ratio(0.5), Ratio(0.95)), None);
    }

    /// Goal: coverage. Method: 400 samples of 400 exponential times, seed 1; the interval must hold the true
    /// p90, mean · ln 10, at least 95 % of the time less three deviations of that share (0.033).
    #[test]
    fn intervals_cover_the_true_quantile_as_often_as_they_say() {
        let mean = Nanos::from_millis(20);
        let truth = Nanos::from_secs_f64(0.020 * 10f64.ln());
        let covered = (0..400).filter(|sample| {
            let mut rng = units::Rng::new(1, units::StreamPurpose::Simulation, *sample);
            let mut histogram = Histogram::new();
            (0..400).for_each(|_| histogram.record(rng.exponential(mean)));
            let quantile =
                histogram.quantile_interval(Ratio(0.9), Ratio(0.95)).expect("400 values are enough");
            quantile.low <= truth && truth <= quantile.high
        });
        let share = covered.count() as f64 / 400.0;
        assert!((0.95 - 0.033..=0.995).contains(&share), "seed 1: {share}");
    }

    #[test]
    fn clearing_empties_and_keeps_the_memory() {
        let mut histogram = of(&[5, 6, HIGHEST * 2]);
        let memory = histogram.memory();
        histogram.clear();
        assert_eq!(histogram.memory(), memory);
        assert_eq!(histogram, Histogram::new());
        histogram.record(Nanos(7));
        assert_eq!(histogram, of(&[7]));
        histogram.merge(&Histogram::new()).unwrap();
        assert_eq!(merged(&[&Histogram::new(), &histogram]), of(&[7]));
    }

    /// Response times of a web server are within a few octaves: 200 µs to 1.1 ms are in those from 131 µs on, from
    /// 262 µs on, from 524 µs on and from 1,049 µs on.
    #[test]
    fn memory_is_that_of_the_octaves_in_use() {
        let table = 33 * size_of::<usize>();
        let mut histogram = of(&[200_000]);
        assert_eq!(histogram.memory(), table + 8_192);
        (200_000..1_100_000).step_by(100).for_each(|nanos| histogram.record(Nanos(nanos)));
        assert_eq!(histogram.memory(), table + 4 * 8_192);
        histogram.clear();
        histogram.record(Nanos(600_000));
        assert_eq!(histogram.memory(), table + 4 * 8_192);
        assert_eq!(histogram.clone().memory(), table + 8_192);
        histogram.clear();
        assert_eq!(histogram.clone().memory(), 0);
    }

    /// By hand: 2⁶³ values twice are 2⁶⁴, one more than a `u64` can count. Even of the largest value, their sum fits.
    #[test]
    fn values_that_cannot_be_counted_are_not_merged() {
        let mut half = of(&[u64::MAX]);
        (0..63).for_each(|_| half.merge(&half.clone()).unwrap());
        let mut almost = half.clone();
        assert_eq!((almost.merge(&half), &almost), (Err(HistogramOverflow), &half));
        (0..62).for_each(|power| {
            let mut part = of(&[u64::MAX]);
            (0..power).for_each(|_| part.merge(&part.clone()).unwrap());
            almost.merge(&part).unwrap();
        });
        assert_eq!(almost.sum(), u128::from(almost.n()) * u128::from(u64::MAX));
    }

    /// Counts of all buckets, without gaps: what the counts by octave must agree with.
    struct Dense {
        counts: Vec<u64>,
        values: Vec<u64>,
    }

    impl Dense {
        fn of(values: &[u64]) -> Dense {
            let mut counts = vec![0; index_of(HIGHEST) + 1];
            let mut values = values.to_vec();
            values.iter().for_each(|value| counts[index_of((*value).min(HIGHEST))] += 1);
            values.sort_unstable();
            Dense { counts, values }
        }

        fn buckets(&self) -> Vec<Bucket> {
            let bucket = |(index, count): (usize, &u64)| {
                let (low, high) = bounds_of(index);
                Bucket { low: Nanos(low), high: Nanos(high), count: *count }
            };
            self.counts.iter().enumerate().filter(|(_, count)| **count != 0).map(bucket).collect()
        }

        fn quantile(&self, q: f64) -> Option<Nanos> {
            let rank = usize::try_from(quantile_rank(q, self.values.len() as u64)?).unwrap();
            let value = self.values[rank - 1];
            let high = if HIGHEST <= value { u64::MAX } else { bounds_of(index_of(value)).1 };
            let last = if index_of(value.min(HIGHEST)) == index_of(HIGHEST) { u64::MAX } else { high };
            Some(Nanos(last.min(*self.values.last()?)))
        }

        fn n_up_to(&self, value: u64) -> u64 {
            self.counts[..=index_of(value.min(HIGHEST))].iter().sum()
        }

        fn check(&self, histogram: &Histogram) {
            assert_eq!(histogram.n(), self.values.len() as u64);
            assert_eq!(histogram.sum(), self.values.iter().map(|value| u128::from(*value)).sum());
            assert_eq!(histogram.min(), self.values.first().copied().map(Nanos));
            assert_eq!(histogram.max(), self.values.last().copied().map(Nanos));
            let beyond = self.values.iter().filter(|value| HIGHEST < **value).count();
            assert_eq!(histogram.beyond(), beyond as u64);
            assert_eq!(histogram.buckets().collect::<Vec<_>>(), self.buckets());
            for q in [0.0, 0.01, 0.5, 0.9, 0.99, 1.0] {
                assert_eq!(histogram.quantile(Ratio(q)), self.quantile(q), "q {q}");
            }
            for value in self.values.iter().flat_map(|value| [value.saturating_sub(1), *value, value / 2]) {
                assert_eq!(histogram.n_up_to(Nanos(value)), self.n_up_to(value), "{value}");
            }
        }
    }

    /// Values of all magnitudes.
    fn any_values() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(any::<u64>().prop_flat_map(|bits| 0..=bits >> (bits % 64)), 0..40)
    }

    /// By hand: of ten values the least six are known. Rank ⌈0.6·10⌉ is the sixth, and rank 7 is one of the others.
    #[test]
    fn quantiles_of_values_that_are_not_all_known() {
        let mut histogram = Histogram::new();
        (1..=6).for_each(|value| histogram.record(Nanos(value)));
        let quantile = |q| histogram.quantile_of(Ratio(q), 10);
        assert_eq!([0.1, 0.5, 0.6].map(quantile), [1, 5, 6].map(|value| Some(Nanos(value))));
        assert_eq!([0.7, 1.0, 1.1].map(quantile), [None; 3]);
        assert_eq!(Histogram::new().quantile_of(Ratio(0.5), 0), None);
    }

    proptest! {
        /// Goal: no history shows. Method: one histogram is filled, cleared and filled again, with parts recorded and
        /// parts merged, and is compared with counts of all buckets each time.
        #[test]
        fn counts_by_octave_agree_with_counts_of_all_buckets(
            rounds in prop::collection::vec((any_values(), any_values()), 1..5),
        ) {
            let mut histogram = Histogram::new();
            for (recorded, merged) in rounds {
                histogram.clear();
                recorded.iter().for_each(|value| histogram.record(Nanos(*value)));
                histogram.merge(&of(&merged)).unwrap();
                let whole = [recorded, merged].concat();
                Dense::of(&whole).check(&histogram);
                Dense::of(&whole).check(&histogram.clone());
                prop_assert_eq!(&histogram, &of(&whole));
                prop_assert_eq!(histogram.to_bytes(), of(&whole).to_bytes());
            }
        }

        #[test]
        fn merging_parts_equals_recording_the_whole(
            a in prop::collection::vec(any::<u64>(), 0..8),
            b in prop::collection::vec(0..HIGHEST, 0..8),
            c in prop::collection::vec(0..5_000u64, 0..8),
        ) {
            let whole = of(&[a.clone(), b.clone(), c.clone()].concat());
            let a = of(&a);
            let b = of(&b);
            let c = of(&c);
            prop_assert_eq!(&merged(&[&merged(&[&a, &b]), &c]), &whole);
            prop_assert_eq!(&merged(&[&a, &merged(&[&b, &c])]), &whole);
            prop_assert_eq!(&merged(&[&c, &b, &a]), &whole);
        }

        #[test]
        fn quantiles_are_within_a_bucket_of_the_sorted_values(
            mut values in prop::collection::vec(0..HIGHEST, 1..50),
            q in 0.0..=1.0f64,
        ) {
            let found = of(&values).quantile(Ratio(q)).unwrap().0;
            values.sort_unstable();
            let exact = values[quantile_rank(q, values.len() as u64).unwrap() as usize - 1];
            prop_assert!(exact <= found && found <= exact + exact / 1_024, "{} for {}", found, exact);
            prop_assert!(found <= values[values.len() - 1]);
        }
    }
}
