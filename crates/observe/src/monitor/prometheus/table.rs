//! The form of a table: the series of each counter.

use model::Counter;

/// Microseconds per second: series count time in seconds.
pub(super) const MICROS: f64 = 1e6;

/// Bits per byte.
pub(super) const BITS: f64 = 8.0;

/// A sum of series that gives a counter, in the counter's unit.
///
/// It has a value for every instance with all of its terms. Of several sums for one counter, the first with a
/// value counts: newer names come first.
#[derive(Debug)]
pub(super) struct SeriesSum {
    /// The counter.
    pub counter: Counter,
    /// The label that names the instance; empty for counters of the whole machine.
    pub instance: &'static str,
    /// Units of the counter per unit of the series.
    pub factor: f64,
    /// The terms.
    pub terms: &'static [SeriesTerm],
}

/// Series of one name that are added or subtracted.
#[derive(Debug)]
pub(super) struct SeriesTerm {
    /// Name of the metric.
    pub name: &'static str,
    /// 1 or −1.
    pub sign: f64,
    /// Labels that must have these values.
    pub only: &'static [(&'static str, &'static str)],
    /// Labels that are summed over. Series that differ in another label are duplicates.
    pub over: &'static [&'static str],
    /// Whether the term may be missing, counting as zero.
    pub is_optional: bool,
}

/// A counter of the whole machine.
pub(super) const fn one(counter: Counter, terms: &'static [SeriesTerm]) -> SeriesSum {
    each(counter, "", terms)
}

/// A counter of every value of a label.
pub(super) const fn each(
    counter: Counter,
    instance: &'static str,
    terms: &'static [SeriesTerm],
) -> SeriesSum {
    SeriesSum { counter, instance, factor: 1.0, terms }
}

/// A term that is added.
pub(super) const fn plus(name: &'static str) -> SeriesTerm {
    SeriesTerm { name, sign: 1.0, only: &[], over: &[], is_optional: false }
}

/// A term that is subtracted.
pub(super) const fn minus(name: &'static str) -> SeriesTerm {
    SeriesTerm { sign: -1.0, ..plus(name) }
}

impl SeriesSum {
    /// Sets the unit conversion factor.
    pub(super) const fn times(self, factor: f64) -> SeriesSum {
        SeriesSum { factor, ..self }
    }
}

impl SeriesTerm {
    /// Selects only series with these labels.
    pub(super) const fn only(self, only: &'static [(&'static str, &'static str)]) -> SeriesTerm {
        SeriesTerm { only, ..self }
    }

    /// Sums over these labels.
    pub(super) const fn over(self, over: &'static [&'static str]) -> SeriesTerm {
        SeriesTerm { over, ..self }
    }

    /// Makes the term optional.
    pub(super) const fn if_any(self) -> SeriesTerm {
        SeriesTerm { is_optional: true, ..self }
    }
}
