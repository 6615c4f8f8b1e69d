//! The quantities of published figures.

use super::unit::Dimension;

/// The quantity of a printed figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PublishedQuantity {
    /// One of the table below.
    Of(QuantityForm),
    /// A percentile of the response time, from 0 to 100.
    Percentile(f64),
}

/// The form in which the values of a quantity are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// A whole number, exact when it has no decimals.
    Counted,
    /// A number that was set and not measured, exact when it has no decimals.
    Set(Measure),
    /// A number that was measured and rounded.
    Measured(Measure),
    /// A date.
    Date,
    /// Words.
    Words,
}

/// The dimension that numbers must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Plain,
    Time,
    PerTime,
    Data,
    DataPerTime,
    Money,
    Any,
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $writing:expr;)*) => {
        /// A quantity with a name of its own.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum QuantityForm {
            $($(#[$doc])* $name,)*
        }

        impl QuantityForm {
            /// Every quantity.
            pub const ALL: &[QuantityForm] = &[$(QuantityForm::$name,)*];

            /// Returns the name in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(QuantityForm::$name => $text,)*
                }
            }

            fn writing(self) -> Writing {
                match self {
                    $(QuantityForm::$name => $writing,)*
                }
            }
        }
    };
}

quantities! {
    /// Simulated users, clients or terminals.
    Users, "users", Writing::Counted;
    /// Operations that succeeded, in all.
    Operations, "operations", Writing::Counted;
    /// Operations that failed, in all.
    Errors, "errors", Writing::Counted;
    /// Operations that succeeded, per time.
    Rate, "rate", Writing::Measured(Measure::PerTime);
    /// Operations that failed, per time.
    ErrorRate, "error-rate", Writing::Measured(Measure::PerTime);
    /// Operations that were asked for, per time.
    OfferedRate, "offered-rate", Writing::Set(Measure::PerTime);
    /// Mean response time.
    Response, "response", Writing::Measured(Measure::Time);
    /// Mean time for which an operation keeps one server busy.
    Service, "service", Writing::Measured(Measure::Time);
    /// Mean pause of a user.
    Think, "think", Writing::Set(Measure::Time);
    /// Least response time.
    ResponseMin, "response-min", Writing::Measured(Measure::Time);
    /// Greatest response time.
    ResponseMax, "response-max", Writing::Measured(Measure::Time);
    /// Standard deviation of the response time.
    ResponseDeviation, "response-deviation", Writing::Measured(Measure::Time);
    /// Operations in progress or waiting, on average.
    InProgress, "in-progress", Writing::Measured(Measure::Plain);
    /// Length of the measurement.
    Duration, "duration", Writing::Set(Measure::Time);
    /// Data moved, in all.
    Data, "data", Writing::Measured(Measure::Data);
    /// Data moved per time.
    Throughput, "throughput", Writing::Measured(Measure::DataPerTime);
    /// Data that could be moved per time.
    Bandwidth, "bandwidth", Writing::Set(Measure::DataPerTime);
    /// Data moved per operation.
    Size, "size", Writing::Measured(Measure::Data);
    /// Data per operation by the definition of the workload, without heads.
    Body, "body", Writing::Measured(Measure::Data);
    /// Room for data, as built or configured.
    Capacity, "capacity", Writing::Set(Measure::Data);
    /// Busy part; may be summed over several servers.
    Utilization, "utilization", Writing::Measured(Measure::Plain);
    /// Over how many disks or CPUs a utilization is summed.
    Servers, "servers", Writing::Counted;
    /// Processors of a machine.
    Processors, "processors", Writing::Counted;
    /// Processors that the operating system sees.
    LogicalProcessors, "logical-processors", Writing::Counted;
    /// Interrupts per time.
    Interrupts, "interrupts", Writing::Measured(Measure::PerTime);
    /// Packets per time.
    Packets, "packets", Writing::Measured(Measure::PerTime);
    /// Money.
    Price, "price", Writing::Measured(Measure::Money);
    /// A part of a whole that is given completely.
    Share, "share", Writing::Measured(Measure::Plain);
    /// One class of operations relative to another.
    Ratio, "ratio", Writing::Measured(Measure::Plain);
    /// Anything else that is counted.
    Count, "count", Writing::Counted;
    /// A headline in a unit of its own.
    Score, "score", Writing::Measured(Measure::Plain);
    /// Anything else that is measured.
    Figure, "figure", Writing::Measured(Measure::Any);
    /// A date.
    Date, "date", Writing::Date;
    /// Words.
    Text, "text", Writing::Words;
    /// The system that a row is about.
    Subject, "subject", Writing::Words;
    /// The class of a row's figures.
    Class, "class", Writing::Words;
}

