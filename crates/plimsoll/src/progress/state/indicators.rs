//! Validity indicators of a running load point: its standings, as `analysis` judges them, in the words of the view.

use analysis::{LoadPointStatus, Measure, RuleGroup, Standing, StandingState};
use stats::Steadiness;
use units::{Nanos, Ratio};

use crate::progress::text::percent;

/// The status of an indicator, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndicatorStatus {
    /// No problem.
    Good,
    /// Not known yet.
    Unknown,
    /// A remark, or close to a limit.
    Warning,
    /// As it stands, the load point is not valid.
    Bad,
}

impl From<StandingState> for IndicatorStatus {
    fn from(state: StandingState) -> IndicatorStatus {
        match state {
            StandingState::Holds => IndicatorStatus::Good,
            StandingState::Pending => IndicatorStatus::Unknown,
            StandingState::Notice | StandingState::Remark => IndicatorStatus::Warning,
            StandingState::Broken => IndicatorStatus::Bad,
        }
    }
}

/// Returns the name of a group of rules: one word.
pub fn group_name(group: RuleGroup) -> &'static str {
    match group {
        RuleGroup::Record => "record",
        RuleGroup::Little => "Little",
        RuleGroup::Generator => "generator",
        RuleGroup::Errors => "errors",
        RuleGroup::Delivery => "delivery",
        RuleGroup::Sample => "sample",
        RuleGroup::Steady => "steady",
    }
}

/// Returns the most severe indicator that is not good, with its reason; the first of several. The reason is a clause,
/// empty if there is none.
pub fn most_severe(status: &LoadPointStatus) -> Option<(&'static str, IndicatorStatus, String)> {
    let status_of = |standing: &Standing| IndicatorStatus::from(standing.state);
    let not_good = status.standings.iter().rev().filter(|one| IndicatorStatus::Good < status_of(one));
    // Of equal elements, `max_by_key` returns the last.
    let worst = not_good.max_by_key(|one| status_of(one))?;
    Some((group_name(worst.group), status_of(worst), why(worst, status)))
}

/// Returns the problem that makes a load point invalid, in a word or two; `None` if there is none. A load point that was
/// not judged at its end was cut short.
///
/// A remark is no problem: it is in the report, and a warning beside a valid load point would contradict the verdict.
pub fn problem(status: Option<&LoadPointStatus>) -> Option<&'static str> {
    let Some(status) = status.filter(|status| status.is_over) else { return Some("cut short") };
    let broken = status.standings.iter().find(|one| one.state == StandingState::Broken)?;
    let rule = broken.reason.as_ref().map(|reason| reason.rule);
    Some(if rule == Some("steady-length") { "cut short" } else { group_name(broken.group) })
}

/// Returns the reason of a standing that is not good.
fn why(standing: &Standing, status: &LoadPointStatus) -> String {
    match (standing.measure, &standing.reason) {
        (Some(measure), _) => measure_text(measure, standing.state),
        (None, Some(reason)) => reason.text.clone(),
        (None, None) if standing.group == RuleGroup::Sample && Nanos::ZERO < status.length => {
            format!("{} of {} required operations", status.ok, status.ok_needed)
        }
        (None, None) => String::new(),
    }
}

/// Words the numbers of a finding, in less room than a report has.
fn measure_text(measure: Measure, state: StandingState) -> String {
    // The generator may be at its limit while the server is at its own.
    let saturated = if state == StandingState::Remark { "; the server is saturated too" } else { "" };
    match measure {
        Measure::Users { seen, present } => format!("X·(R + Z) = {seen:.2} for {present} users"),
        Measure::GeneratorBusy(busy) => format!("CPU {}{saturated}", percent(busy)),
        Measure::GeneratorWait(waited) => {
            format!("waiting for a CPU {} of the time{saturated}", percent(waited))
        }
        Measure::GeneratorLateness { p99, limit } => {
            format!("p99 lateness {p99}, limit {limit}{saturated}")
        }
        Measure::GeneratorFaults(n) => format!("{n} operations failed because of the generator's machine"),
        Measure::Errors { n, ratio, limit } => {
            let limit = match state {
                StandingState::Broken => format!(", limit {}", Ratio(limit)),
                _ => String::new(),
            };
            format!("{n} operations failed ({:.2} %){limit}", 100.0 * ratio)
        }
        Measure::Delivered { ratio, limit } => {
            format!("{} of the offered rate completed, at least {} required", percent(ratio), percent(limit))
        }
        Measure::RateSteadiness(steadiness) => steadiness_text("rate", steadiness),
        Measure::ResponseSteadiness(steadiness) => steadiness_text("mean response time", steadiness),
    }
}

