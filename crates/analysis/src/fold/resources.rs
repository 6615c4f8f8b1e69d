//! The metrics of machines during the steady phase, series by series.

use std::collections::BTreeMap;

use model::{CounterKind, ResourceRecord, Series};
use units::Nanos;

/// The farthest that a reading may be from an end of the steady phase and still belong to it: it is taken on the
/// second, and reading takes a while.
const SLACK: Nanos = Nanos::from_millis(500);

/// The value beyond which a total of 32 bits is close to wrapping to zero.
const NEAR_WRAP: u64 = 0xF000_0000;

/// The fold of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeriesFold {
    /// The time of the first reading.
    pub(crate) first_at: Nanos,
    pub(crate) last_at: Nanos,
    /// The value last read.
    pub(crate) last: u64,
    /// The growth of a total; whole over gaps, from zero where it began again.
    pub(crate) grown: u64,
    /// Number of times that a total began again.
    pub(crate) resets: u32,
    /// Number of readings.
    pub(crate) n: u64,
    /// Sum, least and greatest of a level.
    pub(crate) sum: u128,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// The series of one load point, over the readings in its steady phase.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    window: (Nanos, Nanos),
    /// The folds by number of the series.
    pub(crate) series: BTreeMap<u32, SeriesFold>,
}

impl Resources {
    /// Makes a fold of the steady phase between these times.
    pub(crate) fn new(start: Nanos, end: Nanos) -> Resources {
        Resources { window: (start.saturating_sub(SLACK), end + SLACK), series: BTreeMap::new() }
    }

    /// Folds the readings of a machine. `known` has the series; numbers beyond it are skipped.
    pub(crate) fn record(&mut self, record: &ResourceRecord, known: &[Series]) {
        let (start, end) = self.window;
        if record.at < start || end < record.at {
            return;
        }
        for (number, value) in &record.values {
            let Some(series) = known.get(*number as usize) else { continue };
            match self.series.get_mut(number) {
                Some(fold) => fold.add(series.counter.kind(), record.at, *value),
                None => {
                    self.series.insert(*number, SeriesFold::new(record.at, *value));
                }
            }
        }
    }
}

impl SeriesFold {
    fn new(at: Nanos, value: u64) -> SeriesFold {
        SeriesFold {
            first_at: at,
            last_at: at,
            last: value,
            grown: 0,
            resets: 0,
            n: 1,
            sum: value.into(),
            min: value,
            max: value,
        }
    }

    fn add(&mut self, kind: CounterKind, at: Nanos, value: u64) {
        if kind == CounterKind::Total {
            self.grow(value);
        }
        self.last_at = at;
        self.last = value;
        self.n += 1;
        self.sum = self.sum.saturating_add(value.into());
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the growth of a total. One that fell has wrapped at 32 bits if it was close to that, else it was reset.
    fn grow(&mut self, value: u64) {
        let grown = match value.checked_sub(self.last) {
            Some(grown) => grown,
            None if (NEAR_WRAP..1 << 32).contains(&self.last) && value < (1 << 32) - NEAR_WRAP => {
                value + (1 << 32) - self.last
            }
            None => {
                self.resets += 1;
                value
            }
        };
        self.grown = self.grown.saturating_add(grown);
    }
}

#[cfg(test)]
mod tests {
    use model::Counter;

    use super::*;

    fn folded(counter: Counter, readings: &[(u64, u64)]) -> Option<SeriesFold> {
        let known = [Series { machine: 0, counter, instance: String::new() }];
        let mut resources = Resources::new(Nanos::from_secs(10), Nanos::from_secs(20));
        for (second, value) in readings {
            let at = Nanos::from_secs(*second);
            let values = vec![(0, *value), (7, 1)];
            resources.record(&ResourceRecord { load_point: 0, machine: 0, at, values }, &known);
        }
        assert!(resources.series.len() <= 1, "series 7 is not known");
        resources.series.remove(&0)
    }

    #[test]
    fn only_the_steady_phase_counts() {
        let fold = folded(Counter::Forks, &[(9, 5), (10, 100), (11, 130), (20, 200), (21, 999)]).unwrap();
        assert_eq!((fold.grown, fold.n, fold.resets), (100, 3, 0));
        assert_eq!(fold.last_at - fold.first_at, Nanos::from_secs(10));
        assert_eq!(folded(Counter::Forks, &[(9, 5)]), None);
    }

    /// By hand: 100 → 150 (+50), begins again at 20 (+20), → 60 (+40).
    #[test]
    fn a_total_that_is_reset_counts_from_zero() {
        let fold = folded(Counter::DiskReads, &[(10, 100), (11, 150), (12, 20), (13, 60)]).unwrap();
        assert_eq!((fold.grown, fold.resets), (110, 1));
    }

    /// By hand: 2³² − 10 → 5: 15 bytes more.
    #[test]
    fn a_total_of_32_bits_wraps() {
        let fold = folded(Counter::NetSentBytes, &[(10, (1 << 32) - 10), (11, 5)]).unwrap();
        assert_eq!((fold.grown, fold.resets), (15, 0));
    }

    #[test]
    fn a_gap_loses_nothing_of_a_total() {
        let fold = folded(Counter::Forks, &[(10, 1), (19, 91)]).unwrap();
        assert_eq!((fold.grown, fold.n), (90, 2));
    }

    #[test]
    fn a_level_has_mean_least_and_greatest() {
        let fold = folded(Counter::Runnable, &[(10, 4), (11, 1), (12, 7)]).unwrap();
        assert_eq!((fold.sum, fold.min, fold.max, fold.grown), (12, 1, 7, 0));
    }
}
