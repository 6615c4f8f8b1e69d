//! The number of load threads beside a running server on this machine: the fewest that carry the load.
//!
//! Each load thread takes a CPU from the server. A run therefore begins with one, at the highest load planned, for two
//! seconds: if it was at its limit while the server left CPUs idle, twice as many are tried, up to half of the CPUs.

use analysis::finding::{Finding, ServerUse};
use analysis::{Analysis, VerdictState};
use fleet::{Monitoring, ServerChoice};
use model::{CpuQuota, Load, Overrides, Plan, Secrets};
use units::Nanos;

use super::brief_run::BriefRun;
use super::candidate_plan::{candidate_overrides, candidate_plan, planned};
use super::run::RunContext;
use crate::arguments::RunArguments;
use crate::candidates::Candidate;
use crate::exit::Failure;
use crate::placement::load_threads_max;
use crate::stderr::eprint;
use crate::{interrupt, url};

/// Lengths of the phases of a trial: enough to open connections, and for the counters of two whole seconds.
const SETTLE: Nanos = Nanos::from_millis(500);
const STEADY: Nanos = Nanos::from_millis(2_500);

/// Gives all plans the fewest load threads that carry the load beside a running server on this machine, found by short
/// trials; plans of other servers, those with `--load-cpus` and searches stay as they are.
pub(super) fn with_load_threads(
    arguments: &RunArguments,
    candidates: &[Candidate],
    plans: Vec<Plan>,
    context: &RunContext<'_>,
) -> Result<Vec<Plan>, Failure> {
    let most = load_threads_max();
    let is_chosen = arguments.sut.load_cpus.is_some() || most == 1;
    if is_chosen || !candidates.iter().all(|one| one.web_target().is_some_and(url::is_here)) {
        return Ok(plans);
    }
    eprint("Trying how many load threads carry the load.");
    let chosen = context.chosen;
    let mut threads = 1;
    for (index, (candidate, plan)) in candidates.iter().zip(&plans).enumerate() {
        // Repetitions need as many.
        if candidates[..index].iter().any(|other| other.title == candidate.title) {
            continue;
        }
        let needed = fewest(most, |n| {
            let overrides = candidate_overrides(arguments, chosen, candidate, n)?;
            let Some(trial) = highest_load(plan, overrides) else { return Ok(false) };
            let trial = planned(chosen, candidate, &trial)?;
            let server = candidate.server(&chosen.name, &trial, context.trust)?;
            is_enough(trial, server, context.secrets.clone())
        })?;
        threads = needed.max(threads);
    }
    let with_threads = |(candidate, plan): (&Candidate, &Plan)| {
        let quota = CpuQuota { cpus: plan.sut.quota, reason: plan.sut.quota_reason.clone() };
        let plan = candidate_plan(arguments, chosen, candidate, threads)?;
        Ok(plan.with_quota(quota).map_err(|problem| vec![problem])?)
    };
    candidates.iter().zip(&plans).map(with_threads).collect()
}

/// Returns the fewest load threads, up to `most`, that carry the load: the first of 1, 2, 4… that are enough.
///
/// # Errors
/// Those of `is_enough`, which tries a number.
fn fewest(most: u32, mut is_enough: impl FnMut(u32) -> Result<bool, Failure>) -> Result<u32, Failure> {
    let mut n = 1;
    while n < most && !is_enough(n)? {
        n = n.saturating_mul(2).min(most);
    }
    Ok(n)
}

/// Returns the settings of a trial of a plan: its highest load, for a moment. `None` for a search, whose highest load is
/// what it is to find.
fn highest_load(plan: &Plan, overrides: Overrides) -> Option<Overrides> {
    let highest = plan.load_points.iter().map(|point| point.load);
    let highest = highest.max_by(|one, other| one.level().total_cmp(&other.level()))?;
    let (load, rates) = match highest {
        Load::Users(users) => (Some(vec![users]), None),
        Load::Rate { per_second, .. } => (None, Some(vec![per_second])),
    };
    plan.search.is_none().then_some(Overrides {
        load,
        rates,
        max_load: None,
        limits: Vec::new(),
        ramp_up: Some(Nanos::ZERO),
        settle: Some(SETTLE),
        steady: Some(STEADY),
        ramp_down: Some(Nanos::ZERO),
        drain: Some(Nanos::ZERO),
        ..overrides
    })
}

/// Returns whether the load threads of a trial are enough.
///
/// # Errors
/// If the trial fails or is interrupted.
fn is_enough(plan: Plan, server: ServerChoice, secrets: Secrets) -> Result<bool, Failure> {
    let threads = plan.load_threads;
    let monitoring = Monitoring::On { others: Vec::new(), watched: Vec::new() };
    let trial = BriefRun { purpose: "the trial of the load threads", plan, server, secrets, monitoring };
    let results = trial.perform(&interrupt::flag())?;
    let is_enough = !held_back(&results.analysis);
    if !is_enough {
        let plural = if threads == 1 { "" } else { "s" };
        eprint(format!(
            "With {threads} load thread{plural} the generator is at its limit and the server is not: more are used."
        ));
    }
    Ok(is_enough)
}

/// Returns whether the load threads were at their limit and the server was not, by the rule of the verdict.
fn held_back(analysis: &Analysis) -> bool {
    let reasons = analysis.load_points.iter().filter(|point| point.verdict.state != VerdictState::Valid);
    reasons.flat_map(|point| &point.verdict.reasons).any(|reason| {
        let busy = |server: &Option<ServerUse>| matches!(server, Some(ServerUse::LeftRest(_)));
        matches!(&reason.finding, Finding::GeneratorBusy { server, .. } if busy(server))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load of 2.5 threads needs 4; on half of 6 CPUs it gets 3; one thread is never tried where there is one only.
    #[test]
    fn the_number_doubles_until_it_is_enough_or_half_of_the_cpus() {
        let tried = |most: u32, needed: u32| {
            let mut numbers = Vec::new();
            let n = fewest(most, |n| {
                numbers.push(n);
                Ok(needed <= n)
            });
            (n.unwrap(), numbers)
        };
        assert_eq!(tried(1, 3), (1, vec![]));
        assert_eq!(tried(8, 1), (1, vec![1]));
        assert_eq!(tried(8, 3), (4, vec![1, 2, 4]));
        assert_eq!(tried(3, 3), (3, vec![1, 2]));
    }
}