fn steadiness_text(what: &str, steadiness: Steadiness) -> String {
    match steadiness {
        Steadiness::TooFew | Steadiness::Steady { .. } => String::new(),
        Steadiness::Drifting { by } => format!("the {what} has changed by {:+.1} %", 100.0 * by.value),
        Steadiness::Unsteady { variation, .. } => format!("the {what} varies by {variation}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures;
    use super::*;

    /// Returns the status of a load point with 24 s of its steady phase, in which three operations failed.
    fn status() -> LoadPointStatus {
        fixtures::closed().point.unwrap().status.unwrap()
    }

    /// Puts a standing in the place of the one of its group.
    fn with(mut status: LoadPointStatus, standing: Standing) -> LoadPointStatus {
        let one = status.standings.iter_mut().find(|one| one.group == standing.group).expect("it applies");
        *one = standing;
        status
    }

    fn standing(group: RuleGroup, state: StandingState, measure: Option<Measure>) -> Standing {
        Standing { group, state, reason: None, measure }
    }

    #[track_caller]
    fn check(state: StandingState, measure: Measure, expected: &str) {
        let status = with(status(), standing(RuleGroup::Generator, StandingState::Holds, None));
        let status = with(status, standing(RuleGroup::Errors, state, Some(measure)));
        let (name, _, why) = most_severe(&status).unwrap();
        assert_eq!((name, why.as_str()), ("errors", expected));
    }

    #[test]
    fn findings_are_worded_with_their_numbers() {
        use StandingState::{Broken, Notice, Remark};
        check(Broken, Measure::Users { seen: 28.5, present: 30.0 }, "X·(R + Z) = 28.50 for 30 users");
        check(Broken, Measure::GeneratorBusy(0.9), "CPU 90 %");
        check(Remark, Measure::GeneratorBusy(0.9), "CPU 90 %; the server is saturated too");
        check(Notice, Measure::GeneratorWait(0.25), "waiting for a CPU 25 % of the time");
        let (p99, limit) = (Nanos::from_millis(6), Nanos::from_millis(5));
        check(Broken, Measure::GeneratorLateness { p99, limit }, "p99 lateness 6.00 ms, limit 5.00 ms");
        check(Broken, Measure::GeneratorFaults(1), "1 operations failed because of the generator's machine");
        let errors = Measure::Errors { n: 41, ratio: 0.0102, limit: 0.01 };
        check(Notice, errors, "41 operations failed (1.02 %)");
        check(Broken, errors, "41 operations failed (1.02 %), limit 1.0 %");
        let delivered = Measure::Delivered { ratio: 0.872, limit: 0.95 };
        check(Broken, delivered, "87 % of the offered rate completed, at least 95 % required");
        let unsteady = Steadiness::Unsteady { variation: Ratio(0.2), by_chance: Ratio(0.01) };
        check(Remark, Measure::RateSteadiness(unsteady), "the rate varies by 20.0 %");
        let text = "the mean response time varies by 20.0 %";
        check(Remark, Measure::ResponseSteadiness(unsteady), text);
    }

    #[test]
    fn the_most_severe_indicator_comes_first() {
        let found = most_severe(&status()).unwrap();
        assert_eq!(found, ("errors", IndicatorStatus::Warning, "3 operations failed (0.04 %)".to_owned()));
        let broken = standing(RuleGroup::Sample, StandingState::Broken, None);
        let (name, status, _) = most_severe(&with(status(), broken)).unwrap();
        assert_eq!((name, status), ("sample", IndicatorStatus::Bad));
    }

    #[test]
    fn an_operation_count_that_is_too_small_so_far_is_shown() {
        let pending = standing(RuleGroup::Sample, StandingState::Pending, None);
        let errors = standing(RuleGroup::Errors, StandingState::Holds, None);
        let few = LoadPointStatus { ok: 99, ..with(with(status(), pending), errors) };
        let found = most_severe(&few).unwrap();
        assert_eq!(found, ("sample", IndicatorStatus::Unknown, "99 of 100 required operations".to_owned()));
    }

    #[test]
    fn only_a_broken_rule_is_a_problem_of_a_finished_load_point() {
        let over = LoadPointStatus { is_over: true, ..status() };
        assert_eq!(problem(Some(&over)), None, "failures within the limit are a notice");
        let remark = standing(RuleGroup::Generator, StandingState::Remark, None);
        assert_eq!(problem(Some(&with(over.clone(), remark))), None);
        let broken = standing(RuleGroup::Sample, StandingState::Broken, None);
        assert_eq!(problem(Some(&with(over, broken))), Some("sample"));
        assert_eq!(problem(Some(&status())), Some("cut short"), "it was not judged at its end");
        assert_eq!(problem(None), Some("cut short"));
    }
}
