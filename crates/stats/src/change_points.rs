//! Change points of a series: where the level of values in the order of time moved.

use units::{Ratio, Rng, StreamPurpose};

use crate::{EQUIVALENCE_MARGIN, median};

/// The fewest values of a segment: with fewer, their scatter says hardly anything.
pub const N_SEGMENT_MIN: usize = 3;

/// Number of permutations of a test at ordinary levels.
const N_PERMUTATIONS: u64 = 1_999;

/// Number of permutations that a test at level α needs at least, times α: so that the smallest p value is well below α.
const PERMUTATIONS_PER_LEVEL: f64 = 10.0;

/// The most permutations of a test.
const N_PERMUTATIONS_MAX: f64 = 100_000.0;

/// The farthest that a value counts from the median, in deviations.
///
/// Source: Olshen et al. 2004, section 3.1: values beyond four deviations are outliers.
const DEVIATIONS_MAX: f64 = 4.0;

/// The deviation of normal values ÷ their median distance from the median.
///
/// Source: the normal distribution, 1 ÷ Φ⁻¹(3/4).
const DEVIATION_PER_MEDIAN_DISTANCE: f64 = 1.482_602_2;

/// A change of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The probability of such a difference between the levels on both sides of it if there were no change, by itself.
    pub p: f64,
}

/// Returns the change points of values above zero, in order.
///
/// Circular binary segmentation: of all segments of at least three values, the one whose mean differs most from that of
/// the rest is found, by the largest d² = (S − k·m)² ÷ (k·(n − k)), with S the sum of its k of n logarithms and m the mean
/// of all; that is Student's t but for constants. Before that, logarithms are brought within four deviations of their
/// median (the deviation: 1.4826 times the median distance from it), so that a single disturbed run counts little. The p
/// value is the share of random permutations of the values in which the best segment differs as much, so that the choice
/// among all segments is paid for. If it is at most `level`, its ends are change points, and the pieces are divided
/// further. At last those are dropped, the weakest first, whose neighboring segments do not differ at `level` by the same
/// test of this one division, or differ by less than [`EQUIVALENCE_MARGIN`] in their medians.
///
/// If nothing changes, the probability of any change point is at most `level`, whatever the distribution of the values:
/// nothing is divided further before the first test has failed. This holds for exchangeable values; a slow drift or an
/// autocorrelation of the machine is found as changes, too. `seed` is that of the permutations. A value that is not above
/// zero makes the result empty.
///
/// Source: Olshen, Venkatraman, Lucito and Wigler 2004, Circular Binary Segmentation for the Analysis of Array-Based DNA
/// Copy Number Data, Biostatistics 5, with its permutation test and its treatment of outliers; that test for changes of
/// benchmarks: Daly et al. 2020, The Use of Change Point Detection to Identify Software Performance Regressions in a
/// Continuous Integration System. Simulation: `docs/design/intervals.md`.
pub fn change_points(values: &[f64], level: Ratio, seed: u64) -> Vec<ChangePoint> {
    if !values.iter().all(|value| 0.0 < *value && value.is_finite()) {
        return Vec::new();
    }
    let mut search = Search { values, level, seed, n_tests: 0 };
    let mut at = Vec::new();
    search.divide(0, values.len(), &mut at);
    at.sort_unstable();
    search.keep_significant(at)
}

/// The search in one series.
struct Search<'a> {
    values: &'a [f64],
    level: Ratio,
    seed: u64,
    /// Number of tests so far: each has permutations of its own.
    n_tests: u64,
}

