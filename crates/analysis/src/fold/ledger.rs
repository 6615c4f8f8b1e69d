//! The bookkeeping of conservation: every operation that enters is accounted for, in every interval and in every sum.

use std::collections::BTreeMap;

use model::{
    Catalog, ExpectedMeasure, Flow, IntervalRecord, KindHistograms, KindTotals, LoadPoint, Outcome, Phase,
    Plan,
};
use stats::{Histogram, Moments};
use units::Nanos;

use crate::finding::{
    DetailDifference, EqualTotals, FaultCounter, FlowFault, FlowLaw, KindMeasure, LocatedFault,
    MeasureMismatch, OverflowingPart, TimesExtent, UnequalTotals,
};

/// The bookkeeping of a load point: identities checked interval by interval, and sums per phase, with
/// which the details must agree.
#[derive(Debug)]
pub(crate) struct Ledger {
    catalog: Catalog,
    open_loop: bool,
    phases: BTreeMap<Phase, Sums>,
    /// The notices awaited at the end of each agent's last interval, per kind.
    awaited: BTreeMap<u32, Vec<u64>>,
    /// Intervals whose flow breaks one of its laws.
    pub(crate) flow: FaultCounter<LocatedFault<FlowFault>>,
    /// Intervals in which a sum over kinds, or over a histogram, is not the total.
    pub(crate) totals: FaultCounter<LocatedFault<UnequalTotals>>,
    /// Measures that contradict each other or the catalog.
    pub(crate) measures: FaultCounter<LocatedFault<KindMeasure>>,
    /// Parts of the record whose histograms could not be merged with those before.
    pub(crate) overflows: FaultCounter<OverflowingPart>,
}

/// Sums of one phase from intervals and from details, side by side.
#[derive(Debug, Default)]
struct Sums {
    response: BTreeMap<u16, Pair>,
    /// By index of the spread.
    spreads: BTreeMap<usize, Pair>,
    /// By index of the kind of pause.
    pauses: BTreeMap<usize, Pair>,
    /// By index of the kind of notice; of those whose wait began in the steady phase.
    notices: BTreeMap<usize, Pair>,
    failed: BTreeMap<(u16, Outcome), [u64; 2]>,
}

/// The extents of a set of values according to the intervals and to the details.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    intervals: TimesExtent,
    details: TimesExtent,
}

impl Ledger {
    pub(crate) fn new(plan: &Plan, point: LoadPoint) -> Ledger {
        Ledger {
            catalog: plan.catalog.clone(),
            open_loop: !point.load.is_closed(),
            phases: BTreeMap::new(),
            awaited: BTreeMap::new(),
            flow: FaultCounter::default(),
            totals: FaultCounter::default(),
            measures: FaultCounter::default(),
            overflows: FaultCounter::default(),
        }
    }

    /// Checks an interval; `before` is the flow of the same agent's interval before it.
    pub(crate) fn interval(&mut self, record: &IntervalRecord, before: Option<Flow>) {
        let interval = record.index;
        let agent = record.agent;
        if let Some(fault) = flow_fault(&record.flow, before.unwrap_or_default()) {
            self.flow.note(LocatedFault { interval, agent, fault });
        }
        let notices = self.unequal_notices(record);
        if let Some(fault) = self.unequal_totals(record).or(notices) {
            self.totals.note(LocatedFault { interval, agent, fault });
        }
        for (kind, totals) in record.kinds.iter().enumerate() {
            if let Some(fault) = measure_fault(&self.catalog, kind, totals) {
                self.measures.note(LocatedFault { interval, agent, fault });
            }
        }
        self.phases.entry(record.phase).or_default().interval(record, &self.catalog);
    }

    /// Adds the detail of one or several intervals of a phase.
    pub(crate) fn detail(&mut self, phase: Phase, detail: &KindHistograms) {
        self.phases.entry(phase).or_default().detail(detail);
    }

    /// Notes an interval whose histograms could not be merged with those before it.
    pub(crate) fn overflow(&mut self, record: &IntervalRecord) {
        let interval = record.index;
        let agent = record.agent;
        self.overflows.note(OverflowingPart::Interval { interval, agent });
    }

