//! The finding of a comparison: different, alike, too noisy or without evidence.

use units::Ratio;

use super::{Decision, LogRatio};

/// The largest difference between sides that count as alike: if the interval leaves no room for more, chance does not
/// matter. A house rule, about as much as moving a server to another port can make.
pub const EQUIVALENCE_MARGIN: Ratio = Ratio(0.01);

/// The smallest detectable difference from which a comparison is too noisy, or too short, to speak of "no evidence".
/// A house rule: the least that people change a server for.
pub const NOISE_THRESHOLD: Ratio = Ratio(0.05);

/// The probability with which the smallest detectable difference is found.
///
/// Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, section 2.4: the usual
/// convention.
pub const POWER: Ratio = Ratio(0.8);

/// The finding of a comparison of two sides in one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonFinding {
    /// The figure is higher than that of the baseline.
    Higher,
    /// It is lower.
    Lower,
    /// Any difference is smaller than [`EQUIVALENCE_MARGIN`].
    Alike,
    /// No difference was found, and one of [`NOISE_THRESHOLD`] would probably have been detected.
    NoEvidence,
    /// Too few runs or seconds to compare; they do not vary much.
    TooShort,
    /// A difference of [`NOISE_THRESHOLD`] could have been missed, because the measurements vary so much.
    TooNoisy,
}

/// Returns the finding of a comparison; `decision` says whether its difference is significant among all that were
/// tested together. Everything is judged at the level of that decision, and by the interval that belongs to it.
pub fn finding(change: Option<&LogRatio>, decision: Decision) -> ComparisonFinding {
    let Some(change) = change else { return ComparisonFinding::TooShort };
    let Some(ratio) = change.ratio(decision.confidence()) else { return ComparisonFinding::TooShort };
    if 1.0 / (1.0 + EQUIVALENCE_MARGIN.0) <= ratio.low && ratio.high <= 1.0 + EQUIVALENCE_MARGIN.0 {
        return ComparisonFinding::Alike;
    }
    if decision.holds {
        return if 1.0 < ratio.value { ComparisonFinding::Higher } else { ComparisonFinding::Lower };
    }
    let is_seen = |more: Option<Ratio>| more.is_some_and(|more| more.0 <= NOISE_THRESHOLD.0);
    if is_seen(change.detectable(decision.level, POWER)) {
        ComparisonFinding::NoEvidence
    } else if is_seen(change.detectable_if_known(decision.level, POWER)) {
        ComparisonFinding::TooShort
    } else {
        ComparisonFinding::TooNoisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BetweenRuns, MeasuredFigure};

    /// Runs that differ by nothing but their seconds.
    const ALIKE_RUNS: BetweenRuns = BetweenRuns { deviation: Ratio(0.0), degrees_of_freedom: 1e6 };

    fn decision(holds: bool) -> Decision {
        Decision { holds, level: Ratio(0.05) }
    }

    /// The finding for a ratio with this error and these degrees of freedom.
    fn found_from(
        degrees_of_freedom: f64,
        ratio: f64,
        error: f64,
        is_significant: bool,
    ) -> ComparisonFinding {
        let side = |value| MeasuredFigure { value, relative: error / 2.0f64.sqrt(), degrees_of_freedom };
        finding(
            LogRatio::of_runs(&[side(1.0)], &[side(ratio)], ALIKE_RUNS).as_ref(),
            decision(is_significant),
        )
    }

    fn found(ratio: f64, error: f64, is_significant: bool) -> ComparisonFinding {
        found_from(1e6, ratio, error, is_significant)
    }

    /// By hand: an error of 1.5 % is 4.3 % detectable if it is known; with 2 + 2 degrees of freedom t is 2.776 and
    /// 0.941, which makes it 5.7 %. One of 2 % is too much in either case.
    #[test]
    fn few_values_that_vary_little_are_too_short() {
        assert_eq!(found_from(2.0, 1.01, 0.015, false), ComparisonFinding::TooShort);
        assert_eq!(found_from(2.0, 1.01, 0.02, false), ComparisonFinding::TooNoisy);
        assert_eq!(found_from(1e6, 1.01, 0.015, false), ComparisonFinding::NoEvidence);
    }

    /// The same measurement, alone and as one of many: what is printed and what is said of it follow from one level.
    #[test]
    fn a_stricter_level_needs_more_evidence() {
        let side = |value| MeasuredFigure { value, relative: 0.01, degrees_of_freedom: 1e6 };
        let change = LogRatio::of_runs(&[side(1.0)], &[side(1.02)], ALIKE_RUNS).unwrap();
        let at = |level| finding(Some(&change), Decision { holds: false, level: Ratio(level) });
        assert_eq!((at(0.05), at(0.001)), (ComparisonFinding::NoEvidence, ComparisonFinding::TooNoisy));
    }

    /// Half an interval is 1.96 errors, the smallest detectable difference about 2.8 errors.
    #[test]
    fn every_finding_has_its_range() {
        assert_eq!(found(1.15, 0.01, true), ComparisonFinding::Higher);
        assert_eq!(found(0.85, 0.01, true), ComparisonFinding::Lower);
        assert_eq!(found(1.15, 0.01, false), ComparisonFinding::NoEvidence, "chance, among many");
        assert_eq!(found(1.005, 0.017, false), ComparisonFinding::NoEvidence);
        assert_eq!(found(1.005, 0.018, false), ComparisonFinding::TooNoisy);
        assert_eq!(found(1.15, 0.08, false), ComparisonFinding::TooNoisy);
        assert_eq!(finding(None, decision(false)), ComparisonFinding::TooShort);
    }

    #[test]
    fn a_difference_that_is_surely_small_is_alike() {
        assert_eq!(found(1.000, 0.004, false), ComparisonFinding::Alike);
        assert_eq!(found(1.005, 0.001, true), ComparisonFinding::Alike, "significant, but negligible");
        assert_eq!(found(1.012, 0.001, true), ComparisonFinding::Higher);
        assert_eq!(found(0.988, 0.001, true), ComparisonFinding::Lower);
    }
}
