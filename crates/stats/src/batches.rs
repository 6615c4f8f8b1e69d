//! Intervals for percentiles of autocorrelated values, such as response times of a queue.
//!
//! The interval between two order statistics ([`Histogram::quantile_interval`]) assumes independent
//! values. Waiting times are not: an operation behind a long wait waits long. Then n values carry the
//! information of far fewer, and that interval is too narrow. Batches of consecutive seconds that
//! outlast the autocorrelation are independent again, so their differences show the effective sample
//! size of n.

use units::{Ratio, saturating_u64};

use crate::estimate::{normal_quantile, student_quantile};
use crate::order::interval_ranks;
use crate::{Histogram, HistogramOverflow, Quantile};

/// The fewest batches of an interval: with fewer, the few degrees of freedom would make it wide; see [`Batches`].
const N_BATCHES_MIN: usize = 10;

/// Returns a quantile of all batches together, with an interval that allows for autocorrelation.
///
/// Each batch holds the values of one of k consecutive spans of about equal length. With x the
/// quantile of all n values, n_b the values of a batch, c_b those up to x, and p = Σc_b ÷ n, the standard
/// error of p is that of a ratio, e = √(k ÷ (k − 1)·Σ(c_b − p·n_b)²) ÷ n; it counts t/z times, Student's
/// quantile for k − 1 over the normal one, being estimated from k batches. Independent values have
/// e² = q(1 − q) ÷ n, so that the effective sample size is m = q(1 − q) ÷ e², at most n. The interval
/// runs between the values at shares l/m and u/m, where l and u are the ranks that bound the
/// quantile of m independent values, as in [`Histogram::quantile_interval`].
///
/// `None` if m values are too few for such ranks (p99 at 95 % needs 368), with fewer than ten batches, if q or
/// confidence are not between 0 and 1, or if the batches hold too many values to be merged. The effective sample size of a queue near saturation is surprisingly small; a
/// run that is far too short mostly has no interval, and where it has one, no long wait happened to be in it, and the
/// interval is too low.
///
/// Source: error of the distribution function by batches: Heidelberger and Lewis 1984, Quantile
/// Estimation in Dependent Sequences; ratio estimator: Law, Simulation Modeling and Analysis, 5th
/// edition, chapter 9. Coverage: `docs/design/intervals.md`.
pub fn batch_quantile_interval(batches: &[Histogram], q: Ratio, confidence: Ratio) -> Option<Quantile> {
    let whole = merged(batches).ok()?;
    let value = whole.quantile(q)?;
    let n_effective = effective_sample_size(batches, &whole, q, confidence)?;
    let (below, above) = interval_ranks(n_effective, q.0, confidence.0)?;
    let each = whole.n() as f64 / n_effective as f64;
    let low = whole.bucket_at(saturating_u64((below as f64 * each).floor()))?.low;
    let high = whole.bucket_at(saturating_u64((above as f64 * each).ceil()).min(whole.n()))?.high;
    Some(Quantile { value, low, high, n: whole.n() })
}

/// Returns m, the effective sample size: the number of independent values that would determine quantile `q` as well.
fn effective_sample_size(
    batches: &[Histogram],
    whole: &Histogram,
    q: Ratio,
    confidence: Ratio,
) -> Option<u64> {
    let k = batches.len();
    let n = whole.n() as f64;
    if k < N_BATCHES_MIN {
        return None;
    }
    let value = whole.quantile(q)?;
    let share = whole.n_up_to(value) as f64 / n;
    let apart = |batch: &Histogram| batch.n_up_to(value) as f64 - share * batch.n() as f64;
    let squares: f64 = batches.iter().map(|batch| apart(batch).powi(2)).sum();
    let p = (1.0 + confidence.0) / 2.0;
    let widening = student_quantile(p, (k - 1) as f64)? / normal_quantile(p)?;
    let error = widening * (squares * k as f64 / (k - 1) as f64).sqrt() / n;
    Some(saturating_u64((q.0 * (1.0 - q.0) / (error * error)).min(n)))
}

/// Histograms of consecutive spans of a phase whose length is not known in advance.
///
/// Takes one histogram per second and keeps from ten to nineteen batches of equal length, of 1, 2, 4, … seconds: when
/// twenty are full, neighbors are merged. So it needs the memory of twenty histograms, however long the phase is.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    /// Full batches, each of `length` seconds.
    full: Vec<Histogram>,
    /// The batch that is being filled, of fewer seconds.
    filling: Histogram,
    n_filling: usize,
    /// A power of two; zero before the first second.
    length: usize,
}

impl Batches {
    /// Makes an empty series; allocates nothing.
    pub fn new() -> Batches {
        Batches::default()
    }

    /// Adds the values of the next second.
    ///
    /// # Errors
    ///
    /// [`HistogramOverflow`]; then no further second may be added.
    pub fn push(&mut self, second: &Histogram) -> Result<(), HistogramOverflow> {
        self.length = self.length.max(1);
        self.filling.merge(second)?;
        self.n_filling += 1;
        if self.n_filling == self.length {
            self.full.push(std::mem::take(&mut self.filling));
            self.n_filling = 0;
        }
        if self.full.len() == 2 * N_BATCHES_MIN {
            self.full = self.full.chunks_exact(2).map(merged).collect::<Result<_, _>>()?;
            self.length *= 2;
        }
        Ok(())
    }

