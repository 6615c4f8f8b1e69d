//! The timeline: one small line per interval, merged over agents.

use model::{IntervalRecord, Phase};
use stats::{Histogram, HistogramOverflow};
use units::{Nanos, Ratio};

use super::QuantileIntervals;
use crate::TimeClasses;
use crate::percentiles::values_needed;

/// The totals of one interval of all agents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SecondTotals {
    /// Index within the load point.
    pub(crate) index: u32,
    /// Its phase.
    pub(crate) phase: Phase,
    /// The start of the second.
    pub(crate) start: Nanos,
    /// The end of the second.
    pub(crate) end: Nanos,
    /// Successful operations.
    pub(crate) ok: u64,
    /// Failed operations, timed out ones included.
    pub(crate) errors: u64,
    /// Sum of the response times of successful operations, in ns.
    pub(crate) response_ns: u128,
    /// Median response time.
    pub(crate) p50: Option<Nanos>,
    /// 99th percentile of the response time.
    pub(crate) p99: Option<Nanos>,
    /// CPU time of load threads.
    pub(crate) cpu: Nanos,
    /// Load threads.
    pub(crate) threads: u32,
    /// CPU time of the SUT.
    pub(crate) sut_cpu: Option<Nanos>,
}

/// The seconds of a load point. Holds the whole histogram of the current second, and batches of those of the steady
/// phase until its end.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    /// The finished seconds, in order; all of them once closed.
    pub(crate) all: Vec<SecondTotals>,
    /// Response times in classes, of the same seconds.
    pub(crate) classes: Vec<TimeClasses>,
    /// Intervals for percentiles of the steady phase; available once closed.
    pub(crate) intervals: QuantileIntervals,
    current: Option<SecondTotals>,
    response: Histogram,
}

impl SecondTotals {
    /// Returns its length in s; never zero.
    pub(crate) fn length(&self) -> f64 {
        self.end.saturating_sub(self.start).0.max(1) as f64 / 1e9
    }

    /// Returns its successful operations per second.
    pub(crate) fn rate(&self) -> f64 {
        self.ok as f64 / self.length()
    }

    /// Returns its completed operations, successful or not.
    pub(crate) fn completed(&self) -> f64 {
        self.ok as f64 + self.errors as f64
    }

    fn new(record: &IntervalRecord) -> SecondTotals {
        SecondTotals {
            index: record.index,
            phase: record.phase,
            start: record.start,
            end: record.end,
            ok: 0,
            errors: 0,
            response_ns: 0,
            p50: None,
            p99: None,
            cpu: Nanos::ZERO,
            threads: 0,
            sut_cpu: None,
        }
    }

    fn add(&mut self, record: &IntervalRecord) {
        self.ok = self.ok.saturating_add(record.flow.ok);
        self.errors = self.errors.saturating_add(record.flow.failed).saturating_add(record.flow.timed_out);
        self.response_ns = self.response_ns.saturating_add(record.response.sum());
        self.cpu = self.cpu.saturating_add(record.health.cpu);
        self.threads = self.threads.saturating_add(record.health.threads);
        if let Some(used) = record.sut {
            self.sut_cpu = Some(self.sut_cpu.unwrap_or_default().saturating_add(used.cpu));
        }
    }
}

impl Seconds {
    pub(crate) fn interval(&mut self, record: &IntervalRecord) -> Result<(), HistogramOverflow> {
        if self.current.is_none_or(|second| second.index != record.index) {
            self.close_second();
        }
        self.current.get_or_insert_with(|| SecondTotals::new(record)).add(record);
        self.response.merge(&record.response)
    }

    /// Finishes the current second and the steady phase: no record follows.
    pub(crate) fn close(&mut self) {
        self.close_second();
        self.intervals.close();
    }

    fn close_second(&mut self) {
        let Some(second) = self.current.take() else { return };
        let quantile = |q| {
            let enough = values_needed(Ratio(q)) <= self.response.n();
            enough.then(|| self.response.quantile(Ratio(q))).flatten()
        };
        match second.phase {
            Phase::RampUp | Phase::Settle => {}
            Phase::Steady => self.intervals.push(&self.response),
            Phase::RampDown | Phase::Drain => self.intervals.close(),
        }
        self.classes.push(TimeClasses::of(&self.response));
        self.all.push(SecondTotals { p50: quantile(0.5), p99: quantile(0.99), ..second });
        self.response.clear();
    }

    /// Returns the seconds from full load on: those of settle and steady phase.
    pub(crate) fn full_load(&self) -> impl Iterator<Item = &SecondTotals> {
        self.so_far().filter(|second| matches!(second.phase, Phase::Settle | Phase::Steady))
    }

    /// Returns the seconds of the steady phase.
    pub(crate) fn steady(&self) -> impl Iterator<Item = &SecondTotals> {
        self.so_far().filter(|second| second.phase == Phase::Steady)
    }

    /// Returns all seconds, the current one included, whose percentiles are not known yet.
    fn so_far(&self) -> impl Iterator<Item = &SecondTotals> {
        self.all.iter().chain(&self.current)
    }
}
