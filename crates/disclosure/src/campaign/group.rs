//! The runs of one benchmark, grouped by server.

use analysis::compare::{ComparedSide, Comparison, MismatchPolicy, RunInput, compare, is_all_offered};
use analysis::{LoadPointResult, VerdictState};

use super::CampaignRun;
use crate::report::Terms;
use crate::sections::state_text;

/// All runs of one benchmark in one version.
pub(crate) struct BenchmarkGroup<'a> {
    /// Runs in the given order; not empty.
    pub(crate) runs: Vec<CampaignRun<'a>>,
    /// Comparison of two or more runs, with their different settings; `None` for a single run.
    pub(crate) comparison: Option<Comparison>,
}

/// The result of a server in a benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// Name of the server.
    pub(crate) server: &'a str,
    /// Index of the server, which determines its color and dash pattern.
    pub(crate) index: usize,
    /// Verdict of its runs.
    pub(crate) state: VerdictState,
    /// The run with its highest valid score; the first if there is none.
    pub(crate) run: CampaignRun<'a>,
    /// The load point with that score; `None` if no load point is valid.
    pub(crate) best: Option<&'a LoadPointResult>,
    /// Its highest valid score; the geometric mean of several runs.
    pub(crate) score: Option<f64>,
    /// Whether that score is that of the highest offered load, so that the capacity is not known.
    pub(crate) is_all_offered: bool,
    /// 95 % confidence interval of the score; `None` with too few seconds or only two runs.
    pub(crate) score_interval: Option<(f64, f64)>,
}

/// Groups runs by benchmark and version, in the order of their first runs.
pub(crate) fn groups<'a>(runs: &[CampaignRun<'a>]) -> Vec<BenchmarkGroup<'a>> {
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
    groups.into_iter().map(BenchmarkGroup::new).collect()
}

impl<'a> BenchmarkGroup<'a> {
    fn new(runs: Vec<CampaignRun<'a>>) -> BenchmarkGroup<'a> {
        let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
        // A single run is not an error here.
        let comparison = compare(&compared, MismatchPolicy::Allow).ok();
        BenchmarkGroup { runs, comparison }
    }

    /// Returns the display name of the benchmark; of URLs the URL, if it is that of all runs.
    pub(crate) fn title(&self) -> &'a str {
        let title = |run: &CampaignRun<'a>| -> &'a str { &run.report.analysis.benchmark.title };
        let first = title(&self.runs[0]);
        if self.is_urls() && self.runs.iter().any(|run| title(run) != first) { "pages by URL" } else { first }
    }

    /// Returns whether the runs are of URLs and of no benchmark.
    pub(crate) fn is_urls(&self) -> bool {
        self.runs[0].report.analysis.benchmark.is_urls()
    }

    /// Returns the benchmark's terms for load and score.
    pub(crate) fn terms(&self) -> Terms<'_> {
        self.runs[0].report.terms()
    }

    /// Returns the result of each server, in the order of the servers.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        match &self.comparison {
            Some(comparison) => {
                let sides = comparison.sides.iter().enumerate();
                sides.map(|(index, side)| self.entry_of_side(index, side)).collect()
            }
            None => self.runs.iter().take(1).map(|run| entry_of_run(*run)).collect(),
        }
    }

    fn entry_of_side<'b>(&'b self, index: usize, side: &'b ComparedSide) -> Entry<'b> {
        let score = |run: &CampaignRun| best_of(run).and_then(|point| point.score).unwrap_or(0.0);
        let runs = side.runs.iter().map(|run| self.runs[*run]);
        let run = runs.reduce(|one, other| if score(&one) < score(&other) { other } else { one });
        let run = run.unwrap_or(self.runs[0]);
        let figures = side.best.as_ref().map(|best| &best.figures);
        Entry {
            server: &side.name,
            index,
            state: side.state,
            run,
            best: best_of(&run),
            score: figures.map(|figures| figures.score),
            is_all_offered: side.best.as_ref().is_some_and(|best| best.is_all_offered),
            score_interval: figures.and_then(|figures| figures.score_interval),
        }
    }

    /// Returns the indexes of the servers with the highest rate: one, or all that handled the highest offered load.
    pub(crate) fn leaders(&self) -> Vec<usize> {
        match &self.comparison {
            Some(comparison) => comparison.leaders(),
            None => vec![0],
        }
    }

    /// Returns whether any run modifies the benchmark.
    pub(crate) fn is_modified(&self) -> bool {
        self.runs.iter().any(|run| !run.report.analysis.modifications.is_empty())
    }

    /// Returns a list of the modifications of the benchmark.
    pub(crate) fn modified_text(&self) -> String {
        let mut settings: Vec<&str> = Vec::new();
        for change in self.runs.iter().flat_map(|run| &run.report.analysis.modifications) {
            if !settings.contains(&change.what.as_str()) {
                settings.push(&change.what);
            }
        }
        format!("{}: {}", self.title(), settings.join(", "))
    }
}

impl Entry<'_> {
    /// Returns the mean response time at the highest valid rate, in s.
    pub(crate) fn response_mean(&self) -> Option<f64> {
        self.best?.response.mean
    }

    /// Returns the 99th percentile of the response time at the highest valid rate, in s.
    pub(crate) fn response_p99(&self) -> Option<f64> {
        Some(self.best?.response.percentile(0.99)?.value.as_secs_f64())
    }

    /// Returns the load of the highest valid rate with the verdict, as a note to the figure.
    pub(crate) fn companion(&self, terms: Terms) -> String {
        let state = state_text(self.state);
        match self.best {
            Some(point) => format!("{} at {}, {state}", self.server, terms.load_text(point.load)),
            None => format!("{}: {state}", self.server),
        }
    }
}

fn entry_of_run(run: CampaignRun<'_>) -> Entry<'_> {
    let best = best_of(&run);
    Entry {
        server: run.server,
        index: 0,
        state: run.report.analysis.verdict.state,
        run,
        best,
        score: best.and_then(|point| point.score),
        is_all_offered: best.is_some_and(|point| is_all_offered(run.report.analysis, point.load)),
        score_interval: best.and_then(|point| point.score_interval),
    }
}

/// Returns the load point of a run's headline; `None` if no load point is valid.
fn best_of<'a>(run: &CampaignRun<'a>) -> Option<&'a LoadPointResult> {
    let analysis = run.report.analysis;
    analysis.load_points.get(analysis.headline.as_ref()?.load_point)
}
