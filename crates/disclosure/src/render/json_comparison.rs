//! JSON of a comparison: the figures of all sides, and the differences of figures, plans and configuration.

use analysis::compare::{
    BETWEEN_PROCESSES, ComparedMetric, ComparedSide, Comparison, ConfigurationDifference, FigureChange,
    Figures, IntervalBasis, JudgedBound, PlanDifference, ServerAnswer,
};
use analysis::scaling::Scaling;
use serde_json::{Value, json};
use stats::{ComparisonFinding, Estimate};

use super::json::{load, seconds, state};
use crate::comparison::outcome_word;
use crate::{bound_text, comparison_text};

/// The version of this format; it rises with every incompatible change. Version 2 has sides: servers
/// with all their repetitions; version 3 the benchmark's score in place of the rate.
pub const FORMAT: u32 = 3;

/// Renders a comparison and the user's bounds as JSON. What is absent is `null`.
pub fn comparison_json(comparison: &Comparison, judged: &[JudgedBound]) -> Value {
    let runs = comparison
        .runs
        .iter()
        .map(|run| json!({ "name": run.name, "verdict": state(run.state), "side": run.side }));
    let levels = comparison.levels.iter().map(|level| {
        let figures: Vec<Value> = level.figures.iter().map(figures).collect();
        json!({ "load": load(level.load), "figures": figures })
    });
    json!({
        "format": FORMAT,
        "benchmark": {
            "id": comparison.benchmark.id,
            "version": comparison.benchmark.version,
            "title": comparison.benchmark.title,
        },
        "answers": comparison.answers.iter().map(answer).collect::<Vec<_>>(),
        "text": comparison_text(comparison),
        "modifications": comparison.modifications,
        "unlike": comparison.plan_differences.iter().map(unlike).collect::<Vec<_>>(),
        "runs": runs.collect::<Vec<_>>(),
        "bounds": judged.iter().map(bound).collect::<Vec<_>>(),
        "sides": comparison.sides.iter().map(side).collect::<Vec<_>>(),
        "levels": levels.collect::<Vec<_>>(),
        "configuration": comparison.configuration.iter().map(configuration).collect::<Vec<_>>(),
        "scalings": comparison.scalings.iter().map(scaling).collect::<Vec<_>>(),
    })
}

fn answer(answer: &ServerAnswer) -> Value {
    let (speed, interval) = answer.speed();
    let word = match (answer.is_faster(), interval, answer.change.finding) {
        (_, None, _) => "no-answer",
        (Some(true), ..) => "faster",
        (Some(false), ..) => "slower",
        (None, _, ComparisonFinding::TooShort | ComparisonFinding::TooNoisy) => "undecided",
        (None, ..) => "no-difference",
    };
    json!({
        "side": answer.side,
        "answer": word,
        "metric": answer.change.metric.name(),
        "loads": answer.change.n_loads,
        "speed_ratio": speed,
        "speed_ratio_interval": interval,
        "interval_confidence": answer.change.confidence.0,
        "speed_ratio_interval_95_as_found": answer.speed_as_found(),
        "processes_deviation": BETWEEN_PROCESSES.0,
        "found_in_19_of_20": answer.found_mostly,
    })
}

fn unlike(one: &PlanDifference) -> Value {
    json!({ "what": one.what, "run": one.run, "from": one.from, "here": one.here, "there": one.there })
}

fn bound(judged: &JudgedBound) -> Value {
    let metric = judged.bound.metric;
    let ratio = judged.change.map(|change| change.ratio);
    let interval = judged.change.and_then(|change| change.single_interval);
    let difference = |ratio: f64| metric.is_share().then(|| metric.change_of(ratio));
    let low = interval.map(|(low, _)| low);
    let high = interval.map(|(_, high)| high);
    json!({
        "bound": bound_text(&judged.bound),
        "metric": metric.name(),
        "side": judged.side,
        "ratio": ratio.filter(|_| !metric.is_share()),
        "ratio_interval_95": interval.filter(|_| !metric.is_share()),
        "bound_ratio": (!metric.is_share()).then_some(judged.bound.ratio),
        "difference": ratio.and_then(difference),
        "difference_interval_95": low.and_then(difference).zip(high.and_then(difference)),
        "bound_difference": difference(judged.bound.ratio),
        "outcome": outcome_word(judged.outcome).replace(' ', "-"),
        "runs_needed": judged.runs_needed,
    })
}

