//! The changes of a side's figures from the baseline's, and which of them hold.

use model::Load;
use stats::{
    ComparisonFinding, Decision, HypothesisFamily, LogRatio, MeasuredFigure, POWER, Significance,
    decide_after_first, decide_significance, finding,
};
use units::{Ratio, WallTime};

use super::figures::is_valid;
use super::interleaving::{N_PAIRS_MIN, interleaved_pairs};
use super::{
    ComparedMetric, Comparison, RunInput, ServerAnswer, answer, best_point, between_runs, point_at, processes,
};
use crate::LoadPointResult;

/// The significance level: the probability of any false alarm where nothing differs.
pub(super) const ALPHA: Ratio = Ratio(0.05);

/// The change of a figure from the baseline's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigureChange {
    /// The figure.
    pub metric: ComparedMetric,
    /// Number of loads that it covers; 1 for a single one.
    pub n_loads: usize,
    /// The figure ÷ the baseline's; of several runs the ratio of geometric means.
    pub ratio: f64,
    /// The interval for the ratio by which it was decided: all those of a comparison hold together with 95 %
    /// confidence. `None` if runs are too few and their phases too short for one.
    pub interval: Option<(f64, f64)>,
    /// The 95 % interval for the ratio by itself, as if nothing else had been compared: at most as wide.
    pub single_interval: Option<(f64, f64)>,
    /// The confidence of `interval` by itself, from 0.95.
    pub confidence: Ratio,
    /// The probability of such a difference if there were none, by itself; `None` without an interval.
    pub p: Option<f64>,
    /// The finding among all that were compared.
    pub finding: ComparisonFinding,
    /// The smallest difference that is detected in four of five such comparisons among as many others, as a ratio
    /// above no difference (0.03: 3 %); `None` without an interval.
    pub detectable: Option<f64>,
    /// The basis of the interval.
    pub basis: IntervalBasis,
}

/// The basis of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalBasis {
    /// Interleaved repetitions: the number of pairs.
    Interleaved(usize),
    /// Interleaved turns of servers that ran all the time: the number of pairs. What two processes of identical code differ
    /// by ([`super::BETWEEN_PROCESSES`]) is added to their scatter.
    Turns(usize),
    /// Repetitions that were not interleaved: the numbers of the baseline and of the other.
    Repetitions(usize, usize),
    /// The seconds of too few runs to be repetitions, and the scatter that is expected between runs
    /// ([`super::BETWEEN_RUNS`]).
    Phases,
}

/// A figure of one run of a side, where it is compared.
#[derive(Debug, Clone, Copy)]
struct Value {
    value: f64,
    shown: Option<MeasuredFigure>,
    began: Option<WallTime>,
    /// The deviation of the figure that is expected from run to run.
    between: f64,
    /// The deviation of its ratio to that of another process of identical code.
    processes: f64,
}

/// What two sides are, as far as their repetitions show how processes of identical code differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Servers {
    /// They do: of servers that were started for each run, and of one server with different settings.
    Started,
    /// They do not: two servers that were running all the time.
    Running,
}

impl Servers {
    fn of(runs: &[RunInput], base: &[usize], other: &[usize]) -> Servers {
        let are_running = processes::are_of_running_servers(&runs[base[0]], &runs[other[0]]);
        if are_running { Servers::Running } else { Servers::Started }
    }
}

/// The compared ratio of one figure at one load, before its significance is decided.
#[derive(Debug, Clone, Copy)]
struct ComparedRatio {
    ratio: f64,
    log_ratio: Option<LogRatio>,
    /// The same of the two processes as they are, without what processes of identical code differ by.
    as_found: Option<LogRatio>,
    basis: IntervalBasis,
}

/// The comparison of one figure of one side: over all loads, and at each.
struct FigureComparison {
    side: usize,
    metric: ComparedMetric,
    overall: Option<ComparedRatio>,
    n_loads: usize,
    levels: Vec<Option<ComparedRatio>>,
}

