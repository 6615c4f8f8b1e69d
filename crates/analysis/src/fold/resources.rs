//! The metrics of machines during the steady phase, series by series.

use std::collections::BTreeMap;

use model::{Counter, CounterKind, Phase, Phases, ResourceRecord, Series};
use units::Nanos;

/// The farthest that a reading may be from an end of the steady phase and still say how far a total had come: it is taken
/// on the second.
const SLACK: Nanos = Nanos::from_millis(500);

/// The time by which a reading on the second is late on a busy machine, in which the load has moved no level.
const LATE: Nanos = Nanos::from_millis(100);

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
    /// Whether a level was read in the steady phase; readings beside it are then left out.
    pub(crate) is_steady: bool,
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
    /// The times between which levels are those of the steady phase.
    steady: (Nanos, Nanos),
    /// The time of the first reading of other programs, by machine.
    others_since: BTreeMap<u32, Nanos>,
    /// The folds by number of the series.
    pub(crate) series: BTreeMap<u32, SeriesFold>,
}

impl Resources {
    /// Makes a fold of the steady phase.
    ///
    /// A total is what has come together: the readings nearest to the ends of the phase count, also those beside it. A level is
    /// that of a moment: readings in the ramps, at the beginning of the load or after its end would make it less than it
    /// was. Where the load goes on after the phase, the reading at its end counts, which is always a little late.
    pub(crate) fn new(phases: &Phases) -> Resources {
        let start = phases.start_of(Phase::Steady);
        let end = phases.end_of(Phase::Steady);
        Resources {
            window: (start.saturating_sub(SLACK), end + SLACK),
            steady: (start.max(LATE), end + LATE.min(phases.ramp_down)),
            others_since: BTreeMap::new(),
            series: BTreeMap::new(),
        }
    }

    /// Folds the readings of a machine. `known` has the series; numbers beyond it are skipped.
    pub(crate) fn record(&mut self, record: &ResourceRecord, known: &[Series]) {
        let (start, end) = self.window;
        if record.at < start || end < record.at {
            return;
        }
        let is_steady = (self.steady.0..=self.steady.1).contains(&record.at);
        for (number, value) in &record.values {
            let Some(series) = known.get(*number as usize) else { continue };
            let mut new = SeriesFold::new(record.at, *value, is_steady);
            if series.counter == Counter::OtherCpu {
                new.begin_at(*self.others_since.entry(record.machine).or_insert(record.at));
            }
            match (self.series.get_mut(number), series.counter.kind()) {
                (None, _) => {
                    self.series.insert(*number, new);
                }
                (Some(fold), CounterKind::Total) if series.counter == Counter::OtherCpu => {
                    fold.add_net(record.at, *value);
                }
                (Some(fold), CounterKind::Total) => fold.add_total(record.at, *value),
                (Some(fold), CounterKind::Level) if fold.is_steady == is_steady => {
                    fold.add(record.at, *value)
                }
                // Those before the phase are replaced, those after it left out.
                (Some(fold), CounterKind::Level) if is_steady => *fold = new,
                (Some(_), CounterKind::Level) => {}
            }
        }
    }
}

impl SeriesFold {
    fn new(at: Nanos, value: u64, is_steady: bool) -> SeriesFold {
        SeriesFold {
            first_at: at,
            last_at: at,
            last: value,
            is_steady,
            grown: 0,
            resets: 0,
            n: 1,
            sum: value.into(),
            min: value,
            max: value,
        }
    }

    /// Counts the first value of a series as growth since an earlier time. The series of a program begins when it is first
    /// seen to have used some CPU time; until then it had used next to none.
    fn begin_at(&mut self, at: Nanos) {
        if at < self.first_at {
            self.first_at = at;
            self.grown = self.last;
        }
    }

    fn add_total(&mut self, at: Nanos, value: u64) {
        self.grow(value);
        self.add(at, value);
    }

    /// Adds the growth of a total that may fall, which is no reset: a program leaves the further ones, or is found to be a part
    /// of the server.
    fn add_net(&mut self, at: Nanos, value: u64) {
        self.grown = self.grown.saturating_add(value).saturating_sub(self.last);
        self.add(at, value);
    }

