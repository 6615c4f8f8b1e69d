//! The caption of the timeline: a sentence about the steady state of each load point.

use analysis::{LoadPointResult, SteadyState};
use model::Load;
use stats::Steadiness;

use crate::Report;
use crate::report::{Terms, load_number};

/// Returns the sentence about the steady state of all load points, with its full stop.
pub(super) fn sentence(report: &Report) -> String {
    let terms = report.terms();
    let points = &report.analysis.load_points;
    let of_state = |state: State| points.iter().filter(move |point| State::of(point.steadiness) == state);
    let loads = |state| of_state(state).map(|point| point.load).collect::<Vec<Load>>();
    let unsteady: Vec<String> = of_state(State::NotReached).map(|point| not_reached(terms, point)).collect();
    let parts = [
        listed(terms, &loads(State::Reached)).map(|loads| format!("reached at {loads}")),
        (!unsteady.is_empty()).then(|| format!("not reached at {}", unsteady.join(", "))),
        listed(terms, &loads(State::TooFew)).map(|loads| format!("unknown (too few seconds) at {loads}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("Steady state of rate and mean response time: {}.", parts.join("; "))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reached,
    NotReached,
    TooFew,
}

impl State {
    fn of(found: SteadyState) -> State {
        let both = [found.rate, found.response];
        if both.into_iter().any(|one| what_happened(one).is_some()) {
            State::NotReached
        } else if both.contains(&Steadiness::TooFew) {
            State::TooFew
        } else {
            State::Reached
        }
    }
}

/// Writes `40 clients (the rate fell by 7.1 %)`.
fn not_reached(terms: Terms, point: &LoadPointResult) -> String {
    let found = [("rate", point.steadiness.rate), ("response time", point.steadiness.response)];
    let texts =
        found.into_iter().filter_map(|(what, one)| Some(format!("the {what} {}", what_happened(one)?)));
    format!("{} ({})", terms.load_text(point.load), texts.collect::<Vec<_>>().join(", "))
}

fn what_happened(found: Steadiness) -> Option<String> {
    match found {
        Steadiness::Steady { .. } | Steadiness::TooFew => None,
        Steadiness::Drifting { by } => {
            let verb = if by.value < 0.0 { "fell" } else { "rose" };
            Some(format!("{verb} by {:.1} %", 100.0 * by.value.abs()))
        }
        Steadiness::Unsteady { variation, .. } => Some(format!("varied by {:.1} %", 100.0 * variation.0)),
    }
}

/// Writes `10, 20 and 40 clients`; `None` without any.
fn listed(terms: Terms, loads: &[Load]) -> Option<String> {
    let (last, before) = loads.split_last()?;
    let before: Vec<String> = before.iter().map(|load| load_number(*load)).collect();
    let last = terms.load_text(*last);
    Some(if before.is_empty() { last } else { format!("{} and {last}", before.join(", ")) })
}