    /// Returns a quantile of all values so far, with its interval: see [`batch_quantile_interval`].
    ///
    /// Seconds at the end that fill no batch count with the last one. `None` also with fewer than
    /// ten seconds, or if all of them hold too many values to be merged.
    pub fn quantile_interval(&self, q: Ratio, confidence: Ratio) -> Option<Quantile> {
        let (last, before) = self.full.split_last()?;
        let mut batches = before.to_vec();
        let mut last = last.clone();
        last.merge(&self.filling).ok()?;
        batches.push(last);
        batch_quantile_interval(&batches, q, confidence)
    }
}

fn merged(parts: &[Histogram]) -> Result<Histogram, HistogramOverflow> {
    let mut whole = Histogram::new();
    parts.iter().try_for_each(|part| whole.merge(part))?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(Nanos(value)));
        histogram
    }

    const MEDIAN: (Ratio, Ratio) = (Ratio(0.5), Ratio(0.95));

    /// By hand: ten batches of 10 with the values 1 … 100, mixed evenly: batch b has b + 1, b + 11, …, so five
    /// of each are up to 50, and the batches do not differ: the interval is that of independent values,
    /// ranks 40 and 61.
    #[test]
    fn batches_that_do_not_differ_give_the_independent_interval() {
        let batches: Vec<Histogram> = (1..=10).map(|b| of((0..10).map(|k| b + 10 * k))).collect();
        let found = batch_quantile_interval(&batches, MEDIAN.0, MEDIAN.1);
        assert_eq!(found, Some(Quantile { value: Nanos(50), low: Nanos(40), high: Nanos(61), n: 100 }));
    }

    /// By hand: sorted into batches, 1 … 10, 11 … 20, …: five batches with 10 up to 50, five with none, each 5 from
    /// the expected 5: squares 250; e = √(250 · 10/9) ÷ 100 = 1/6, times 2.2622 ÷ 1.9600: 0.19237. Effective size
    /// 0.25 ÷ 0.037005 = 6.76, so 6, whose median is bounded by ranks 1 and 6: shares 1/6 and 1.
    #[test]
    fn batches_that_differ_widen_the_interval() {
        let batches: Vec<Histogram> = (0..10).map(|b| of(10 * b + 1..=10 * b + 10)).collect();
        let found = batch_quantile_interval(&batches, MEDIAN.0, MEDIAN.1);
        assert_eq!(found, Some(Quantile { value: Nanos(50), low: Nanos(16), high: Nanos(100), n: 100 }));
    }

    #[test]
    fn too_few_batches_or_values_have_no_interval() {
        let batch = || of(1..=100);
        let of_batches = |n: usize, q| {
            batch_quantile_interval(&(0..n).map(|_| batch()).collect::<Vec<_>>(), Ratio(q), Ratio(0.95))
        };
        assert!(of_batches(10, 0.5).is_some() && of_batches(10, 0.99).is_some());
        assert_eq!((of_batches(9, 0.5), of_batches(0, 0.5), of_batches(10, 0.999)), (None, None, None));
        assert_eq!((of_batches(10, 0.0), of_batches(10, f64::NAN)), (None, None));
        // By hand: 90 of the first and all other values are up to 1,090: squares 9 · 1 + 81, e = 0.01, effective size
        // 74.
        let uneven: Vec<Histogram> =
            (0..10).map(|b| of((1..=100).map(|k| k + 1_000 * u64::from(b == 0)))).collect();
        assert_eq!(batch_quantile_interval(&uneven, Ratio(0.99), Ratio(0.95)), None);
    }

    /// By hand: 19 seconds are 19 batches of 1; the 20th makes 10 of 2; 39 are 19 of 2 with the last one as well; 40
    /// are 10 of 4.
    #[test]
    fn batches_grow_with_the_phase() {
        let mut batches = Batches::new();
        let mut seen = Vec::new();
        for second in 1..=80u64 {
            batches.push(&of([second])).unwrap();
            seen.push((batches.full.len(), batches.length, batches.n_filling));
        }
        let at = |second: usize| seen[second - 1];
        assert_eq!((at(1), at(19), at(20)), ((1, 1, 0), (19, 1, 0), (10, 2, 0)));
        assert_eq!((at(39), at(40), at(80)), ((19, 2, 1), (10, 4, 0), (10, 8, 0)));
        assert!(batches.full.iter().all(|batch| batch.n() == 8));
    }

    #[test]
    fn seconds_and_batches_give_the_same_interval() {
        let second = |index: u64| of((1..=50).map(|k| k * (1 + index % 7)));
        let mut batches = Batches::new();
        (0..43).for_each(|index| batches.push(&second(index)).unwrap());
        let by_hand: Vec<Histogram> = (0..10)
            .map(|b| (4 * b..if b == 9 { 43 } else { 4 * b + 4 }).map(second).collect::<Vec<_>>())
            .map(|seconds| merged(&seconds).unwrap())
            .collect();
        let found = batches.quantile_interval(Ratio(0.9), Ratio(0.95));
        assert!(found.is_some_and(|quantile| quantile.n == 43 * 50));
        assert_eq!(found, batch_quantile_interval(&by_hand, Ratio(0.9), Ratio(0.95)));
        assert_eq!(Batches::new().quantile_interval(Ratio(0.5), Ratio(0.95)), None);
    }
}
