//! The think time of order entry that suits the servers: with it the strongest of them, on the largest group of CPUs, is
//! saturated at 0.7 of the highest load.
//!
//! Each server is loaded for some seconds by the users of the lowest load point, who do not think. From its rate X and its
//! mean response time R follows the think time Z = 0.7·N ÷ X − R, with N the users of the highest load point.
//!
//! Source: the CPU-scalability method of the order-entry specification (2.2).

use fleet::Monitoring;
use model::{Load, Overrides, Plan};
use units::Nanos;

use super::brief_run::{BriefRun, brief_overrides};
use super::run::RunContext;
use crate::exit::{Exit, Failure};
use crate::family::{ThinkTimeSettings, command_line};
use crate::interrupt;
use crate::planned_run::PlannedRun;
use crate::stderr::{eprint, warn};

/// The part of the highest load at which the strongest server is to be saturated.
const SATURATED_AT: f64 = 0.7;

/// Lengths of the phases of a trial.
const SETTLE: Nanos = Nanos::from_secs(2);
const STEADY: Nanos = Nanos::from_secs(8);

/// The capacity of a server, without think time.
#[derive(Debug, Clone, PartialEq)]
struct Capacity {
    /// The server.
    title: String,
    /// Its number of CPUs; 0 where numbers of CPUs are not compared.
    cpus: usize,
    /// Transactions per second.
    rate: f64,
    /// Mean response time in seconds.
    response: f64,
}

/// Gives all servers the think time that suits them, if the run asks for it, and plans them anew.
///
/// # Errors
/// The benchmark has no such think time, a trial failed, or there are too few users for any think time.
pub(super) fn choose(runs: &mut [PlannedRun], context: &RunContext<'_>) -> Result<(), Failure> {
    if !context.planner.spec.calibrate_think_time {
        return Ok(());
    }
    let family = context.planner.spec.chosen.benchmark.definition.family();
    let settings = command_line(family).think_time.as_ref();
    let users = users(runs.iter().map(|run| &run.plan));
    let (settings, users) = settings.zip(users).ok_or_else(|| {
        Failure::usage("`--calibrate-think-time` needs order entry with numbers of users")
            .hint("choose `orderentry` with `--load` or its own load points")
    })?;
    eprint("Measuring the capacity of the servers without think time.");
    let mut capacities: Vec<Capacity> = Vec::new();
    for run in &*runs {
        // Repetitions carry as much.
        if capacities.iter().all(|known| known.title != run.candidate.title) {
            capacities.push(capacity(run, users.0, settings, context)?);
        }
    }
    let (think, strongest) = think_time(&capacities, users.1).ok_or_else(|| {
        let error = format!("{} users with a think time cannot saturate a server", users.1);
        Failure::new(Exit::Usage, error).hint("use more users (`--load`), or `--set pacing=flat`")
    })?;
    let text = languages::time_text(think);
    let at = (SATURATED_AT * f64::from(users.1)).round();
    eprint(format!("Think time: {text}, with which {at} users saturate {}.", strongest.title));
    for weak in capacities.iter().filter(|one| knee(one, think) <= f64::from(users.0)) {
        let knee = knee(weak, think);
        warn(format!(
            "{} saturates with {knee:.0} users, fewer than the lowest load of {}",
            weak.title, users.0
        ));
        eprint("hint: start with fewer users (`--load`)");
    }
    let chosen = family.choose_setting(settings.length, &text).map_err(Failure::usage)?;
    for run in runs {
        run.candidate.settings.push(chosen.clone());
        context.planner.plan_again(run)?;
    }
    Ok(())
}

