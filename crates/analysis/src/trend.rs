//! Trends: the figures of one server in one benchmark over time, and where they changed.

use model::{BenchmarkId, Load, Score, SutPlan, Words};
use stats::{N_SEGMENT_MIN, change_points};
use units::{Ratio, WallTime};

use crate::compare::{ComparedMetric, RunInput, is_like, valid_value};

/// The probability of any false change over all figures of all trends that are looked at together.
const ALPHA: Ratio = Ratio(0.05);

/// The runs of one server in one benchmark, in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Trend {
    /// The benchmark.
    pub benchmark: BenchmarkId,
    /// Its score.
    pub score: Score,
    /// Its words.
    pub words: Words,
    /// The name of the server.
    pub server: String,
    /// The loads whose figures are followed: those that are valid in at least half of the runs; empty if there are none.
    pub loads: Vec<Load>,
    /// The runs in which all these loads are valid, in the order of time: indexes of the input, with their start.
    pub runs: Vec<(usize, WallTime)>,
    /// The runs in which one of them is not valid or missing, as indexes of the input.
    pub left_out: Vec<usize>,
    /// The figures that all `runs` have, over all loads.
    pub series: Vec<TrendSeries>,
}

/// A figure over time.
#[derive(Debug, Clone, PartialEq)]
pub struct TrendSeries {
    /// The figure.
    pub metric: ComparedMetric,
    /// Its geometric means over the loads, in the order of the runs.
    pub values: Vec<f64>,
    /// The changes of its level, in the order of time; `None` with too few runs to tell.
    pub changes: Option<Vec<TrendChange>>,
}

/// A change of a figure's level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendChange {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The old level: the geometric mean of the values since the change before.
    pub from: f64,
    /// The new level: that of the values up to the next change.
    pub to: f64,
    /// The probability of such a difference if there were none, by itself.
    pub p: f64,
}

/// Sorts runs into trends, by the order of their first runs, and finds the changes of their figures.
///
/// Runs belong to one trend if only the state of the server may differ: its version, its configuration, its label. If
/// nothing changes at all, the probability of any change in any figure of any trend is at most 5 % (Bonferroni over the
/// figures; see [`stats::change_points`]).
pub fn trends(runs: &[RunInput]) -> Vec<Trend> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        match groups.iter_mut().find(|group| is_of_one_trend(&runs[group[0]], run)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    let mut trends: Vec<Trend> = groups.iter().map(|group| trend(runs, group)).collect();
    let n_series: usize = trends.iter().filter(|trend| trend.is_long()).map(|trend| trend.series.len()).sum();
    let level = Ratio(ALPHA.0 / n_series.max(1) as f64);
    for trend in trends.iter_mut().filter(|trend| trend.is_long()) {
        trend.series.iter_mut().for_each(|series| series.changes = Some(changes(&series.values, level)));
    }
    trends
}

impl Trend {
    /// The fewest runs in which a change can be found.
    pub const N_RUNS_MIN: usize = 2 * N_SEGMENT_MIN;

    fn is_long(&self) -> bool {
        Trend::N_RUNS_MIN <= self.runs.len()
    }
}

fn is_of_one_trend(one: &RunInput, other: &RunInput) -> bool {
    let sut = |run: &RunInput| SutPlan { label: None, quota_reason: String::new(), ..run.plan.sut.clone() };
    one.server == other.server && sut(one) == sut(other) && is_like(one, other)
}

fn trend(runs: &[RunInput], group: &[usize]) -> Trend {
    let plan = runs[group[0]].plan;
    let loads = loads(runs, group);
    let is_whole =
        |run: &RunInput| loads.iter().all(|load| valid_value(run, *load, ComparedMetric::Score).is_some());
    let mut kept = Vec::new();
    let mut left_out = Vec::new();
    for index in group {
        match began(&runs[*index]).filter(|_| !loads.is_empty() && is_whole(&runs[*index])) {
            Some(began) => kept.push((*index, began)),
            None => left_out.push(*index),
        }
    }
    kept.sort_by_key(|(_, began)| *began);
    let series = ComparedMetric::ALL.iter().filter_map(|metric| series(runs, &kept, &loads, *metric));
    Trend {
        benchmark: plan.benchmark.clone(),
        score: plan.catalog.score.clone(),
        words: plan.catalog.words.clone(),
        server: runs[group[0]].server.to_owned(),
        series: series.collect(),
        loads,
        runs: kept,
        left_out,
    }
}

/// Returns the loads that are valid in at least half of those runs that have any.
fn loads(runs: &[RunInput], group: &[usize]) -> Vec<Load> {
    let mut counted: Vec<(Load, usize)> = Vec::new();
    let mut n_runs = 0;
    for index in group {
        let points = &runs[*index].analysis.load_points;
        let is_valid = |load| valid_value(&runs[*index], load, ComparedMetric::Score).is_some();
        let mut own: Vec<Load> = Vec::new();
        for load in points.iter().map(|point| point.load).filter(|load| is_valid(*load)) {
            if !own.contains(&load) {
                own.push(load);
            }
        }
        n_runs += usize::from(!own.is_empty());
        for load in own {
            match counted.iter_mut().find(|(known, _)| *known == load) {
                Some((_, n)) => *n += 1,
                None => counted.push((load, 1)),
            }
        }
    }
    let mut loads: Vec<Load> =
        counted.into_iter().filter(|(_, n)| n_runs <= 2 * n).map(|(load, _)| load).collect();
    loads.sort_by(|one, other| one.level().total_cmp(&other.level()));
    loads
}

fn began(run: &RunInput) -> Option<WallTime> {
    run.began.iter().map(|(_, began)| *began).min()
}

/// Returns a figure over time; `None` if a run does not have it at all loads.
fn series(
    runs: &[RunInput],
    kept: &[(usize, WallTime)],
    loads: &[Load],
    metric: ComparedMetric,
) -> Option<TrendSeries> {
    let of_run = |run: &RunInput| {
        let values: Vec<f64> =
            loads.iter().map(|load| valid_value(run, *load, metric)).collect::<Option<_>>()?;
        geometric_mean(&values)
    };
    let values: Vec<f64> = kept.iter().map(|(index, _)| of_run(&runs[*index])).collect::<Option<_>>()?;
    (!values.is_empty()).then_some(TrendSeries { metric, values, changes: None })
}

fn changes(values: &[f64], level: Ratio) -> Vec<TrendChange> {
    /// Any seed does; this one makes the same file give the same answer.
    const SEED: u64 = 1;
    let points = change_points(values, level, SEED);
    let ends: Vec<usize> =
        [0].into_iter().chain(points.iter().map(|point| point.at)).chain([values.len()]).collect();
    let level_of = |index: usize| geometric_mean(&values[ends[index]..ends[index + 1]]);
    let change = |(index, point): (usize, &stats::ChangePoint)| {
        Some(TrendChange { at: point.at, from: level_of(index)?, to: level_of(index + 1)?, p: point.p })
    };
    points.iter().enumerate().filter_map(change).collect()
}

/// Returns the geometric mean; `None` without values.
fn geometric_mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
    (!values.is_empty()).then(|| mean.exp())
}
