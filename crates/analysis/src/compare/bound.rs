//! Bounds that the user sets for the changes of a comparison, and whether they are exceeded.

use super::{Change, ComparedMetric, Comparison};

/// A bound for the change of a metric from the baseline: a rate that falls by more than 5 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeBound {
    /// The metric.
    pub metric: ComparedMetric,
    /// The side of the bound on which a change is too large.
    pub direction: BoundDirection,
    /// The bound as a ratio to the baseline (0.95: −5 %), above 0: at most 1 for decreases, at least 1 for increases.
    pub ratio: f64,
}

/// The side of a bound on which a change is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundDirection {
    /// A decrease beyond the bound.
    Decrease,
    /// An increase beyond the bound.
    Increase,
}

/// The outcome of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundOutcome {
    /// The whole interval is within the bound.
    Kept,
    /// The whole interval is beyond the bound.
    Exceeded,
    /// The interval contains the bound, or there are too few runs and seconds for an interval.
    Undecided,
    /// The metric was not compared: it was not measured, or the sides have no common load at which all runs are valid.
    NotMeasured,
}

/// A bound with what was found for one side.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedBound {
    /// The bound.
    pub bound: ChangeBound,
    /// The side that is compared with the baseline, as an index.
    pub side: usize,
    /// The change over all loads; `None` if the metric was not compared.
    pub change: Option<Change>,
    /// The outcome.
    pub outcome: BoundOutcome,
}

/// Judges bounds by the 95 % intervals of the changes over all loads, for every side but the baseline.
///
/// Each bound is judged by itself. If the true change equals the bound, it is found to be exceeded in at most 2.5 % of
/// comparisons, and more rarely if the true change is smaller.
pub fn judge_bounds(comparison: &Comparison, bounds: &[ChangeBound]) -> Vec<JudgedBound> {
    let sides = comparison.sides.iter().enumerate().skip(1);
    let judged = sides.flat_map(|(index, side)| {
        bounds.iter().map(move |bound| {
            let change = side.overall.iter().find(|change| change.metric == bound.metric).copied();
            JudgedBound { bound: *bound, side: index, change, outcome: bound.outcome(change.as_ref()) }
        })
    });
    judged.collect()
}

impl ChangeBound {
    fn outcome(&self, change: Option<&Change>) -> BoundOutcome {
        let Some(change) = change else { return BoundOutcome::NotMeasured };
        let Some((low, high)) = change.single_interval else { return BoundOutcome::Undecided };
        let (is_beyond, is_within) = match self.direction {
            BoundDirection::Decrease => (high < self.ratio, self.ratio <= low),
            BoundDirection::Increase => (self.ratio < low, high <= self.ratio),
        };
        match (is_beyond, is_within) {
            (true, _) => BoundOutcome::Exceeded,
            (_, true) => BoundOutcome::Kept,
            _ => BoundOutcome::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::ComparisonFinding;
    use units::Ratio;

    use super::super::Basis;
    use super::*;

    fn change(single_interval: Option<(f64, f64)>) -> Change {
        Change {
            metric: ComparedMetric::Score,
            n_loads: 1,
            ratio: 1.0,
            interval: None,
            single_interval,
            confidence: Ratio(0.95),
            p: None,
            finding: ComparisonFinding::NoEvidence,
            detectable: None,
            basis: Basis::Phases,
        }
    }

    /// `rate<-5%` and `p99>+10%` against intervals on both sides of the bound, on it, and around it.
    #[test]
    fn a_bound_is_exceeded_only_if_the_whole_interval_is_beyond_it() {
        let outcome = |direction, ratio, low, high| {
            let bound = ChangeBound { metric: ComparedMetric::Score, direction, ratio };
            bound.outcome(Some(&change(Some((low, high)))))
        };
        let fall = |low, high| outcome(BoundDirection::Decrease, 0.95, low, high);
        assert_eq!(fall(0.90, 0.949), BoundOutcome::Exceeded);
        assert_eq!(fall(0.90, 0.95), BoundOutcome::Undecided, "the end is on the bound");
        assert_eq!(fall(0.90, 0.97), BoundOutcome::Undecided);
        assert_eq!(fall(0.95, 0.97), BoundOutcome::Kept);
        assert_eq!(fall(1.10, 1.20), BoundOutcome::Kept, "an increase is no decrease");
        let rise = |low, high| outcome(BoundDirection::Increase, 1.10, low, high);
        assert_eq!(rise(1.11, 1.30), BoundOutcome::Exceeded);
        assert_eq!(rise(1.05, 1.11), BoundOutcome::Undecided);
        assert_eq!(rise(1.05, 1.10), BoundOutcome::Kept);
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        let bound =
            ChangeBound { metric: ComparedMetric::Score, direction: BoundDirection::Decrease, ratio: 0.95 };
        assert_eq!(bound.outcome(Some(&change(None))), BoundOutcome::Undecided);
        assert_eq!(bound.outcome(None), BoundOutcome::NotMeasured);
    }
}
