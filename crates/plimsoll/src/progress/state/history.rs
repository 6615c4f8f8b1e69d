//! The per-second history of a run, for the charts. Bounded: in a run of known length, neighbors are merged; otherwise
//! the oldest seconds are dropped.

use std::collections::VecDeque;

use analysis::IntervalFigures;
use model::{IntervalRecord, Load, Phase};
use stats::Histogram;
use units::{Nanos, Ratio};

/// Maximum number of entries, merged or not.
pub(super) const SECONDS_MAX: usize = 600;

/// Minimum length of an interval in a chart; shorter ones, as at the end of a phase, have no meaningful rate.
const CHARTED_MIN: Nanos = Nanos::from_millis(500);

/// The displayed values of one second, or of several merged seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SecondValues {
    /// Start, in seconds under load since the run began: pauses between load points do not count.
    pub from: f64,
    /// End, likewise.
    pub at: f64,
    /// Number of the load point over all runs, from 0.
    pub ordinal: u32,
    /// The offered load.
    pub load: Load,
    /// Index of the run.
    pub run: usize,
    /// Whether it belongs to the steady phase.
    pub is_steady: bool,
    /// Successful operations per second.
    pub rate: f64,
    /// Operations that fell due per second.
    pub due_rate: f64,
    /// Failed operations, including timeouts.
    pub errors: u64,
    /// Mean number of operations in flight.
    pub in_flight: f64,
    /// Median response time; `None` if there are too few operations.
    pub p50: Option<Nanos>,
    /// 95th percentile of the response time, likewise.
    pub p95: Option<Nanos>,
    /// 99th percentile of the response time, likewise.
    pub p99: Option<Nanos>,
    /// CPU utilization of the load threads.
    pub generator_busy: Ratio,
    /// Fraction of the time that load threads waited in the run queue.
    pub run_queue: Ratio,
    /// 99th percentile of the lateness; `None` if there are too few operations.
    pub lateness_p99: Option<Nanos>,
    /// CPUs used by the server.
    pub sut_cpus: Option<f64>,
}

/// The identity of a load point among those of all runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointKey {
    /// Number of the load point over all runs, from 0.
    pub ordinal: u32,
    /// The offered load.
    pub load: Load,
    /// Index of the run.
    pub run: usize,
}

impl SecondValues {
    /// Merges with the next second: length-weighted means of rates, sums of counts, and the higher of two percentiles,
    /// because a chart must not hide a bad second.
    pub(crate) fn merge(&self, next: &SecondValues) -> SecondValues {
        let before = self.at - self.from;
        let after = next.at - next.from;
        let mean = |a: f64, b: f64| (a * before + b * after) / (before + after);
        SecondValues {
            from: self.from,
            is_steady: self.is_steady && next.is_steady,
            rate: mean(self.rate, next.rate),
            due_rate: mean(self.due_rate, next.due_rate),
            errors: self.errors.saturating_add(next.errors),
            in_flight: mean(self.in_flight, next.in_flight),
            p50: self.p50.max(next.p50),
            p95: self.p95.max(next.p95),
            p99: self.p99.max(next.p99),
            ..*next
        }
    }
}

/// The history of all runs so far.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Oldest first, at most [`SECONDS_MAX`].
    pub seconds: VecDeque<SecondValues>,
    /// Planned length of all load points; `None` if it is not known beforehand, as in a search.
    pub planned: Option<Nanos>,
    /// Length of all load points so far.
    pub length: Nanos,
}

