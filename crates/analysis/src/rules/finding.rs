//! The finding of a rule.

use crate::{Measure, Reason};

/// The severity of a finding; the most severe one decides the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// A value near its limit, or a failure that is allowed: no part of a verdict.
    Notice,
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
    /// The numbers of the finding, where the view of a running load point words it in its own way.
    pub(crate) measure: Option<Measure>,
}

impl RuleFinding {
    pub(crate) fn notice(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding::new(Severity::Notice, rule, text)
    }

    pub(crate) fn remark(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding::new(Severity::Remark, rule, text)
    }

    pub(crate) fn invalid(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding::new(Severity::Invalid, rule, text)
    }

    pub(crate) fn incomplete(rule: &'static str, text: String) -> RuleFinding {
        RuleFinding::new(Severity::Incomplete, rule, text)
    }

    pub(crate) fn new(severity: Severity, rule: &'static str, text: String) -> RuleFinding {
        RuleFinding { severity, rule, text, hint: None, measure: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> RuleFinding {
        RuleFinding { hint: Some(hint), ..self }
    }

    pub(crate) fn measured(self, measure: Measure) -> RuleFinding {
        RuleFinding { measure: Some(measure), ..self }
    }

    /// Turns the finding into the reason of a verdict.
    pub(crate) fn reason(self, load_point: Option<u32>) -> Reason {
        Reason { rule: self.rule, load_point, text: self.text, hint: self.hint.map(str::to_owned) }
    }
}