    /// Notes the same of a batch of detail.
    pub(crate) fn overflow_of_detail(&mut self, agent: u32, start: Nanos) {
        self.overflows.note(OverflowingPart::Detail { agent, start });
    }

    /// Returns the first phase whose details differ from its intervals, with the difference.
    pub(crate) fn details_difference(&self) -> Option<(Phase, DetailDifference)> {
        self.phases.iter().find_map(|(phase, sums)| Some((*phase, sums.difference(&self.catalog)?)))
    }

    /// Returns the first count of notices that is lost from one interval to the next, or within this one.
    fn unequal_notices(&mut self, record: &IntervalRecord) -> Option<UnequalTotals> {
        let at_end = record.notices.iter().map(|notice| notice.awaited_at_end).collect();
        let before = self.awaited.insert(record.agent, at_end).unwrap_or_default();
        let kinds = [record.notices.len(), self.catalog.notices.len()].map(|n| n as u128);
        let of_kind = record.notices.iter().enumerate().flat_map(|(kind, notice)| {
            let before = before.get(kind).copied().unwrap_or_default();
            let starts = [notice.awaited_at_start, before].map(u128::from);
            [(EqualTotals::Notices, notice.sides()), (EqualTotals::AwaitedNotices, starts)]
        });
        let mut counts = [(EqualTotals::NoticeKinds, kinds)].into_iter().chain(of_kind);
        let unequal = counts.find(|(_, [found, expected])| found != expected);
        unequal.map(|(totals, [found, expected])| UnequalTotals { totals, found, expected })
    }

    /// Returns the first sum over kinds, or over a histogram, that is not the total.
    fn unequal_totals(&self, record: &IntervalRecord) -> Option<UnequalTotals> {
        let flow = &record.flow;
        let failed = |timed_out: bool| -> u128 {
            let all = record.kinds.iter().flat_map(|kind| &kind.failed);
            let chosen = all.filter(|(outcome, _)| (**outcome == Outcome::TimedOut) == timed_out);
            chosen.map(|(_, n)| u128::from(*n)).sum()
        };
        let mut responses = Moments::default();
        record.kinds.iter().for_each(|kind| responses.merge(&kind.response));
        let response = extent_of(&record.response);
        let kinds = extent_of_moments(&responses);
        let late = if self.open_loop { u128::from(flow.started) } else { u128::from(record.lateness.n()) };
        let service = if record.service.n() == 0 { flow.ok } else { record.service.n() };
        let flying = record.kinds.iter().map(|kind| u128::from(kind.in_flight_at_end)).sum::<u128>();
        let failures = u128::from(flow.failed) + u128::from(flow.timed_out);
        let codes = record.kinds.iter().map(|kind| u128::from(kind.codes.n())).sum::<u128>();
        let counts = [
            (EqualTotals::Kinds, record.kinds.len() as u128, self.catalog.kinds.len() as u128),
            (EqualTotals::Successes, u128::from(kinds.n), u128::from(flow.ok)),
            (EqualTotals::Failures, failed(false), u128::from(flow.failed)),
            (EqualTotals::TimedOut, failed(true), u128::from(flow.timed_out)),
            // Not every failure has a code, but nothing else has one.
            (EqualTotals::Codes, codes, codes.min(failures)),
            (EqualTotals::InFlight, flying, u128::from(flow.in_flight_at_end)),
            (EqualTotals::ResponseTimes, u128::from(response.n), u128::from(flow.ok)),
            (EqualTotals::ServiceTimes, u128::from(service), u128::from(flow.ok)),
            (EqualTotals::Latenesses, u128::from(record.lateness.n()), late),
            (EqualTotals::ResponseSum, response.sum, kinds.sum),
            (EqualTotals::ResponseMin, u128::from(response.min), u128::from(kinds.min)),
            (EqualTotals::ResponseMax, u128::from(response.max), u128::from(kinds.max)),
        ];
        let unequal = counts.into_iter().find(|(_, found, expected)| found != expected);
        unequal.map(|(totals, found, expected)| UnequalTotals { totals, found, expected })
    }
}

