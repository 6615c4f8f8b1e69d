//! The web family's own figures, which the catalog alone does not give.

use model::{CONNECTIONS_LOST, ConnectionLifetime, NamedCount, Plan, web_measure};
use units::saturating_u64;

use super::table::{Metric, MetricValue, row_of_web};
use crate::fold::{KindSums, SteadyTotals};
use crate::{LoadPointResult, WebFigures, WebKindFigures};

/// Bytes of a KB, as WebBench has it.
const KB: f64 = 1024.0;

pub(super) const CONTENT_THROUGHPUT: Metric = row_of_web(
    "body_throughput_kb_per_s",
    "Bodies received, in KB of 1024 bytes per second. Only of web benchmarks.",
    |point| number(point, |web| Some(web.body_throughput_kb)),
);

pub(super) const RECEIVE_MEAN: Metric = row_of_web(
    "receive_mean_s",
    "Mean time from the first byte to the end, in s. Only of web benchmarks.",
    |point| number(point, |web| web.receive_mean),
);

pub(super) const FIRST_BYTE_MEAN: Metric =
    row_of_web("first_byte_mean_s", "Mean time to the first byte, in s. Only of web benchmarks.", |point| {
        point.total.measure(web_measure::FIRST_BYTE).mean.into()
    })
    .only_csv_of_web();

pub(super) const CONTENT_BYTES: Metric =
    row_of_web("body_bytes", "Bytes of bodies received. Only of web benchmarks.", |point| {
        MetricValue::Number(point.total.web.map(|web| web.body as f64))
    })
    .only_stated("body_bytes");

pub(super) const LOST: Metric = row_of_web(
    "connections_lost",
    "Kept connections that had ended when a request was sent on them, or that ended before any byte of its reply, of all \
     phases; idempotent requests were made again on a new connection, once, as part of the same operation. Only of web \
     benchmarks.",
    |point| match &point.web {
        Some(web) => web.connections_lost.into(),
        None => MetricValue::Number(None),
    },
);

pub(super) const IN_FLIGHT_CONTENT: Metric = row_of_web(
    "in_flight_body_bytes",
    "Body bytes that those were to bring. Only of web benchmarks.",
    |point| match &point.web {
        Some(web) => web.in_flight_body_bytes.into(),
        None => MetricValue::Number(None),
    },
);

fn number(point: &LoadPointResult, of: fn(&WebFigures) -> Option<f64>) -> MetricValue {
    point.web.as_ref().and_then(of).into()
}

/// Makes the figures of a load point; `None` of another family.
pub(super) fn figures(plan: &Plan, totals: &SteadyTotals, counts: &[NamedCount]) -> Option<WebFigures> {
    plan.workload.web()?;
    let bodies = totals.kinds.iter().map(|kind| sum(kind, web_measure::BODY_BYTES));
    let bodies = bodies.fold(0, u64::saturating_add);
    Some(WebFigures {
        body_throughput_kb: totals.per_second(bodies as f64 / KB),
        receive_mean: receive_mean(totals),
        connects: totals.kinds.iter().map(connects).fold(0, u64::saturating_add),
        connections_lost: counts
            .iter()
            .find(|count| count.name == CONNECTIONS_LOST)
            .map_or(0, |count| count.n),
        in_flight_body_bytes: in_flight_body_bytes(plan, totals),
    })
}

/// Makes the figures of a kind of request, without the size of its object; `None` of another family.
pub(super) fn of_kind(plan: &Plan, sums: &KindSums) -> Option<WebKindFigures> {
    plan.workload.web()?;
    let body = sum(sums, web_measure::BODY_BYTES);
    let total = sum(sums, web_measure::REPLY_BYTES);
    Some(WebKindFigures { object_bytes: None, body, head: total.saturating_sub(body) })
}

/// Returns the length of the body of each kind's replies; `None` if they differ or are not known.
pub(super) fn object_bytes(plan: &Plan, kind: usize) -> Option<u64> {
    let body = plan.catalog.expected(kind, web_measure::BODY_BYTES)?;
    (body.least == body.most).then_some(body.least)
}

fn connects(sums: &KindSums) -> u64 {
    sums.measures.get(web_measure::CONNECT).map_or(0, |moments| moments.n)
}

fn sum(sums: &KindSums, measure: usize) -> u64 {
    let sum = sums.measures.get(measure).map_or(0, |moments| moments.sum);
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Returns the mean time from the first byte to the end, in s, from exact sums.
fn receive_mean(totals: &SteadyTotals) -> Option<f64> {
    let first_byte =
        |kind: &KindSums| kind.measures.get(web_measure::FIRST_BYTE).map_or(0.0, |one| one.sum as f64);
    let first_byte: f64 = totals.kinds.iter().map(first_byte).sum();
    let n = totals.service.n();
    (0 < n).then(|| (totals.service.sum() as f64 - first_byte) / 1e9 / n as f64)
}

/// Returns whether the operations of a run have a measure: the time to connect only where each connects.
pub(super) fn is_of_operations(plan: &Plan, measure: usize) -> bool {
    let connection = plan.workload.web().map(|web| web.protocol.connection);
    measure != web_measure::CONNECT || connection.is_none_or(|one| one == ConnectionLifetime::PerRequest)
}

/// Returns the body bytes of the replies to the operations in flight at the end of the phase, by the defined mean
/// sizes.
fn in_flight_body_bytes(plan: &Plan, totals: &SteadyTotals) -> u64 {
    let bytes = |(kind, n): (usize, u64)| {
        let mean = plan.catalog.expected(kind, web_measure::BODY_BYTES).map_or(0.0, |body| body.mean);
        saturating_u64((n as f64 * mean).round())
    };
    totals.in_flight_kinds().into_iter().enumerate().map(bytes).fold(0, u64::saturating_add)
}
