//! The finding of a rule.

use crate::Reason;

/// The severity of a finding; the most severe one decides the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Gravity {
    /// Valid, but a reader must know.
    Remark,
    /// A finding that makes a load point or run invalid.
    Invalid,
    /// A finding that makes it incomplete.
    Incomplete,
}

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) gravity: Gravity,
    pub(crate) rule: &'static str,
    pub(crate) text: String,
    pub(crate) hint: Option<&'static str>,
}

impl Finding {
    pub(crate) fn remark(rule: &'static str, text: String) -> Finding {
        Finding { gravity: Gravity::Remark, rule, text, hint: None }
    }

    pub(crate) fn invalid(rule: &'static str, text: String) -> Finding {
        Finding { gravity: Gravity::Invalid, rule, text, hint: None }
    }

    pub(crate) fn incomplete(rule: &'static str, text: String) -> Finding {
        Finding { gravity: Gravity::Incomplete, rule, text, hint: None }
    }

    pub(crate) fn hint(self, hint: &'static str) -> Finding {
        Finding { hint: Some(hint), ..self }
    }

    /// Turns the finding into the reason of a verdict.
    pub(crate) fn reason(self, load_point: Option<u32>) -> Reason {
        Reason { rule: self.rule, load_point, text: self.text, hint: self.hint.map(str::to_owned) }
    }
}
