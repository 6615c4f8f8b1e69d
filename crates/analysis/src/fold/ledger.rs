//! The bookkeeping of conservation: every operation that enters is accounted for, in every interval and in every sum.

use std::collections::BTreeMap;

use model::{
    BODY_BYTES, DetailRecord, ExpectedMeasure, Flow, IntervalRecord, KindTotals, LoadPoint, Outcome, Phase,
    Plan,
};
use stats::{Histogram, HistogramOverflow, Moments};

use crate::first_occurrence::FirstOccurrence;

/// The bookkeeping of a load point: identities checked interval by interval, and sums per phase, with
/// which the details must agree.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// Expected sizes of the bodies of each kind.
    bodies: Vec<Option<ExpectedMeasure>>,
    open_loop: bool,
    phases: BTreeMap<Phase, Sums>,
    /// Intervals whose flow breaks one of its laws.
    pub(crate) flow: FirstOccurrence,
    /// Intervals in which a sum over kinds, or over a histogram, is not the total.
    pub(crate) totals: FirstOccurrence,
    /// Kinds whose replies do not have the sizes of their objects.
    pub(crate) bytes: FirstOccurrence,
    /// Intervals and details whose histograms could not be merged with those before.
    pub(crate) overflows: FirstOccurrence,
}

/// Sums of one phase from intervals and from details, side by side.
#[derive(Debug, Default)]
struct Sums {
    response: BTreeMap<u16, Pair>,
    connect: Pair,
    failed: BTreeMap<(u16, Outcome), [u64; 2]>,
}

/// The extents of a set of values according to the intervals and to the details.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    intervals: Extent,
    details: Extent,
}

/// Count, sum, smallest and largest of a set of values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    n: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Ledger {
    pub(crate) fn new(plan: &Plan, point: LoadPoint) -> Ledger {
        Ledger {
            bodies: (0..plan.catalog.kinds.len())
                .map(|kind| plan.catalog.expected(kind, BODY_BYTES).copied())
                .collect(),
            open_loop: !point.load.is_closed(),
            phases: BTreeMap::new(),
            flow: FirstOccurrence::default(),
            totals: FirstOccurrence::default(),
            bytes: FirstOccurrence::default(),
            overflows: FirstOccurrence::default(),
        }
    }

    /// Checks an interval; `before` is the flow of the same agent's interval before it.
    pub(crate) fn interval(&mut self, record: &IntervalRecord, before: Option<Flow>) {
        let place = || format!("interval {} of agent {}", record.index, record.agent);
        if let Some(broken) = broken_identity(&record.flow, before.unwrap_or_default()) {
            self.flow.note(|| format!("{}: {broken}", place()));
        }
        if let Some(broken) = self.broken_total(record) {
            self.totals.note(|| format!("{}: {broken}", place()));
        }
        for (kind, totals) in record.kinds.iter().enumerate() {
            let expected = self.bodies.get(kind).copied().flatten();
            if let Some(broken) = broken_bytes(totals, expected) {
                self.bytes.note(|| format!("{}, kind {kind}: {broken}", place()));
            }
        }
        self.phases.entry(record.phase).or_default().interval(record);
    }

    /// Adds a batch of detail.
    pub(crate) fn detail(&mut self, record: &DetailRecord) {
        self.phases.entry(record.phase).or_default().detail(record);
    }

    /// Notes an interval whose histograms could not be merged with those before it.
    pub(crate) fn overflow(&mut self, record: &IntervalRecord, overflow: HistogramOverflow) {
        self.overflows.note(|| format!("interval {} of agent {}: {overflow}", record.index, record.agent));
    }

    /// Notes the same of a batch of detail.
    pub(crate) fn overflow_of_detail(&mut self, record: &DetailRecord, overflow: HistogramOverflow) {
        self.overflows
            .note(|| format!("details of agent {} from {}: {overflow}", record.agent, record.start));
    }

    /// Returns the first phase whose details differ from its intervals, with the difference.
    pub(crate) fn details_difference(&self) -> Option<String> {
        let mut phases = self.phases.iter();
        phases
            .find_map(|(phase, sums)| sums.difference().map(|text| format!("{} phase: {text}", phase.name())))
    }

    /// Returns the first sum over kinds, or over a histogram, that is not the total.
    fn broken_total(&self, record: &IntervalRecord) -> Option<String> {
        let flow = &record.flow;
        let failed = |timed_out: bool| -> u128 {
            let all = record.kinds.iter().flat_map(|kind| &kind.failed);
            let chosen = all.filter(|(outcome, _)| (**outcome == Outcome::TimedOut) == timed_out);
            chosen.map(|(_, failed)| u128::from(failed.n)).sum()
        };
        let mut responses = Moments::default();
        record.kinds.iter().for_each(|kind| responses.merge(&kind.ok.response));
        let (response, kinds) = (Extent::of(&record.response), Extent::from(&responses));
        let late = if self.open_loop { u128::from(flow.started) } else { u128::from(record.lateness.n()) };
        let service = if record.service.n() == 0 { flow.ok } else { record.service.n() };
        let flying = record.kinds.iter().map(|kind| u128::from(kind.in_flight_at_end)).sum::<u128>();
        let counts = [
            ("operation kinds", record.kinds.len() as u128, self.bodies.len() as u128),
            ("successes of all kinds and their total", u128::from(kinds.n), u128::from(flow.ok)),
            ("failures of all kinds and their total", failed(false), u128::from(flow.failed)),
            ("timed out of all kinds and their total", failed(true), u128::from(flow.timed_out)),
            ("in flight of all kinds and their total", flying, u128::from(flow.in_flight_at_end)),
            ("response times and successes", u128::from(response.n), u128::from(flow.ok)),
            ("service times and successes", u128::from(service), u128::from(flow.ok)),
            ("latenesses and started operations", u128::from(record.lateness.n()), late),
            ("sums of response times (ns)", response.sum, kinds.sum),
            ("smallest response times (ns)", u128::from(response.min), u128::from(kinds.min)),
            ("largest response times (ns)", u128::from(response.max), u128::from(kinds.max)),
        ];
        let broken = counts.into_iter().find(|(_, found, expected)| found != expected);
        broken.map(|(what, found, expected)| format!("{what} differ, {found} and {expected}"))
    }
}

