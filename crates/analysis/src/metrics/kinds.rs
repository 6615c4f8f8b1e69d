//! WebStone's statistics per file and in total.

use model::{BODY_BYTES, Load, Plan};
use stats::Moments;

use super::times::{four, summary};
use crate::fold::{KindSums, SteadyTotals};
use crate::{BytesTransferred, KindResult, TimeSummary};

/// Times are recorded in ns and reported in s.
const NANOS: f64 = 1e9;

/// Makes the statistics of each kind, in the order of the catalog.
pub(super) fn kinds(plan: &Plan, totals: &SteadyTotals) -> Vec<KindResult> {
    let body = |kind| plan.catalog.expected(kind, BODY_BYTES).filter(|body| body.least == body.most);
    let kinds = plan.catalog.kinds.iter().zip(&totals.kinds).enumerate();
    kinds
        .map(|(index, (kind, sums))| KindResult {
            object_bytes: body(index).map(|body| body.least),
            ..statistics(&kind.name, sums, summary(sums.histogram.clone()))
        })
        .collect()
}

/// Makes the statistics over all kinds: sums of the kinds' sums, never means of their means.
///
/// An open loop schedules single operations: there are no units to count.
pub(super) fn total(plan: &Plan, load: Load, totals: &SteadyTotals, response: &TimeSummary) -> KindResult {
    let counts_units = !plan.catalog.units.is_empty() && load.is_closed();
    let mut all = KindSums::default();
    let merged = |of: fn(&KindSums) -> &Moments| {
        let mut sum = Moments::default();
        totals.kinds.iter().for_each(|kind| sum.merge(of(kind)));
        sum
    };
    all.response = merged(|kind| &kind.response);
    all.connect = merged(|kind| &kind.connect);
    all.first_byte = merged(|kind| &kind.first_byte);
    all.reply_bytes = merged(|kind| &kind.reply_bytes);
    all.body_bytes = merged(|kind| &kind.body_bytes);
    KindResult {
        errors: totals.errors(),
        units_ok: counts_units.then_some(totals.units_ok),
        ..statistics("all", &all, response.clone())
    }
}

fn statistics(name: &str, sums: &KindSums, percentiles: TimeSummary) -> KindResult {
    KindResult {
        name: name.to_owned(),
        object_bytes: None,
        n: sums.response.n,
        errors: sums.errors(),
        units_ok: None,
        connect: four(&sums.connect, NANOS),
        first_byte: four(&sums.first_byte, NANOS),
        response: four(&sums.response, NANOS),
        reply_bytes: four(&sums.reply_bytes, 1.0),
        body_bytes: four(&sums.body_bytes, 1.0),
        bytes: moved(sums),
        percentiles,
    }
}

fn moved(sums: &KindSums) -> BytesTransferred {
    let whole = |sum: u128| u64::try_from(sum).unwrap_or(u64::MAX);
    let (body, total) = (whole(sums.body_bytes.sum), whole(sums.reply_bytes.sum));
    BytesTransferred { body, head: total.saturating_sub(body), total }
}
