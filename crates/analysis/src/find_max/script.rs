//! Scripts of searches against servers that are functions of the level, as text.

use units::Ratio;

use super::{
    FIND_MAX_TOLERANCE, FindMax, JudgedPoint, LevelKind, LevelRange, RUNS_MAX, SearchGoal, SearchResult,
    SearchStep,
};

pub(super) fn search(least: f64, most: f64, kind: LevelKind, goal: SearchGoal) -> FindMax {
    FindMax::new(LevelRange { least, most }, FIND_MAX_TOLERANCE, kind, goal).unwrap()
}

/// Makes a result without noise: whether it passes, and its throughput, in operations per second.
pub(super) fn clear(passes: bool, throughput: f64) -> JudgedPoint {
    JudgedPoint {
        passes,
        throughput,
        delivered: throughput,
        is_generator_limited: false,
        is_clear: true,
        has_too_few: false,
    }
}

pub(super) fn unclear(judged: JudgedPoint) -> JudgedPoint {
    JudgedPoint { is_clear: false, ..judged }
}

/// Plays a search to its end; `server` gets the level and the number of load points before it. Returns the levels
/// (`+` for a pass, `-` for a fail) and the result.
pub(super) fn play(
    mut search: FindMax,
    mut server: impl FnMut(f64, usize) -> JudgedPoint,
) -> (String, SearchResult) {
    let mut asked = Vec::new();
    let n_before = search.history.n_runs();
    loop {
        match search.next() {
            SearchStep::Done(found) => {
                assert_eq!(found.n_runs, n_before + asked.len());
                return (asked.join(" "), found);
            }
            SearchStep::Run(level) => {
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
    FindMax::new(LevelRange { least, most }, Ratio(tolerance), kind, SearchGoal::HighestPass).is_err()
}
