//! Response times in classes: counts of operations per class and second, for a heat map.

use stats::Histogram;
use units::Nanos;

/// The first numbers of the classes of a decade: Renard's series R5, whose ratios are nearly equal.
///
/// Source: ISO 3:1973, preferred numbers.
const STEPS: [u64; PER_DECADE as usize] = [1_000, 1_600, 2_500, 4_000, 6_300];

/// The number of classes of a decade.
const PER_DECADE: u8 = 5;

/// The last class: 2,500 s and more. Histograms count longer times than an hour as one hour.
const LAST: u8 = 48;

/// Counts of operations by class of response time.
///
/// Class 0 has times below 1 µs; from there on five classes make a decade ([`class_start`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeClasses {
    /// Class and number, above zero; by rising class.
    counts: Vec<(u8, u64)>,
}

/// Returns the shortest time of a class; the class ends at that of the next one.
pub fn class_start(class: u8) -> Nanos {
    match class.checked_sub(1) {
        None => Nanos::ZERO,
        Some(index) => {
            let index = index.min(LAST);
            let decade = 10_u64.pow(u32::from(index / PER_DECADE));
            Nanos(STEPS[usize::from(index % PER_DECADE)] * decade)
        }
    }
}

impl TimeClasses {
    /// Counts the times of a histogram. Buckets have three digits: one on the border of two classes counts in the
    /// class of its shortest time.
    pub fn of(times: &Histogram) -> TimeClasses {
        let mut counts: Vec<(u8, u64)> = Vec::new();
        let mut class = 0;
        for bucket in times.buckets() {
            while class < LAST && class_start(class + 1) <= bucket.low {
                class += 1;
            }
            match counts.last_mut() {
                Some((last, n)) if *last == class => *n += bucket.count,
                _ => counts.push((class, bucket.count)),
            }
        }
        TimeClasses { counts }
    }

    /// Returns the classes that are not empty, with their counts, by rising class.
    pub fn counts(&self) -> &[(u8, u64)] {
        &self.counts
    }

    /// Returns the number of operations in all classes.
    pub fn n(&self) -> u64 {
        self.counts.iter().map(|(_, n)| n).sum()
    }

    /// Adds the operations of another.
    pub fn merge(&mut self, other: &TimeClasses) {
        for (class, n) in &other.counts {
            match self.counts.binary_search_by_key(class, |(known, _)| *known) {
                Ok(index) => self.counts[index].1 += n,
                Err(index) => self.counts.insert(index, (*class, *n)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: &[u64]) -> TimeClasses {
        let mut histogram = Histogram::new();
        times.iter().for_each(|time| histogram.record(Nanos(*time)));
        TimeClasses::of(&histogram)
    }

    #[test]
    fn five_classes_make_a_decade() {
        let starts: Vec<u64> = (0..8).map(|class| class_start(class).0).collect();
        assert_eq!(starts, [0, 1_000, 1_600, 2_500, 4_000, 6_300, 10_000, 16_000]);
        assert_eq!(class_start(LAST), Nanos::from_secs(2_500));
        assert!((0..LAST).all(|class| class_start(class) < class_start(class + 1)));
    }

    /// By hand: 999 ns; 1,000 and 1,599 ns; 1,600 ns; an hour, the longest that has a bucket.
    #[test]
    fn a_time_falls_into_the_class_that_has_begun() {
        let hour = Histogram::HIGHEST.0;
        assert_eq!(of(&[999, 1_000, 1_599, 1_600, hour]).counts(), [(0, 1), (1, 2), (2, 1), (LAST, 1)]);
        assert_eq!(of(&[u64::MAX]).counts(), [(LAST, 1)]);
        assert_eq!(of(&[]), TimeClasses::default());
    }

    #[test]
    fn merging_adds_class_by_class() {
        let mut all = of(&[1_000, 5_000]);
        all.merge(&of(&[1_100, 2_600, 70_000]));
        assert_eq!(all, of(&[1_000, 1_100, 2_600, 5_000, 70_000]));
        assert_eq!(all.n(), 5);
    }
}
