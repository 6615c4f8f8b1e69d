//! WebStone's statistics per kind of operation and in total.

use model::{Load, Measure, MeasureUnit, Plan};
use stats::Moments;

use super::times::{four, summary};
use super::web;
use crate::fold::{KindSums, SteadyTotals};
use crate::{KindResult, TimeSummary, WebKindFigures};

/// Times are recorded in ns and reported in s.
const NANOS: f64 = 1e9;

/// Makes the statistics of each kind, in the order of the catalog.
pub(super) fn kinds(plan: &Plan, totals: &SteadyTotals) -> Vec<KindResult> {
    let kinds = plan.catalog.kinds.iter().zip(&totals.kinds).enumerate();
    kinds
        .map(|(index, (kind, sums))| {
            let result = statistics(plan, &kind.name, sums, summary(sums.histogram.clone()));
            let web =
                result.web.map(|web| WebKindFigures { object_bytes: web::object_bytes(plan, index), ..web });
            KindResult { web, ..result }
        })
        .collect()
}

/// Makes the statistics over all kinds: sums of the kinds' sums, never means of their means.
///
/// An open loop schedules single operations: there are no units to count.
pub(super) fn total(plan: &Plan, load: Load, totals: &SteadyTotals, response: &TimeSummary) -> KindResult {
    let counts_units = !plan.catalog.units.is_empty() && load.is_closed();
    let mut all = KindSums::new(plan.catalog.measures.len());
    for kind in &totals.kinds {
        all.response.merge(&kind.response);
        all.measures.iter_mut().zip(&kind.measures).for_each(|(sum, measure)| sum.merge(measure));
    }
    KindResult {
        errors: totals.errors(),
        units_ok: counts_units.then_some(totals.units_ok),
        ..statistics(plan, "all", &all, response.clone())
    }
}

fn statistics(plan: &Plan, name: &str, sums: &KindSums, percentiles: TimeSummary) -> KindResult {
    let measure = |(measure, moments): (&Measure, &Moments)| match measure.unit {
        MeasureUnit::Nanoseconds => four(moments, NANOS),
        MeasureUnit::Bytes | MeasureUnit::Count => four(moments, 1.0),
    };
    let transferred = plan.catalog.transferred.iter().filter_map(|measure| sums.measures.get(*measure));
    let transferred = transferred.map(|moments| moments.sum).fold(0, u128::saturating_add);
    KindResult {
        name: name.to_owned(),
        n: sums.response.n,
        errors: sums.errors(),
        units_ok: None,
        response: four(&sums.response, NANOS),
        measures: plan.catalog.measures.iter().zip(&sums.measures).map(measure).collect(),
        rest_mean: rest_mean(&plan.catalog.response_parts, sums),
        transferred: u64::try_from(transferred).unwrap_or(u64::MAX),
        percentiles,
        web: web::of_kind(plan, sums),
    }
}

/// Returns the mean of what the parts of the response time leave of it, in seconds. `None` without parts, if some operations
/// lack one, and of parts that are longer than the whole.
fn rest_mean(parts: &[usize], sums: &KindSums) -> Option<f64> {
    let Moments { n, sum: whole, .. } = sums.response;
    let parts: Vec<&Moments> = parts.iter().filter_map(|part| sums.measures.get(*part)).collect();
    if n == 0 || parts.is_empty() || parts.iter().any(|part| part.n != n) {
        return None;
    }
    let stated = parts.iter().map(|part| part.sum).fold(0, u128::saturating_add);
    whole.checked_sub(stated).map(|rest| rest as f64 / n as f64 / NANOS)
}
