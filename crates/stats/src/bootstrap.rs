//! Percentile intervals from the resampled estimates of a bootstrap.

use units::Ratio;

use crate::order::quantile_rank;

/// Number of estimates made from resampled data.
///
/// Source: Efron and Tibshirani, An Introduction to the Bootstrap, section 13.3: about 1,000 for the ends of an interval.
pub(crate) const N_REPLICATES: u64 = 1_000;

/// Returns the two replicates between which lies the share `confidence` of them, as much outside below as above.
///
/// `None` without replicates, or if confidence is not between 0 and 1.
pub(crate) fn percentile_interval(mut replicates: Vec<f64>, confidence: Ratio) -> Option<(f64, f64)> {
    if !(0.0 < confidence.0 && confidence.0 < 1.0) {
        return None;
    }
    let tail = (1.0 - confidence.0) / 2.0;
    let n = replicates.len();
    let below = usize::try_from(quantile_rank(tail, n as u64)?).ok()?;
    let mut at = |index| *replicates.select_nth_unstable_by(index, f64::total_cmp).1;
    Some((at(below - 1), at(n - below)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 2.5 % of 200 is rank 5 from either end.
    #[test]
    fn the_middle_share_of_replicates_is_kept() {
        let replicates: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(percentile_interval(replicates, Ratio(0.95)), Some((5.0, 196.0)));
        assert_eq!(percentile_interval(vec![7.0], Ratio(0.95)), Some((7.0, 7.0)));
        assert_eq!(percentile_interval(Vec::new(), Ratio(0.95)), None);
        assert_eq!(percentile_interval(vec![7.0], Ratio(1.0)), None);
    }
}