/// Returns the lowest and the highest number of users; `None` of another kind of load.
fn users<'a>(plans: impl Iterator<Item = &'a Plan>) -> Option<(u32, u32)> {
    let number = |load: Load| match load {
        Load::Users(users) => Some(users),
        Load::Rate { .. } => None,
    };
    let all: Vec<u32> = plans.flat_map(Plan::loads).map(number).collect::<Option<_>>()?;
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// Measures what a server carries without think time.
fn capacity(
    run: &PlannedRun,
    users: u32,
    settings: &ThinkTimeSettings,
    context: &RunContext<'_>,
) -> Result<Capacity, Failure> {
    let candidate = &run.candidate;
    let planner = context.planner;
    let overrides = planner.overrides(candidate, &run.found)?;
    let mut overrides = Overrides { load: Some(vec![users]), ..brief_overrides(SETTLE, STEADY, overrides) };
    let (pacing, flat) = settings.pacing;
    overrides.settings.retain(|one| one.name() != pacing);
    let family = planner.spec.chosen.benchmark.definition.family();
    overrides.settings.push(family.choose_setting(pacing, flat).map_err(Failure::usage)?);
    let plan = planner.plan_with(candidate, &overrides)?;
    let server = candidate.server(&planner.spec.chosen.name, &plan, context.trust)?;
    let trial = BriefRun {
        purpose: "the think-time trial",
        plan,
        server,
        secrets: context.secrets_of(candidate).clone(),
        load: planner.spec.agents.machines(),
        monitoring: Monitoring::Off,
    };
    let results = trial.perform(&interrupt::flag())?;
    let point = results.analysis.load_points.first();
    let measured = point.and_then(|point| Some((point.rate, point.response.mean?)));
    let Some((rate, response)) = measured.filter(|(rate, _)| 0.0 < *rate) else {
        let error = format!("{} completed no transaction in the think-time trial", candidate.title);
        return Err(
            Failure::new(Exit::Testbed, error).hint("find the cause with `--set pacing=flat --quick`")
        );
    };
    eprint(format!("{} sustains {rate:.0} transactions per second.", candidate.title));
    let cpus = candidate.group.unwrap_or_default();
    Ok(Capacity { title: candidate.title.clone(), cpus, rate, response })
}

/// Returns the think time with which so many users at most are enough, in whole milliseconds, and the server that decides
/// it: the one with the highest rate on the largest group of CPUs. `None` if it would not be above zero.
fn think_time(capacities: &[Capacity], users_max: u32) -> Option<(Nanos, &Capacity)> {
    let largest = capacities.iter().map(|one| one.cpus).max()?;
    let of_largest = capacities.iter().filter(|one| one.cpus == largest);
    let strongest = of_largest.max_by(|one, other| one.rate.total_cmp(&other.rate))?;
    let seconds = SATURATED_AT * f64::from(users_max) / strongest.rate - strongest.response;
    let millis = (seconds * 1e3).floor();
    (1.0 <= millis).then(|| (Nanos::from_millis(millis as u64), strongest))
}

/// Returns the number of users that saturate a server at least: Z·X, with Z the think time and X the rate.
fn knee(of: &Capacity, think: Nanos) -> f64 {
    think.as_secs_f64() * of.rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity(title: &str, cpus: usize, rate: f64, response: f64) -> Capacity {
        Capacity { title: title.to_owned(), cpus, rate, response }
    }

    /// By hand: 0.7 · 1000 ÷ 2000 − 0.05 = 0.3 s; on one CPU 0.3 · 1100 = 330 users, on the slow one 0.3 · 200 = 60.
    #[test]
    fn the_largest_group_is_saturated_at_seven_tenths_of_the_users() {
        let all = [
            capacity("a, 1 CPU", 1, 1100.0, 0.09),
            capacity("a, 2 CPUs", 2, 2000.0, 0.05),
            capacity("b, 1 CPU", 1, 200.0, 0.5),
            capacity("b, 2 CPUs", 2, 350.0, 0.3),
        ];
        let (think, strongest) = think_time(&all, 1000).unwrap();
        assert_eq!((think, strongest.title.as_str()), (Nanos::from_millis(300), "a, 2 CPUs"));
        let knees: Vec<f64> = all.iter().map(|one| knee(one, think).round()).collect();
        assert_eq!(knees, [330.0, 600.0, 60.0, 105.0]);
    }

    /// 0.7 · 100 ÷ 2000 is 35 ms, less than the response takes.
    #[test]
    fn too_few_users_saturate_nothing_that_thinks() {
        assert_eq!(think_time(&[capacity("a", 0, 2000.0, 0.05)], 100), None);
        assert_eq!(think_time(&[], 100), None);
    }

    #[test]
    fn users_are_those_of_all_load_points() {
        let plan = testkit::closed_plan(1, &[100, 1000], testkit::phases(5, 60));
        assert_eq!(users([&plan].into_iter()), Some((100, 1000)));
        assert_eq!(users(std::iter::empty()), None);
    }
}
