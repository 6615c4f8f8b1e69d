//! Intervals for the percentiles of the response time, from batches of the seconds of the steady phase.

use stats::{Batches, Histogram};
use units::{Nanos, Ratio};

use crate::percentiles::{CONFIDENCE, QUANTILES};

/// The batches during the steady phase; afterwards only the intervals, because batches need a few MB.
#[derive(Debug)]
pub(crate) enum QuantileIntervals {
    /// Seconds may follow.
    Open(Batches),
    /// None follows, or the values were too many to be merged. Lower and upper end per quantile, in the order of [`QUANTILES`].
    Closed([Option<(Nanos, Nanos)>; QUANTILES.len()]),
}

impl QuantileIntervals {
    /// Adds the response times of the next second; nothing once closed.
    pub(super) fn push(&mut self, second: &Histogram) {
        if let QuantileIntervals::Open(batches) = self
            && batches.push(second).is_err()
        {
            *self = QuantileIntervals::Closed(Default::default());
        }
    }

    /// Makes the intervals and drops the batches.
    pub(super) fn close(&mut self) {
        if let QuantileIntervals::Open(batches) = self {
            let interval = |q| {
                let found = batches.quantile_interval(Ratio(q), CONFIDENCE)?;
                Some((found.low, found.high))
            };
            *self = QuantileIntervals::Closed(QUANTILES.map(interval));
        }
    }

    /// Returns the 95 % interval for one of [`QUANTILES`]; `None` if the phase is too short for one, and before its
    /// end.
    pub(crate) fn of(&self, q: f64) -> Option<(Nanos, Nanos)> {
        let QuantileIntervals::Closed(intervals) = self else { return None };
        intervals[QUANTILES.iter().position(|known| *known == q)?]
    }
}

impl Default for QuantileIntervals {
    fn default() -> QuantileIntervals {
        QuantileIntervals::Open(Batches::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ten seconds that do not differ give the interval of 1,000 independent values: the median within
    /// ranks 469 and 532 (500 ± 1.96 · √250); p99.9 needs 3,688 values.
    #[test]
    fn intervals_come_with_the_end_of_the_phase() {
        let mut second = Histogram::new();
        (1..=100).for_each(|k| second.record(Nanos(k)));
        let mut intervals = QuantileIntervals::default();
        (0..10).for_each(|_| intervals.push(&second));
        assert_eq!(intervals.of(0.5), None);
        intervals.close();
        assert_eq!(intervals.of(0.5), Some((Nanos(47), Nanos(54))));
        assert!(intervals.of(0.99).is_some() && intervals.of(0.999).is_none() && intervals.of(0.3).is_none());
        intervals.push(&second);
        intervals.close();
        assert_eq!(intervals.of(0.5), Some((Nanos(47), Nanos(54))));
    }
}
