//! The standing of a load point with each group of rules, by the records so far.

use crate::Reason;
use crate::rules::{Evidence, RULES, RuleFinding, RuleGroup, Severity};

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
/// of them that applies to its load: by the evidence on the whole, and on its stages that have begun.
pub(crate) fn standings(whole: &Evidence, stages: &[Evidence]) -> Vec<GroupStanding> {
    let groups = RuleGroup::ALL.into_iter().filter(|group| group.applies_to(whole.load()));
    groups.map(|group| standing(whole, stages, group)).collect()
}

/// Returns the standing with one group: its most severe finding, the first of several.
fn standing(whole: &Evidence, stages: &[Evidence], group: RuleGroup) -> GroupStanding {
    let mut n_judged = 0;
    let mut findings: Vec<(Option<u32>, RuleFinding)> = Vec::new();
    for evidence in [whole].into_iter().chain(stages) {
        let stage = evidence.stage_index();
        let in_group = RULES.iter().filter(|rule| rule.group == group && rule.is_about(evidence.part));
        for rule in in_group.filter(|rule| rule.can_be_judged(evidence)) {
            n_judged += 1;
            findings.extend((rule.check)(evidence).into_iter().map(|finding| (stage, finding)));
        }
    }
    // Of equal elements, `max_by_key` returns the last.
    let Some((stage, worst)) = findings.into_iter().rev().max_by_key(|(_, finding)| finding.severity) else {
        let state = if n_judged == 0 { StandingState::Pending } else { StandingState::Holds };
        return GroupStanding { group, state, reason: None };
    };
    let state = match worst.severity {
        Severity::Notice => StandingState::Notice,
        Severity::Remark => StandingState::Remark,
        Severity::Invalid | Severity::Incomplete => StandingState::Broken,
    };
    GroupStanding { group, state, reason: Some(worst.reason(whole.fold.point.index, stage)) }
}
