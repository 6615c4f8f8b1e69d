//! The cases that the test command keeps: one of each kind that no other throttle has and that is named reliably.

use std::path::Path;

use anyhow::{Context, Result};

use super::case::{SEED, SampleCase, sample};
use super::moving::{self, MovingCase, MovingTrial};
use super::order::{RunAim, try_case};
use super::setting::Setting;
use crate::noise::{AcceptedRuns, AttemptResult, is_noise, until_quiet};

/// The numbers of the kept cases, whose evidence is far from the thresholds.
const KEPT: [usize; 8] = [3, 8, 43, 48, 53, 63, 93, 95];

/// The number of the kept moving case, likewise.
const KEPT_MOVING: usize = 2;

/// Returns the kept cases.
fn kept() -> Vec<SampleCase> {
    sample(SEED).into_iter().filter(|case| KEPT.contains(&case.number)).collect()
}

/// Returns the kept moving case.
fn kept_moving() -> Option<MovingCase> {
    moving::cases().into_iter().find(|case| case.number == KEPT_MOVING)
}

/// Tries all kept cases briefly; returns for each the error, if it has a wrong name or could not be tried.
pub(in crate::throttles) fn try_kept(plimsoll: &Path) -> Vec<Result<AcceptedRuns>> {
    let moving = kept_moving();
    let moving = moving.iter().map(|case| try_moving_once(case, plimsoll));
    kept().iter().map(|case| try_once(case, plimsoll)).chain(moving).collect()
}

/// Tries a kept case briefly; a wrong name is tried again only if others used the machine.
///
/// # Errors
/// The case has a wrong name, or could not be tried.
fn try_once(case: &SampleCase, plimsoll: &Path) -> Result<AcceptedRuns> {
    until_quiet(&case.to_string(), || {
        let setting = Setting::of(case);
        let one =
            try_case(case, &setting, plimsoll, RunAim::NameBriefly).with_context(|| case.to_string())?;
        println!("{case}: {} ({})", one.named, one.evidence);
        let why = format!("called {}, expected {}", one.named, case.kind.right_names().join(" or "));
        Ok(result(case.is_right(&one.named), &one.rules, why))
    })
}

/// Tries a kept moving case in the same way.
///
/// # Errors
/// A load point has a wrong name, the sentence about the run says something else, or the case could not be tried.
fn try_moving_once(case: &MovingCase, plimsoll: &Path) -> Result<AcceptedRuns> {
    until_quiet(&case.to_string(), || {
        let trial =
            MovingTrial::run(case, plimsoll, RunAim::MovesBriefly).with_context(|| case.to_string())?;
        println!("{case}: {}", trial.sentence);
        let [first, second] = &trial.phases;
        let expected =
            case.phases.each_ref().map(|phase| phase.kind.right_names().join(" or ")).join(", then ");
        let why = format!(
            "called {}, then {}, and in a sentence {}; expected {expected}",
            first.named, second.named, trial.sentence
        );
        Ok(result(trial.is_right(case), &first.rules, why))
    })
}

/// Returns the result of an attempt; a wrong name is noise if the run broke only rules about noise.
fn result(is_right: bool, broken: &[String], why: String) -> AttemptResult {
    match is_right {
        true => AttemptResult::Right,
        false if is_noise(broken) => AttemptResult::Spoilt(why),
        false => AttemptResult::Wrong(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_cases_are_of_different_kinds_with_servers_that_plimsoll_did_not_start() {
        let kept = kept();
        assert_eq!(kept.len(), KEPT.len());
        for case in &kept {
            assert_ne!(case.mode, super::super::case::RunMode::Recipe, "{case}");
            assert_eq!(kept.iter().filter(|other| other.kind == case.kind).count(), 1, "{case}");
        }
        assert_eq!(kept_moving().unwrap().number, KEPT_MOVING);
    }
}
