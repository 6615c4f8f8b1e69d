//! The numbers of one load point.

use model::{FailureCodes, Plan};
use stats::{Histogram, MBIT, Moments, little_gap, load_factor};

use super::times::{mean_in_s, summary};
use super::{PointFigures, kinds, ratio, score, timeline, web};
use crate::fold::{AgentTotals, Notices, PointFold, SteadyTotals};
use crate::{
    ClientSpread, LoadPointResult, NoticeResult, PauseResult, ResourceUsage, TimeSummary, Verdict,
    VerdictState,
};

/// Makes all numbers of a load point, without its verdict, from those that rules judge.
///
/// Only the records of the steady phase count, divided by the recorded length T of that phase.
pub(crate) fn measure(plan: &Plan, fold: &PointFold, figures: PointFigures) -> LoadPointResult {
    let totals = &fold.steady;
    let load = fold.point.load;
    let length = totals.length.as_secs_f64();
    let per_second = |amount: f64| totals.per_second(amount);
    let n = figures.n as f64;
    let errors = figures.errors as f64;
    let sum_response = totals.response_seconds();
    let load_factor = load_factor(sum_response, length).unwrap_or(0.0);
    let thinking_mean = per_second(totals.thinking_ns as f64 / 1e9);
    let response = response(fold);
    let total = kinds::total(plan, load, totals, &response);
    let bits = (!plan.catalog.transferred.is_empty()).then_some(8.0 * total.transferred as f64);
    let (cpu, run_queue, thread_seconds) = generator(totals);
    let sut_cpus = figures.sut_cpus;
    let score_seconds = score::seconds(&plan.catalog.score, fold);
    let per_operation = |seconds: f64| (0.0 < n + errors).then(|| seconds / (n + errors));
    LoadPointResult {
        index: fold.point.index,
        load,
        length: figures.length,
        verdict: Verdict { state: VerdictState::Valid, reasons: Vec::new(), remarks: Vec::new() },
        kinds: kinds::kinds(plan, totals),
        offered_rate: figures.offered_rate,
        delivered_ratio: (!load.is_closed() && 0 < totals.due).then(|| n / totals.due as f64),
        score: figures.score,
        score_per_part: score_per_part(plan, figures.score),
        score_interval: score::interval(&plan.catalog.score, &score_seconds),
        score_seconds,
        rate_of_clients: score::rate_of_clients(&plan.catalog.score, load, totals),
        rate: figures.rate,
        rate_per_user: load.is_closed().then(|| ratio(figures.rate, load.level())),
        rate_interval: timeline::rate_interval(&fold.seconds),
        steadiness: figures.steadiness,
        warm_up: figures.warm_up,
        error_rate: per_second(errors),
        error_level: (0.0 < n).then(|| errors / n),
        load_factor,
        in_flight_mean: per_second(totals.in_flight_ns as f64 / 1e9),
        thinking_mean,
        little_gap: load.is_closed().then(|| closed_gap(plan, load.level(), figures.rate, totals)),
        pauses: pauses(plan, totals),
        clients: clients(&totals.clients),
        notices: notices(plan, &fold.notices),
        throughput_mbit: bits.map(|bits| per_second(bits / MBIT)),
        client_throughput_mbit: bits.filter(|_| 0.0 < sum_response).map(|bits| bits / MBIT / sum_response),
        units_per_minute: total.units_ok.map(|units| 60.0 * per_second(units as f64)),
        service: summary(totals.service.clone()),
        lateness: lateness(totals, load.is_closed()),
        spreads: spreads(plan, totals),
        in_flight_at_end: figures.in_flight_at_end,
        in_flight_age: figures.in_flight_age,
        left_open: totals.left_open,
        failures: figures.failures,
        codes: codes(totals),
        checks: fold.checks.clone(),
        counts: fold.counts.clone(),
        examples: fold.examples.values().cloned().collect(),
        generator_busy: ratio(cpu, thread_seconds),
        generator_run_queue: ratio(run_queue, thread_seconds),
        generator_cpu_per_operation: per_operation(cpu),
        sut_cpus,
        sut_busy: figures.sut_busy,
        sut_cpu_per_operation: sut_cpus.and_then(|cpus| per_operation(cpus * length)),
        resources: ResourceUsage::default(),
        attribution: None,
        stages: Vec::new(),
        until: fold.until.as_ref().map(|until| until.found().clone()),
        timeline: timeline::timeline(&fold.seconds),
        time_classes: fold.seconds.classes.clone(),
        web: web::figures(plan, totals, &fold.counts),
        total,
        response,
    }
}

