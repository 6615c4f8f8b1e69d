//! One server and one question, answered by a sweep and by the search.

use analysis::{
    FIND_MAX_TOLERANCE, FindMax, JudgedPoint, LevelKind, LevelRange, LoadPointResult, SearchGoal,
    SearchResult, SearchStep, judge,
};
use model::{Arrivals, Phases, Rules, parse_limits};
use testkit::{SimServer, Simulation, closed_plan, open_plan, with_seed};

/// Steps of the exhaustive sweep.
const GRID: f64 = 1.03;

/// Maximum relative difference between search and sweep.
const TOLERANCE: f64 = 0.03;

/// Maximum share of the sweep's load points that the search may take; all take the same time.
const SEARCH_SHARE_MAX: f64 = 0.35;

/// A server and a search goal.
pub(crate) struct Scenario {
    pub name: &'static str,
    pub seed: u64,
    pub kind: LevelKind,
    pub goal: SearchGoal,
    /// As on the command line; empty for none.
    pub limits: &'static str,
    pub least: f64,
    pub most: f64,
    pub phases: Phases,
    /// The server under a level of load.
    pub server: fn(f64) -> SimServer,
    pub noise: Noise,
}

/// The source of the seeds of load points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// The same for all.
    Shared,
    /// A separate one for each.
    Fresh,
}

impl Scenario {
    /// Simulates one load point, the `run`-th.
    pub(crate) fn run(&self, level: f64, run: u64) -> LoadPointResult {
        let seed = if self.noise == Noise::Fresh { self.seed * 1000 + run } else { self.seed };
        let plan = match self.kind {
            LevelKind::Users => closed_plan(seed, &[level as u32], self.phases),
            LevelKind::Rate => open_plan(seed, level, Arrivals::Poisson, self.phases),
        };
        let mut analysis = Simulation::new(plan, (self.server)(level)).analyze();
        analysis.load_points.remove(0)
    }

    fn judge(&self, level: f64, run: u64) -> JudgedPoint {
        let limits =
            if self.limits.is_empty() { Vec::new() } else { parse_limits(self.limits).expect("limits") };
        judge(&self.run(level, run), &limits, &Rules::default())
    }

    /// Runs the search.
    pub(crate) fn search(&self) -> SearchResult {
        let range = LevelRange { least: self.least, most: self.most };
        let mut search = FindMax::new(range, FIND_MAX_TOLERANCE, self.kind, self.goal).expect("a search");
        for run in 0.. {
            match search.next() {
                SearchStep::Done(found) => return found,
                SearchStep::Run(level) => search.observe(level, self.judge(level, run)),
            }
        }
        unreachable!("every search ends")
    }

    /// Runs every level of the grid once.
    fn sweep(&self) -> Vec<(f64, JudgedPoint)> {
        let levels = self.grid();
        levels.into_iter().map(|level| (level, self.judge(level, 0))).collect()
    }

    fn grid(&self) -> Vec<f64> {
        let steps = std::iter::successors(Some(self.least), |level| Some(level * GRID));
        let mut levels: Vec<f64> = steps.take_while(|level| *level <= self.most).collect();
        if self.kind == LevelKind::Users {
            levels.iter_mut().for_each(|level| *level = level.round());
            levels.dedup();
        }
        levels
    }

    /// Sweeps, searches, prints both and checks that they agree.
    #[track_caller]
    pub(crate) fn check(&self) -> SearchResult {
        let mut answer = None;
        with_seed(self.seed, |_| {
            let sweep = self.sweep();
            let found = self.search();
            let (swept, searched) = match self.goal {
                SearchGoal::HighestPass => (highest(&sweep), found.max.map_or(0.0, |max| max.level)),
                SearchGoal::PeakThroughput => (greatest(&sweep), found.max.map_or(0.0, |max| max.throughput)),
            };
            let part = found.n_runs as f64 / sweep.len() as f64;
            println!(
                "{:44} sweep {swept:7.1} in {:3} | search {searched:7.1} in {:2}, {:+.1} %, {:2.0} % of the points{}",
                self.name,
                sweep.len(),
                found.n_runs,
                100.0 * (searched / swept - 1.0),
                100.0 * part,
                if found.is_noisy { ", noisy" } else { "" },
            );
            let gap = (searched - swept).abs();
            // Users are whole: one more or less is as close as a search can get.
            let near =
                if self.kind == LevelKind::Users && self.goal == SearchGoal::HighestPass { 1.0 } else { 0.0 };
            assert!(gap <= (TOLERANCE * swept).max(near), "{swept} by the sweep, {searched} by the search");
            assert!(part <= SEARCH_SHARE_MAX, "{} of {} load points", found.n_runs, sweep.len());
            answer = Some(found);
        });
        answer.expect("the test has run")
    }
}

fn highest(sweep: &[(f64, JudgedPoint)]) -> f64 {
    sweep.iter().filter(|(_, judged)| judged.passes).map(|(level, _)| *level).fold(0.0, f64::max)
}

fn greatest(sweep: &[(f64, JudgedPoint)]) -> f64 {
    sweep.iter().filter(|(_, judged)| judged.passes).map(|(_, judged)| judged.throughput).fold(0.0, f64::max)
}