impl History {
    /// Adds the record of a second and returns its entry.
    pub(crate) fn add(&mut self, key: PointKey, record: &IntervalRecord) -> SecondValues {
        let length = record.end.saturating_sub(record.start);
        self.length = self.length.saturating_add(length);
        let second = second(key, record, self.length.as_secs_f64());
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

    /// Halves the number of entries; seconds of different load points are not merged.
    fn merge_neighbors(&mut self) {
        let mut merged: VecDeque<SecondValues> = VecDeque::with_capacity(SECONDS_MAX + 1);
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

fn second(key: PointKey, record: &IntervalRecord, at: f64) -> SecondValues {
    let length = record.end.saturating_sub(record.start).as_secs_f64();
    let figures = IntervalFigures::of(record);
    let figure = |of: fn(IntervalFigures) -> f64| figures.map_or(0.0, of);
    SecondValues {
        from: (at - length).max(0.0),
        at,
        ordinal: key.ordinal,
        load: key.load,
        run: key.run,
        is_steady: record.phase == Phase::Steady,
        rate: figure(|one| one.rate),
        due_rate: figure(|one| one.due_rate),
        errors: record.flow.failed.saturating_add(record.flow.timed_out),
        in_flight: figure(|one| one.in_flight_mean),
        p50: display_quantile(&record.response, 0.5),
        p95: display_quantile(&record.response, 0.95),
        p99: display_quantile(&record.response, 0.99),
        generator_busy: Ratio(figure(|one| one.generator_busy.unwrap_or_default())),
        run_queue: Ratio(figure(|one| one.generator_wait.unwrap_or_default())),
        lateness_p99: display_quantile(&record.lateness, 0.99),
        sut_cpus: figures.and_then(|one| one.sut_cpus),
    }
}

/// Returns a quantile of one second for display; `None` unless at least one value lies beyond it. One is too few for a
/// confidence interval.
fn display_quantile(histogram: &Histogram, q: f64) -> Option<Nanos> {
    let is_enough = 1.0 <= (1.0 - q) * histogram.n() as f64 + 1e-9;
    is_enough.then(|| histogram.quantile(Ratio(q))).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    const KEY: PointKey = PointKey { ordinal: 0, load: Load::Users(4), run: 0 };

    /// By hand: half a second with 40 successes: 80/s; 0.1 s of 0.5 s CPU: 20 %.
    #[test]
    fn rates_are_per_second_whatever_the_length() {
        let mut record = testing::record(0, Phase::Steady, 40);
        record.end = Nanos::from_millis(500);
        record.health.cpu = Nanos::from_millis(100);
        let second = History::default().add(KEY, &record);
        assert_eq!((second.rate, second.generator_busy, second.at), (80.0, Ratio(0.2), 0.5));
    }

    #[test]
    fn history_of_unknown_length_keeps_the_newest_seconds() {
        let mut history = History::default();
        for index in 0..1000 {
            history.add(KEY, &testing::record(index, Phase::Settle, 5));
        }
        assert_eq!(history.seconds.len(), SECONDS_MAX);
        assert_eq!((history.seconds[0].at, history.seconds[599].at), (401.0, 1000.0));
    }

    /// By hand: of a run of 2,000 s whose load points have 300 s each, no second is lost and none is of two load points.
    #[test]
    fn a_run_of_known_length_is_merged_and_complete() {
        let mut history = History { planned: Some(Nanos::from_secs(2_000)), ..History::default() };
        for index in 0..2_000 {
            let key = PointKey { ordinal: index / 300, ..KEY };
            history.add(key, &testing::record(index, Phase::Steady, 5));
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
    fn short_intervals_at_the_ends_of_phases_are_not_charted() {
        let mut history = History::default();
        let mut short = testing::record(0, Phase::Steady, 3);
        short.end = Nanos::from_millis(100);
        history.add(KEY, &short);
        assert!(history.seconds.is_empty());
        assert_eq!(history.length, Nanos::from_millis(100));
    }

    #[test]
    fn too_few_values_have_no_percentile() {
        let of = |n| {
            let second = History::default().add(KEY, &testing::record(0, Phase::Steady, n));
            [second.p50, second.p95, second.p99].map(|quantile| quantile.is_some())
        };
        assert_eq!([of(1), of(2), of(20)], [[false; 3], [true, false, false], [true, true, false]]);
        assert_eq!([of(99), of(100)], [[true, true, false], [true; 3]]);
    }
}
