//! Consistency of histograms with the exact sums kept beside them, second moment included.

use stats::{Histogram, Moments};

use super::{Evidence, RuleFinding};

const HINT: &str = "percentiles from such a histogram mean nothing, whatever its mean";

/// Reports histograms whose buckets cannot hold the values that the exact sums were made of.
///
/// Each bucket bounds its values from below and above, so Σ count·low² ≤ Σx² ≤ Σ count·high². A
/// histogram of means instead of values keeps count and sum, and fails here.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let totals = &evidence.fold.steady;
    let mut all = Moments::default();
    totals.kinds.iter().for_each(|kind| all.merge(&kind.response));
    let mut findings = vec![broken(&all, &totals.response).map(|text| format!("response times: {text}"))];
    for (kind, sums) in evidence.plan.catalog.kinds.iter().zip(&totals.kinds) {
        let text = broken(&sums.response, &sums.histogram);
        findings.push(text.map(|text| format!("response times of `{}`: {text}", kind.name)));
    }
    let first = findings.into_iter().flatten().next();
    first.map(|text| RuleFinding::invalid("histogram", text).hint(HINT)).into_iter().collect()
}

/// Returns the moment that the histogram cannot have.
fn broken(exact: &Moments, histogram: &Histogram) -> Option<String> {
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
    for (power, moment, name) in [(1, exact.sum, "sum"), (2, exact.sum_squares, "sum of squares")] {
        let (least, most) = (sum(&low, power), sum(&high, power));
        if moment < least || most < moment {
            return Some(format!(
                "their exact {name} is {:.4e}, that of the histogram is between {:.4e} and {:.4e}",
                moment as f64, least as f64, most as f64
            ));
        }
    }
    None
}
