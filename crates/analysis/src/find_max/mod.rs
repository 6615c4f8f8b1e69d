//! The search for the highest load, as a state machine without input, output or clock.
//!
//! [`FindMax::next`] returns the load point to run, the caller runs it, [`judge`]s its result and
//! passes that to [`FindMax::observe`]; the next step follows from all observations so far, so a
//! search can be replayed from a run file. There are two searches, see [`SearchGoal`].
//!
//! | observed so far | next |
//! |---|---|
//! | nothing | the least level |
//! | only levels with too few operations | four times the greatest of them: the range begins there |
//! | a level that passed as often as it failed | that level: the third run decides |
//! | only passes, the greatest at the end of the range | done: *at least* that |
//! | only passes | four times the greatest; twice, if throughput no longer grows with the level |
//! | the least level fails | that level again; done without a maximum if it fails twice |
//! | a fail with a pass above it, run once | the fail again |
//! | the greatest pass and the least fail are farther apart than the tolerance | a level between them |
//! | they are not, and noise could have decided one of them | that one again |
//! | they are not | done |
//! | forty load points | done: the results do not converge |
//!
//! "Between" is the geometric mean, because a tolerance is a ratio. An open loop knows more: the rate that
//! an overloaded server still delivered is near its capacity, so the search tries that first and
//! widens its steps from there. The search for a peak differs in the last four rows, see `peak.rs`.
//!
//! - `history`: the observations, per level
//! - `highest`, `peak`: the two searches
//! - `compliance`: comparison of a load point with a limit
//! - `judged`: the judged result of a load point
//! - `replay`: the search of a plan, during the run and replayed from its results

mod compliance;
mod highest;
mod history;
mod judged;
mod peak;
mod replay;
#[cfg(test)]
mod script;

use units::Ratio;

pub use compliance::{Compliance, LimitMeasurement, NoData, comply, comply_stage};
pub use judged::{JudgedPoint, judge};
pub(crate) use replay::replay;
pub use replay::{begin, counts, next_load, observe};

pub use crate::search_result::{Maximum, SearchEnd, SearchResult};

use history::{History, Level};

/// A tolerance that leaves room for the noise of single load points within 3 %.
pub const FIND_MAX_TOLERANCE: Ratio = Ratio(0.02);

/// The most load points of a search. Without noise it needs 22 at most, from 1 to a million; with more than this its
/// results contradict each other.
pub const RUNS_MAX: usize = 40;

/// The range of levels of a search, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelRange {
    /// The least level: users, or operations per second.
    pub least: f64,
    /// The greatest level.
    pub most: f64,
}

/// The kind of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// Users of a closed loop: whole numbers.
    Users,
    /// Operations per second of an open loop; levels between the ends have four significant digits.
    Rate,
}

/// The goal of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchGoal {
    /// The highest level that passes: its load point is valid and meets all limits. For an open loop,
    /// and for a closed loop with limits; the throughput is that of this level, which in a closed
    /// loop need not be the greatest.
    HighestPass,
    /// The greatest throughput, at the smallest level that has it but for half the tolerance. For a
    /// closed loop without limits, in which more users can mean longer queues and nothing else.
    PeakThroughput,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStep {
    /// Run a load point at this level (again, if it was run before).
    Run(f64),
    /// The end of the search.
    Done(SearchResult),
}

/// A reason why a search cannot begin.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FindMaxError {
    /// The range is empty, or its ends are not levels.
    #[error("expected a rising range of levels above 0, found {least} to {most}")]
    Range {
        /// Its least level.
        least: f64,
        /// Its greatest level.
        most: f64,
    },
    /// The tolerance is out of range.
    #[error("expected a tolerance from 0.1 % to 50 %, found {0}")]
    Tolerance(Ratio),
}

/// A search in progress.
#[derive(Debug, Clone)]
pub struct FindMax {
    range: LevelRange,
    tolerance: f64,
    kind: LevelKind,
    goal: SearchGoal,
    history: History,
}

impl FindMax {
    /// Begins a search. The level found passes, and one that is higher by the tolerance does not; of a peak,
    /// no level has more throughput by more than the tolerance.
    ///
    /// # Errors
    ///
    /// If the range does not rise from above zero (users: from whole number to whole number), or the tolerance
    /// is not from 0.1 % to 50 %.
    pub fn new(
        range: LevelRange,
        tolerance: Ratio,
        kind: LevelKind,
        goal: SearchGoal,
    ) -> Result<FindMax, FindMaxError> {
        let LevelRange { least, most } = range;
        let are_levels = kind == LevelKind::Rate || (least.fract() == 0.0 && most.fract() == 0.0);
        if !(0.0 < least && least <= most && most.is_finite() && are_levels) {
            return Err(FindMaxError::Range { least, most });
        }
        if !(0.001..=0.5).contains(&tolerance.0) {
            return Err(FindMaxError::Tolerance(tolerance));
        }
        Ok(FindMax { range, tolerance: tolerance.0, kind, goal, history: History::default() })
    }