    fn add(&mut self, at: Nanos, value: u64) {
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
    use super::*;

    /// Folds readings at seconds of a load point with a steady phase from 10 s to 20 s.
    fn folded(counter: Counter, readings: &[(u64, u64)]) -> Option<SeriesFold> {
        let readings = readings.iter().map(|(second, value)| (1000 * second, *value));
        folded_over(phases([10, 10, 0]), counter, &readings.collect::<Vec<_>>())
    }

    /// Returns phases with a length in seconds of ramp-up, steady phase and ramp-down.
    fn phases(seconds: [u64; 3]) -> Phases {
        let [ramp_up, steady, ramp_down] = seconds.map(Nanos::from_secs);
        let quiet = Nanos::ZERO;
        let settle = Nanos::ZERO;
        let drain = Nanos::from_secs(5);
        Phases { quiet, ramp_up, settle, steady, ramp_down, drain }
    }

    /// Folds readings at milliseconds.
    fn folded_over(phases: Phases, counter: Counter, readings: &[(u64, u64)]) -> Option<SeriesFold> {
        let known = [Series { machine: 0, counter, instance: String::new() }];
        let mut resources = Resources::new(&phases);
        for (at, value) in readings {
            let at = Nanos::from_millis(*at);
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

    /// By hand: a program first seen 5 ms before the last reading, with 0.99 s, then 1.34 s: 1.34 s since the beginning.
    #[test]
    fn a_program_first_seen_late_counts_from_the_beginning() {
        let series =
            |instance: &str| Series { machine: 0, counter: Counter::OtherCpu, instance: instance.to_owned() };
        let known = [series("further programs"), series("apache2")];
        let mut resources = Resources::new(&phases([0, 5, 0]));
        let readings: [(u64, &[(u32, u64)]); 3] =
            [(0, &[(0, 0)]), (5000, &[(0, 0), (1, 990_000)]), (5005, &[(0, 0), (1, 1_340_000)])];
        for (at, values) in readings {
            let at = Nanos::from_millis(at);
            let values = values.to_vec();
            resources.record(&ResourceRecord { load_point: 0, machine: 0, at, values }, &known);
        }
        let late = resources.series[&1];
        assert_eq!((late.grown, late.last_at - late.first_at), (1_340_000, Nanos::from_millis(5005)));
    }

    /// By hand: 10 → 12 (+2), of which nothing is left when it falls to 8, → 9 (+1). And 10 → 16 (+6), of which 4 go, → 13 (+1).
    #[test]
    fn a_total_of_other_programs_that_falls_has_not_begun_again() {
        let fold = folded(Counter::OtherCpu, &[(10, 10), (11, 12), (12, 8), (13, 9)]).unwrap();
        assert_eq!((fold.grown, fold.resets), (1, 0));
        let fold = folded(Counter::OtherCpu, &[(10, 10), (11, 16), (12, 12), (13, 13)]).unwrap();
        assert_eq!((fold.grown, fold.resets), (3, 0));
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

    /// The reported case: six seconds of load, four threads that are always busy, and readings before and after it.
    #[test]
    fn levels_before_and_after_the_load_are_left_out() {
        let seconds = (1..6).map(|second| (1000 * second + 1, 4));
        let readings: Vec<_> = [(0, 0)].into_iter().chain(seconds).chain([(6000, 4), (6003, 0)]).collect();
        let fold = folded_over(phases([0, 6, 0]), Counter::ServiceBusy, &readings).unwrap();
        assert_eq!((fold.sum, fold.n, fold.min, fold.max), (24, 6, 4, 4));
        // The same of a total: its growth is that between the outermost readings.
        let fold = folded_over(phases([0, 6, 0]), Counter::Forks, &readings).unwrap();
        assert_eq!(fold.n, 8);
    }

    /// The load goes on after the steady phase: the reading at its end, which is late, is one of full load; those of the
    /// ramps are not.
    #[test]
    fn a_late_reading_at_the_end_counts_if_the_load_goes_on() {
        let readings = [(0, 0), (600, 1), (1002, 4), (2001, 4), (3040, 4), (3400, 2), (4000, 0)];
        let fold = folded_over(phases([1, 2, 1]), Counter::ServiceBusy, &readings).unwrap();
        assert_eq!((fold.sum, fold.n), (12, 3));
        let fold = folded_over(phases([1, 2, 0]), Counter::ServiceBusy, &readings).unwrap();
        assert_eq!((fold.sum, fold.n), (8, 2));
    }

    /// A phase without a reading of its own is judged by those beside it.
    #[test]
    fn a_phase_shorter_than_a_second_has_the_levels_beside_it() {
        let readings = [(1000, 3), (2000, 5)];
        let phases = Phases { ramp_up: Nanos::from_millis(1200), ..phases([0, 0, 1]) };
        let phases = Phases { steady: Nanos::from_millis(600), ..phases };
        let fold = folded_over(phases, Counter::Runnable, &readings).unwrap();
        assert_eq!((fold.sum, fold.n), (8, 2));
    }
}
