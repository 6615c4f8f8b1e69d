//! The cases that the test command keeps: one of each kind that no other throttle has and that is named reliably.

use std::path::Path;

use anyhow::{Context, Result};

use super::case::{SEED, SampleCase, sample};
use super::order::{RunAim, try_case};
use super::setting::Setting;
use crate::noise::{AttemptResult, is_noise, until_quiet};

/// The numbers of the kept cases, whose evidence is far from the thresholds.
const KEPT: [usize; 8] = [3, 8, 43, 48, 53, 63, 93, 95];

/// Returns the kept cases.
fn kept() -> Vec<SampleCase> {
    sample(SEED).into_iter().filter(|case| KEPT.contains(&case.number)).collect()
}

/// Tries all kept cases briefly; returns for each the error, if it has a wrong name or could not be tried.
pub(in crate::throttles) fn try_kept(plimsoll: &Path) -> Vec<Result<()>> {
    kept().iter().map(|case| try_once(case, plimsoll)).collect()
}

/// Tries a kept case briefly; a wrong name is tried again only if others used the machine.
///
/// # Errors
/// The case has a wrong name, or could not be tried.
fn try_once(case: &SampleCase, plimsoll: &Path) -> Result<()> {
    until_quiet(&case.to_string(), || {
        let setting = Setting::of(case);
        let one =
            try_case(case, &setting, plimsoll, RunAim::NameBriefly).with_context(|| case.to_string())?;
        println!("{case}: {} ({})", one.named, one.evidence);
        let why = format!("called {}, expected {}", one.named, case.kind.right_names().join(" or "));
        Ok(match case.is_right(&one.named) {
            true => AttemptResult::Right,
            false if is_noise(&one.rules) => AttemptResult::Spoilt(why),
            false => AttemptResult::Wrong(why),
        })
    })
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
    }
}
