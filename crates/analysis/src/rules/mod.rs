//! The rules that a load point must keep, one file each; the reasons are in `docs/design/measurement-rules.md`.
//!
//! A rule takes the evidence and returns findings. For rules that need every single record (conservation, time axis)
//! the fold keeps the books.

mod boundary;
mod busy_users;
mod censoring;
mod changed_replies;
mod conservation;
mod consistency;
mod delivery;
mod errors;
mod generator;
mod group;
mod histogram;
mod input_bands;
mod integral;
mod kind_limits;
mod left_open;
mod little;
mod load_agents;
mod lost_connections;
mod mix;
mod other_clients;
mod other_programs;
mod sample_size;
mod severity;
mod sizing;
mod steady_length;
mod steady_state;
mod storage;
mod think;
mod time_axis;
mod warm_up;

use model::{Load, Plan};

pub use group::RuleGroup;
pub(crate) use severity::{RuleFinding, Severity};

use crate::ResourceUsage;
use crate::fold::PointFold;
use crate::metrics::PointFigures;
use JudgedFrom::{Data, End, Start, SteadyPhase, TenthOfSteadyPhase};

/// The evidence for the verdict on a load point.
pub(crate) struct Evidence<'a> {
    /// The plan of the run.
    pub(crate) plan: &'a Plan,
    /// The fold of the load point's records.
    pub(crate) fold: &'a PointFold,
    /// Its figures.
    pub(crate) figures: &'a PointFigures,
    /// The use of machines and services.
    pub(crate) resources: &'a ResourceUsage,
    /// The progress of its records.
    pub(crate) stage: Stage,
}

/// The progress of a load point's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// More may follow.
    Running,
    /// They are complete, because the run ended early in this load point.
    CutShort,
    /// They are complete.
    Over,
}

/// A rule: a pure function of the evidence, which returns what it finds.
pub(crate) struct Rule {
    /// The group by which the rule is shown while a load point runs.
    pub(crate) group: RuleGroup,
    /// The moment from which it can be judged.
    from: JudgedFrom,
    /// The function.
    pub(crate) check: fn(&Evidence) -> Vec<RuleFinding>,
}

/// The moment from which a rule can be judged by the records so far.
enum JudgedFrom {
    /// Any moment: every record is judged by itself, or with the one before it.
    Start,
    /// The first second of the steady phase: a sum over the phase so far stands by itself.
    SteadyPhase,
    /// A tenth of the steady phase: in less, one late moment outweighs a limit of a few percent.
    TenthOfSteadyPhase,
    /// The moment when this function of the evidence says that there is enough of it.
    Data(fn(&Evidence) -> bool),
    /// The end of the load point: the rule is about the whole of it, or chance would break it in a part.
    End,
}

/// All rules, in the order in which their findings are reported: first what makes the record itself
/// doubtful, then what the record says about generator and server, then how far the numbers reach.
pub(crate) const RULES: &[Rule] = &[
    rule(RuleGroup::Record, End, steady_length::check),
    rule(RuleGroup::Record, Start, time_axis::check),
    rule(RuleGroup::Record, Start, load_agents::check),
    rule(RuleGroup::Record, Start, conservation::check),
    rule(RuleGroup::Record, End, histogram::check),
    rule(RuleGroup::Record, End, integral::check),
    rule(RuleGroup::Record, Start, consistency::check),
    rule(RuleGroup::Little, TenthOfSteadyPhase, little::check),
    rule(RuleGroup::Little, End, think::check),
    rule(RuleGroup::Little, End, sizing::check),
    rule(RuleGroup::Generator, End, delivery::schedule),
    rule(RuleGroup::Generator, SteadyPhase, generator::limits),
    rule(RuleGroup::Delivery, End, generator::full_slots),
    rule(RuleGroup::Delivery, TenthOfSteadyPhase, busy_users::check),
    rule(RuleGroup::Generator, End, other_programs::check),
    rule(RuleGroup::Delivery, End, other_clients::check),
    rule(RuleGroup::Errors, SteadyPhase, errors::too_many),
    rule(RuleGroup::Generator, SteadyPhase, errors::ours),
    rule(RuleGroup::Errors, SteadyPhase, errors::uncounted_codes),
    rule(RuleGroup::Errors, SteadyPhase, storage::check),
    rule(RuleGroup::Delivery, Data(delivery::is_decided), delivery::delivered),
    rule(RuleGroup::Sample, End, mix::check),
    rule(RuleGroup::Sample, End, input_bands::check),
    rule(RuleGroup::Errors, End, kind_limits::check),
    rule(RuleGroup::Steady, End, boundary::check),
    rule(RuleGroup::Sample, Data(sample_size::has_enough), sample_size::check),
    rule(RuleGroup::Sample, End, censoring::check),
    rule(RuleGroup::Errors, SteadyPhase, left_open::check),
    rule(RuleGroup::Errors, End, lost_connections::check),
    rule(RuleGroup::Errors, End, changed_replies::check),
    rule(RuleGroup::Steady, Data(steady_state::has_enough), steady_state::check),
    rule(RuleGroup::Steady, End, warm_up::check),
];

const fn rule(group: RuleGroup, from: JudgedFrom, check: fn(&Evidence) -> Vec<RuleFinding>) -> Rule {
    Rule { group, from, check }
}

impl Evidence<'_> {
    /// Returns the load of the load point.
    pub(crate) fn load(&self) -> Load {
        self.fold.point.load
    }

    /// Returns the fewest successful operations of a sample.
    pub(crate) fn operations_needed(&self) -> u64 {
        self.plan.rules.operations_min.max(1)
    }
}

impl Rule {
    /// Returns whether the rule can be judged by now. At the end of a load point every rule can.
    pub(crate) fn can_be_judged(&self, evidence: &Evidence) -> bool {
        let length = evidence.figures.length.0;
        let planned = evidence.plan.phases.steady.0;
        evidence.stage != Stage::Running
            || match self.from {
                Start => true,
                SteadyPhase => 0 < length,
                TenthOfSteadyPhase => 0 < length && planned / 10 <= length,
                Data(has_enough) => has_enough(evidence),
                End => false,
            }
    }
}
