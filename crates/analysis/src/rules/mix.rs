//! The mix: each kind of operation has the share that the benchmark gives it.

use units::Ratio;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Standard deviations of a binomial count that are chance. With four, a run of ten load points and eight kinds is
/// rejected by chance once in two hundred times; with three it would be once in five.
const DEVIATIONS: f64 = 4.0;

/// Expected operations of a kind below which its count is too skewed for that to hold.
const EXPECTED_MIN: f64 = 25.0;

/// Reports kinds whose share of all completed operations is too far from the expected one.
///
/// A share s of n operations deviates from the expected p by |s − p| ÷ p, at most `share_gap_max` of
/// the kind's share, and also by more than four times √(p·(1 − p) ÷ n), the binomial deviation,
/// so that chance does not reject a short phase; a kind with fewer than 25 expected operations is not judged.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let kinds = evidence.plan.catalog.kinds.iter().zip(&evidence.fold.steady.kinds);
    let completed = evidence.figures.completed();
    kinds
        .filter_map(|(kind, sums)| {
            let count = sums.response.n.saturating_add(sums.errors());
            let share =
                Share { found: count as f64 / completed.max(1) as f64, expected: kind.share?, n: completed };
            let limit = kind.share_gap_max.filter(|limit| share.is_off(*limit))?;
            Some(RuleFinding::invalid(Finding::Mix {
                kind: kind.name.clone(),
                share: Ratio(share.found),
                expected: Ratio(share.expected),
                limit: Ratio(limit),
            }))
        })
        .collect()
}

/// The share of a kind among `n` completed operations.
struct Share {
    found: f64,
    expected: f64,
    n: u64,
}

impl Share {
    fn is_off(&self, limit: f64) -> bool {
        let deviation = (self.expected * (1.0 - self.expected) / self.n.max(1) as f64).sqrt();
        let gap = (self.found - self.expected).abs();
        let has_enough = EXPECTED_MIN <= self.expected * self.n as f64;
        has_enough && limit * self.expected < gap && DEVIATIONS * deviation < gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: p = 0.01, n = 10,000: deviation √(0.01 · 0.99 ÷ 10,000) = 0.000995, four of them 0.00398.
    /// A limit of 10 % is 0.001; so chance decides here, and at n = 1,000,000 (0.000398) the limit does. Of 2000 only
    /// 20 are expected.
    #[test]
    fn a_share_is_off_beyond_its_limit_and_beyond_chance() {
        let is_off = |found, n| Share { found, expected: 0.01, n }.is_off(0.1);
        assert_eq!([0.0139, 0.0141, 0.0059].map(|found| is_off(found, 10_000)), [false, true, true]);
        assert!(!is_off(0.1, 2000));
        assert_eq!([0.0109, 0.0112].map(|found| is_off(found, 1_000_000)), [false, true]);
    }
}
