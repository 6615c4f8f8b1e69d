//! Consistency of histograms with the exact sums kept beside them, second moment included.

use stats::{Histogram, Moments};

use super::{Evidence, RuleFinding};
use crate::finding::{Finding, ValueMoment};
use crate::fold::KindSums;

/// Reports histograms whose buckets cannot hold the values that the exact sums were made of.
///
/// Each bucket bounds its values from below and above, so Σ count·low² ≤ Σx² ≤ Σ count·high². A
/// histogram of means instead of values keeps count and sum, and fails here.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let totals = &evidence.fold.steady;
    let mut all = Moments::default();
    totals.kinds.iter().for_each(|kind| all.merge(&kind.response));
    let kinds = evidence.plan.catalog.kinds.iter().zip(&totals.kinds);
    let of_kind = |(kind, sums): (&model::OperationKind, &KindSums)| {
        broken(Some(&kind.name), &sums.response, &sums.histogram)
    };
    let first = broken(None, &all, &totals.response).or_else(|| kinds.map(of_kind).find_map(|found| found));
    first.map(RuleFinding::invalid).into_iter().collect()
}

/// Returns the first moment that the histogram of a kind, or of all, cannot have.
fn broken(kind: Option<&str>, exact: &Moments, histogram: &Histogram) -> Option<Finding> {
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return None };
    let sum = |edge: &dyn Fn(stats::Bucket) -> u64, power: u32| {
        let values = histogram.buckets().map(|bucket| {
            u128::from(bucket.count).saturating_mul(u128::from(edge(bucket)).saturating_pow(power))
        });
        values.fold(0u128, u128::saturating_add)
    };
    let low = |bucket: stats::Bucket| bucket.low.max(min).0;
    // Values beyond the last bucket are bounded only by the largest value.
    let high = |bucket: stats::Bucket| if 0 < histogram.beyond() { max.0 } else { bucket.high.min(max).0 };
    let moments = [(1, exact.sum, ValueMoment::Sum), (2, exact.sum_squares, ValueMoment::SumOfSquares)];
    moments.into_iter().find_map(|(power, exact, moment)| {
        let least = sum(&low, power);
        let most = sum(&high, power);
        let kind = kind.map(str::to_owned);
        (exact < least || most < exact).then_some(Finding::Histogram { kind, moment, exact, least, most })
    })
}
