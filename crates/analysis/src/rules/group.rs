//! Groups of rules.

use model::Load;

/// A group of rules about one aspect of a load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleGroup {
    /// The record: complete and free of contradictions.
    Record,
    /// The time of the users of a closed loop: accounted for, by Little's law.
    Little,
    /// The generator: fast enough, and undisturbed.
    Generator,
    /// Failures, and replies that were not as they should be.
    Errors,
    /// The operations of an open loop: delivered at the offered rate.
    Delivery,
    /// The sample: enough operations, in the right proportions.
    Sample,
    /// The steady phase: steady, and nothing else in it.
    Steady,
}

impl RuleGroup {
    /// All groups in the order in which they are shown: first what makes the record doubtful, then generator and
    /// server, then how far the numbers reach.
    pub const ALL: [RuleGroup; 7] = [
        RuleGroup::Record,
        RuleGroup::Little,
        RuleGroup::Generator,
        RuleGroup::Errors,
        RuleGroup::Delivery,
        RuleGroup::Sample,
        RuleGroup::Steady,
    ];

    /// Returns its name, as the live view and monitoring systems show it.
    pub fn name(self) -> &'static str {
        match self {
            RuleGroup::Record => "record",
            RuleGroup::Little => "Little",
            RuleGroup::Generator => "generator",
            RuleGroup::Errors => "errors",
            RuleGroup::Delivery => "delivery",
            RuleGroup::Sample => "sample",
            RuleGroup::Steady => "steady",
        }
    }

    /// Returns whether the group has rules for such a load.
    pub(crate) fn applies_to(self, load: Load) -> bool {
        match self {
            RuleGroup::Little => load.is_closed(),
            RuleGroup::Delivery => !load.is_closed(),
            _ => true,
        }
    }
}