/// Returns the first of the flow's laws that does not hold.
fn flow_fault(flow: &Flow, before: Flow) -> Option<FlowFault> {
    let laws = [
        (FlowLaw::Due, flow.due_sides()),
        (FlowLaw::Started, flow.started_sides()),
        (FlowLaw::Waiting, [flow.waiting_at_start, before.waiting_at_end].map(u128::from)),
        (FlowLaw::InFlight, [flow.in_flight_at_start, before.in_flight_at_end].map(u128::from)),
    ];
    let unequal = laws.into_iter().find(|(_, [left, right])| left != right);
    let unequal = unequal.map(|(law, [left, right])| FlowFault::Unequal { law, left, right });
    let left_open = flow.left_open;
    let ok = flow.ok;
    unequal.or_else(|| (ok < left_open).then_some(FlowFault::LeftOpen { left_open, ok }))
}

/// Returns the first measure of a kind that contradicts another one, or the catalog.
fn measure_fault(catalog: &Catalog, kind: usize, totals: &KindTotals) -> Option<KindMeasure> {
    let ok = totals.response.n;
    let fault_of_one = catalog.measures.iter().enumerate().find_map(|(index, measure)| {
        let found = totals.measure(index);
        let is_complete = if measure.is_always { found.n == ok } else { found.n <= ok };
        let whole = measure.part_of.map(|whole| (whole, totals.measure(whole).sum));
        let fault = if !is_complete {
            Some(MeasureMismatch::Count { values: found.n, ok })
        } else if let Some((whole, whole_sum)) = whole.filter(|(_, whole_sum)| *whole_sum < found.sum) {
            let whole = catalog.measures[whole].name.clone();
            Some(MeasureMismatch::Part { sum: found.sum, whole, whole_sum })
        } else {
            catalog.expected(kind, index).and_then(|expected| expected_fault(found.sum, ok, *expected))
        };
        fault.map(|fault| KindMeasure { kind, measure: measure.name.clone(), fault })
    });
    fault_of_one.or_else(|| response_parts_fault(catalog, kind, totals))
}

/// Returns the fault of the measures that are parts of the response time, if together they are longer.
fn response_parts_fault(catalog: &Catalog, kind: usize, totals: &KindTotals) -> Option<KindMeasure> {
    let parts = &catalog.response_parts;
    let sum = parts.iter().fold(0, |sum: u128, part| sum.saturating_add(totals.measure(*part).sum));
    let whole_sum = totals.response.sum;
    let names = || parts.iter().map(|part| catalog.measures[*part].name.as_str()).collect::<Vec<_>>();
    (whole_sum < sum).then(|| KindMeasure {
        kind,
        measure: names().join(" + "),
        fault: MeasureMismatch::Part { sum, whole: "response time".to_owned(), whole_sum },
    })
}

/// Returns the fault in the sum of values that are known beforehand.
fn expected_fault(sum: u128, ok: u64, expected: ExpectedMeasure) -> Option<MeasureMismatch> {
    let ExpectedMeasure { least, most, .. } = expected;
    let least = u128::from(ok) * u128::from(least);
    let most = u128::from(ok) * u128::from(most);
    (!(least..=most).contains(&sum)).then_some(MeasureMismatch::Expected { sum, ok, least, most })
}

impl Sums {
    fn interval(&mut self, record: &IntervalRecord, catalog: &Catalog) {
        for (kind, drawn) in record.pauses.iter().enumerate() {
            add(&mut self.pauses.entry(kind).or_default().intervals, extent_of_moments(drawn));
        }
        for (kind, totals) in record.notices.iter().enumerate() {
            add(&mut self.notices.entry(kind).or_default().intervals, extent_of_moments(&totals.times));
        }
        for (kind, totals) in (0u16..).zip(&record.kinds) {
            let response = extent_of_moments(&totals.response);
            add(&mut self.response.entry(kind).or_default().intervals, response);
            for (spread, measure) in catalog.spread_measures().enumerate() {
                let values = extent_of_moments(&totals.measure(measure));
                add(&mut self.spreads.entry(spread).or_default().intervals, values);
            }
            for (outcome, failed) in &totals.failed {
                let [n, _] = self.failed.entry((kind, *outcome)).or_default();
                *n = n.saturating_add(*failed);
            }
        }
    }

