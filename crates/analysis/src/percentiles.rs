//! The percentiles that are reported, and how many values they need.

use units::{Ratio, saturating_u64};

/// The percentiles of every time.
pub(crate) const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Confidence of every interval that is printed.
pub(crate) const CONFIDENCE: Ratio = Ratio(0.95);

/// Returns the number of values from which a 95 % interval exists for a quantile.
///
/// The smallest n with pⁿ ≤ 0.025, p = max(q, 1 − q): only then does an order statistic bound the
/// quantile on its far side. p50 needs 6 values, p90 36, p95 72, p99 368, p99.9 3,688. `u64::MAX` for 0 and 1.
///
/// Source: David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
pub fn values_needed(q: Ratio) -> u64 {
    let tail = (1.0 - CONFIDENCE.0) / 2.0;
    let far = q.0.max(1.0 - q.0);
    if far < 1.0 { saturating_u64((tail.ln() / far.ln()).ceil()) } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ln 0.025 = −3.68888; ÷ ln 0.5 = 5.32, ÷ ln 0.9 = 35.01, ÷ ln 0.95 = 71.92,
    /// ÷ ln 0.99 = 367.04, ÷ ln 0.999 = 3,687.03.
    #[test]
    fn the_values_that_percentiles_need() {
        assert_eq!(QUANTILES.map(|q| values_needed(Ratio(q))), [6, 36, 72, 368, 3_688]);
        assert_eq!([0.01, 0.0, 1.0].map(|q| values_needed(Ratio(q))), [368, u64::MAX, u64::MAX]);
    }
}