/// Returns the first of the flow's laws that does not hold.
fn broken_identity(flow: &Flow, before: Flow) -> Option<String> {
    let sum = |parts: &[u64]| parts.iter().map(|part| u128::from(*part)).sum::<u128>();
    let ended = [flow.ok, flow.failed, flow.timed_out, flow.abandoned, flow.in_flight_at_end];
    let identities = [
        (
            "waiting + due = started + skipped + still waiting",
            sum(&[flow.waiting_at_start, flow.due]),
            sum(&[flow.started, flow.skipped, flow.waiting_at_end]),
        ),
        (
            "in flight + started = ended + still in flight",
            sum(&[flow.in_flight_at_start, flow.started]),
            sum(&ended),
        ),
        (
            "waiting at the start = waiting at the end before",
            sum(&[flow.waiting_at_start]),
            sum(&[before.waiting_at_end]),
        ),
        (
            "in flight at the start = in flight at the end before",
            sum(&[flow.in_flight_at_start]),
            sum(&[before.in_flight_at_end]),
        ),
    ];
    let broken = identities.into_iter().find(|(_, left, right)| left != right);
    let broken = broken.map(|(identity, left, right)| format!("{identity} does not hold: {left} ≠ {right}"));
    let (left_open, ok) = (flow.left_open, flow.ok);
    broken
        .or_else(|| (ok < left_open).then(|| format!("{left_open} connections left open by {ok} successes")))
}

/// Returns the fault in the sizes of a kind's successful replies, all of which carry the whole object.
fn broken_bytes(totals: &KindTotals, expected: Option<ExpectedMeasure>) -> Option<String> {
    let (reply, body, n) = (totals.ok.reply_bytes, totals.ok.body_bytes, totals.ok.response.n);
    if reply.n != n || body.n != n {
        return Some(format!("{} replies and {} bodies have sizes, {n} succeeded", reply.n, body.n));
    }
    if reply.sum < body.sum {
        return Some(format!("replies have {} bytes, their bodies alone {}", reply.sum, body.sum));
    }
    let ExpectedMeasure { least, most, .. } = expected?;
    let (lowest, highest) = (u128::from(n) * u128::from(least), u128::from(n) * u128::from(most));
    if (lowest..=highest).contains(&body.sum) {
        return None;
    }
    let expected = if least == most { lowest.to_string() } else { format!("{lowest} to {highest}") };
    Some(format!("bodies have {} bytes, {n} objects have {expected}", body.sum))
}

impl Sums {
    fn interval(&mut self, record: &IntervalRecord) {
        for (kind, totals) in (0u16..).zip(&record.kinds) {
            self.response.entry(kind).or_default().intervals.add(Extent::from(&totals.ok.response));
            self.connect.intervals.add(Extent::from(&totals.ok.connect));
            for (outcome, failed) in &totals.failed {
                let [n, _] = self.failed.entry((kind, *outcome)).or_default();
                *n = n.saturating_add(failed.n);
            }
        }
    }

    fn detail(&mut self, record: &DetailRecord) {
        for (kind, histogram) in (0u16..).zip(&record.response) {
            self.response.entry(kind).or_default().details.add(Extent::of(histogram));
        }
        self.connect.details.add(Extent::of(&record.connect));
        for (place, histogram) in &record.failed {
            let [_, n] = self.failed.entry(*place).or_default();
            *n = n.saturating_add(histogram.n());
        }
    }

    /// Returns the first sum in which details and intervals differ.
    fn difference(&self) -> Option<String> {
        let response = self.response.iter().find_map(|(kind, pair)| {
            pair.difference().map(|text| format!("response times of kind {kind}: {text}"))
        });
        let connect = || self.connect.difference().map(|text| format!("times to connect: {text}"));
        let failed = || {
            let differs = self.failed.iter().find(|(_, [intervals, details])| intervals != details);
            differs.map(|((kind, outcome), [intervals, details])| {
                format!(
                    "failures `{}` of kind {kind}: {details} in details, {intervals} in intervals",
                    outcome.name()
                )
            })
        };
        response.or_else(connect).or_else(failed)
    }
}

impl Pair {
    fn difference(&self) -> Option<String> {
        let (found, expected) = (self.details, self.intervals);
        (found != expected).then(|| {
            let of = |extent: Extent| {
                format!("{} with sum {} ns from {} to {} ns", extent.n, extent.sum, extent.min, extent.max)
            };
            format!("{} in details, {} in intervals", of(found), of(expected))
        })
    }
}

impl Extent {
    fn of(histogram: &Histogram) -> Extent {
        Extent {
            n: histogram.n(),
            sum: histogram.sum(),
            min: histogram.min().unwrap_or_default().0,
            max: histogram.max().unwrap_or_default().0,
        }
    }

    fn add(&mut self, other: Extent) {
        if other.n == 0 {
            return;
        }
        self.min = if self.n == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.n = self.n.saturating_add(other.n);
        self.sum = self.sum.saturating_add(other.sum);
    }
}

impl From<&Moments> for Extent {
    fn from(moments: &Moments) -> Extent {
        Extent { n: moments.n, sum: moments.sum, min: moments.min, max: moments.max }
    }
}