    /// Returns the next step; the same until the next observation.
    pub fn next(&self) -> SearchStep {
        let history = &self.history;
        if RUNS_MAX <= history.n_runs() {
            return self.give_up();
        }
        if let Some(tied) = history.tied() {
            return SearchStep::Run(tied.level);
        }
        match (history.passes().last(), history.lowest_fail(), self.goal) {
            (None, None, _) => SearchStep::Run(self.range.least),
            (None, Some(fail), _) => self.none_passes(fail),
            (Some(pass), fail, SearchGoal::HighestPass) => highest::next(self, pass, fail),
            (Some(pass), fail, SearchGoal::PeakThroughput) => peak::next(self, pass, fail),
        }
    }

    /// No level passes below one that fails: the least decides, and it is run twice.
    fn none_passes(&self, fail: &Level) -> SearchStep {
        if self.range.least < fail.level {
            return SearchStep::Run(self.range.least);
        }
        if fail.was_run_once() {
            return SearchStep::Run(fail.level);
        }
        self.done(None, if fail.has_too_few() { SearchEnd::TooFew } else { fail.end() })
    }

    /// Adds the result of a load point at a level.
    pub fn observe(&mut self, level: f64, judged: JudgedPoint) {
        if judged.has_too_few && self.history.is_undecided() && level < self.range.most {
            self.history.pass_over();
            self.range.least = self.grown(level, highest::GROWTH);
        } else {
            self.history.observe(level, judged);
        }
    }

    /// Returns the level next to `target` that lies between two others, not on them; `None` if there is none.
    fn between(&self, low: f64, high: f64, target: f64) -> Option<f64> {
        let level = match self.kind {
            LevelKind::Users => target.round().clamp(low + 1.0, (high - 1.0).max(low + 1.0)),
            LevelKind::Rate => four_digits(target),
        };
        let is_inside = |level: f64| low < level && level < high;
        let is_apart = match self.kind {
            LevelKind::Users => 1.0 < high - low,
            LevelKind::Rate => 1.0 + self.tolerance / 100.0 < high / low,
        };
        is_apart.then(|| if is_inside(level) { level } else { (low * high).sqrt() })
    }

    /// Returns whether two levels are within the tolerance of each other.
    fn is_settled(&self, low: f64, high: f64) -> bool {
        high / low <= 1.0 + self.tolerance || self.between(low, high, (low * high).sqrt()).is_none()
    }

    /// Returns the end of the growth from a level by a factor, not beyond the range.
    fn grown(&self, level: f64, factor: f64) -> f64 {
        (level * factor).min(self.range.most)
    }

    /// Ends a search whose results do not converge, with the best level that passed below all that fail.
    fn give_up(&self) -> SearchStep {
        let passes = self.history.passes();
        let best = match self.goal {
            SearchGoal::HighestPass => passes.last(),
            SearchGoal::PeakThroughput => {
                passes.iter().max_by(|one, other| one.throughput().total_cmp(&other.throughput()))
            }
        };
        let end = self.history.lowest_fail().map_or(SearchEnd::Range, Level::end);
        self.done(best.map(Level::maximum), end)
    }

    fn done(&self, max: Option<Maximum>, end: SearchEnd) -> SearchStep {
        let fails_at = self.history.lowest_fail().map(|fail| fail.level);
        let is_noisy = self.history.is_noisy();
        let n_runs = self.history.n_runs();
        SearchStep::Done(SearchResult { max, end, fails_at, is_noisy, n_runs })
    }
}

/// Rounds to four significant digits, so that levels can be read and typed.
fn four_digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::script::is_refused;
    use super::*;

    #[test]
    fn what_is_no_range_or_tolerance_is_refused() {
        use LevelKind::{Rate, Users};
        for (least, most, tolerance, kind) in [
            (0.0, 10.0, 0.02, Users),
            (1.5, 10.0, 0.02, Users),
            (1.0, 10.5, 0.02, Users),
            (11.0, 10.0, 0.02, Rate),
            (f64::NAN, 10.0, 0.02, Rate),
            (1.0, f64::INFINITY, 0.02, Rate),
            (1.0, 10.0, 0.0, Rate),
            (1.0, 10.0, f64::NAN, Rate),
            (1.0, 10.0, 0.6, Rate),
        ] {
            assert!(is_refused(least, most, tolerance, kind), "{least} {most} {tolerance} {kind:?}");
        }
        assert!(!is_refused(1.5, 10.5, 0.02, Rate) && !is_refused(10.0, 10.0, 0.02, Users));
    }
}