    fn detail(&mut self, detail: &KindHistograms) {
        for (kind, histogram) in detail.pauses.iter().enumerate() {
            add(&mut self.pauses.entry(kind).or_default().details, extent_of(histogram));
        }
        for (kind, histogram) in detail.notices.iter().enumerate() {
            add(&mut self.notices.entry(kind).or_default().details, extent_of(histogram));
        }
        for (kind, histogram) in (0u16..).zip(&detail.response) {
            add(&mut self.response.entry(kind).or_default().details, extent_of(histogram));
        }
        for (spread, histogram) in detail.spreads.iter().enumerate() {
            add(&mut self.spreads.entry(spread).or_default().details, extent_of(histogram));
        }
        for (key, histogram) in &detail.failed {
            let [_, n] = self.failed.entry(*key).or_default();
            *n = n.saturating_add(histogram.n());
        }
    }

    /// Returns the first sum in which details and intervals differ.
    fn difference(&self, catalog: &Catalog) -> Option<DetailDifference> {
        let response = self.response.iter().find(|(_, pair)| pair.differs()).map(|(kind, pair)| {
            let Pair { details, intervals } = *pair;
            DetailDifference::Response { kind: *kind, details, intervals }
        });
        let spread = || {
            let (spread, pair) = self.spreads.iter().find(|(_, pair)| pair.differs())?;
            let Pair { details, intervals } = *pair;
            let measure = catalog.spread_measures().nth(*spread);
            let name =
                measure.map_or_else(|| spread.to_string(), |index| catalog.measures[index].name.clone());
            Some(DetailDifference::Measure { name, details, intervals })
        };
        let failed = || {
            let differs = self.failed.iter().find(|(_, [intervals, details])| intervals != details);
            differs.map(|(&(kind, outcome), &[intervals, details])| DetailDifference::Failures {
                kind,
                outcome,
                details,
                intervals,
            })
        };
        let pause = || {
            let (kind, pair) = self.pauses.iter().find(|(_, pair)| pair.differs())?;
            let Pair { details, intervals } = *pair;
            let name = catalog.pauses.get(*kind).map_or_else(|| kind.to_string(), |pause| pause.name.clone());
            Some(DetailDifference::Pause { name, details, intervals })
        };
        let notice = || {
            let (kind, pair) = self.notices.iter().find(|(_, pair)| pair.differs())?;
            let Pair { details, intervals } = *pair;
            let named = catalog.notices.get(*kind);
            let name = named.map_or_else(|| kind.to_string(), |notice| notice.name.clone());
            Some(DetailDifference::Notice { name, details, intervals })
        };
        response.or_else(spread).or_else(failed).or_else(pause).or_else(notice)
    }
}

impl Pair {
    fn differs(&self) -> bool {
        self.details != self.intervals
    }
}

fn extent_of(histogram: &Histogram) -> TimesExtent {
    TimesExtent {
        n: histogram.n(),
        sum: histogram.sum(),
        min: histogram.min().unwrap_or_default().0,
        max: histogram.max().unwrap_or_default().0,
    }
}

fn extent_of_moments(moments: &Moments) -> TimesExtent {
    TimesExtent { n: moments.n, sum: moments.sum, min: moments.min, max: moments.max }
}

/// Adds the extent of further times.
fn add(extent: &mut TimesExtent, other: TimesExtent) {
    if other.n == 0 {
        return;
    }
    extent.min = if extent.n == 0 { other.min } else { extent.min.min(other.min) };
    extent.max = extent.max.max(other.max);
    extent.n = extent.n.saturating_add(other.n);
    extent.sum = extent.sum.saturating_add(other.sum);
}
