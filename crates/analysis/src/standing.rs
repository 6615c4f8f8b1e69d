//! The standing of a load point with each group of rules, by the records so far.

use crate::Reason;
use crate::rules::{Evidence, RULES, Rule, RuleFinding, RuleGroup, Severity};

/// The standing of a load point with regard to a group of rules.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupStanding {
    /// The group.
    pub group: RuleGroup,
    /// The state that its most severe finding gives it.
    pub state: StandingState,
    /// That finding; `None` if there is none.
    pub reason: Option<Reason>,
}

/// The states of a standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandingState {
    /// All rules that can be judged so far hold.
    Holds,
    /// None of the rules can be judged yet.
    Pending,
    /// The rules hold, but a value is near its limit, or operations failed within the limit.
    Notice,
    /// A reader of the result would get a remark.
    Remark,
    /// A rule is broken: as it stands, the load point is not valid.
    Broken,
}

impl StandingState {
    /// Returns its name, as monitoring systems show it.
    pub fn name(self) -> &'static str {
        match self {
            StandingState::Holds => "holds",
            StandingState::Pending => "pending",
            StandingState::Notice => "notice",
            StandingState::Remark => "remark",
            StandingState::Broken => "broken",
        }
    }
}

/// Applies the rules that can be judged by the records so far, and returns where the load point stands with each group
/// of them that applies to its load.
pub(crate) fn standings(evidence: &Evidence) -> Vec<GroupStanding> {
    let groups = RuleGroup::ALL.into_iter().filter(|group| group.applies_to(evidence.load()));
    groups.map(|group| standing(evidence, group)).collect()
}

/// Returns the standing with one group: its most severe finding, the first of several.
fn standing(evidence: &Evidence, group: RuleGroup) -> GroupStanding {
    let in_group = RULES.iter().filter(|rule| rule.group == group);
    let judged: Vec<&Rule> = in_group.filter(|rule| rule.can_be_judged(evidence)).collect();
    let findings: Vec<RuleFinding> = judged.iter().flat_map(|rule| (rule.check)(evidence)).collect();
    // Of equal elements, `max_by_key` returns the last.
    let Some(worst) = findings.into_iter().rev().max_by_key(|finding| finding.severity) else {
        let state = if judged.is_empty() { StandingState::Pending } else { StandingState::Holds };
        return GroupStanding { group, state, reason: None };
    };
    let state = match worst.severity {
        Severity::Notice => StandingState::Notice,
        Severity::Remark => StandingState::Remark,
        Severity::Invalid | Severity::Incomplete => StandingState::Broken,
    };
    GroupStanding { group, state, reason: Some(worst.reason(Some(evidence.fold.point.index))) }
}