impl Search<'_> {
    /// Finds the change points from `start` to `end`.
    fn divide(&mut self, start: usize, end: usize, found: &mut Vec<usize>) {
        let logs = bounded_logs(&self.values[start..end]);
        let Some(best) = best_segment(&logs) else { return };
        let p = self.p_value(logs, best.distance, |logs| best_segment(logs).map(|one| one.distance));
        if self.level.0 < p {
            return;
        }
        let edges: Vec<usize> = [start, start + best.from, start + best.to, end].into();
        found.extend(edges[1..3].iter().filter(|edge| start < **edge && **edge < end));
        edges.windows(2).filter(|piece| piece[0] < piece[1]).for_each(|piece| {
            self.divide(piece[0], piece[1], found);
        });
    }

    /// Drops the weakest change point until all that are left separate different levels.
    fn keep_significant(&mut self, mut at: Vec<usize>) -> Vec<ChangePoint> {
        loop {
            let tested: Vec<(ChangePoint, bool)> =
                (0..at.len()).map(|index| self.tested(&at, index)).collect();
            let doubtful = tested.iter().enumerate().filter(|(_, (_, holds))| !holds);
            match doubtful.max_by(|(_, (one, _)), (_, (other, _))| one.p.total_cmp(&other.p)) {
                Some((weakest, _)) => at.remove(weakest),
                None => return tested.into_iter().map(|(point, _)| point).collect(),
            };
        }
    }

    /// Tests the change point between its neighboring segments; returns whether it holds.
    fn tested(&mut self, at: &[usize], index: usize) -> (ChangePoint, bool) {
        let start = if index == 0 { 0 } else { at[index - 1] };
        let end = at.get(index + 1).copied().unwrap_or(self.values.len());
        let values = self.values;
        let before = &values[start..at[index]];
        let after = &values[at[index]..end];
        let logs = bounded_logs(&values[start..end]);
        let between = |logs: &[f64]| {
            distance(logs[..before.len()].iter().sum(), before.len(), logs.iter().sum(), logs.len())
        };
        let p = self.p_value(logs.clone(), between(&logs), |logs| Some(between(logs)));
        let ratio = median(after).zip(median(before)).map_or(1.0, |(after, before)| after / before);
        let is_large = EQUIVALENCE_MARGIN.0.ln_1p() < ratio.ln().abs();
        (ChangePoint { at: at[index], p }, is_large && p <= self.level.0)
    }

    /// Returns the share of permutations whose statistic is at least `found`, the observed order included. Stops as soon
    /// as it must be above the level.
    fn p_value(&mut self, mut logs: Vec<f64>, found: f64, statistic: impl Fn(&[f64]) -> Option<f64>) -> f64 {
        /// Differences by rounding do not count.
        const ROUNDING: f64 = 1.0 - 1e-12;
        let mut rng = Rng::new(self.seed, StreamPurpose::Resampling, self.n_tests);
        self.n_tests += 1;
        let n = n_permutations(self.level);
        let mut n_above: u64 = 1;
        for drawn in 1..=n {
            rng.shuffle(&mut logs);
            if statistic(&logs).is_some_and(|other| found * ROUNDING <= other) {
                n_above += 1;
            }
            if self.level.0 * (n + 1) as f64 + 1.0 < n_above as f64 {
                return n_above as f64 / (drawn + 1) as f64;
            }
        }
        n_above as f64 / (n + 1) as f64
    }
}

/// A segment of values, from an index to before another, with its distance from the rest.
struct Segment {
    from: usize,
    to: usize,
    distance: f64,
}

/// Returns the segment whose mean differs most from that of the rest; `None` with fewer than two segments of values.
/// Segmentes that end with the last value are the rest of one that begins with the first.
fn best_segment(logs: &[f64]) -> Option<Segment> {
    let n = logs.len();
    let mut sums = vec![0.0; n + 1];
    for (index, log) in logs.iter().enumerate() {
        sums[index + 1] = sums[index] + log;
    }
    let mut best: Option<Segment> = None;
    let starts = std::iter::once(0).chain(N_SEGMENT_MIN..n);
    for from in starts {
        for to in from + N_SEGMENT_MIN..=n.saturating_sub(N_SEGMENT_MIN) {
            let distance = distance(sums[to] - sums[from], to - from, sums[n], n);
            if best.as_ref().is_none_or(|best| best.distance < distance) {
                best = Some(Segment { from, to, distance });
            }
        }
    }
    best
}

/// Returns the squared distance d² of k values from the rest of n.
fn distance(sum: f64, k: usize, total: f64, n: usize) -> f64 {
    let k = k as f64;
    let n = n as f64;
    (sum - k * total / n).powi(2) / (k * (n - k))
}

