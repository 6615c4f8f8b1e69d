//! Totals of the steady phase.

use std::collections::BTreeMap;

use model::{FailureCodes, IntervalRecord, KindHistograms, KindTotals, Outcome, Plan};
use stats::{Histogram, HistogramOverflow, Moments};
use units::Nanos;

use super::AgentTotals;
use super::time_axis::LastInterval;

/// The totals of the steady phase, from which the metrics of a load point are made.
#[derive(Debug)]
pub(crate) struct SteadyTotals {
    load_threads: u32,
    index_last: Option<u32>,
    /// Sum of the intervals' lengths, each second counted once however many agents there are.
    pub(crate) length: Nanos,
    /// The start of the recorded part.
    pub(crate) start: Option<Nanos>,
    /// The end of the recorded part.
    pub(crate) end: Nanos,
    /// Operations that fell due.
    pub(crate) due: u64,
    /// Operations that were started.
    pub(crate) started: u64,
    /// Successes whose connection the peer left open.
    pub(crate) left_open: u64,
    /// The times that operations waited for their user, in ns.
    pub(crate) user_wait: Moments,
    /// Times from due time to due time of users whose pauses count from there, in ns.
    pub(crate) due_span_ns: u128,
    /// Per kind of pause.
    pub(crate) pauses: Vec<PauseSums>,
    /// Integral of operations in flight, in ns.
    pub(crate) in_flight_ns: u128,
    /// Integral of thinking users, in ns.
    pub(crate) thinking_ns: u128,
    /// Per operation kind.
    pub(crate) kinds: Vec<KindSums>,
    /// Complete units.
    pub(crate) units_ok: u64,
    /// Units that were abandoned.
    pub(crate) units_failed: u64,
    /// Response time, all kinds.
    pub(crate) response: Histogram,
    /// Service time, all kinds.
    pub(crate) service: Histogram,
    /// Lateness of started operations, all agents.
    pub(crate) lateness: Histogram,
    /// The values of each measure that has a spread, all kinds; from the details.
    pub(crate) spreads: Vec<Histogram>,
    /// The amount of successful operations, a value per client.
    pub(crate) clients: Moments,
    /// Per load agent.
    pub(crate) agents: BTreeMap<u32, AgentTotals>,
    /// CPU time of the SUT, and the length over which it was seen.
    pub(crate) sut_cpu: Nanos,
    /// Sum of the lengths of intervals in which the SUT was seen.
    pub(crate) sut_length: Nanos,
}

/// Sums of one kind of pause, as drawn, in ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct PauseSums {
    pub(crate) drawn: Moments,
    /// The same times; from the details.
    pub(crate) histogram: Histogram,
}

/// Sums of one operation kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct KindSums {
    /// Response time of successes, in ns.
    pub(crate) response: Moments,
    /// The values of each measure of successes, in the order of the catalog.
    pub(crate) measures: Vec<Moments>,
    /// Failures per outcome.
    pub(crate) failed: BTreeMap<Outcome, u64>,
    /// Their protocol codes.
    pub(crate) codes: FailureCodes,
    /// Response times again; from the details.
    pub(crate) histogram: Histogram,
    /// Time from due to failure, summed over all failures, in ns; from the details.
    pub(crate) failed_ns: u128,
}

impl SteadyTotals {
    pub(crate) fn new(plan: &Plan) -> SteadyTotals {
        SteadyTotals {
            load_threads: plan.load_threads(),
            index_last: None,
            length: Nanos::ZERO,
            start: None,
            end: Nanos::ZERO,
            due: 0,
            started: 0,
            left_open: 0,
            user_wait: Moments::default(),
            in_flight_ns: 0,
            due_span_ns: 0,
            pauses: vec![PauseSums::default(); plan.catalog.pauses.len()],
            thinking_ns: 0,
            kinds: vec![KindSums::new(plan.catalog.measures.len()); plan.catalog.kinds.len()],
            units_ok: 0,
            units_failed: 0,
            response: Histogram::new(),
            service: Histogram::new(),
            lateness: Histogram::new(),
            spreads: vec![Histogram::new(); plan.catalog.spread_measures().count()],
            clients: Moments::default(),
            agents: BTreeMap::new(),
            sut_cpu: Nanos::ZERO,
            sut_length: Nanos::ZERO,
        }
    }