fn score_per_part(plan: &Plan, score: Option<f64>) -> Option<f64> {
    Some(score? / f64::from(plan.catalog.sizing.as_ref()?.n_parts))
}

/// Returns the pauses of each kind as drawn.
fn pauses(plan: &Plan, totals: &SteadyTotals) -> Vec<PauseResult> {
    let kinds = plan.catalog.pauses.iter().zip(&totals.pauses);
    kinds
        .map(|(kind, sums)| PauseResult { name: kind.name.clone(), drawn: summary(sums.histogram.clone()) })
        .collect()
}

/// Returns the spread of clients' amounts.
fn clients(amounts: &Moments) -> Option<ClientSpread> {
    Some(ClientSpread {
        n: amounts.n,
        least: amounts.min()?,
        mean: amounts.mean()?,
        greatest: amounts.max()?,
        fairness: amounts.fairness(),
    })
}

/// Returns the notices of each kind.
fn notices(plan: &Plan, notices: &Notices) -> Vec<NoticeResult> {
    let kinds = plan.catalog.notices.iter().zip(&notices.0);
    kinds
        .map(|(kind, sums)| NoticeResult {
            name: kind.name.clone(),
            begun: sums.begun,
            ended: sums.ended,
            lost: sums.lost,
            pending: sums.pending(),
            begun_in_steady: sums.begun_in_steady,
            mean: mean_in_s(&sums.histogram),
            histogram: sums.histogram.clone(),
        })
        .collect()
}

/// Returns the protocol codes of the failures of all kinds.
fn codes(totals: &SteadyTotals) -> FailureCodes {
    let mut codes = FailureCodes::default();
    totals.kinds.iter().for_each(|kind| codes.merge(&kind.codes));
    codes
}

/// Summarizes the response time, with intervals that allow for autocorrelation of seconds.
pub(super) fn response(fold: &PointFold) -> TimeSummary {
    let mut response = summary(fold.steady.response.clone());
    for percentile in &mut response.percentiles {
        percentile.interval = fold.seconds.intervals.of(percentile.q);
    }
    response.mean_interval = response.mean.and_then(|mean| timeline::response_interval(&fold.seconds, mean));
    response
}

/// Returns the gap in N = X·(R + Z), or in L = X·R where users can owe operations or have several in flight; all of it where
/// nothing was completed.
pub(super) fn closed_gap(plan: &Plan, users: f64, rate: f64, totals: &SteadyTotals) -> f64 {
    let gap = if plan.catalog.has_overlapping_operations() {
        little_gap(totals.population(), totals.response_seconds(), 1.0 / totals.length.as_secs_f64(), 0.0)
    } else {
        little_gap(users, rate, totals.users_seen() / rate, 0.0)
    };
    gap.map(|gap| gap.0).filter(|gap| gap.is_finite()).unwrap_or(1.0)
}

pub(super) fn lateness(totals: &SteadyTotals, closed: bool) -> Option<TimeSummary> {
    let lateness = &totals.lateness;
    (!closed || 0 < lateness.n()).then(|| summary(lateness.clone()))
}

/// Returns the distributions of the measures that have one.
fn spreads(plan: &Plan, totals: &SteadyTotals) -> Vec<Option<TimeSummary>> {
    let measures = plan.catalog.spread_measures().zip(&totals.spreads);
    let spread = |(measure, values): (usize, &Histogram)| {
        web::is_of_operations(plan, measure).then(|| summary(values.clone()))
    };
    measures.map(spread).collect()
}

/// Returns CPU time, run-queue time and available time of all load threads, in s.
pub(super) fn generator(totals: &SteadyTotals) -> (f64, f64, f64) {
    let sum = |of: fn(&AgentTotals) -> f64| totals.agents.values().map(of).sum::<f64>();
    (
        sum(|agent| agent.cpu.as_secs_f64()),
        sum(|agent| agent.run_queue.as_secs_f64()),
        sum(|agent| agent.thread_ns as f64 / 1e9),
    )
}
