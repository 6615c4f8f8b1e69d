//! The seconds of a run, for the charts. Bounded: of a run of known length neighbors are merged, of another one the
//! oldest seconds go.

use std::collections::VecDeque;

use model::{IntervalRecord, Load, Phase};
use stats::Histogram;
use units::{Nanos, Ratio};

/// How many seconds are kept, merged or not.
pub const SECONDS_MAX: usize = 600;

/// Shorter intervals, as at the end of a phase, are too short for a rate in a chart.
const CHARTED_MIN: Nanos = Nanos::from_millis(500);

/// What is shown of one second, or of several that were merged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Second {
    /// When it began, in seconds of load since the run began: pauses between load points do not count.
    pub from: f64,
    /// When it ended, likewise.
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

impl Second {
    /// Merges with the second that follows: means by length of what is a rate, sums of what is counted, and the higher
    /// of two percentiles, because a chart must not hide a bad second.
    pub fn merge(&self, next: &Second) -> Second {
        let (before, after) = (self.at - self.from, next.at - next.from);
        let mean = |a: f64, b: f64| (a * before + b * after) / (before + after);
        Second {
            from: self.from,
            is_steady: self.is_steady && next.is_steady,
            rate: mean(self.rate, next.rate),
            due_rate: mean(self.due_rate, next.due_rate),
            errors: self.errors.saturating_add(next.errors),
            in_flight: mean(self.in_flight, next.in_flight),
            p50: self.p50.max(next.p50),
            p90: self.p90.max(next.p90),
            p99: self.p99.max(next.p99),
            ..*next
        }
    }
}

/// The seconds so far.
#[derive(Debug, Default)]
pub struct History {
    /// Oldest first, at most [`SECONDS_MAX`].
    pub seconds: VecDeque<Second>,
    /// Length of all load points by the plan; `None` if it is not known beforehand, as in a search.
    pub planned: Option<Nanos>,
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
            match self.planned {
                Some(_) => self.merge_neighbors(),
                None => drop(self.seconds.pop_front()),
            }
        }
        second
    }

    /// Halves the number of seconds; those of two load points stay apart.
    fn merge_neighbors(&mut self) {
        let mut merged: VecDeque<Second> = VecDeque::with_capacity(SECONDS_MAX + 1);
        let mut is_open = false;
        for second in self.seconds.drain(..) {
            match merged.back_mut() {
                Some(last) if is_open && last.ordinal == second.ordinal => {
                    *last = last.merge(&second);
                    is_open = false;
                }
                _ => {
                    merged.push_back(second);
                    is_open = true;
                }
            }
        }
        self.seconds = merged;
    }
}

fn second(place: Place, record: &IntervalRecord, at: f64) -> Second {
    let length = record.end.saturating_sub(record.start).0.max(1) as f64;
    let threads = f64::from(record.health.threads.max(1)) * length;
    let per_second = |n: u64| n as f64 * 1e9 / length;
    Second {
        from: (at - length / 1e9).max(0.0),
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

    /// By hand: of a run of 2,000 s whose load points have 300 s each, no second is lost and none is of two load points.
    #[test]
    fn a_run_of_known_length_is_kept_whole() {
        let mut history = History { planned: Some(Nanos::from_secs(2_000)), ..History::default() };
        for index in 0..2_000 {
            let place = Place { ordinal: index / 300, ..PLACE };
            history.add(place, &testing::record(index, Phase::Steady, 5));
        }
        assert!(history.seconds.len() <= SECONDS_MAX);
        assert_eq!((history.seconds[0].from, history.seconds.back().unwrap().at), (0.0, 2_000.0));
        let pairs = || history.seconds.iter().zip(history.seconds.iter().skip(1));
        assert!(pairs().all(|(a, b)| a.at == b.from), "without gaps");
        for second in &history.seconds {
            let first = (second.from / 300.0).floor();
            assert_eq!(f64::from(second.ordinal), first, "{second:?}");
            assert!(second.at <= 300.0 * (first + 1.0), "{second:?}");
            assert!((second.rate - 5.0).abs() < 1e-9, "{second:?}");
        }
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