    /// Adds an interval. `before` is what its agent recorded just before it, if anything.
    pub(crate) fn interval(
        &mut self,
        record: &IntervalRecord,
        before: Option<LastInterval>,
        places_full: bool,
    ) -> Result<(), HistogramOverflow> {
        let length = record.end.saturating_sub(record.start);
        if self.index_last != Some(record.index) {
            self.length = self.length.saturating_add(length);
            self.index_last = Some(record.index);
        }
        self.start.get_or_insert(record.start);
        self.end = record.end;
        let flow = &record.flow;
        self.due = self.due.saturating_add(flow.due);
        self.started = self.started.saturating_add(flow.started);
        self.left_open = self.left_open.saturating_add(flow.left_open);
        self.user_wait.merge(&flow.user_wait);
        self.clients.merge(&record.clients);
        self.due_span_ns = self.due_span_ns.saturating_add(flow.due_span_ns);
        self.in_flight_ns = self.in_flight_ns.saturating_add(flow.in_flight_ns);
        self.thinking_ns = self.thinking_ns.saturating_add(flow.thinking_ns);
        for (sums, totals) in self.kinds.iter_mut().zip(&record.kinds) {
            sums.add(totals);
        }
        for (sums, drawn) in self.pauses.iter_mut().zip(&record.pauses) {
            sums.drawn.merge(drawn);
        }
        for unit in &record.units {
            self.units_ok = self.units_ok.saturating_add(unit.ok);
            self.units_failed = self.units_failed.saturating_add(unit.failed);
        }
        if let Some(used) = record.sut {
            self.sut_cpu = self.sut_cpu.saturating_add(used.cpu);
            self.sut_length = self.sut_length.saturating_add(length);
        }
        self.agent(record, before).add(record, places_full)?;
        self.response.merge(&record.response)?;
        // An empty service histogram means: everything was sent when due.
        self.service.merge(if record.service.n() == 0 { &record.response } else { &record.service })?;
        self.lateness.merge(&record.lateness)
    }

    /// Adds the detail of one or several intervals.
    pub(crate) fn detail(&mut self, detail: &KindHistograms) -> Result<(), HistogramOverflow> {
        for ((kind, _), histogram) in &detail.failed {
            if let Some(sums) = self.kinds.get_mut(usize::from(*kind)) {
                sums.failed_ns = sums.failed_ns.saturating_add(histogram.sum());
            }
        }
        for (sums, histogram) in self.kinds.iter_mut().zip(&detail.response) {
            sums.histogram.merge(histogram)?;
        }
        for (sums, histogram) in self.pauses.iter_mut().zip(&detail.pauses) {
            sums.histogram.merge(histogram)?;
        }
        self.spreads.iter_mut().zip(&detail.spreads).try_for_each(|(spread, other)| spread.merge(other))
    }

    /// Returns an amount per second of the recorded phase; zero before it begins.
    pub(crate) fn per_second(&self, amount: f64) -> f64 {
        let length = self.length.as_secs_f64();
        if 0.0 < length { amount / length } else { 0.0 }
    }

    /// Returns the part of all load threads that the agent of a record has.
    pub(crate) fn share_of(&self, record: &IntervalRecord) -> f64 {
        f64::from(record.health.threads) / f64::from(self.load_threads.max(1))
    }

    /// Returns the units that ended, complete or not.
    pub(crate) fn units(&self) -> u64 {
        self.units_ok.saturating_add(self.units_failed)
    }

    /// Returns the successful operations.
    pub(crate) fn n(&self) -> u64 {
        saturating_sum(self.kinds.iter().map(|kind| kind.response.n))
    }

