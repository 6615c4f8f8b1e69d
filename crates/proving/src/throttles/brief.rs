//! The trials of the test command: each throttle once and briefly, several at a time.
//!
//! A throttled server waits for most of its time, and so several of them can be tried on the same CPUs. The pressure on disks
//! and memory that one makes is seen on the whole machine, though, and so only trials of a group run side by side. Since they
//! may disturb each other all the same, a trial that fails is made once more alone, and that attempt decides.

use std::sync::Mutex;
use std::thread::scope;

use anyhow::{Result, ensure};
use units::{Clock, RealClock};

use crate::noise::{AcceptedRuns, AttemptResult, until_quiet};

/// A group of trials that can run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrialGroup {
    /// They wait for something of their own, or have little CPU time.
    Waiting,
    /// They wait for the disk, each for its own share.
    Disk,
    /// They lack memory.
    Memory,
    /// They need the machine for themselves.
    Alone,
}

/// The groups that run several trials at a time, in their order, and how many.
const SIDE_BY_SIDE: [(TrialGroup, usize); 3] =
    [(TrialGroup::Waiting, 4), (TrialGroup::Disk, 3), (TrialGroup::Memory, 2)];

/// A throttled server or generator to be tried.
pub(super) struct Trial<'a> {
    /// Its name for people.
    pub name: String,
    /// The trials that may run beside it.
    pub group: TrialGroup,
    /// Makes one attempt and prints what was found.
    pub attempt: Box<dyn Fn() -> Result<AttemptResult> + Sync + 'a>,
}

/// Names the rules that a run broke, to be appended to the reason of a failure; empty if it broke none.
pub(super) fn broken_rules(rules: &[String]) -> String {
    if rules.is_empty() { String::new() } else { format!("; rules broken: {}", rules.join(", ")) }
}

/// Makes all trials; returns the number of runs that were accepted although noise made them invalid.
///
/// # Errors
/// The trials with a wrong result, and those that could not be made.
pub(super) fn try_all(trials: &[Trial<'_>]) -> Result<AcceptedRuns> {
    let of = |group: TrialGroup| trials.iter().filter(move |trial| trial.group == group);
    let failed: Vec<&Trial<'_>> =
        SIDE_BY_SIDE.iter().flat_map(|(group, at_a_time)| failures(of(*group), *at_a_time)).collect();
    let results: Vec<Result<AcceptedRuns>> =
        of(TrialGroup::Alone).chain(failed).map(|trial| until_quiet(&trial.name, || timed(trial))).collect();
    let texts: Vec<String> =
        results.iter().filter_map(|result| result.as_ref().err()).map(|error| format!("{error:#}")).collect();
    texts.iter().for_each(|text| println!("{text}"));
    ensure!(texts.is_empty(), "{} of {} throttles: {}", texts.len(), trials.len(), texts.join("; "));
    Ok(results.into_iter().flatten().sum())
}

/// Makes trials, so many at a time; returns those that failed.
fn failures<'t, 'a: 't>(
    trials: impl Iterator<Item = &'t Trial<'a>> + Send,
    at_a_time: usize,
) -> Vec<&'t Trial<'a>> {
    let trials = Mutex::new(trials);
    let next = || trials.lock().expect("no thread panics while holding it").next();
    let lane = || std::iter::from_fn(next).filter(|trial| fails(trial)).collect::<Vec<_>>();
    scope(|scope| {
        let lanes: Vec<_> = (0..at_a_time).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().expect("a lane does not panic")).collect()
    })
}

/// Makes one attempt beside others; returns whether it has to be made once more.
fn fails(trial: &Trial<'_>) -> bool {
    let why = match timed(trial) {
        Ok(AttemptResult::Right) => return false,
        Ok(AttemptResult::Wrong(why) | AttemptResult::Spoilt(why)) => why,
        Err(error) => format!("{error:#}"),
    };
    println!("{}: {why}: once more, alone", trial.name);
    true
}

/// Makes one attempt and prints how long it took.
fn timed(trial: &Trial<'_>) -> Result<AttemptResult> {
    let clock = RealClock::start();
    let result = (trial.attempt)();
    println!("  {:>5.1} s  {}", clock.now().as_secs_f64(), trial.name);
    result
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn trial<'a>(group: TrialGroup, attempt: impl Fn() -> Result<AttemptResult> + Sync + 'a) -> Trial<'a> {
        Trial { name: format!("{group:?}"), group, attempt: Box::new(attempt) }
    }

    #[test]
    fn a_trial_that_fails_beside_others_is_made_once_more_and_that_decides() {
        let n = AtomicUsize::new(0);
        let first_wrong = trial(TrialGroup::Waiting, || {
            Ok(match n.fetch_add(1, Ordering::Relaxed) {
                0 => AttemptResult::Wrong("late".to_owned()),
                _ => AttemptResult::Right,
            })
        });
        assert_eq!(try_all(&[first_wrong]).unwrap(), 0);
        assert_eq!(n.load(Ordering::Relaxed), 2);
        let failed = trial(TrialGroup::Disk, || anyhow::bail!("no disk"));
        let right = trial(TrialGroup::Alone, || Ok(AttemptResult::Right));
        let error = try_all(&[failed, right]).unwrap_err().to_string();
        assert_eq!(error, "1 of 2 throttles: no disk");
    }

    /// Goal: each is tried once, beside others of its group only and not too many of them; alone means alone.
    #[test]
    fn only_trials_of_a_group_run_side_by_side() {
        const GROUPS: [TrialGroup; 4] =
            [TrialGroup::Alone, TrialGroup::Memory, TrialGroup::Disk, TrialGroup::Waiting];
        let running = [const { AtomicUsize::new(0) }; 4];
        let n_made = AtomicUsize::new(0);
        let running = &running;
        let n_made = &n_made;
        let of = |group: TrialGroup| {
            trial(group, move || {
                running[group as usize].fetch_add(1, Ordering::SeqCst);
                std::thread::yield_now();
                for other in GROUPS {
                    let n = running[other as usize].load(Ordering::SeqCst);
                    let most = SIDE_BY_SIDE.iter().find(|(known, _)| *known == group).map_or(1, |(_, n)| *n);
                    assert!(n <= if other == group { most } else { 0 }, "{group:?} beside {n} of {other:?}");
                }
                running[group as usize].fetch_sub(1, Ordering::SeqCst);
                n_made.fetch_add(1, Ordering::SeqCst);
                Ok(AttemptResult::Right)
            })
        };
        let trials: Vec<Trial<'_>> = (0..60).map(|index| of(GROUPS[index % 4])).collect();
        try_all(&trials).unwrap();
        assert_eq!(n_made.load(Ordering::SeqCst), 60);
    }
}
