//! The observations of a search, per level.

use super::{JudgedPoint, Maximum, SearchEnd};

/// The observations of a search, sorted by level.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    levels: Vec<Level>,
    n_runs: usize,
}

/// The observations at one level.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) level: f64,
    /// The runs with their positions in the order of all observations; not empty.
    runs: Vec<(usize, JudgedPoint)>,
}

impl History {
    pub(super) fn observe(&mut self, level: f64, judged: JudgedPoint) {
        let run = (self.n_runs, judged);
        self.n_runs += 1;
        let at = self.levels.partition_point(|known| known.level < level);
        match self.levels.get_mut(at).filter(|known| known.level == level) {
            Some(known) => known.runs.push(run),
            None => self.levels.insert(at, Level { level, runs: vec![run] }),
        }
    }

    /// Counts a run that decides nothing.
    pub(super) fn pass_over(&mut self) {
        self.n_runs += 1;
    }

    /// Returns whether no level has passed or failed yet.
    pub(super) fn is_undecided(&self) -> bool {
        self.levels.is_empty()
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs
    }

    /// Returns a level that passed as often as it failed.
    pub(super) fn tied(&self) -> Option<&Level> {
        self.levels.iter().find(|level| 2 * level.n_passes() == level.runs.len())
    }

    /// Returns the lowest level that mostly fails.
    pub(super) fn lowest_fail(&self) -> Option<&Level> {
        self.levels.iter().find(|level| !level.passes())
    }

    /// Returns the levels that mostly pass and have no failing one below them, in rising order.
    pub(super) fn passes(&self) -> &[Level] {
        let n = self.levels.iter().take_while(|level| level.passes()).count();
        &self.levels[..n]
    }

    /// Returns the other levels, from the lowest failing one.
    pub(super) fn above_passes(&self) -> &[Level] {
        &self.levels[self.passes().len()..]
    }

    /// Returns whether a level passes above the lowest that fails.
    pub(super) fn has_pass_above_fail(&self) -> bool {
        self.above_passes().iter().any(Level::passes)
    }

    pub(super) fn is_noisy(&self) -> bool {
        let is_mixed = |level: &Level| 0 < level.n_passes() && level.n_passes() < level.runs.len();
        self.has_pass_above_fail() || self.levels.iter().any(is_mixed)
    }

    /// Returns whether a failing level, run once, should be repeated before it ends the search: noise could have
    /// decided it, or several levels have passed since, as after a one-time disturbance.
    pub(super) fn is_doubtful(&self, fail: &Level) -> bool {
        const PASSES_SINCE: usize = 2;
        let [(at, judged)] = fail.runs[..] else { return false };
        let all = self.levels.iter().flat_map(|level| &level.runs);
        let since = all.filter(|(order, run)| at < *order && run.passes).count();
        !judged.is_clear || PASSES_SINCE <= since
    }
}

impl Level {
    fn n_passes(&self) -> usize {
        self.runs.iter().filter(|(_, run)| run.passes).count()
    }

    /// Returns whether it passed more often than it failed.
    pub(super) fn passes(&self) -> bool {
        self.runs.len() < 2 * self.n_passes()
    }

    pub(super) fn was_run_once(&self) -> bool {
        self.runs.len() == 1
    }

    /// Returns whether it was run once, and noise could have decided the result.
    pub(super) fn is_unsure(&self) -> bool {
        matches!(self.runs[..], [(_, JudgedPoint { is_clear: false, .. })])
    }

    /// Returns the mean throughput of the runs with the level's own result.
    pub(super) fn throughput(&self) -> f64 {
        self.mean(|run| run.throughput)
    }

    /// Returns the mean of what those runs delivered, in operations per second.
    pub(super) fn delivered(&self) -> f64 {
        self.mean(|run| run.delivered)
    }

    fn mean(&self, of: fn(&JudgedPoint) -> f64) -> f64 {
        let alike = self.runs.iter().filter(|(_, run)| run.passes == self.passes());
        let (n, sum) = alike.fold((0.0, 0.0), |(n, sum), (_, run)| (n + 1.0, sum + of(run)));
        sum / n
    }

    /// Returns which limit a failing level shows.
    pub(super) fn end(&self) -> SearchEnd {
        let generator = self.runs.iter().any(|(_, run)| run.is_generator_limited);
        if generator { SearchEnd::Generator } else { SearchEnd::Server }
    }

    /// Returns whether it failed only because of too few operations.
    pub(super) fn has_too_few(&self) -> bool {
        self.runs.iter().all(|(_, run)| run.has_too_few)
    }

    pub(super) fn maximum(&self) -> Maximum {
        Maximum { level: self.level, throughput: self.throughput() }
    }
}
