//! What a difference comes to, in a word.

use units::Ratio;

use super::LogRatio;

/// An interval that leaves no room for more than this makes two sides alike, whatever chance says: a house rule, about as
/// much as moving a server to another port can make.
pub const ALIKE: Ratio = Ratio(0.01);

/// A comparison that would overlook this much is too noisy to speak of "no evidence": a house rule, the least that
/// people change a server for.
pub const NOISY: Ratio = Ratio(0.05);

/// With which probability the smallest detectable difference is found.
///
/// Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, section 2.4: the usual convention.
pub const POWER: Ratio = Ratio(0.8);

/// The confidence of intervals, and one less the probability of a false alarm.
const CONFIDENCE: Ratio = Ratio(0.95);

/// What a comparison of two sides in one figure comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The figure is higher than that of the baseline.
    Higher,
    /// It is lower.
    Lower,
    /// If it differs, then by less than [`ALIKE`].
    Alike,
    /// A difference of [`NOISY`] would probably have been seen, and none was.
    NoEvidence,
    /// A difference of [`NOISY`] could have been overlooked, or there was too little to compare.
    TooNoisy,
}

/// Returns what a comparison comes to; `told` says whether its difference holds among all that were looked at together.
pub fn finding(change: Option<&LogRatio>, told: bool) -> Finding {
    let Some(change) = change else { return Finding::TooNoisy };
    let Some(ratio) = change.ratio(CONFIDENCE) else { return Finding::TooNoisy };
    if 1.0 / (1.0 + ALIKE.0) <= ratio.low && ratio.high <= 1.0 + ALIKE.0 {
        return Finding::Alike;
    }
    if told {
        return if 1.0 < ratio.value { Finding::Higher } else { Finding::Lower };
    }
    match change.detectable(Ratio(1.0 - CONFIDENCE.0), POWER) {
        Some(more) if more.0 <= NOISY.0 => Finding::NoEvidence,
        _ => Finding::TooNoisy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shown;

    /// A ratio with an error of so much, told from very many values.
    fn found(ratio: f64, error: f64, told: bool) -> Finding {
        let side = |value| Shown { value, relative: error / 2.0f64.sqrt(), freedom: 1e6 };
        finding(LogRatio::of_runs(&[side(1.0)], &[side(ratio)], Ratio(0.0)).as_ref(), told)
    }

    /// Half an interval is 1.96 errors, the smallest detectable difference about 2.8 errors.
    #[test]
    fn every_finding_has_its_place() {
        assert_eq!(found(1.15, 0.01, true), Finding::Higher);
        assert_eq!(found(0.85, 0.01, true), Finding::Lower);
        assert_eq!(found(1.15, 0.01, false), Finding::NoEvidence, "chance, among many");
        assert_eq!(found(1.005, 0.017, false), Finding::NoEvidence);
        assert_eq!(found(1.005, 0.018, false), Finding::TooNoisy);
        assert_eq!(found(1.15, 0.08, false), Finding::TooNoisy);
        assert_eq!(finding(None, false), Finding::TooNoisy);
    }

    #[test]
    fn what_is_certainly_little_is_alike() {
        assert_eq!(found(1.000, 0.004, false), Finding::Alike);
        assert_eq!(found(1.005, 0.001, true), Finding::Alike, "there, and of no account");
        assert_eq!(found(1.012, 0.001, true), Finding::Higher);
        assert_eq!(found(0.988, 0.001, true), Finding::Lower);
    }
}
