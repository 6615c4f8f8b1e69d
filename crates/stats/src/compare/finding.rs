//! The finding of a comparison: different, alike, too noisy or without evidence.

use units::Ratio;

use super::{Decision, LogRatio};

/// An interval that leaves no room for more than this makes two sides alike, whatever chance says: a house rule, about as
/// much as moving a server to another port can make.
pub const ALIKE: Ratio = Ratio(0.01);

/// A comparison that would overlook this much is too noisy, or too short, to speak of "no evidence": a house rule, the least that
/// people change a server for.
pub const NOISY: Ratio = Ratio(0.05);

/// The probability with which the smallest detectable difference is found.
///
/// Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, section 2.4: the usual convention.
pub const POWER: Ratio = Ratio(0.8);

/// The finding of a comparison of two sides in one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The figure is higher than that of the baseline.
    Higher,
    /// It is lower.
    Lower,
    /// Any difference is smaller than [`ALIKE`].
    Alike,
    /// A difference of [`NOISY`] would probably have been seen, and none was.
    NoEvidence,
    /// There was too little to compare: too few runs or seconds. What there is does not vary much.
    TooShort,
    /// A difference of [`NOISY`] could have been overlooked, so much do the measurements vary.
    TooNoisy,
}

/// Returns what a comparison comes to; `decision` says whether its difference holds among all that were looked at
/// together. Everything is judged at the level of that decision, and by the interval that belongs to it.
pub fn finding(change: Option<&LogRatio>, decision: Decision) -> Finding {
    let Some(change) = change else { return Finding::TooShort };
    let Some(ratio) = change.ratio(decision.confidence()) else { return Finding::TooShort };
    if 1.0 / (1.0 + ALIKE.0) <= ratio.low && ratio.high <= 1.0 + ALIKE.0 {
        return Finding::Alike;
    }
    if decision.holds {
        return if 1.0 < ratio.value { Finding::Higher } else { Finding::Lower };
    }
    let is_seen = |more: Option<Ratio>| more.is_some_and(|more| more.0 <= NOISY.0);
    if is_seen(change.detectable(decision.level, POWER)) {
        Finding::NoEvidence
    } else if is_seen(change.detectable_if_known(decision.level, POWER)) {
        Finding::TooShort
    } else {
        Finding::TooNoisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shown;

    fn decision(holds: bool) -> Decision {
        Decision { holds, level: Ratio(0.05) }
    }

    /// A ratio with an error of so much, told from so many values.
    fn found_from(freedom: f64, ratio: f64, error: f64, told: bool) -> Finding {
        let side = |value| Shown { value, relative: error / 2.0f64.sqrt(), freedom };
        finding(LogRatio::of_runs(&[side(1.0)], &[side(ratio)], Ratio(0.0)).as_ref(), decision(told))
    }

    fn found(ratio: f64, error: f64, told: bool) -> Finding {
        found_from(1e6, ratio, error, told)
    }

    /// By hand: an error of 1.5 % is 4.3 % detectable if it is known; with 2 + 2 degrees of freedom t is 2.776 and 0.941,
    /// which makes it 5.7 %. One of 2 % is too much in either case.
    #[test]
    fn little_that_varies_little_is_too_short() {
        assert_eq!(found_from(2.0, 1.01, 0.015, false), Finding::TooShort);
        assert_eq!(found_from(2.0, 1.01, 0.02, false), Finding::TooNoisy);
        assert_eq!(found_from(1e6, 1.01, 0.015, false), Finding::NoEvidence);
    }

    /// The same measurement, alone and as one of many: what is printed and what is said of it follow from one level.
    #[test]
    fn a_stricter_level_asks_for_more() {
        let side = |value| Shown { value, relative: 0.01, freedom: 1e6 };
        let change = LogRatio::of_runs(&[side(1.0)], &[side(1.02)], Ratio(0.0)).unwrap();
        let at = |level| finding(Some(&change), Decision { holds: false, level: Ratio(level) });
        assert_eq!((at(0.05), at(0.001)), (Finding::NoEvidence, Finding::TooNoisy));
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
        assert_eq!(finding(None, decision(false)), Finding::TooShort);
    }

    #[test]
    fn what_is_certainly_little_is_alike() {
        assert_eq!(found(1.000, 0.004, false), Finding::Alike);
        assert_eq!(found(1.005, 0.001, true), Finding::Alike, "there, and of no account");
        assert_eq!(found(1.012, 0.001, true), Finding::Higher);
        assert_eq!(found(0.988, 0.001, true), Finding::Lower);
    }
}