    /// Returns the failed operations.
    pub(crate) fn errors(&self) -> u64 {
        saturating_sum(self.kinds.iter().map(KindSums::errors))
    }

    /// Returns the time of failed operations, in s.
    pub(crate) fn failed_seconds(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.failed_ns as f64).sum::<f64>() / 1e9
    }

    /// Returns the time of successful operations, in s.
    pub(crate) fn response_seconds(&self) -> f64 {
        self.kinds.iter().map(|kind| kind.response.sum as f64).sum::<f64>() / 1e9
    }

    /// Returns X·(R + Z) of a closed loop: total response time and think time ÷ T.
    ///
    /// Users think until they are back; the part after due is already in their response time.
    pub(crate) fn users_seen(&self) -> f64 {
        let thinking = (self.thinking_ns as f64 - self.lateness.sum() as f64) / 1e9;
        (self.response_seconds() + thinking) / self.length.as_secs_f64()
    }

    /// Returns the mean number of operations that wait or are in flight: (∫ in flight + Σ lateness + Σ wait for users) ÷ T.
    pub(crate) fn population(&self) -> f64 {
        let before = self.lateness.sum() as f64 + self.user_wait.sum as f64;
        (self.in_flight_ns as f64 + before) / 1e9 / self.length.as_secs_f64()
    }

    /// Returns the operations in flight at the start and at the end of the phase.
    pub(crate) fn in_flight_at_ends(&self) -> (u64, u64) {
        let at_start = saturating_sum(self.agents.values().map(|agent| agent.in_flight_at_start));
        (at_start, saturating_sum(self.agents.values().map(|agent| agent.end.in_flight_at_end)))
    }

    /// Returns the operations that were due and not started at the end of the phase.
    pub(crate) fn waiting_at_end(&self) -> u64 {
        saturating_sum(self.agents.values().map(|agent| agent.end.waiting_at_end))
    }

    /// Returns the numbers of operations in flight at the end of the phase, per kind.
    pub(crate) fn in_flight_kinds(&self) -> Vec<u64> {
        let mut sums = vec![0u64; self.kinds.len()];
        for agent in self.agents.values() {
            for (sum, n) in sums.iter_mut().zip(&agent.in_flight_kinds) {
                *sum = sum.saturating_add(*n);
            }
        }
        sums
    }

    /// Returns the summed ages of those operations at that moment, in ns.
    pub(crate) fn ages_at_ends_ns(&self) -> (u128, u128) {
        let sum = |of: fn(&AgentTotals) -> u128| self.agents.values().map(of).fold(0, u128::saturating_add);
        (sum(|agent| agent.age_at_start_ns), sum(|agent| agent.end.in_flight_age_ns))
    }

    /// Returns the totals of a record's agent; new ones begin with the state that it had before.
    fn agent(&mut self, record: &IntervalRecord, before: Option<LastInterval>) -> &mut AgentTotals {
        self.agents.entry(record.agent).or_insert_with(|| AgentTotals {
            in_flight_at_start: record.flow.in_flight_at_start,
            age_at_start_ns: before.map_or(0, |last| last.flow.in_flight_age_ns),
            ..AgentTotals::default()
        })
    }
}

impl KindSums {
    /// Makes the empty sums of a kind whose operations have this number of measures.
    pub(crate) fn new(n_measures: usize) -> KindSums {
        KindSums { measures: vec![Moments::default(); n_measures], ..KindSums::default() }
    }

    fn add(&mut self, totals: &KindTotals) {
        self.response.merge(&totals.response);
        self.measures.iter_mut().zip(&totals.measures).for_each(|(measure, other)| measure.merge(other));
        for (outcome, failed) in &totals.failed {
            let n = self.failed.entry(*outcome).or_default();
            *n = n.saturating_add(*failed);
        }
        self.codes.merge(&totals.codes);
    }

    /// Returns the failures of all outcomes.
    pub(crate) fn errors(&self) -> u64 {
        saturating_sum(self.failed.values().copied())
    }
}

/// Adds numbers that a damaged file may have made too large.
fn saturating_sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
