//! The totals of one load agent over the steady phase.

use model::{Flow, IntervalRecord};
use stats::{Histogram, HistogramOverflow};
use units::Nanos;

/// The totals of one agent. Agents are judged one by one: a saturated one must not hide behind an idle one.
#[derive(Debug, Default)]
pub(crate) struct AgentTotals {
    /// CPU time of its load threads.
    pub(crate) cpu: Nanos,
    /// Time that its load threads waited for a CPU.
    pub(crate) run_queue: Nanos,
    /// Length of its intervals times its load threads, in ns.
    pub(crate) thread_ns: u128,
    /// Lateness of the operations it started in intervals at whose ends it had free slots: that lateness was its own
    /// fault.
    pub(crate) lateness_own: Histogram,
    /// Number of intervals in which its slots were full.
    pub(crate) intervals_full: u64,
    /// Number of operations in flight when the phase began.
    pub(crate) in_flight_at_start: u64,
    /// The summed time that those had been in flight by then, in ns.
    pub(crate) age_at_start_ns: u128,
    /// The flow at the end of its last interval of the phase.
    pub(crate) end: Flow,
    /// Number of operations in flight at that moment, per operation kind.
    pub(crate) in_flight_kinds: Vec<u64>,
}

impl AgentTotals {
    pub(crate) fn add(
        &mut self,
        record: &IntervalRecord,
        places_full: bool,
    ) -> Result<(), HistogramOverflow> {
        let length = record.end.saturating_sub(record.start).0;
        self.cpu = self.cpu.saturating_add(record.health.cpu);
        self.run_queue = self.run_queue.saturating_add(record.health.run_queue);
        let thread_ns = u128::from(length) * u128::from(record.health.threads);
        self.thread_ns = self.thread_ns.saturating_add(thread_ns);
        self.end = record.flow;
        self.in_flight_kinds = record.kinds.iter().map(|kind| kind.in_flight_at_end).collect();
        if places_full {
            self.intervals_full += 1;
            return Ok(());
        }
        self.lateness_own.merge(&record.lateness)
    }

    /// Returns the part of the load threads' time that was used; `None` if no load thread was seen.
    pub(crate) fn busy(&self) -> Option<f64> {
        (0 < self.thread_ns).then(|| self.cpu.0 as f64 / self.thread_ns as f64)
    }

    /// Returns the part of the load threads' time that was spent waiting for a CPU; `None` if none was seen.
    pub(crate) fn run_queue_ratio(&self) -> Option<f64> {
        (0 < self.thread_ns).then(|| self.run_queue.0 as f64 / self.thread_ns as f64)
    }
}
