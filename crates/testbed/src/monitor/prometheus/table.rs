//! The form of a table: which series make which counter.

use model::Counter;

/// Microseconds per second: series count time in seconds.
pub const MICROS: f64 = 1e6;

/// Bits per byte.
pub const BITS: f64 = 8.0;

/// One way to a counter: the sum of series, in the counter's unit.
///
/// A line gives a value for every instance for which all of its terms are there. Where several lines lead to one
/// counter, the first that gives a value is the one that counts: newer names stand before older ones.
#[derive(Debug)]
pub struct Line {
    /// What is counted.
    pub counter: Counter,
    /// The label that names the instance; empty for what a machine has once.
    pub instance: &'static str,
    /// Units of the counter in one unit of the series.
    pub factor: f64,
    /// What is added up.
    pub terms: &'static [Term],
}

/// Series of one name that are added, or taken away.
#[derive(Debug)]
pub struct Term {
    /// Name of the metric.
    pub name: &'static str,
    /// 1 or −1.
    pub sign: f64,
    /// Labels that must have a value, and which.
    pub only: &'static [(&'static str, &'static str)],
    /// Labels over whose values is summed. Whatever differs in another label is taken as a second copy.
    pub over: &'static [&'static str],
    /// Whether the line holds without it, as if it were zero.
    pub is_optional: bool,
}

/// A counter that a machine has once.
pub const fn one(counter: Counter, terms: &'static [Term]) -> Line {
    each(counter, "", terms)
}

/// A counter of every value of a label.
pub const fn each(counter: Counter, instance: &'static str, terms: &'static [Term]) -> Line {
    Line { counter, instance, factor: 1.0, terms }
}

/// What is added.
pub const fn plus(name: &'static str) -> Term {
    Term { name, sign: 1.0, only: &[], over: &[], is_optional: false }
}

/// What is taken away.
pub const fn minus(name: &'static str) -> Term {
    Term { sign: -1.0, ..plus(name) }
}

impl Line {
    /// Converts the unit.
    pub const fn times(self, factor: f64) -> Line {
        Line { factor, ..self }
    }
}

impl Term {
    /// Takes only series with these labels.
    pub const fn only(self, only: &'static [(&'static str, &'static str)]) -> Term {
        Term { only, ..self }
    }

    /// Sums over these labels.
    pub const fn over(self, over: &'static [&'static str]) -> Term {
        Term { over, ..self }
    }

    /// Lets the line hold without it.
    pub const fn if_any(self) -> Term {
        Term { is_optional: true, ..self }
    }
}
