//! The finding of a rule.

use crate::Reason;

/// The severity of a finding; the most severe one decides the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// A remark: valid, but a reader must know.
    Remark,
    /// A finding that makes a load point or run invalid.
    Invalid,
    /// A finding that makes it incomplete.
    Incomplete,
}

/// A finding of a rule.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleFinding {
    pub(crate) severity: Severity,
    pub(crate) rule: &'static str,
    pub(crate) text: String,
    pub(crate) hint: Option<&'static str>,
}

impl RuleFinding {
    pub(crate) fn remark(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding { severity: Severity::Remark, rule, text, hint: None }
    }

    pub(crate) fn invalid(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding { severity: Severity::Invalid, rule, text, hint: None }
    }

    pub(crate) fn incomplete(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding { severity: Severity::Incomplete, rule, text, hint: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> RuleFinding {
        RuleFinding { hint: Some(hint), ..self }
    }

    /// Turns the finding into the reason of a verdict.
    pub(crate) fn reason(self, load_point: Option<u32>) -> Reason {
        Reason { rule: self.rule, load_point, text: self.text, hint: self.hint.map(str::to_owned) }
    }
}
