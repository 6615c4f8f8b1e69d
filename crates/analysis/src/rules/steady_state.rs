//! Steady state: rate and response time neither drift nor vary over the steady phase.

use stats::{Estimate, Steadiness};

use super::{Evidence, RuleFinding};
use crate::{Measure, SteadyState};

/// Returns whether the phase has enough seconds for a test of the rate.
pub(super) fn has_enough(evidence: &Evidence) -> bool {
    evidence.figures.steadiness.rate != Steadiness::TooFew
}

/// Reports a rate or mean response time that breaks the house rule for a steady state by more than chance.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let SteadyState { rate, response } = evidence.figures.steadiness;
    let of_rate = finding("rate", rate).map(|found| found.measured(Measure::RateSteadiness(rate)));
    let of_response = finding("mean response time", response)
        .map(|found| found.measured(Measure::ResponseSteadiness(response)));
    of_rate.into_iter().chain(of_response).collect()
}

fn finding(what: &str, steadiness: Steadiness) -> Option<RuleFinding> {
    let (text, hint) = match steadiness {
        Steadiness::Steady { .. } | Steadiness::TooFew => return None,
        Steadiness::Drifting { by: Estimate { value, low, high } } => (
            format!(
                "the {what} {} by {:.1} % over the steady phase (95 % CI {:+.1} to {:+.1} %); it never reached a \
                 steady state",
                if value < 0.0 { "fell" } else { "rose" },
                100.0 * value.abs(),
                100.0 * low,
                100.0 * high
            ),
            "use a longer settle phase; the server may leak or still warm up",
        ),
        Steadiness::Unsteady { variation, by_chance } => (
            format!(
                "the {what} varied by {:.1} % between tenths of the steady phase, of which chance explains {:.1} %; it \
                 never reached a steady state",
                100.0 * variation.0,
                100.0 * by_chance.0
            ),
            "see the timeline; another program may run on the server from time to time",
        ),
    };
    Some(RuleFinding::remark("steady-state", text).hint(hint))
}