/// The prefix of percentiles; the number follows.
const PERCENTILE: &str = "percentile-";

impl PublishedQuantity {
    /// Reads the name of a quantity; `None` if there is no such quantity.
    pub fn parse(text: &str) -> Option<PublishedQuantity> {
        if let Some(number) = text.strip_prefix(PERCENTILE) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number = number.parse::<f64>().ok().filter(|number| is_number && *number <= 100.0)?;
            return Some(PublishedQuantity::Percentile(number));
        }
        let form = QuantityForm::ALL.iter().find(|form| form.name() == text)?;
        Some(PublishedQuantity::Of(*form))
    }

    /// Returns the name in files.
    pub fn name(self) -> String {
        match self {
            PublishedQuantity::Of(form) => form.name().to_owned(),
            PublishedQuantity::Percentile(number) => format!("{PERCENTILE}{number}"),
        }
    }

    /// Returns whether values of this dimension can be below zero: a `score` may be anything, and a `figure` a difference, a
    /// time relative to another or a loss, but no clock and no amount of data.
    pub(crate) fn can_be_negative(self, dimension: &Dimension) -> bool {
        match self {
            PublishedQuantity::Of(QuantityForm::Score) => true,
            PublishedQuantity::Of(QuantityForm::Figure) => {
                matches!(dimension, Dimension::Plain | Dimension::Time | Dimension::Money(_))
            }
            _ => false,
        }
    }

    /// Returns whether its values are whole numbers.
    pub(crate) fn is_counted(self) -> bool {
        self.writing() == Writing::Counted
    }

    /// Returns whether numbers without decimals are exact.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self.writing(), Writing::Counted | Writing::Set(_))
    }

    /// Returns whether its values are dates.
    pub(crate) fn is_date(self) -> bool {
        self.writing() == Writing::Date
    }

    /// Returns whether its values are words.
    pub(crate) fn is_words(self) -> bool {
        self.writing() == Writing::Words
    }

    /// Returns whether a number of this dimension can be a value of the quantity, or of its ratio to a divisor.
    pub(super) fn allows(self, dimension: &Dimension, is_per: bool) -> bool {
        let measure = match self.writing() {
            Writing::Counted => Measure::Plain,
            Writing::Set(measure) | Writing::Measured(measure) => measure,
            Writing::Date | Writing::Words => return false,
        };
        match (measure, dimension) {
            (Measure::Any, _)
            | (Measure::Plain, Dimension::Plain)
            | (Measure::Time, Dimension::Time)
            | (Measure::PerTime, Dimension::PerTime)
            | (Measure::Data, Dimension::Data)
            | (Measure::DataPerTime, Dimension::DataPerTime)
            | (Measure::Money, Dimension::Money(_)) => true,
            // Operations per user in a day are a rate per user.
            (Measure::Plain, Dimension::PerTime) => is_per,
            _ => false,
        }
    }

    /// Returns the unit of numbers that name none, as a hint: `/s`.
    pub(super) fn unit_hint(self) -> &'static str {
        match self.writing() {
            Writing::Set(measure) | Writing::Measured(measure) => match measure {
                Measure::Time => "s",
                Measure::PerTime => "/s",
                Measure::Data => "KiB",
                Measure::DataPerTime => "Mbit/s",
                Measure::Money => "USD",
                Measure::Plain | Measure::Any => "none",
            },
            Writing::Counted | Writing::Date | Writing::Words => "none",
        }
    }

    fn writing(self) -> Writing {
        match self {
            PublishedQuantity::Of(form) => form.writing(),
            PublishedQuantity::Percentile(_) => Writing::Measured(Measure::Time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for form in QuantityForm::ALL {
            let quantity = PublishedQuantity::Of(*form);
            assert_eq!(PublishedQuantity::parse(&quantity.name()), Some(quantity));
        }
        assert_eq!(PublishedQuantity::parse("percentile-99.9"), Some(PublishedQuantity::Percentile(99.9)));
        for text in ["", "latency", "percentile-", "percentile-101", "percentile-1e1", "percentile-x"] {
            assert_eq!(PublishedQuantity::parse(text), None, "{text}");
        }
    }

    #[test]
    fn counts_and_settings_are_exact() {
        let is_exact = |text| PublishedQuantity::parse(text).unwrap().is_exact();
        let names = ["users", "duration", "capacity", "size", "rate", "percentile-95"];
        assert_eq!(names.map(is_exact), [true, true, true, false, false, false]);
    }
}
