//! The last seconds, for the charts. Bounded.

use std::collections::VecDeque;

use model::{IntervalRecord, Load, Phase};
use stats::Histogram;
use units::{Nanos, Ratio};

/// How many seconds are kept.
pub const SECONDS_MAX: usize = 600;

/// Shorter intervals, as at the end of a phase, are too short for a rate in a chart.
const CHARTED_MIN: Nanos = Nanos::from_millis(500);

/// What is shown of one second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// When it ended, in seconds of load since the run began: pauses between load points do not count.
    pub at: f64,
    /// Counts the load points of all runs, from 0.
    pub ordinal: u32,
    /// What is offered.
    pub load: Load,
    /// Place of the run.
    pub run: usize,
    /// Whether it is measured.
    pub is_steady: bool,
    /// Successful operations per second.
    pub rate: f64,
    /// Operations that fell due per second.
    pub due_rate: f64,
    /// Failed operations, timed out ones included.
    pub errors: u64,
    /// Operations in flight, on the mean.
    pub in_flight: f64,
    /// Percentiles of the response time; `None` if too few.
    pub p50: Option<Nanos>,
    /// Likewise.
    pub p90: Option<Nanos>,
    /// Likewise.
    pub p99: Option<Nanos>,
    /// Use of the load threads' CPUs.
    pub generator_busy: Ratio,
    /// Part of the time that load threads waited for a CPU.
    pub run_queue: Ratio,
    /// 99th percentile of the lateness; `None` if nothing could be late.
    pub lateness_p99: Option<Nanos>,
    /// CPUs used by the server.
    pub sut_cpus: Option<f64>,
}

/// Which load point a second belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Counts the load points of all runs, from 0.
    pub ordinal: u32,
    /// What is offered.
    pub load: Load,
    /// Place of the run.
    pub run: usize,
}

/// The last seconds.
#[derive(Debug, Default)]
pub struct History {
    /// Oldest first, at most [`SECONDS_MAX`].
    pub seconds: VecDeque<Second>,
    /// Length of all load points so far.
    pub length: Nanos,
}

impl History {
    /// Takes the record of a second.
    pub fn add(&mut self, place: Place, record: &IntervalRecord) -> Second {
        let length = record.end.saturating_sub(record.start);
        self.length = self.length.saturating_add(length);
        let second = second(place, record, self.length.as_secs_f64());
        if CHARTED_MIN <= length {
            self.seconds.push_back(second);
        }
        if SECONDS_MAX < self.seconds.len() {
            self.seconds.pop_front();
        }
        second
    }
}

fn second(place: Place, record: &IntervalRecord, at: f64) -> Second {
    let length = record.end.saturating_sub(record.start).0.max(1) as f64;
    let threads = f64::from(record.health.threads.max(1)) * length;
    let per_second = |n: u64| n as f64 * 1e9 / length;
    Second {
        at,
        ordinal: place.ordinal,
        load: place.load,
        run: place.run,
        is_steady: record.phase == Phase::Steady,
        rate: per_second(record.flow.ok),
        due_rate: per_second(record.flow.due),
        errors: record.flow.failed.saturating_add(record.flow.timed_out),
        in_flight: record.flow.in_flight_ns as f64 / length,
        p50: glimpse(&record.response, 0.5),
        p90: glimpse(&record.response, 0.9),
        p99: glimpse(&record.response, 0.99),
        generator_busy: Ratio(record.health.cpu.0 as f64 / threads),
        run_queue: Ratio(record.health.run_queue.0 as f64 / threads),
        lateness_p99: glimpse(&record.lateness, 0.99),
        sut_cpus: record.sut.map(|used| used.cpu.0 as f64 / length),
    }
}

/// Returns a quantile of one second, for the eye: there is at least one value beyond it, which is too few for an interval.
fn glimpse(histogram: &Histogram, q: f64) -> Option<Nanos> {
    let is_enough = 1.0 <= (1.0 - q) * histogram.n() as f64 + 1e-9;
    is_enough.then(|| histogram.quantile(Ratio(q))).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const PLACE: Place = Place { ordinal: 0, load: Load::Users(4), run: 0 };

    /// By hand: half a second with 40 successes: 80/s; 0.1 s of 0.5 s CPU: 20 %.
    #[test]
    fn rates_are_per_second_whatever_the_length() {
        let mut record = testing::record(0, Phase::Steady, 40);
        record.end = Nanos::from_millis(500);
        record.health.cpu = Nanos::from_millis(100);
        let second = History::default().add(PLACE, &record);
        assert_eq!((second.rate, second.generator_busy, second.at), (80.0, Ratio(0.2), 0.5));
    }

    #[test]
    fn history_is_bounded_and_keeps_the_newest() {
        let mut history = History::default();
        for index in 0..1000 {
            history.add(PLACE, &testing::record(index, Phase::Settle, 5));
        }
        assert_eq!(history.seconds.len(), SECONDS_MAX);
        assert_eq!((history.seconds[0].at, history.seconds[599].at), (401.0, 1000.0));
    }

    #[test]
    fn scraps_at_the_ends_of_phases_are_not_charted() {
        let mut history = History::default();
        let mut scrap = testing::record(0, Phase::Steady, 3);
        scrap.end = Nanos::from_millis(100);
        history.add(PLACE, &scrap);
        assert!(history.seconds.is_empty());
        assert_eq!(history.length, Nanos::from_millis(100));
    }

    #[test]
    fn too_few_values_have_no_percentile() {
        let of = |n| {
            let second = History::default().add(PLACE, &testing::record(0, Phase::Steady, n));
            [second.p50, second.p90, second.p99].map(|quantile| quantile.is_some())
        };
        assert_eq!([of(1), of(2), of(10)], [[false; 3], [true, false, false], [true, true, false]]);
        assert_eq!([of(99), of(100)], [[true, true, false], [true; 3]]);
    }
}
