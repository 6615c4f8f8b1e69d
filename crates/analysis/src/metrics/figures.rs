//! The figures of a load point that rules judge. They cost little, so that they can be made at any moment.

use std::collections::BTreeMap;

use model::{Counter, Outcome, Plan};
use units::Nanos;

use super::{ratio, score, steady};
use crate::ResourceUsage;
use crate::SteadyState;
use crate::fold::{PointFold, SteadyTotals};

/// The figures of the steady phase, as far as it was recorded, without anything that needs a histogram.
#[derive(Debug)]
pub(crate) struct PointFigures {
    /// Length of the phase.
    pub(crate) length: Nanos,
    /// Successful operations.
    pub(crate) n: u64,
    /// Failed operations.
    pub(crate) errors: u64,
    /// Successful operations per second.
    pub(crate) rate: f64,
    /// The benchmark's score; `None` if a kind that it needs had no success.
    pub(crate) score: Option<f64>,
    /// Operations that fell due per second; `None` in a closed loop.
    pub(crate) offered_rate: Option<f64>,
    /// Failures per outcome, most frequent first.
    pub(crate) failures: Vec<(Outcome, u64)>,
    /// Operations in flight at the end.
    pub(crate) in_flight_at_end: u64,
    /// The summed time that those had been in flight by then.
    pub(crate) in_flight_age: Nanos,
    /// CPUs that the SUT used; `None` if that is not known.
    pub(crate) sut_cpus: Option<f64>,
    /// Use of the SUT's allowance; `None` if either is not known.
    pub(crate) sut_busy: Option<f64>,
    /// Steadiness of rate and mean response time.
    pub(crate) steadiness: SteadyState,
    /// The end of the warm-up, from the start of the load point.
    pub(crate) warm_up: Option<Nanos>,
}

impl PointFigures {
    /// Makes the figures of a load point.
    pub(crate) fn of(plan: &Plan, fold: &PointFold, resources: &ResourceUsage) -> PointFigures {
        let totals = &fold.steady;
        let sut_cpus = sut_cpus(totals, resources);
        let is_open = !fold.point.load.is_closed();
        PointFigures {
            length: totals.length,
            n: totals.n(),
            errors: totals.errors(),
            rate: totals.per_second(totals.n() as f64),
            score: score::score(&plan.catalog.score, fold.point.load, totals),
            offered_rate: is_open.then(|| totals.per_second(totals.due as f64)),
            failures: failures(totals),
            in_flight_at_end: totals.in_flight_at_ends().1,
            in_flight_age: Nanos(u64::try_from(totals.ages_at_ends_ns().1).unwrap_or(u64::MAX)),
            sut_cpus,
            sut_busy: sut_cpus.zip(plan.sut_allowance()).map(|(cpus, allowance)| ratio(cpus, allowance)),
            steadiness: steady::steady_state(&fold.seconds),
            warm_up: steady::warm_up(&fold.seconds),
        }
    }

    /// Returns the operations that completed, successful or not.
    pub(crate) fn completed(&self) -> u64 {
        self.n.saturating_add(self.errors)
    }
}

fn failures(totals: &SteadyTotals) -> Vec<(Outcome, u64)> {
    let mut counts: BTreeMap<Outcome, u64> = BTreeMap::new();
    for (outcome, n) in totals.kinds.iter().flat_map(|kind| &kind.failed) {
        let count = counts.entry(*outcome).or_default();
        *count = count.saturating_add(*n);
    }
    let mut failures: Vec<(Outcome, u64)> = counts.into_iter().filter(|(_, n)| 0 < *n).collect();
    failures.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    failures
}

/// Returns the CPUs that the SUT used. Where it runs on this machine, it must have been seen in every interval; on another
/// one, its processes are those that are watched there.
fn sut_cpus(totals: &SteadyTotals, resources: &ResourceUsage) -> Option<f64> {
    if totals.sut_length == Nanos::ZERO {
        return resources.sut_share(Counter::SutCpu);
    }
    let seen = Nanos::ZERO < totals.length && totals.length <= totals.sut_length;
    seen.then(|| totals.sut_cpu.as_secs_f64() / totals.length.as_secs_f64())
}
