//! The number of load threads beside a running server on this machine: the fewest that carry the load.
//!
//! Each load thread takes a CPU from the server. A run therefore begins with one, at the highest load planned, for three
//! seconds: if it was at its limit and the server was not at its own, twice as many are tried, up to half of the CPUs. A
//! search, whose highest load is what it is to find, takes half of the CPUs at once, and so does a load that rises until a limit
//! is broken.

use analysis::attribute::load_threads_were_full;
use fleet::{LoadMachines, Monitoring, ServerChoice};
use model::{Load, Overrides, Plan, Secrets};
use units::Nanos;

use super::brief_run::{BriefRun, brief_overrides};
use super::run::RunContext;
use crate::exit::Failure;
use crate::interrupt;
use crate::placement::load_threads_max;
use crate::planned_run::{PlannedRun, TrialFindings};
use crate::stderr::eprint;

/// Lengths of the phases of a trial: enough to open connections, and for the counters of two whole seconds.
const SETTLE: Nanos = Nanos::from_millis(500);
const STEADY: Nanos = Nanos::from_millis(2_500);

/// Gives all runs the fewest load threads that carry the load beside a running server on this machine, found by short
/// trials; searches as many as there may be. Runs of other servers and those with `--load-cpus` or `--agents` stay as they
/// are, and those of a number of operations have one.
pub(super) fn choose(runs: &mut [PlannedRun], context: &RunContext<'_>) -> Result<(), Failure> {
    let most = load_threads_max();
    let spec = context.planner.spec;
    let is_chosen = spec.sut.load_cpus.is_some() || spec.agents.are_used() || most == 1;
    // Trials would start more operations than the user wants.
    let is_limited = runs.iter().any(|run| run.plan.operations.is_some());
    if is_chosen || is_limited || !runs.iter().all(|run| run.candidate.is_running_here()) {
        return Ok(());
    }
    let has_open_end = |plan: &Plan| plan.shape.as_ref().is_some_and(|shape| !shape.until.is_empty());
    let is_search = runs.iter().any(|run| run.plan.search.is_some() || has_open_end(&run.plan));
    let threads = if is_search { most } else { tried(runs, most, context)? };
    for run in runs {
        run.found.load_threads = threads;
        context.planner.plan_again(run)?;
    }
    Ok(())
}

/// Returns the fewest load threads, up to `most`, that carry the loads of all plans, by trials. What one server needed is
/// where the trials of the next one begin.
fn tried(runs: &[PlannedRun], most: u32, context: &RunContext<'_>) -> Result<u32, Failure> {
    eprint("Finding the number of load threads that the load needs.");
    let planner = context.planner;
    let mut threads = 1;
    for (index, PlannedRun { candidate, found, plan, .. }) in runs.iter().enumerate() {
        // Repetitions need as many.
        if runs[..index].iter().any(|other| other.candidate.title == candidate.title) {
            continue;
        }
        threads = fewest(threads, most, |n| {
            let found = TrialFindings { load_threads: n, ..found.clone() };
            let trial = highest_load(plan, planner.overrides(candidate, &found)?);
            let trial = planner.plan_with(candidate, &trial)?;
            let server = candidate.server(&planner.spec.chosen_for(candidate).name, &trial, context.trust)?;
            is_enough(trial, server, context.secrets_of(candidate).clone())
        })?;
    }
    Ok(threads)
}

/// Returns the fewest load threads, from `least` up to `most`, that carry the load: the first of `least`, twice as many, and
/// so on, that are enough.
///
/// # Errors
/// Those of `is_enough`, which tries a number.
fn fewest(
    least: u32,
    most: u32,
    mut is_enough: impl FnMut(u32) -> Result<bool, Failure>,
) -> Result<u32, Failure> {
    let mut n = least;
    while n < most && !is_enough(n)? {
        n = n.saturating_mul(2).min(most);
    }
    Ok(n)
}

/// Returns the settings of a trial of a plan: its highest load, for a moment.
fn highest_load(plan: &Plan, overrides: Overrides) -> Overrides {
    let loads = plan.load_points.iter().map(|point| point.load);
    let highest = loads.max_by(|one, other| one.level().total_cmp(&other.level()));
    let (load, rates) = match highest {
        None => (None, None),
        Some(Load::Users(users)) => (Some(vec![users]), None),
        Some(Load::Rate { per_second, .. }) => (None, Some(vec![per_second])),
    };
    let brief = brief_overrides(SETTLE, STEADY, overrides);
    Overrides { load, rates, drain: Some(Nanos::ZERO), ..brief }
}

/// Returns whether the load threads of a trial are enough.
///
/// # Errors
/// If the trial fails or is interrupted.
fn is_enough(plan: Plan, server: ServerChoice, secrets: Secrets) -> Result<bool, Failure> {
    let threads = plan.load_threads();
    let monitoring = Monitoring::On { others: Vec::new(), watched: Vec::new() };
    let load = LoadMachines::Here;
    let trial = BriefRun { purpose: "the load-thread trial", plan, server, secrets, load, monitoring };
    let results = trial.perform(&interrupt::flag())?;
    let is_enough = !load_threads_were_full(&results.analysis);
    if !is_enough {
        let plural = if threads == 1 { "" } else { "s" };
        eprint(format!(
            "With {threads} load thread{plural} the generator is the bottleneck, not the server: using more."
        ));
    }
    Ok(is_enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_the_highest_load_for_three_seconds() {
        let highest = |loads: &[u32]| {
            let plan = testkit::closed_plan(1, loads, testkit::phases(5, 60));
            let overrides = Overrides::new(model::SutPlan::of("external"));
            highest_load(&plan, Overrides { max_load: Some(7.0), ..overrides })
        };
        let trial = highest(&[10, 100, 50]);
        assert_eq!((trial.load, trial.rates, trial.max_load), (Some(vec![100]), None, None));
        assert_eq!(trial.settle.unwrap() + trial.steady.unwrap(), Nanos::from_secs(3));
        assert_eq!(trial.ramp_up.unwrap() + trial.ramp_down.unwrap() + trial.drain.unwrap(), Nanos::ZERO);
    }

    /// A load of 2.5 threads needs 4; on half of 6 CPUs it gets 3; one thread is never tried where there is one only. A
    /// second server is not tried with fewer than the first one needed.
    #[test]
    fn the_number_doubles_until_it_is_enough_or_half_of_the_cpus() {
        let tried = |least: u32, most: u32, needed: u32| {
            let mut numbers = Vec::new();
            let n = fewest(least, most, |n| {
                numbers.push(n);
                Ok(needed <= n)
            });
            (n.unwrap(), numbers)
        };
        assert_eq!(tried(1, 1, 3), (1, vec![]));
        assert_eq!(tried(1, 8, 1), (1, vec![1]));
        assert_eq!(tried(1, 8, 3), (4, vec![1, 2, 4]));
        assert_eq!(tried(1, 3, 3), (3, vec![1, 2]));
        assert_eq!(tried(4, 8, 1), (4, vec![4]));
        assert_eq!(tried(4, 8, 5), (8, vec![4]));
        assert_eq!(tried(3, 3, 1), (3, vec![]));
    }
}
