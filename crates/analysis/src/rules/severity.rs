//! The severity of a rule's finding.

use crate::{Finding, Reason};

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

/// A finding of a rule with its severity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RuleFinding {
    pub(crate) severity: Severity,
    pub(crate) finding: Finding,
}

impl RuleFinding {
    pub(crate) fn notice(finding: Finding) -> RuleFinding {
        RuleFinding::new(Severity::Notice, finding)
    }

    pub(crate) fn remark(finding: Finding) -> RuleFinding {
        RuleFinding::new(Severity::Remark, finding)
    }

    pub(crate) fn invalid(finding: Finding) -> RuleFinding {
        RuleFinding::new(Severity::Invalid, finding)
    }

    pub(crate) fn incomplete(finding: Finding) -> RuleFinding {
        RuleFinding::new(Severity::Incomplete, finding)
    }

    pub(crate) fn new(severity: Severity, finding: Finding) -> RuleFinding {
        RuleFinding { severity, finding }
    }

    /// Turns the finding into the reason of a verdict on a load point, or on a stage of it.
    pub(crate) fn reason(self, load_point: u32, stage: Option<u32>) -> Reason {
        Reason { load_point: Some(load_point), stage, finding: self.finding }
    }
}
