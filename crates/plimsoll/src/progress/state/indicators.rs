//! Validity indicators of a running load point: its standings, as `analysis` judges them, in the words of the view.

use analysis::{Finding, GroupStanding, LoadPointStatus, RuleGroup, StandingState};
use units::Nanos;

/// The status of an indicator, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IndicatorStatus {
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

/// Returns the most severe indicator that is not good, with its reason; the first of several. The reason is a clause,
/// empty if there is none.
pub(crate) fn most_severe(status: &LoadPointStatus) -> Option<(&'static str, IndicatorStatus, String)> {
    let status_of = |standing: &GroupStanding| IndicatorStatus::from(standing.state);
    let not_good = status.standings.iter().rev().filter(|one| IndicatorStatus::Good < status_of(one));
    // Of equal elements, `max_by_key` returns the last.
    let worst = not_good.max_by_key(|one| status_of(one))?;
    Some((worst.group.name(), status_of(worst), why(worst, status)))
}

/// Returns the problem that makes a load point invalid, in a word or two; `None` if there is none. A load point that was
/// not judged at its end was cut short.
///
/// A remark is no problem: it is in the report, and a warning beside a valid load point would contradict the verdict.
pub(super) fn problem(status: Option<&LoadPointStatus>) -> Option<&'static str> {
    let Some(status) = status.filter(|status| status.is_over) else { return Some("cut short") };
    let broken = status.standings.iter().find(|one| one.state == StandingState::Broken)?;
    let finding = broken.reason.as_ref().map(|reason| &reason.finding);
    let is_cut_short = matches!(finding, Some(Finding::SteadyLength { .. }));
    Some(if is_cut_short { "cut short" } else { broken.group.name() })
}

/// Returns the reason of a standing that is not good.
fn why(standing: &GroupStanding, status: &LoadPointStatus) -> String {
    match &standing.reason {
        Some(reason) => disclosure::finding_brief(&reason.finding),
        None if standing.group == RuleGroup::Sample && Nanos::ZERO < status.length => {
            format!("{} of {} required operations", status.ok, status.ok_needed)
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use analysis::Reason;

    use super::super::super::fixtures;
    use super::*;

    /// Returns the status of a load point with 24 s of its steady phase, in which three operations failed.
    fn status() -> LoadPointStatus {
        fixtures::closed().point.unwrap().status.unwrap()
    }

    /// Puts a standing in the place of the one of its group.
    fn with(mut status: LoadPointStatus, standing: GroupStanding) -> LoadPointStatus {
        let one = status.standings.iter_mut().find(|one| one.group == standing.group).expect("it applies");
        *one = standing;
        status
    }

    fn standing(group: RuleGroup, state: StandingState, finding: Option<Finding>) -> GroupStanding {
        let reason = finding.map(|finding| Reason { load_point: Some(0), stage: None, finding });
        GroupStanding { group, state, reason }
    }

    #[test]
    fn findings_are_worded_briefly() {
        let finding = Finding::GeneratorFault { outcome: model::Outcome::NoLocalPort, n: 2 };
        let status = with(status(), standing(RuleGroup::Errors, StandingState::Broken, Some(finding)));
        let (name, _, why) = most_severe(&status).unwrap();
        assert_eq!(
            (name, why.as_str()),
            ("errors", "2 operations failed because of the generator's machine")
        );
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
