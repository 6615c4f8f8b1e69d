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
mod operations_started;
mod other_clients;
mod other_programs;
mod sample_size;
mod severity;
mod sizing;
mod stage_limits;
mod steady_length;
mod steady_state;
mod storage;
mod think;
mod time_axis;
mod warm_up;

use model::{Load, Plan};
use units::Nanos;

pub use group::RuleGroup;
pub(crate) use severity::{RuleFinding, Severity};

use crate::ResourceUsage;
use crate::fold::PointFold;
use crate::metrics::PointFigures;
use JudgedFrom::{Data, End, Start, SteadyPhase, TenthOfSteadyPhase};
use RuleScope::{Anywhere, Record, Stages, Uniform};

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
    pub(crate) progress: RecordProgress,
    /// The part of the load point that is judged, of which `fold`, `figures` and `resources` are.
    pub(crate) part: JudgedPart,
    /// The end of the window in which a limit broke that was to end the load point early; `None` if none did.
    pub(crate) broken_at: Option<Nanos>,
}

/// The part of a load point that is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum JudgedPart {
    /// All of a load point whose load stays the same.
    Uniform,
    /// All of a load point with a shape.
    Shaped,
    /// A stage of a shape.
    Stage {
        /// Its index in the shape.
        index: u32,
        /// The stage.
        stage: model::Stage,
        /// The level of load just before it.
        level_before: f64,
    },
}

/// The progress of a load point's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordProgress {
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
    /// The parts of a load point that it is about.
    scope: RuleScope,
    /// The moment from which it can be judged.
    from: JudgedFrom,
    /// The function.
    pub(crate) check: fn(&Evidence) -> Vec<RuleFinding>,
}

/// The parts of a load point that a rule is about. Those of a load point with a shape are its stages: nothing that depends
/// on the load is judged over several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleScope {
    /// The record as a whole, whatever the load was.
    Record,
    /// A load that stays the same: a load point without a shape.
    Uniform,
    /// Parts with one load: a load point without a shape, or a stage.
    Stages,
    /// All of these.
    Anywhere,
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
    rule(RuleGroup::Record, Anywhere, End, steady_length::check),
    rule(RuleGroup::Record, Record, Start, time_axis::check),
    rule(RuleGroup::Record, Record, End, operations_started::check),
    rule(RuleGroup::Record, Record, Start, load_agents::check),
    rule(RuleGroup::Record, Record, Start, conservation::check),
    rule(RuleGroup::Record, Record, End, histogram::check),
    rule(RuleGroup::Record, Record, End, integral::check),
    rule(RuleGroup::Record, Record, Start, consistency::check),
    rule(RuleGroup::Little, Uniform, TenthOfSteadyPhase, little::check),
    rule(RuleGroup::Little, Record, End, think::check),
    rule(RuleGroup::Little, Uniform, End, sizing::check),
    rule(RuleGroup::Generator, Record, End, delivery::schedule),
    rule(RuleGroup::Generator, Stages, SteadyPhase, generator::limits),
    rule(RuleGroup::Delivery, Stages, End, generator::full_slots),
    rule(RuleGroup::Delivery, Stages, TenthOfSteadyPhase, busy_users::check),
    rule(RuleGroup::Generator, Record, End, other_programs::check),
    rule(RuleGroup::Delivery, Record, End, other_clients::check),
    rule(RuleGroup::Errors, Stages, SteadyPhase, errors::too_many),
    rule(RuleGroup::Generator, Record, SteadyPhase, errors::ours),
    rule(RuleGroup::Errors, Record, SteadyPhase, errors::uncounted_codes),
    rule(RuleGroup::Errors, Record, SteadyPhase, storage::check),
    rule(RuleGroup::Delivery, Stages, Data(delivery::is_decided), delivery::delivered),
    rule(RuleGroup::Sample, Record, End, mix::check),
    rule(RuleGroup::Sample, Record, End, input_bands::check),
    rule(RuleGroup::Errors, Uniform, End, kind_limits::check),
    rule(RuleGroup::Steady, Uniform, End, boundary::check),
    rule(RuleGroup::Sample, Stages, Data(sample_size::has_enough), sample_size::check),
    rule(RuleGroup::Sample, Stages, End, stage_limits::check),
    rule(RuleGroup::Sample, Uniform, End, censoring::check),
    rule(RuleGroup::Errors, Record, SteadyPhase, left_open::check),
    rule(RuleGroup::Errors, Record, End, lost_connections::check),
    rule(RuleGroup::Errors, Record, End, changed_replies::check),
    rule(RuleGroup::Steady, Stages, Data(steady_state::has_enough), steady_state::check),
    rule(RuleGroup::Steady, Uniform, End, warm_up::check),
];

const fn rule(
    group: RuleGroup,
    scope: RuleScope,
    from: JudgedFrom,
    check: fn(&Evidence) -> Vec<RuleFinding>,
) -> Rule {
    Rule { group, scope, from, check }
}

impl Evidence<'_> {
    /// Returns the load of the load point.
    pub(crate) fn load(&self) -> Load {
        self.fold.point.load
    }

    /// Returns the index of the stage that is judged; `None` of a load point.
    pub(crate) fn stage_index(&self) -> Option<u32> {
        match self.part {
            JudgedPart::Uniform | JudgedPart::Shaped => None,
            JudgedPart::Stage { index, .. } => Some(index),
        }
    }

    /// Returns the planned length of what is judged: the steady phase, or a stage.
    pub(crate) fn length_planned(&self) -> Nanos {
        match self.part {
            JudgedPart::Uniform | JudgedPart::Shaped => self.plan.phases.steady,
            JudgedPart::Stage { stage, .. } => stage.length,
        }
    }

    /// Returns whether no load is planned at all, as in a stage of nobody.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.part, JudgedPart::Stage { stage, .. } if stage.from.max(stage.to) == 0.0)
    }

    /// Returns whether the load is planned to rise or fall.
    pub(crate) fn is_ramp(&self) -> bool {
        matches!(self.part, JudgedPart::Stage { stage, .. } if !stage.is_constant())
    }

    /// Returns whether the load ended, as planned, with the last of its operations.
    pub(crate) fn has_started_all(&self) -> bool {
        self.plan.operations.is_some_and(|planned| planned <= self.fold.started)
    }

    /// Returns the fewest successful operations of a sample.
    pub(crate) fn operations_needed(&self) -> u64 {
        self.plan.rules.operations_min.max(1)
    }
}

impl Rule {
    /// Returns whether it is about this part of a load point.
    pub(crate) fn is_about(&self, part: JudgedPart) -> bool {
        match (self.scope, part) {
            (Anywhere, _) | (_, JudgedPart::Uniform) => true,
            (Record, JudgedPart::Shaped) | (Stages, JudgedPart::Stage { .. }) => true,
            (Record, JudgedPart::Stage { .. }) | (Stages, JudgedPart::Shaped) | (Uniform, _) => false,
        }
    }

    /// Returns whether the rule can be judged by now. At the end of a load point every rule can.
    pub(crate) fn can_be_judged(&self, evidence: &Evidence) -> bool {
        let length = evidence.figures.length.0;
        let planned = evidence.length_planned().0;
        evidence.progress != RecordProgress::Running
            || match self.from {
                Start => true,
                SteadyPhase => 0 < length,
                TenthOfSteadyPhase => 0 < length && planned / 10 <= length,
                Data(has_enough) => has_enough(evidence),
                End => false,
            }
    }
}
