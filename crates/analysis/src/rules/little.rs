//! Little's law on a closed loop: N = X·(R + Z), or L = X·R where users can owe operations or have several in flight, or a gap
//! that is explained.

use model::Load;

use super::{Evidence, RecordProgress, RuleFinding};
use crate::finding::{CutOffPart, FailedPart, Finding, LittleExplanation, LittlePopulation};

/// Part of all users' time that may be unaccounted for.
const USER_TIME_GAP_MAX: f64 = 0.01;

/// Checks users' time and Little's law; an open loop has no N.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let Load::Users(users) = evidence.load() else { return Vec::new() };
    if evidence.figures.length.0 == 0 {
        return Vec::new();
    }
    user_time(evidence).or_else(|| little(evidence, users)).into_iter().collect()
}

/// Checks that every user is at any moment in flight or thinking (until it is back, however late).
///
/// So N·T = ∫ in flight + ∫ thinking. A user with up to n operations in flight has at least one: N·T ≤ ∫ in flight ≤ n·N·T.
fn user_time(evidence: &Evidence) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let least = evidence.load().level() * evidence.figures.length.as_secs_f64();
    let most = least * f64::from(evidence.plan.catalog.in_flight_per_user());
    let found = totals.in_flight_ns.saturating_add(totals.thinking_ns) as f64 / 1e9;
    let expected = found.clamp(least, most);
    let gap = (found - expected).abs() / expected;
    // Not `limit < gap`: without users the gap is not a number.
    let holds = gap <= USER_TIME_GAP_MAX;
    (!holds).then(|| RuleFinding::invalid(Finding::UserTime { found, expected }))
}

/// Checks the plain law, then with explanations of the gap, the fewest first.
///
/// N = X·(R + Z) does not hold where pauses count from due times: a user who owes operations is in none of the two for as
/// long as the operation before is in flight, and counted in several response times. Nor does it where a user has as many in
/// flight as it finds work for, up to n. There X·R is the mean number L of operations that wait or are in flight, from the
/// recorded integral.
fn little(evidence: &Evidence, users: u32) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let (found, population) = if evidence.plan.catalog.has_overlapping_operations() {
        let busy = totals.response_seconds() / totals.length.as_secs_f64();
        (busy, LittlePopulation::Operations(totals.population()))
    } else {
        (totals.users_seen(), LittlePopulation::Users(users))
    };
    let n = population.n();
    let limit = evidence.plan.rules.little_gap_max;
    let closes = |found: f64| (n - found).abs() / n <= limit;
    if closes(found) {
        return None;
    }
    let (failed, ends) = explanations(evidence);
    let both = failed.users + ends.users;
    let by = if closes(found + failed.users) {
        LittleExplanation::Failures(failed)
    } else if closes(found + ends.users) {
        LittleExplanation::Ends(ends)
    } else if closes(found + both) {
        LittleExplanation::Both(failed, ends)
    } else {
        return Some(RuleFinding::invalid(Finding::LittleGap { found, population, explained: both }));
    };
    // While the phase grows, operations at its ends explain less and less.
    (evidence.progress != RecordProgress::Running)
        .then(|| RuleFinding::remark(Finding::LittleGapExplained { found, population, by }))
}

/// Returns what the plain form of Little's law leaves out.
fn explanations(evidence: &Evidence) -> (FailedPart, CutOffPart) {
    let totals = &evidence.fold.steady;
    let length = evidence.figures.length.as_secs_f64();
    let failed = totals.failed_seconds() / length;
    let (age_start, age_end) = totals.ages_at_ends_ns();
    let ends = (age_end as f64 - age_start as f64) / 1e9 / length;
    let (_, in_flight) = totals.in_flight_at_ends();
    (FailedPart { n: totals.errors(), users: failed }, CutOffPart { in_flight, users: ends })
}
