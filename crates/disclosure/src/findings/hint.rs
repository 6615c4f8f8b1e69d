//! Hints that fit their cause: a finding's own hint, unless other findings of the run know better.

use std::collections::BTreeSet;

use analysis::{Analysis, Finding, LoadPointResult, Reason, VerdictState};

use super::{finding_hint, generator};

/// The offered rate ÷ the highest valid one from which an overload says nothing about the generator. A house rule.
const FAR_ABOVE_MIN: f64 = 1.5;

/// The CPU time from which other programs are the likelier cause of a generator that is late, in CPUs. A house rule.
const OTHERS_MIN: f64 = 0.2;

const OFFER_LESS: &str =
    "this rate is far above the highest valid one, so the generator's health is meaningless here; offer less";
const DISTURBED: &str =
    "another load point sustained a rate as high: find what disturbed this one, and repeat the run";

/// Returns the remedy for the reason of a verdict, as other findings of its run allow: a clause without a full stop; `None` if
/// there is none.
pub fn reason_hint(analysis: &Analysis, reason: &Reason) -> Option<&'static str> {
    let own = finding_hint(&reason.finding)?;
    let point =
        reason.load_point.and_then(|index| analysis.load_points.iter().find(|one| one.index == index));
    let better = point.and_then(|point| match &reason.finding {
        Finding::Delivered { .. } => was_carried(analysis, point).then_some(DISTURBED),
        Finding::GeneratorBusy { .. }
        | Finding::GeneratorRunQueue { .. }
        | Finding::GeneratorLateness { .. } => of_generator(analysis, point),
        _ => None,
    });
    better.or(Some(own))
}

/// Returns what is known about the cause of a generator at its limit; `None` if nothing is.
fn of_generator(analysis: &Analysis, point: &LoadPointResult) -> Option<&'static str> {
    let offered = point.offered_rate;
    let highest = valid_rates(analysis).max_by(f64::total_cmp);
    let is_far_above = offered.zip(highest).is_some_and(|(offered, valid)| FAR_ABOVE_MIN * valid <= offered);
    let findings = || point.verdict.reasons.iter().chain(&point.verdict.remarks).map(|one| &one.finding);
    let others = findings().filter_map(|finding| match finding {
        Finding::OtherPrograms { used, .. } => Some(used.total),
        Finding::GeneratorRunQueue { others, .. } => others.as_ref().map(|used| used.total),
        _ => None,
    });
    if is_far_above {
        Some(OFFER_LESS)
    } else if others.fold(0.0, f64::max) >= OTHERS_MIN {
        Some(generator::END_OTHERS)
    } else {
        was_carried(analysis, point).then_some(DISTURBED)
    }
}

/// Returns whether another load point is valid at the offered rate of this one, or above.
fn was_carried(analysis: &Analysis, point: &LoadPointResult) -> bool {
    point.offered_rate.is_some_and(|offered| valid_rates(analysis).any(|rate| offered <= rate))
}

fn valid_rates(analysis: &Analysis) -> impl Iterator<Item = f64> {
    let valid = analysis.load_points.iter().filter(|point| point.verdict.state == VerdictState::Valid);
    valid.map(|point| point.rate)
}

/// The hints of a list of reasons: each is given once, with the first reason that has it.
#[derive(Debug)]
pub struct Hints<'a> {
    analysis: &'a Analysis,
    given: BTreeSet<&'static str>,
}

impl<'a> Hints<'a> {
    /// Begins a list of reasons of this run.
    pub fn new(analysis: &'a Analysis) -> Hints<'a> {
        Hints { analysis, given: BTreeSet::new() }
    }

    /// Returns the hint of the next reason; `None` if it has none, or the list has given it already.
    pub fn next_of(&mut self, reason: &Reason) -> Option<&'static str> {
        reason_hint(self.analysis, reason).filter(|hint| self.given.insert(*hint))
    }
}
