//! Searches against servers that are functions of the level, and what they asked, as text.

use units::Ratio;

use super::{FIND_MAX_TOLERANCE, FindMax, Found, Goal, Judged, LevelKind, RUNS_MAX, Range, Step};

pub(super) fn search(least: f64, most: f64, kind: LevelKind, goal: Goal) -> FindMax {
    FindMax::new(Range { least, most }, FIND_MAX_TOLERANCE, kind, goal).unwrap()
}

/// Answers of a server without noise: passes up to a level, carries so much.
pub(super) fn clear(passes: bool, throughput: f64) -> Judged {
    Judged { passes, throughput, is_generator_limited: false, is_clear: true, has_too_few: false }
}

pub(super) fn unclear(judged: Judged) -> Judged {
    Judged { is_clear: false, ..judged }
}

/// Plays a search to its end; `server` gets the level and how many load points were run before. Returns what was
/// asked (`+` for a pass, `-` for a fail) and found.
pub(super) fn play(mut search: FindMax, mut server: impl FnMut(f64, usize) -> Judged) -> (String, Found) {
    let mut asked = Vec::new();
    let n_before = search.history.n_runs();
    loop {
        match search.next() {
            Step::Done(found) => {
                assert_eq!(found.n_runs, n_before + asked.len());
                return (asked.join(" "), found);
            }
            Step::Run(level) => {
                assert!(asked.len() < RUNS_MAX, "does not end: {}", asked.join(" "));
                let judged = server(level, asked.len());
                asked.push(format!("{level}{}", if judged.passes { '+' } else { '-' }));
                search.observe(level, judged);
            }
        }
    }
}

/// Returns whether a search with these arguments is refused.
pub(super) fn is_refused(least: f64, most: f64, tolerance: f64, kind: LevelKind) -> bool {
    FindMax::new(Range { least, most }, Ratio(tolerance), kind, Goal::HighestPass).is_err()
}
