//! Steady state: rate and response time neither drift nor vary over the steady phase.

use stats::Steadiness;

use super::{Evidence, RuleFinding};
use crate::SteadyState;
use crate::finding::{Finding, SteadyFigure};

/// Returns whether the phase has enough seconds for a test of the rate.
pub(super) fn has_enough(evidence: &Evidence) -> bool {
    evidence.figures.steadiness.rate != Steadiness::TooFew
}

/// Reports a rate or mean response time that breaks the house rule for a steady state by more than chance.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    if evidence.is_ramp() {
        return Vec::new();
    }
    let SteadyState { rate, response } = evidence.figures.steadiness;
    let found = [finding(SteadyFigure::Rate, rate), finding(SteadyFigure::ResponseMean, response)];
    found.into_iter().flatten().map(RuleFinding::remark).collect()
}

fn finding(figure: SteadyFigure, steadiness: Steadiness) -> Option<Finding> {
    match steadiness {
        Steadiness::Steady { .. } | Steadiness::TooFew => None,
        Steadiness::Drifting { by } => Some(Finding::Drift { figure, by }),
        Steadiness::Unsteady { variation, by_chance } => {
            Some(Finding::Variation { figure, variation, by_chance })
        }
    }
}
