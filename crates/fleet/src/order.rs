//! The order of a load point, as its family states it: all that happens before its first operation and after its last.

use model::CheckMoment;

/// A step of the laboratory that leaves nothing to be judged in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupStep {
    /// The pause of the phase `quiet`.
    Quiet,
    /// The system under test is put into its first state and is ready again. Left out where it is in that state.
    Reset,
    /// The golden copy of its data, from which it is put into its first state, is checked. Left out where that was done.
    CheckGolden,
    /// Its caches are filled.
    Warm,
    /// An operation of every kind is checked.
    Probe,
}

/// A step of a load point that has begun in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointStep {
    /// The conditions that the benchmark sets on the system under test are checked.
    Check(CheckMoment),
    /// The sessions of all users are opened.
    Prepare,
    /// The pause of the phase `quiet`.
    Quiet,
}

/// The steps of a run in their order. Between `begun` and `after` the load point goes, from its first operation to its
/// last.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StepOrder {
    /// Once, before the run file is created.
    pub(crate) once: &'static [SetupStep],
    /// Before each load point begins in the record.
    pub(crate) before: &'static [SetupStep],
    /// From there to the first operation.
    pub(crate) begun: &'static [PointStep],
    /// After the last operation.
    pub(crate) after: &'static [PointStep],
}

impl StepOrder {
    /// Systems that operations leave as they are: what is right once stays right.
    pub(crate) const STATELESS: StepOrder = StepOrder {
        once: &[SetupStep::Warm, SetupStep::Probe],
        before: &[SetupStep::Quiet, SetupStep::Reset],
        begun: &[PointStep::Prepare],
        after: &[],
    };

    /// Systems whose data operations change: each load point has its own data, warm caches, probe and checks; golden copies
    /// are checked before caches are filled, because that reads all data. The pause comes last, because all of that is work
    /// for the system.
    pub(crate) const STATEFUL: StepOrder = StepOrder {
        once: &[],
        before: &[SetupStep::Reset, SetupStep::CheckGolden, SetupStep::Warm, SetupStep::Probe],
        begun: &[PointStep::Check(CheckMoment::Before), PointStep::Prepare, PointStep::Quiet],
        after: &[PointStep::Check(CheckMoment::After)],
    };
}