/// Returns the logarithms of values, within [`DEVIATIONS_MAX`] of their median.
fn bounded_logs(values: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let Some(middle) = median(&logs) else { return logs };
    let distances: Vec<f64> = logs.iter().map(|log| (log - middle).abs()).collect();
    match median(&distances) {
        // Of at least half nothing is known but that they are alike.
        None | Some(0.0) => logs,
        Some(distance) => {
            let most = DEVIATIONS_MAX * DEVIATION_PER_MEDIAN_DISTANCE * distance;
            logs.iter().map(|log| log.clamp(middle - most, middle + most)).collect()
        }
    }
}

fn n_permutations(level: Ratio) -> u64 {
    let least = (PERMUTATIONS_PER_LEVEL / level.0).min(N_PERMUTATIONS_MAX);
    N_PERMUTATIONS.max(units::saturating_u64(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Ratio = Ratio(0.05);

    /// By hand: 1, 2, 3, 4, 90 have the median 3 and the distances 2, 1, 0, 1, 87 from it, whose median is 1: within 4 ·
    /// 1.4826 = 5.93 of it.
    #[test]
    fn outliers_count_little() {
        let logs = [1.0, 2.0, 3.0, 4.0, 90.0f64];
        let bounded = bounded_logs(&logs.map(f64::exp));
        assert!(bounded.iter().zip([1.0, 2.0, 3.0, 4.0, 8.930_409]).all(|(a, b)| (a - b).abs() < 1e-6));
        assert_eq!(bounded_logs(&[1.0, 1.0, 1.0, 5.0])[3], 5.0f64.ln(), "no deviation is known");
    }

    /// By hand: of 1 to 6 the first three have the sum 6, 10.5 expected: 4.5² ÷ (3 · 3) = 2.25.
    #[test]
    fn the_statistic_by_hand() {
        let best = best_segment(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!((best.from, best.to), (0, 3));
        assert!((best.distance - 2.25).abs() < 1e-12);
        assert!(best_segment(&[1.0; 5]).is_none());
    }

    /// By hand: of 20 orders of three low and three high values, two are as far apart: p = 1/10, which no level of 5 %
    /// accepts; of 252 with five each, two: 0.8 %.
    #[test]
    fn a_few_values_cannot_prove_a_change() {
        let step = |n: usize| [vec![100.0; n], vec![90.0; n]].concat();
        let distinct = |n| step(n).iter().enumerate().map(|(i, v)| v + i as f64 * 0.01).collect::<Vec<_>>();
        assert!(change_points(&distinct(3), FIVE, 1).is_empty());
        let found = change_points(&distinct(5), FIVE, 1);
        assert_eq!(found.iter().map(|one| one.at).collect::<Vec<_>>(), [5]);
        assert!((found[0].p - 2.0 / 252.0).abs() < 0.006, "{found:?}");
    }

    /// A rise and a fall, which no single division shows: half of the rest is before, half behind.
    #[test]
    fn both_ends_of_a_bump_are_found() {
        let value = |index: usize| if (10..20).contains(&index) { 110.0 } else { 100.0 };
        let values: Vec<f64> = (0..30).map(|index| value(index) + (index * 7 % 11) as f64 * 0.1).collect();
        let at: Vec<usize> = change_points(&values, FIVE, 1).iter().map(|one| one.at).collect();
        assert_eq!(at, [10, 20]);
    }

    #[test]
    fn negligible_changes_and_impossible_values_are_none() {
        let step = |ratio: f64| {
            let value = |index: usize| if index < 10 { 100.0 } else { 100.0 * ratio };
            (0..20).map(|index| value(index) + (index % 7) as f64 * 0.001).collect::<Vec<f64>>()
        };
        assert_eq!(change_points(&step(1.009), FIVE, 1), []);
        assert_eq!(change_points(&step(1.012), FIVE, 1).len(), 1);
        assert_eq!(change_points(&[0.0; 20], FIVE, 1), []);
        assert_eq!(change_points(&[100.0; 20], FIVE, 1), [], "all alike");
        assert_eq!(change_points(&[], FIVE, 1), []);
    }
}