/// Fills in the changes of all sides from the first, figure by figure: at each load, over all loads, and at their best.
pub(super) fn fill(comparison: &mut Comparison, runs: &[RunInput], groups: &[Vec<usize>]) {
    let others = || 1..groups.len();
    let figure_comparisons: Vec<FigureComparison> = others()
        .flat_map(|side| {
            ComparedMetric::ALL.map(|metric| compare_figure(comparison, runs, groups, side, metric))
        })
        .collect();
    let bests: Vec<Option<ComparedRatio>> =
        others().map(|side| best(runs, [&groups[0], &groups[side]])).collect();
    let metric = answer::metric(comparison, runs);
    let significance = decide(&figure_comparisons, &bests, metric);
    comparison.answers = answers(&figure_comparisons, &significance, metric);
    for (figure_comparison, significance) in figure_comparisons.iter().zip(&significance) {
        let change = |found: &Option<ComparedRatio>, significance| {
            Some(found.as_ref()?.change(figure_comparison.metric, significance))
        };
        let overall = change(&figure_comparison.overall, significance.overall);
        let over = |change| FigureChange { n_loads: figure_comparison.n_loads, ..change };
        comparison.sides[figure_comparison.side].overall.extend(overall.map(over));
        for (level, (found, significance)) in
            comparison.levels.iter_mut().zip(figure_comparison.levels.iter().zip(&significance.loads))
        {
            level.figures[figure_comparison.side].changes.extend(change(found, *significance));
        }
    }
    for (side, (found, significance)) in
        others().zip(bests.iter().zip(&significance[figure_comparisons.len()..]))
    {
        if let (Some(best), Some(found)) = (&mut comparison.sides[side].best, found) {
            best.figures.changes.push(found.change(ComparedMetric::Score, significance.overall));
        }
    }
}

/// Decides which differences hold: of the figures of all sides, then of their highest valid loads, in this order.
///
/// A comparison of servers that took turns while they ran is to answer which is faster. That is asked first, of one
/// `metric` of each side with its part of the false alarms that are allowed; the others are looked at only if it differs.
fn decide(
    figures: &[FigureComparison],
    bests: &[Option<ComparedRatio>],
    metric: ComparedMetric,
) -> Vec<Significance> {
    let of_best = |best: &Option<ComparedRatio>| HypothesisFamily { overall: p(best), loads: Vec::new() };
    if !figures.iter().any(FigureComparison::is_of_turns) {
        let families: Vec<HypothesisFamily> =
            figures.iter().map(FigureComparison::family).chain(bests.iter().map(of_best)).collect();
        return decide_significance(&families, ALPHA);
    }
    let alpha = Ratio(ALPHA.0 / bests.len() as f64);
    let mut of_figures = Vec::new();
    let mut of_bests = Vec::new();
    for (own, best) in figures.chunks(ComparedMetric::ALL.len()).zip(bests) {
        let first = own.iter().position(|figure| figure.metric == metric).unwrap_or(0);
        let families: Vec<HypothesisFamily> =
            own.iter().map(FigureComparison::family).chain([of_best(best)]).collect();
        let mut decided = decide_after_first(&families, first, alpha);
        of_bests.extend(decided.pop());
        of_figures.extend(decided);
    }
    of_figures.into_iter().chain(of_bests).collect()
}

/// Returns the answers of a comparison of servers that took turns while they ran: one for each side but the baseline.
fn answers(
    figures: &[FigureComparison],
    significance: &[Significance],
    metric: ComparedMetric,
) -> Vec<ServerAnswer> {
    let asked = figures.iter().zip(significance).filter(|(figure, _)| figure.metric == metric);
    asked
        .filter_map(|(figure, significance)| {
            let found = figure.overall.filter(|found| matches!(found.basis, IntervalBasis::Turns(_)))?;
            let change = found.change(metric, significance.overall);
            Some(ServerAnswer {
                side: figure.side,
                change: FigureChange { n_loads: figure.n_loads, ..change },
                as_found: found.as_found.and_then(|found| interval_of(&found, Ratio(1.0 - ALPHA.0))),
                found_mostly: found
                    .log_ratio
                    .and_then(|found| found.detectable(significance.overall.level, answer::MOSTLY))
                    .map(|more| more.0),
            })
        })
        .collect()
}

/// The change of a metric over all loads, by itself, as bounds are judged.
pub(super) struct OverallChange {
    pub(super) change: FigureChange,
    /// The logarithms of which the interval is made; `None` without one.
    pub(super) log_ratio: Option<LogRatio>,
}

