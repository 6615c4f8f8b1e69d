//! The cases that the test command keeps: one of each kind that no other throttle has and that is named reliably.

use std::path::Path;

use anyhow::Context;

use super::case::{SEED, SampleCase, sample};
use super::kind::ThrottleKind;
use super::moving::{self, MovingCase, MovingTrial};
use super::order::{RunAim, try_case};
use super::setting::Setting;
use crate::noise::{AttemptResult, OTHER_PROGRAMS, hides_bottleneck};
use crate::throttles::brief::{Trial, TrialGroup, broken_rules};

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

/// Returns the trials of all kept cases.
pub(in crate::throttles) fn kept_trials(plimsoll: &Path) -> Vec<Trial<'_>> {
    let moving = kept_moving().into_iter().map(|case| moving_trial(case, plimsoll));
    kept().into_iter().map(|case| case_trial(case, plimsoll)).chain(moving).collect()
}

/// Makes the trial of a kept case.
fn case_trial(case: SampleCase, plimsoll: &Path) -> Trial<'_> {
    let attempt = move || {
        let setting = Setting::of(&case);
        let one =
            try_case(&case, &setting, plimsoll, RunAim::NameBriefly).with_context(|| case.to_string())?;
        println!("{case}: {} ({})", one.named, one.evidence);
        let expected = case.kind.right_names().join(" or ");
        let why = format!("called {}, expected {expected}{}", one.named, broken_rules(&one.rules));
        Ok(result(case.is_right(&one.named), &one.named, &one.rules, case.has_other_programs(), why))
    };
    // The others wait for what is limited for them only.
    let is_alone = case.kind == ThrottleKind::CrowdedCores;
    let group = if is_alone { TrialGroup::Alone } else { TrialGroup::Waiting };
    Trial { name: case.to_string(), group, attempt: Box::new(attempt) }
}

/// Makes the trial of a kept moving case: both load points have a right name, and the sentence about the run agrees.
fn moving_trial(case: MovingCase, plimsoll: &Path) -> Trial<'_> {
    let name = case.to_string();
    let attempt = move || {
        let trial =
            MovingTrial::run(&case, plimsoll, RunAim::MovesBriefly).with_context(|| case.to_string())?;
        println!("{case}: {}", trial.sentence);
        let [first, second] = &trial.phases;
        let expected =
            case.phases.each_ref().map(|phase| phase.kind.right_names().join(" or ")).join(", then ");
        let why = format!(
            "called {}, then {}, and in a sentence {}; expected {expected}{}",
            first.named,
            second.named,
            trial.sentence,
            broken_rules(&first.rules)
        );
        let has_others = case.phases.iter().any(SampleCase::has_other_programs);
        Ok(result(trial.is_right(&case), &first.named, &first.rules, has_others, why))
    };
    Trial { name, group: TrialGroup::Waiting, attempt: Box::new(attempt) }
}

/// Returns the result of an attempt; a wrong name is noise if noise hides the bottleneck. Other programs that belong to the
/// case are none.
fn result(is_right: bool, named: &str, broken: &[String], has_others: bool, why: String) -> AttemptResult {
    let is_noisy = |rule: &&String| !has_others || *rule != OTHER_PROGRAMS;
    let broken: Vec<String> = broken.iter().filter(is_noisy).cloned().collect();
    if is_right {
        AttemptResult::Right
    } else if hides_bottleneck(named, &broken) {
        AttemptResult::Spoilt(why)
    } else {
        AttemptResult::Wrong(why)
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

    #[test]
    fn neighbors_that_belong_to_a_case_do_not_excuse_a_wrong_name() {
        let wrong = |rules: &[&str], has_others| {
            let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
            matches!(result(false, "disk", &rules, has_others, String::new()), AttemptResult::Wrong(_))
        };
        assert!(wrong(&[OTHER_PROGRAMS], true));
        assert!(!wrong(&[OTHER_PROGRAMS], false));
        assert!(!wrong(&[OTHER_PROGRAMS, "generator-run-queue"], true));
    }
}
