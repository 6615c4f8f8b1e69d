//! The runs of one benchmark, put together by server.

use analysis::compare::{Comparison, MismatchPolicy, RunInput, Side, compare, is_all_offered};
use analysis::{LoadPointResult, VerdictState};

use super::CampaignRun;
use crate::report::Words;
use crate::sections::state_text;

/// All runs of one benchmark in one version.
pub(crate) struct Group<'a> {
    /// In the order given; not empty.
    pub(crate) runs: Vec<CampaignRun<'a>>,
    /// Of two runs or more. What is not alike in them is listed there.
    pub(crate) comparison: Option<Comparison>,
}

/// What a server came to in a benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// What the server is called.
    pub(crate) server: &'a str,
    /// Its number: colors and dashes follow it.
    pub(crate) place: usize,
    /// The judgement on its runs.
    pub(crate) state: VerdictState,
    /// The run with its highest valid rate; the first if there is none.
    pub(crate) run: CampaignRun<'a>,
    /// The load point with that rate; `None` if no load point is valid.
    pub(crate) best: Option<&'a LoadPointResult>,
    /// Its highest valid rate, of several runs the geometric mean.
    pub(crate) rate: Option<f64>,
    /// Whether that was all that was offered, so that nobody knows what it could have done.
    pub(crate) is_all_offered: bool,
    /// 95 % interval for it; `None` if there are too few seconds, or two runs.
    pub(crate) rate_interval: Option<(f64, f64)>,
}

/// Puts runs of the same benchmark and version together, in the order of their first runs.
pub(crate) fn groups<'a>(runs: &[CampaignRun<'a>]) -> Vec<Group<'a>> {
    let key = |run: &CampaignRun| {
        let benchmark = &run.report.plan.benchmark;
        (benchmark.id.clone(), benchmark.version)
    };
    let mut groups: Vec<Vec<CampaignRun<'a>>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| key(&group[0]) == key(run)) {
            Some(group) => group.push(*run),
            None => groups.push(vec![*run]),
        }
    }
    groups.into_iter().map(Group::new).collect()
}

impl<'a> Group<'a> {
    fn new(runs: Vec<CampaignRun<'a>>) -> Group<'a> {
        let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
        // One run alone is no error here.
        let comparison = compare(&compared, MismatchPolicy::Allow).ok();
        Group { runs, comparison }
    }

    /// Returns the benchmark's name for people.
    pub(crate) fn title(&self) -> &'a str {
        &self.runs[0].report.analysis.benchmark.title
    }

    /// Returns the words in which the benchmark speaks of its load and its rate.
    pub(crate) fn words(&self) -> Words {
        self.runs[0].report.words()
    }

    /// Returns what each server came to, in the order of the servers.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        match &self.comparison {
            Some(comparison) => {
                let sides = comparison.sides.iter().enumerate();
                sides.map(|(place, side)| self.entry_of_side(place, side)).collect()
            }
            None => self.runs.iter().take(1).map(|run| entry_of_run(*run)).collect(),
        }
    }

    fn entry_of_side<'b>(&'b self, place: usize, side: &'b Side) -> Entry<'b> {
        let rate = |run: &CampaignRun| best_of(run).map_or(0.0, |point| point.rate);
        let runs = side.runs.iter().map(|run| self.runs[*run]);
        let run = runs.reduce(|one, other| if rate(&one) < rate(&other) { other } else { one });
        let run = run.unwrap_or(self.runs[0]);
        let figures = side.best.as_ref().map(|best| &best.figures);
        Entry {
            server: &side.name,
            place,
            state: side.state,
            run,
            best: best_of(&run),
            rate: figures.map(|figures| figures.rate),
            is_all_offered: side.best.as_ref().is_some_and(|best| best.is_all_offered),
            rate_interval: figures.and_then(|figures| figures.rate_interval),
        }
    }

    /// Returns the places of the servers with the highest rate: one, or all that answered as much as was offered at most.
    pub(crate) fn leaders(&self) -> Vec<usize> {
        match &self.comparison {
            Some(comparison) => comparison.leaders(),
            None => vec![0],
        }
    }

    /// Returns whether any of its runs departs from the benchmark.
    pub(crate) fn is_modified(&self) -> bool {
        self.runs.iter().any(|run| !run.report.analysis.modifications.is_empty())
    }

    /// Says in what its runs depart from the benchmark.
    pub(crate) fn modified_text(&self) -> String {
        let mut what: Vec<&str> = Vec::new();
        for change in self.runs.iter().flat_map(|run| &run.report.analysis.modifications) {
            if !what.contains(&change.what.as_str()) {
                what.push(&change.what);
            }
        }
        format!("{}: {}", self.title(), what.join(", "))
    }
}

impl Entry<'_> {
    /// Returns the load of the highest valid rate, and the judgement, for a place beside the figure.
    pub(crate) fn companion(&self, words: Words) -> String {
        let state = state_text(self.state);
        match self.best {
            Some(point) => format!("{} at {}, {state}", self.server, words.load_text(point.load)),
            None => format!("{}: {state}", self.server),
        }
    }
}

fn entry_of_run(run: CampaignRun<'_>) -> Entry<'_> {
    let best = best_of(&run);
    Entry {
        server: run.server,
        place: 0,
        state: run.report.analysis.verdict.state,
        run,
        best,
        rate: best.map(|point| point.rate),
        is_all_offered: best.is_some_and(|point| is_all_offered(run.report.analysis, point.load)),
        rate_interval: best.and_then(|point| point.rate_interval),
    }
}

/// Returns the load point of a run's headline; `None` if no load point is valid.
fn best_of<'a>(run: &CampaignRun<'a>) -> Option<&'a LoadPointResult> {
    let analysis = run.report.analysis;
    analysis.load_points.get(analysis.headline.as_ref()?.load_point)
}
