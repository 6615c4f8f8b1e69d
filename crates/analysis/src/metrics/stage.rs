//! The numbers of the stages of a load point with a shape, and those of the load point itself that do not depend on its load.

use model::{Load, Plan};
use stats::Steadiness;

use super::load_point::{closed_gap, generator, lateness, response};
use super::{PointFigures, ratio, timeline};
use crate::fold::StageFold;
use crate::{KindResult, LoadPointResult, StageResult, SteadyState, SummaryStatistics, TimeSummary, Verdict};

/// Makes the numbers of a stage, from those that rules judge.
pub(crate) fn measure_stage(
    plan: &Plan,
    stage: &StageFold,
    figures: PointFigures,
    verdict: Verdict,
) -> StageResult {
    let totals = &stage.fold.steady;
    let is_closed = stage.fold.point.load.is_closed();
    let per_second = |amount: f64| totals.per_second(amount);
    let users = matches!(stage.fold.point.load, Load::Users(_)).then(|| stage.stage.level_mean().round());
    let (cpu, _, thread_seconds) = generator(totals);
    StageResult {
        index: stage.index,
        start: stage.span.start,
        planned: stage.stage,
        length: figures.length,
        verdict,
        n: figures.n,
        errors: figures.errors,
        offered_rate: figures.offered_rate,
        delivered_ratio: (!is_closed && 0 < totals.due).then(|| figures.n as f64 / totals.due as f64),
        rate: figures.rate,
        rate_interval: timeline::rate_interval(&stage.fold.seconds),
        steadiness: figures.steadiness,
        users_mean: is_closed.then(|| per_second((totals.in_flight_ns + totals.thinking_ns) as f64 / 1e9)),
        little_gap: users
            .filter(|users| stage.stage.is_constant() && 0.0 < *users)
            .map(|users| closed_gap(plan, users, figures.rate, totals)),
        response: response(&stage.fold),
        lateness: lateness(totals, is_closed),
        generator_busy: ratio(cpu, thread_seconds),
        sut_cpus: figures.sut_cpus,
        sut_busy: figures.sut_busy,
    }
}

/// Takes all figures out of the result of a load point with stages that would merge different loads. Counts, and what adds
/// up, stay.
pub(crate) fn without_merged_loads(point: LoadPointResult) -> LoadPointResult {
    LoadPointResult {
        score: None,
        score_per_part: None,
        score_interval: None,
        score_seconds: Vec::new(),
        rate_of_clients: None,
        rate_per_user: None,
        rate_interval: None,
        steadiness: SteadyState { rate: Steadiness::TooFew, response: Steadiness::TooFew },
        warm_up: None,
        little_gap: None,
        throughput_mbit: None,
        client_throughput_mbit: None,
        units_per_minute: None,
        offered_rate: None,
        delivered_ratio: None,
        error_level: None,
        generator_cpu_per_operation: None,
        sut_cpus: None,
        sut_busy: None,
        sut_cpu_per_operation: None,
        total: counts_of(point.total),
        kinds: point.kinds.into_iter().map(counts_of).collect(),
        response: TimeSummary::default(),
        service: TimeSummary::default(),
        lateness: None,
        spreads: point.spreads.iter().map(|_| None).collect(),
        ..point
    }
}

/// Takes the statistics of times out of the result of a kind.
fn counts_of(kind: KindResult) -> KindResult {
    KindResult {
        response: SummaryStatistics::default(),
        measures: kind.measures.iter().map(|_| SummaryStatistics::default()).collect(),
        rest_mean: None,
        percentiles: TimeSummary::default(),
        ..kind
    }
}