/// Compares a metric of a side with the baseline's over all loads, as if nothing else were compared; `None` if it was not
/// measured, or there is no common load at which all runs are valid.
pub(super) fn overall(
    comparison: &Comparison,
    runs: &[RunInput],
    side: usize,
    metric: ComparedMetric,
) -> Option<OverallChange> {
    let groups: Vec<Vec<usize>> = comparison.sides.iter().map(|side| side.runs.clone()).collect();
    let compared = compare_figure(comparison, runs, &groups, side, metric);
    let found = compared.overall?;
    let change = found.change(metric, Decision { holds: false, level: ALPHA });
    Some(OverallChange {
        change: FigureChange { n_loads: compared.n_loads, ..change },
        log_ratio: found.log_ratio,
    })
}

impl FigureComparison {
    fn is_of_turns(&self) -> bool {
        let all = self.overall.iter().chain(self.levels.iter().flatten());
        all.into_iter().any(|found| matches!(found.basis, IntervalBasis::Turns(_)))
    }

    fn family(&self) -> HypothesisFamily {
        HypothesisFamily { overall: p(&self.overall), loads: self.levels.iter().map(p).collect() }
    }
}

fn p(found: &Option<ComparedRatio>) -> f64 {
    found.and_then(|found| found.log_ratio).map_or(1.0, |log_ratio| log_ratio.p_value())
}

impl ComparedRatio {
    /// Compares the figures of two sides; `None` if one has none.
    fn of(a: &[Value], b: &[Value], servers: Servers, seed: u64) -> Option<ComparedRatio> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let values = |side: &[Value]| side.iter().map(|one| one.value).collect::<Vec<f64>>();
        let began = |side: &[Value]| side.iter().map(|one| one.began).collect::<Vec<_>>();
        if let Some(pairs) = interleaved_pairs(&began(a), &began(b)) {
            let pairs: Vec<(f64, f64)> =
                pairs.iter().map(|(one, other)| (a[*one].value, b[*other].value)).collect();
            let (from, to): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let of_turns = LogRatio::of_pairs(&pairs, seed);
            // One unknown for all turns of both.
            let between = Ratio(a.iter().chain(b).map(|one| one.processes).fold(0.0, f64::max));
            let (log_ratio, basis) = match servers {
                Servers::Started => (of_turns, IntervalBasis::Interleaved(pairs.len())),
                Servers::Running => (
                    of_turns.map(|found| found.between_processes(between)),
                    IntervalBasis::Turns(pairs.len()),
                ),
            };
            return Some(ComparedRatio { ratio: ratio_of(&from, &to), log_ratio, as_found: of_turns, basis });
        }
        let from = values(a);
        let to = values(b);
        let repeated = LogRatio::of_repetitions(&from, &to, seed);
        let (log_ratio, basis) = match repeated {
            Some(found) => (Some(found), IntervalBasis::Repetitions(a.len(), b.len())),
            None => (of_phases(a, b), IntervalBasis::Phases),
        };
        Some(ComparedRatio { ratio: ratio_of(&from, &to), log_ratio, as_found: log_ratio, basis })
    }

    fn change(&self, metric: ComparedMetric, decision: Decision) -> FigureChange {
        let log_ratio = self.log_ratio.as_ref();
        let confidence = decision.confidence();
        let interval = |confidence| log_ratio.and_then(|found| interval_of(found, confidence));
        let detectable = log_ratio.and_then(|found| found.detectable(decision.level, POWER));
        FigureChange {
            metric,
            n_loads: 1,
            ratio: self.ratio,
            interval: interval(confidence),
            single_interval: interval(Ratio(1.0 - ALPHA.0)),
            confidence,
            p: log_ratio.map(LogRatio::p_value),
            finding: finding(log_ratio, decision),
            detectable: detectable.map(|more| more.0),
            basis: self.basis,
        }
    }
}

fn interval_of(found: &LogRatio, confidence: Ratio) -> Option<(f64, f64)> {
    found.ratio(confidence).map(|estimate| (estimate.low, estimate.high))
}

fn of_phases(a: &[Value], b: &[Value]) -> Option<LogRatio> {
    let shown = |side: &[Value]| side.iter().map(|one| one.shown).collect::<Option<Vec<MeasuredFigure>>>();
    let between = a.iter().chain(b).map(|one| one.between).fold(0.0, f64::max);
    LogRatio::of_runs(&shown(a)?, &shown(b)?, between_runs::expected(between))
}

fn ratio_of(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
    (mean(b) - mean(a)).exp()
}