fn side(side: &ComparedSide) -> Value {
    let best = side.best.as_ref().map(|best| {
        json!({
            "load": load(best.load),
            "all_offered": best.is_all_offered,
            "figures": figures(&best.figures),
        })
    });
    json!({
        "name": side.name,
        "runs": side.runs,
        "verdict": state(side.state),
        "best": best,
        "overall": side.overall.iter().map(change).collect::<Vec<_>>(),
    })
}

fn figures(figures: &Figures) -> Value {
    json!({
        "verdict": state(figures.state),
        "runs": figures.n_runs,
        "valid_runs": figures.n_valid,
        "score": figures.score,
        "score_interval": figures.score_interval,
        "score_ratio": figures.change(ComparedMetric::Score).map(|change| change.ratio),
        "rate_per_s": figures.rate,
        "response_mean_s": figures.response_mean,
        "response_p99_s": figures.response_p99.map(seconds),
        "sut_cpus": figures.sut_cpus,
        "sut_cpu_per_operation_s": figures.sut_cpu_per_operation,
        "changes": figures.changes.iter().map(change).collect::<Vec<_>>(),
    })
}

fn change(change: &FigureChange) -> Value {
    let (basis, pairs) = match change.basis {
        IntervalBasis::Interleaved(n) | IntervalBasis::Turns(n) => ("turns", Some([n, n])),
        IntervalBasis::Repetitions(a, b) => ("repetitions", Some([a, b])),
        IntervalBasis::Phases => ("phases", None),
    };
    json!({
        "metric": change.metric.name(),
        "loads": change.n_loads,
        "ratio": change.ratio,
        "ratio_interval": change.interval,
        "ratio_interval_95": change.single_interval,
        "interval_confidence": change.confidence.0,
        "p": change.p,
        "finding": finding(change.finding),
        "detectable_ratio": change.detectable,
        "basis": basis,
        "repetitions": pairs,
    })
}

fn finding(finding: ComparisonFinding) -> &'static str {
    match finding {
        ComparisonFinding::Higher => "higher",
        ComparisonFinding::Lower => "lower",
        ComparisonFinding::Alike => "alike",
        ComparisonFinding::NoEvidence => "no-evidence",
        ComparisonFinding::TooShort => "too-short",
        ComparisonFinding::TooNoisy => "too-noisy",
    }
}

fn configuration(one: &ConfigurationDifference) -> Value {
    json!({ "section": one.section, "name": one.name, "values": one.values })
}

fn scaling(scaling: &Scaling) -> Value {
    let groups = scaling.groups.iter().map(|group| {
        let speed_up = group.speed_up.as_ref();
        json!({
            "cpus": group.cpus,
            "scores": group.scores,
            "score": group.score,
            "load": load(group.load),
            "busy_ratio": group.busy,
            "generator_cpus": group.generator,
            "bound_by_cpus": group.is_bound_by_cpus(),
            "bottleneck": group.bottleneck.map(|bottleneck| bottleneck.name()),
            "speed_up": speed_up.map(|one| one.speed_up),
            "efficiency": speed_up.map(|one| one.efficiency.0),
            "serial_share": speed_up.and_then(|one| one.serial_share),
        })
    });
    let estimate = |one: &Estimate| json!({ "value": one.value, "low": one.low, "high": one.high });
    json!({
        "server": scaling.server,
        "groups": groups.collect::<Vec<_>>(),
        "amdahl": scaling.amdahl.as_ref().ok().map(|law| json!({
            "lambda_per_s": estimate(&law.lambda),
            "sigma": estimate(&law.sigma),
            "few_points": law.quality.few_points,
        })),
        "usl": scaling.usl.as_ref().ok().map(|law| json!({
            "lambda_per_s": estimate(&law.lambda),
            "sigma": estimate(&law.sigma),
            "kappa": estimate(&law.kappa),
            "peak_cpus": law.peak().map(|peak| peak.size),
            "few_points": law.quality.few_points,
        })),
    })
}
