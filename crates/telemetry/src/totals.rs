//! Totals of each run since the program began.

use std::collections::BTreeMap;

use model::{IntervalRecord, LoadPoint, Outcome, Phase};
use units::{Nanos, WallTime};

use crate::response_histogram::ResponseHistogram;

/// The labels by which one of several interleaved runs is told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunLabels {
    /// The benchmark's id.
    pub benchmark: String,
    /// The benchmark's version.
    pub version: u32,
    /// The label of the server.
    pub server: String,
}

/// The state of all runs at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The program's version.
    pub(crate) program: String,
    /// The time at which counting began.
    pub(crate) began: WallTime,
    /// The runs in the order in which they are interleaved.
    pub(crate) runs: Vec<RunTotals>,
    /// The index of the current run.
    pub(crate) current: usize,
}

/// The totals of one run, in all phases.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTotals {
    pub(crate) name: RunLabels,
    /// The current load point, or the last one.
    pub(crate) point: Option<LoadPoint>,
    /// The phase of the last interval.
    pub(crate) phase: Option<Phase>,
    /// Completed operations by outcome.
    pub(crate) completed: BTreeMap<Outcome, u64>,
    pub(crate) due: u64,
    pub(crate) skipped: u64,
    pub(crate) abandoned: u64,
    /// Bytes of the replies of successful operations.
    pub(crate) reply_bytes: u64,
    /// Response times of successful operations.
    pub(crate) response: ResponseHistogram,
    /// Operations in flight at the end of the last interval.
    pub(crate) in_flight: u64,
    pub(crate) generator_cpu: Nanos,
    /// Share of the load threads' time that was used in the last interval.
    pub(crate) generator_busy: Option<f64>,
    pub(crate) sut_cpu: Option<Nanos>,
    /// CPUs that the server used in the last interval.
    pub(crate) sut_cpus: Option<f64>,
}

impl RunTotals {
    /// Makes the totals of a run that has not begun.
    pub(crate) fn new(name: RunLabels) -> RunTotals {
        // The counter exists from the beginning, so that the first operations are an increase and not a new series.
        RunTotals { name, completed: [(Outcome::Ok, 0)].into(), ..RunTotals::default() }
    }

    /// Begins a load point.
    pub(crate) fn load_point(&mut self, point: LoadPoint) {
        self.point = Some(point);
        self.phase = None;
        self.in_flight = 0;
    }

    /// Adds an interval of all load threads together.
    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        self.phase = Some(record.phase);
        self.due += record.flow.due;
        self.skipped += record.flow.skipped;
        self.abandoned += record.flow.abandoned;
        self.in_flight = record.flow.in_flight_at_end;
        for kind in &record.kinds {
            let failed = kind.failed.iter().map(|(outcome, totals)| (*outcome, totals.n));
            for (outcome, n) in failed.chain([(Outcome::Ok, kind.ok.response.n)]) {
                *self.completed.entry(outcome).or_default() += n;
            }
            let bytes = u64::try_from(kind.ok.reply_bytes.sum).unwrap_or(u64::MAX);
            self.reply_bytes = self.reply_bytes.saturating_add(bytes);
        }
        self.response.add(&record.response);
        self.machine(record);
    }

    fn machine(&mut self, record: &IntervalRecord) {
        let length = record.end.saturating_sub(record.start).as_secs_f64();
        let per_second =
            |time: Nanos, of: f64| (0.0 < length && 0.0 < of).then(|| time.as_secs_f64() / length / of);
        self.generator_cpu = self.generator_cpu.saturating_add(record.health.cpu);
        self.generator_busy = per_second(record.health.cpu, f64::from(record.health.threads));
        self.sut_cpus = record.sut.and_then(|used| per_second(used.cpu, 1.0));
        if let Some(used) = record.sut {
            self.sut_cpu = Some(self.sut_cpu.unwrap_or_default().saturating_add(used.cpu));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use model::{FailedTotals, Flow, Health, KindTotals, Load, SutUse};
    use stats::Histogram;

    use super::*;

    /// A second of 20 users: three operations of 1.1, 2 and 4 ms, one refused, one in flight.
    pub(crate) fn second() -> IntervalRecord {
        let mut kind = KindTotals::default();
        let mut response = Histogram::new();
        for nanos in [1_100_000, 2_000_000, 4_000_000] {
            kind.ok.response.record(nanos);
            kind.ok.reply_bytes.record(687);
            response.record(Nanos(nanos));
        }
        kind.failed.insert(Outcome::Refused, FailedTotals { n: 1, ..FailedTotals::default() });
        let flow = Flow { due: 5, ok: 3, failed: 1, in_flight_at_end: 1, ..Flow::default() };
        IntervalRecord {
            phase: Phase::Steady,
            end: Nanos::from_secs(1),
            flow,
            kinds: vec![kind],
            response,
            health: Health { threads: 2, cpu: Nanos::from_millis(500), run_queue: Nanos::ZERO },
            sut: Some(SutUse { cpu: Nanos::from_millis(350), throttled: Nanos::ZERO }),
            ..IntervalRecord::empty(1, 0)
        }
    }

    fn name(server: &str) -> RunLabels {
        RunLabels { benchmark: "web96".to_owned(), version: 1, server: server.to_owned() }
    }

    fn of(runs: Vec<RunTotals>) -> Snapshot {
        Snapshot { program: "0.1.0".to_owned(), began: WallTime(2_000), runs, current: 0 }
    }

    /// Two runs of which one has had one second.
    pub(crate) fn snapshot() -> Snapshot {
        let mut running = RunTotals::new(name("nginx"));
        running.load_point(LoadPoint { index: 1, load: Load::Users(20) });
        running.interval(&second());
        of(vec![running, RunTotals::new(name("apache"))])
    }

    pub(crate) fn hostile() -> Snapshot {
        of(vec![RunTotals::new(name("a\"b\\c\nd"))])
    }

    #[test]
    fn totals_grow_and_gauges_are_those_of_the_last_second() {
        let mut run = RunTotals::new(name("nginx"));
        run.interval(&second());
        let idle = Health { cpu: Nanos::from_millis(100), ..second().health };
        run.interval(&IntervalRecord { health: idle, sut: None, ..second() });
        assert_eq!(run.completed, [(Outcome::Ok, 6), (Outcome::Refused, 2)].into());
        assert_eq!((run.due, run.reply_bytes, run.response.n(), run.in_flight), (10, 6 * 687, 6, 1));
        assert_eq!((run.generator_cpu, run.generator_busy), (Nanos::from_millis(600), Some(0.05)));
        assert_eq!((run.sut_cpu, run.sut_cpus), (Some(Nanos::from_millis(350)), None));
        run.load_point(LoadPoint { index: 2, load: Load::Users(40) });
        assert_eq!((run.due, run.in_flight, run.phase), (10, 0, None));
    }

    #[test]
    fn an_interval_without_length_has_no_shares() {
        let mut run = RunTotals::new(name("nginx"));
        run.interval(&IntervalRecord { end: Nanos::ZERO, ..second() });
        assert_eq!((run.generator_busy, run.sut_cpus), (None, None));
    }
}
