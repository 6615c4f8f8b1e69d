//! The status of a load point at any moment: its figures so far, and the standing of each group of rules.

use model::Load;
use stats::Histogram;
use units::{Nanos, Ratio};

use crate::Reason;
use crate::judge::standings;
use crate::percentiles::values_needed;
use crate::rules::{Evidence, Stage};

/// The status of a load point while its records come in, and when they are complete. Its figures are those of the
/// steady phase so far.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPointStatus {
    /// Index in the load plan.
    pub index: u32,
    /// Whether the load point is over: then every rule has been applied.
    pub is_over: bool,
    /// Recorded length of the steady phase; zero before it begins, and the figures are then zero or `None`.
    pub length: Nanos,
    /// Successful operations.
    pub ok: u64,
    /// The fewest of them that a sample needs.
    pub ok_needed: u64,
    /// Failed operations, timed out ones included.
    pub errors: u64,
    /// Successful operations per second.
    pub rate: f64,
    /// The benchmark's score; `None` if a kind that it needs had no success.
    pub score: Option<f64>,
    /// Operations that fell due per second.
    pub due_rate: f64,
    /// Mean number of operations in flight.
    pub in_flight_mean: f64,
    /// Mean response time; `None` if nothing succeeded.
    pub response_mean: Option<Nanos>,
    /// Median response time; `None` if there are too few operations.
    pub p50: Option<Nanos>,
    /// 95th percentile of the response time, likewise.
    pub p95: Option<Nanos>,
    /// 99th percentile of the response time, likewise.
    pub p99: Option<Nanos>,
    /// The standing of every group of rules that applies to the load, in the order of [`RuleGroup::ALL`].
    pub standings: Vec<Standing>,
}

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

/// The standing of a load point with regard to a group of rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
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

impl LoadPointStatus {
    pub(crate) fn of(evidence: &Evidence) -> LoadPointStatus {
        let (totals, figures) = (&evidence.fold.steady, evidence.figures);
        let quantile = |q| quantile(&totals.response, q);
        LoadPointStatus {
            index: evidence.fold.point.index,
            is_over: evidence.stage != Stage::Running,
            length: figures.length,
            ok: figures.n,
            ok_needed: evidence.operations_needed(),
            errors: figures.errors,
            rate: figures.rate,
            score: figures.score,
            due_rate: totals.per_second(totals.due as f64),
            in_flight_mean: totals.per_second(totals.in_flight_ns as f64 / 1e9),
            response_mean: totals.response.mean(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            standings: standings(evidence),
        }
    }
}

/// Returns a quantile; `None` if there are too few values for it.
fn quantile(times: &Histogram, q: f64) -> Option<Nanos> {
    let has_enough = values_needed(Ratio(q)) <= times.n();
    has_enough.then(|| times.quantile(Ratio(q))).flatten()
}