/// Compares one figure of a side with the baseline's.
fn compare_figure(
    comparison: &Comparison,
    runs: &[RunInput],
    groups: &[Vec<usize>],
    side: usize,
    metric: ComparedMetric,
) -> FigureComparison {
    let seed = runs[0].plan.seed;
    let base = &groups[0];
    let other = &groups[side];
    let servers = Servers::of(runs, base, other);
    let at = |group: &[usize], load: Load| -> Vec<Option<Value>> {
        group.iter().map(|run| value(&runs[*run], point_at(&runs[*run], load)?, metric)).collect()
    };
    let loads = comparison.levels.iter().map(|level| level.load);
    let table: Vec<[Vec<Option<Value>>; 2]> =
        loads.map(|load| [base, other].map(|group| at(group, load))).collect();
    let known = |side: &[Option<Value>]| side.iter().copied().flatten().collect::<Vec<Value>>();
    let levels = table.iter().map(|[a, b]| ComparedRatio::of(&known(a), &known(b), servers, seed)).collect();
    // Over all loads only those count that every run has, so that all runs are compared at the same loads. Of many short turns
    // a few are not valid on most machines; they are left out, and those that followed them.
    let is_whole = |sides: &&[Vec<Option<Value>>; 2]| match servers {
        Servers::Started => sides.iter().flatten().all(Option::is_some),
        Servers::Running => sides.iter().all(|side| N_PAIRS_MIN <= side.iter().flatten().count()),
    };
    let whole: Vec<_> = table.iter().filter(is_whole).collect();
    let over = |side: usize, group: &[usize]| {
        let run = |run: usize| {
            let values: Option<Vec<Value>> = whole.iter().map(|row| row[side][run]).collect();
            over_loads(&values?)
        };
        (0..group.len()).filter_map(run).collect::<Vec<Value>>()
    };
    let overall = ComparedRatio::of(&over(0, base), &over(1, other), servers, seed);
    FigureComparison { side, metric, overall, n_loads: whole.len(), levels }
}

/// Returns a figure of a load point; `None` if it is not valid, or not known.
fn value(run: &RunInput, point: &LoadPointResult, metric: ComparedMetric) -> Option<Value> {
    let began = run.began.iter().find(|(index, _)| *index == point.index).map(|(_, began)| *began);
    let value = metric.of(point).filter(|_| is_valid(point))?;
    Some(Value {
        value,
        shown: metric.shown(point),
        began,
        between: between_runs::deviation(point, metric),
        processes: processes::deviation(point, metric),
    })
}

/// Returns the geometric mean of a run's figures at several loads, with the error that follows and the start time of
/// the first.
///
/// Of a mean of logarithms the squared error is Σ e² ÷ n², with Satterthwaite's degrees of freedom, (Σ e²)² ÷ Σ (e⁴ ÷
/// ν).
fn over_loads(values: &[Value]) -> Option<Value> {
    let first = values.first()?;
    let n = values.len() as f64;
    let value = (values.iter().map(|one| one.value.ln()).sum::<f64>() / n).exp();
    let shown = values.iter().map(|one| one.shown).collect::<Option<Vec<MeasuredFigure>>>().map(|all| {
        let squares: f64 = all.iter().map(|one| one.relative.powi(2)).sum();
        let lost: f64 = all.iter().map(|one| one.relative.powi(4) / one.degrees_of_freedom).sum();
        let degrees_of_freedom =
            if 0.0 < lost { squares.powi(2) / lost } else { first_degrees_of_freedom(&all) };
        MeasuredFigure { value, relative: squares.sqrt() / n, degrees_of_freedom }
    });
    let greatest = |of: fn(&Value) -> f64| values.iter().map(of).fold(0.0, f64::max);
    let between = greatest(|one| one.between);
    let processes = greatest(|one| one.processes);
    Some(Value { value, shown, between, processes, ..*first })
}

fn first_degrees_of_freedom(all: &[MeasuredFigure]) -> f64 {
    all.first().map_or(1.0, |one| one.degrees_of_freedom)
}

/// Compares the highest valid rates of two sides.
fn best(runs: &[RunInput], [base, other]: [&Vec<usize>; 2]) -> Option<ComparedRatio> {
    let of = |group: &[usize]| -> Vec<Value> {
        let best = |run: &usize| value(&runs[*run], best_point(runs[*run].analysis)?, ComparedMetric::Score);
        group.iter().filter_map(best).collect()
    };
    ComparedRatio::of(&of(base), &of(other), Servers::of(runs, base, other), runs[0].plan.seed)
}
