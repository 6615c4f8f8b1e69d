//! Sums over all phases, and the figures of single intervals: for observers, who see more of a run than what counts.

use std::collections::BTreeMap;

use model::{IntervalRecord, Outcome};
use units::Nanos;

/// The sums over all phases, of a load point or of a whole run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverallTotals {
    /// Completed operations by outcome.
    pub completed: BTreeMap<Outcome, u64>,
    /// Operations that fell due.
    pub due: u64,
    /// Operations that were given up before they were started.
    pub skipped: u64,
    /// Operations that were given up in flight.
    pub abandoned: u64,
    /// The sum of each measure of successful operations, in the order of the catalog.
    pub measures: Vec<u64>,
    /// CPU time of the load threads.
    pub generator_cpu: Nanos,
    /// CPU time of the SUT; `None` if it was never seen.
    pub sut_cpu: Option<Nanos>,
}

/// The figures of one interval of all load threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalFigures {
    /// Successful operations per second.
    pub rate: f64,
    /// Operations that fell due per second.
    pub due_rate: f64,
    /// Mean number of operations in flight.
    pub in_flight_mean: f64,
    /// Operations in flight at the end.
    pub in_flight_at_end: u64,
    /// The part of the load threads' time for which they used a CPU; `None` without a load thread.
    pub generator_busy: Option<f64>,
    /// The part of it for which they waited for one, likewise.
    pub generator_wait: Option<f64>,
    /// CPUs that the SUT used; `None` if it was not seen.
    pub sut_cpus: Option<f64>,
}

impl OverallTotals {
    /// Adds an interval.
    pub fn interval(&mut self, record: &IntervalRecord) {
        let flow = &record.flow;
        self.due = self.due.saturating_add(flow.due);
        self.skipped = self.skipped.saturating_add(flow.skipped);
        self.abandoned = self.abandoned.saturating_add(flow.abandoned);
        for kind in &record.kinds {
            let failed = kind.failed.iter().map(|(outcome, n)| (*outcome, *n));
            for (outcome, n) in failed.chain([(Outcome::Ok, kind.response.n)]) {
                let sum = self.completed.entry(outcome).or_default();
                *sum = sum.saturating_add(n);
            }
            if self.measures.len() < kind.measures.len() {
                self.measures.resize(kind.measures.len(), 0);
            }
            for (sum, measure) in self.measures.iter_mut().zip(&kind.measures) {
                *sum = sum.saturating_add(u64::try_from(measure.sum).unwrap_or(u64::MAX));
            }
        }
        self.generator_cpu = self.generator_cpu.saturating_add(record.health.cpu);
        if let Some(used) = record.sut {
            self.sut_cpu = Some(self.sut_cpu.unwrap_or_default().saturating_add(used.cpu));
        }
    }

    /// Returns the failed operations, timed out ones included.
    pub fn errors(&self) -> u64 {
        let failed = self.completed.iter().filter(|(outcome, _)| **outcome != Outcome::Ok);
        failed.fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }
}

impl IntervalFigures {
    /// Makes the figures of an interval; `None` if it has no length.
    pub fn of(record: &IntervalRecord) -> Option<IntervalFigures> {
        let length = record.end.saturating_sub(record.start).as_secs_f64();
        if length <= 0.0 {
            return None;
        }
        let threads = record.health.threads;
        let of_threads =
            |time: Nanos| (0 < threads).then(|| time.as_secs_f64() / length / f64::from(threads));
        Some(IntervalFigures {
            rate: record.flow.ok as f64 / length,
            due_rate: record.flow.due as f64 / length,
            in_flight_mean: record.flow.in_flight_ns as f64 / 1e9 / length,
            in_flight_at_end: record.flow.in_flight_at_end,
            generator_busy: of_threads(record.health.cpu),
            generator_wait: of_threads(record.health.run_queue),
            sut_cpus: record.sut.map(|used| used.cpu.as_secs_f64() / length),
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{Flow, Health, KindTotals, SutUse};

    use super::*;

    /// By hand: half a second with 40 successes and 4 failures; two load threads used 0.1 s of 1 s, the server 0.3 s.
    fn record() -> IntervalRecord {
        let mut kind = KindTotals::new(2);
        (0..40).for_each(|_| {
            kind.response.record(1_000_000);
            kind.measures[1].record(700);
        });
        kind.failed.insert(Outcome::Reset, 4);
        let flow = Flow { due: 45, ok: 40, failed: 4, in_flight_at_end: 1, ..Flow::default() };
        IntervalRecord {
            end: Nanos::from_millis(500),
            flow: Flow { in_flight_ns: 1_000_000_000, ..flow },
            kinds: vec![kind],
            health: Health { threads: 2, cpu: Nanos::from_millis(100), run_queue: Nanos::from_millis(50) },
            sut: Some(SutUse { cpu: Nanos::from_millis(300), throttled: Nanos::ZERO }),
            ..IntervalRecord::empty(0, 0)
        }
    }

    #[test]
    fn figures_are_per_second_whatever_the_length() {
        let figures = IntervalFigures::of(&record()).unwrap();
        assert_eq!((figures.rate, figures.due_rate, figures.in_flight_mean), (80.0, 90.0, 2.0));
        assert_eq!((figures.generator_busy, figures.generator_wait), (Some(0.1), Some(0.05)));
        assert_eq!(figures.sut_cpus, Some(0.6));
    }

    #[test]
    fn without_threads_a_server_or_a_length_there_are_no_shares() {
        let idle = IntervalRecord { health: Health::default(), sut: None, ..record() };
        let figures = IntervalFigures::of(&idle).unwrap();
        assert_eq!((figures.generator_busy, figures.sut_cpus), (None, None));
        assert_eq!(IntervalFigures::of(&IntervalRecord { end: Nanos::ZERO, ..record() }), None);
    }

    #[test]
    fn totals_add_up_all_intervals() {
        let mut totals = OverallTotals::default();
        totals.interval(&record());
        totals.interval(&IntervalRecord { sut: None, ..record() });
        assert_eq!(totals.completed, [(Outcome::Ok, 80), (Outcome::Reset, 8)].into());
        assert_eq!((totals.due, totals.errors(), &totals.measures[..]), (90, 8, &[0, 56_000][..]));
        assert_eq!(totals.generator_cpu, Nanos::from_millis(200));
        assert_eq!(totals.sut_cpu, Some(Nanos::from_millis(300)));
    }
}
