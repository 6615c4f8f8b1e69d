//! Limits on results that a user accepts, as people write them: `p99<50ms,errors<0.1%`.
//!
//! ```text
//! limits     = limit { "," limit }
//! limit      = metric comparison number [ unit ]
//! ```
//!
//! | metric | of what | comparison | units |
//! |---|---|---|---|
//! | `p50`, `p98`, `p99.9`: any percentile; `mean` `max` | response time of successful operations | `<` `<=` | ns us ms s min h |
//! | `errors` | failed ÷ completed operations | `<` `<=` | % or none (a ratio from 0 to 1) |
//! | `delivered` | successful operations ÷ those that fell due, open loop | `>` `>=` | % or none |
//! | `rate` | successful operations per second | `>` `>=` | /s or none |

use std::fmt;
use std::ops::Range;

use languages::{RATE_MAX, nearest};
use serde::{Deserialize, Serialize};
use units::Nanos;

/// The longest time of a limit, in s: histograms end there.
const SECONDS_MAX: f64 = 3600.0;

/// The metric that a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitMetric {
    /// A percentile of the response time.
    Percentile(PercentileRank),
    /// Arithmetic mean of the response time.
    Mean,
    /// The longest response time.
    Max,
    /// Failed ÷ completed operations.
    Errors,
    /// Successful operations ÷ those that fell due; open loops only.
    Delivered,
    /// Successful operations per second.
    Rate,
}

/// The rank of a percentile in thousandths of a percent, above 0 and below 100 %: 99,900 is `p99.9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PercentileRank(u32);

/// The comparison between a value and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitComparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// The unit in which a limit was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    /// None: a ratio from 0 to 1, or operations per second.
    Plain,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
    /// Minutes.
    Min,
    /// Hours.
    H,
    /// Hundredths.
    Percent,
    /// Operations per second.
    PerSecond,
}

/// One limit. A limit that exists makes sense: its comparison and unit fit its metric, and it can be met.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Limit {
    metric: LimitMetric,
    comparison: LimitComparison,
    amount: f64,
    unit: LimitUnit,
}

/// A mistake in a list of limits, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LimitError {
    /// The message: what was expected and what was found.
    pub message: String,
    /// The position, in bytes from the start of the list.
    pub span: Range<usize>,
    /// The remedy: what to write instead.
    pub hint: String,
}

/// A limit that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LimitFault {
    /// The comparison does not fit the metric.
    #[error("`{0}` needs {side} limit", side = if .0.is_better_below() { "an upper" } else { "a lower" })]
    Comparison(LimitMetric),
    /// The unit does not fit the metric.
    #[error("the unit is not one of `{0}`")]
    Unit(LimitMetric),
    /// No load point could meet it, or each does.
    #[error("`{0}` {reach}", reach = .0.reach())]
    Amount(Limit),
}

/// All metrics that are no percentile.
const METRICS: &[(&str, LimitMetric)] = &[
    ("mean", LimitMetric::Mean),
    ("max", LimitMetric::Max),
    ("errors", LimitMetric::Errors),
    ("delivered", LimitMetric::Delivered),
    ("rate", LimitMetric::Rate),
];

/// Percentiles that the hint for an unknown name lists.
const PERCENTILES: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];

/// Comparisons by their signs, longer ones first, because a text is matched from its start.
const COMPARISONS: &[(&str, LimitComparison)] = &[
    ("<=", LimitComparison::AtMost),
    ("<", LimitComparison::Below),
    (">=", LimitComparison::AtLeast),
    (">", LimitComparison::Above),
];

/// Names, units, and their size in s.
const TIME_UNITS: &[(&str, LimitUnit, f64)] = &[
    ("ns", LimitUnit::Ns, 1e-9),
    ("us", LimitUnit::Us, 1e-6),
    ("µs", LimitUnit::Us, 1e-6),
    ("ms", LimitUnit::Ms, 1e-3),
    ("s", LimitUnit::S, 1.0),
    ("min", LimitUnit::Min, 60.0),
    ("h", LimitUnit::H, 3600.0),
];

const SHARE_UNITS: &[(&str, LimitUnit, f64)] =
    &[("%", LimitUnit::Percent, 0.01), ("", LimitUnit::Plain, 1.0)];

const RATE_UNITS: &[(&str, LimitUnit, f64)] =
    &[("/s", LimitUnit::PerSecond, 1.0), ("", LimitUnit::Plain, 1.0)];

impl PercentileRank {
    /// The 99th percentile.
    pub const P99: PercentileRank = PercentileRank(99_000);

    /// Reads the name of a percentile: `p`, a number above 0 and below 100, at most three decimals; `None` if it is none.
    pub fn parse(name: &str) -> Option<PercentileRank> {
        let number = name.strip_prefix('p')?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole) || !is_digits(decimals) || 2 < whole.len() || 3 < decimals.len() {
            return None;
        }
        let thousandths = format!("{whole}{decimals:0<3}").parse().ok()?;
        (0 < thousandths).then_some(PercentileRank(thousandths))
    }

    /// Returns the quantile, from 0 to 1.
    pub fn quantile(self) -> f64 {
        f64::from(self.0) / 100_000.0
    }
}

impl fmt::Display for PercentileRank {
    /// Writes the name as it is read: `p99.9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", f64::from(self.0) / 1000.0)
    }
}

impl fmt::Display for LimitMetric {
    /// Writes the name as it is read: `p99.9`, `errors`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitMetric::Percentile(rank) => rank.fmt(f),
            metric => {
                let named = METRICS.iter().find(|(_, known)| known == metric);
                f.write_str(named.expect("every metric but percentiles has a name").0)
            }
        }
    }
}

impl LimitMetric {
    /// Returns the quantile of the response time, from 0 to 1; `None` for other metrics.
    pub fn quantile(self) -> Option<f64> {
        match self {
            LimitMetric::Percentile(rank) => Some(rank.quantile()),
            _ => None,
        }
    }

    /// Returns whether the metric is a time, in s.
    pub fn is_time(self) -> bool {
        self.quantile().is_some() || matches!(self, LimitMetric::Mean | LimitMetric::Max)
    }

    /// Writes a value of the metric for people; as of [`Limit::value`], in s, as a ratio, or per second.
    pub fn text(self, value: f64) -> String {
        match self {
            LimitMetric::Errors | LimitMetric::Delivered => format!("{:.2} %", 100.0 * value),
            LimitMetric::Rate => format!("{value:.1}/s"),
            LimitMetric::Percentile(_) | LimitMetric::Mean | LimitMetric::Max => {
                Nanos::from_secs_f64(value).to_string()
            }
        }
    }

    /// Returns whether lower values are better, so that its limits are upper ones.
    fn is_better_below(self) -> bool {
        !matches!(self, LimitMetric::Delivered | LimitMetric::Rate)
    }

    fn units(self) -> &'static [(&'static str, LimitUnit, f64)] {
        match self {
            LimitMetric::Errors | LimitMetric::Delivered => SHARE_UNITS,
            LimitMetric::Rate => RATE_UNITS,
            _ => TIME_UNITS,
        }
    }

    /// Returns an example of a limit on the metric.
    fn example(self) -> String {
        let rest = match self {
            LimitMetric::Errors => "<0.1%",
            LimitMetric::Delivered => ">=95%",
            LimitMetric::Rate => ">=500/s",
            _ => "<50ms",
        };
        format!("{self}{rest}")
    }
}

impl LimitComparison {
    /// Returns whether a value compares so with a limit; false for NaN.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            LimitComparison::Below => value < limit,
            LimitComparison::AtMost => value <= limit,
            LimitComparison::Above => limit < value,
            LimitComparison::AtLeast => limit <= value,
        }
    }

    fn is_upper(self) -> bool {
        matches!(self, LimitComparison::Below | LimitComparison::AtMost)
    }
}

impl Limit {
    /// Makes a limit.
    ///
    /// # Errors
    ///
    /// Comparison or unit do not fit the metric, or no load point could ever meet the limit.
    pub fn new(
        metric: LimitMetric,
        comparison: LimitComparison,
        amount: f64,
        unit: LimitUnit,
    ) -> Result<Limit, LimitFault> {
        if comparison.is_upper() != metric.is_better_below() {
            return Err(LimitFault::Comparison(metric));
        }
        if !metric.units().iter().any(|(_, known, _)| *known == unit) {
            return Err(LimitFault::Unit(metric));
        }
        let limit = Limit { metric, comparison, amount, unit };
        if limit.can_be_met() { Ok(limit) } else { Err(LimitFault::Amount(limit)) }
    }

    /// Returns the metric that the limit is on.
    pub fn metric(self) -> LimitMetric {
        self.metric
    }

    /// Returns the limit's value: in s, as a ratio from 0 to 1, or in operations/s.
    pub fn value(self) -> f64 {
        let mut units = self.metric.units().iter();
        self.amount * units.find(|(_, unit, _)| *unit == self.unit).expect("the unit fits the metric").2
    }

    /// Returns whether a measured value (in the unit of [`Limit::value`]) is within the limit.
    pub fn allows(self, value: f64) -> bool {
        self.comparison.holds(value, self.value())
    }

    fn can_be_met(self) -> bool {
        let value = self.value();
        match self.metric {
            LimitMetric::Errors => (0.0..=1.0).contains(&value) && self.allows(0.0),
            LimitMetric::Delivered => 0.0 < value && self.allows(1.0),
            LimitMetric::Rate => 0.0 < value && value <= RATE_MAX,
            _ => 0.0 < value && value <= SECONDS_MAX,
        }
    }

    /// Returns the range in which a limit of this metric must lie.
    fn reach(self) -> String {
        match self.metric {
            LimitMetric::Errors => "cannot be met: errors are from 0 to 100 %".to_owned(),
            LimitMetric::Delivered => {
                "cannot be met or has no effect: the delivered share is above 0 and up to 100 %".to_owned()
            }
            LimitMetric::Rate => format!("is not a rate above 0 and up to {RATE_MAX} per second"),
            _ => "is not a time above 0 and up to 1 h".to_owned(),
        }
    }
}

impl fmt::Display for Limit {
    /// Writes the limit as it was read, without white space: `p99<50ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = COMPARISONS.iter().find(|(_, comparison)| *comparison == self.comparison);
        let unit = self.metric.units().iter().find(|(_, unit, _)| *unit == self.unit);
        let sign = sign.map_or("", |(sign, _)| sign);
        let unit = unit.map_or("", |(name, ..)| name);
        write!(f, "{}{sign}{}{unit}", self.metric, self.amount)
    }
}

impl From<Limit> for String {
    fn from(limit: Limit) -> String {
        limit.to_string()
    }
}

impl TryFrom<String> for Limit {
    type Error = LimitError;

    fn try_from(text: String) -> Result<Limit, LimitError> {
        Piece { text: &text, start: 0 }.trim().limit()
    }
}

/// Reads a list of limits, in the order written; not empty.
///
/// # Errors
///
/// If it is not such a list, a limit makes no sense (see [`Limit::new`]), or a metric comes twice.
pub fn parse_limits(text: &str) -> Result<Vec<Limit>, LimitError> {
    let mut limits: Vec<Limit> = Vec::new();
    let mut start = 0;
    for item in text.split(',') {
        let piece = Piece { text: item, start }.trim();
        start += item.len() + 1;
        let limit = piece.limit()?;
        if limits.iter().any(|other| other.metric == limit.metric) {
            let message = format!("`{}` is listed twice", limit.metric);
            return Err(piece.error(message, "leave one of them out"));
        }
        limits.push(limit);
    }
    Ok(limits)
}

/// Writes limits so that [`parse_limits`] gives the same again.
pub fn limits_text(limits: &[Limit]) -> String {
    limits.iter().map(Limit::to_string).collect::<Vec<_>>().join(",")
}

/// A part of the list, with its position.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Piece<'a> {
    fn trim(self) -> Piece<'a> {
        let lead = self.text.len() - self.text.trim_start().len();
        Piece { text: self.text.trim(), start: self.start + lead }
    }

    /// Splits the part at `at`, the start of a character.
    fn cut(self, at: usize) -> (Piece<'a>, Piece<'a>) {
        let (left, right) = self.text.split_at(at);
        let right = Piece { text: right, start: self.start + at };
        (Piece { text: left, ..self }.trim(), right.trim())
    }

    fn error(self, message: String, hint: &str) -> LimitError {
        let span = self.start..self.start + self.text.len();
        LimitError { message, span, hint: hint.to_owned() }
    }

    fn limit(self) -> Result<Limit, LimitError> {
        const HINT: &str = "write metric, comparison and value, such as `p99<50ms,errors<0.1%`";
        let Some(at) = self.text.find(['<', '>', '=']) else {
            return Err(self.error(format!("expected a limit, found `{}`", self.text), HINT));
        };
        let (name, rest) = self.cut(at);
        let metric = name.metric()?;
        let hint = format!("write a limit such as `{}`", metric.example());
        let Some((sign, comparison)) = COMPARISONS.iter().find(|(sign, _)| rest.text.starts_with(sign))
        else {
            return Err(rest.error(format!("`{}` is not a comparison with a limit", rest.text), &hint));
        };
        let (_, amount) = rest.cut(sign.len());
        let (number, unit) = amount.amount(metric, &hint)?;
        Limit::new(metric, *comparison, number, unit).map_err(|fault| self.error(fault.to_string(), &hint))
    }

    fn metric(self) -> Result<LimitMetric, LimitError> {
        if let Some(rank) = PercentileRank::parse(self.text) {
            return Ok(LimitMetric::Percentile(rank));
        }
        if let Some((_, metric)) = METRICS.iter().find(|(name, _)| *name == self.text) {
            return Ok(*metric);
        }
        let names = || PERCENTILES.into_iter().chain(METRICS.iter().map(|(name, _)| *name));
        let known =
            format!("metrics are {}, and any other percentile", names().collect::<Vec<_>>().join(", "));
        let looks_like_percentile = self.text.strip_prefix('p').is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        });
        let hint = match nearest(self.text, names()) {
            _ if looks_like_percentile => {
                "percentiles are above p0 and below p100, with at most three decimals".to_owned()
            }
            Some(name) => format!("did you mean `{name}`?"),
            None => known,
        };
        Err(self.error(format!("expected a metric, found `{}`", self.text), &hint))
    }

    fn amount(self, metric: LimitMetric, hint: &str) -> Result<(f64, LimitUnit), LimitError> {
        let digits = self.text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.text.len());
        let (number, unit) = self.cut(digits);
        let Ok(amount) = number.text.parse::<f64>() else {
            return Err(self.error(format!("expected a number, found `{}`", self.text), hint));
        };
        match metric.units().iter().find(|(name, ..)| *name == unit.text) {
            Some((_, unit, _)) => Ok((amount, *unit)),
            None if unit.text.is_empty() => {
                let message = format!("expected a time with its unit, found `{}` without one", self.text);
                Err(self.error(message, hint))
            }
            None => {
                let message = format!("`{}` is not a unit of `{metric}`", unit.text);
                Err(unit.error(message, hint))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_written_as_they_are_read() {
        for text in [
            "p99<50ms,errors<0.1%",
            "p50<=1.5s,p90<2s,p95<3s,p99.9<1min",
            "mean<250us",
            "p98<1s,p9<1s,p99.95<2s,p0.001<3s,p99.999<4s",
            "max<=0.5h",
            "errors<=0%",
            "errors<0.001,delivered>=95%,rate>500",
            "rate>=12.5/s",
        ] {
            assert_eq!(limits_text(&parse_limits(text).unwrap()), text);
        }
        let spaced = parse_limits(" p99 < 50 ms , errors <= 0.10 % ").unwrap();
        assert_eq!(limits_text(&spaced), "p99<50ms,errors<=0.1%");
        assert_eq!(limits_text(&parse_limits("p99<250µs").unwrap()), "p99<250us");
    }

    #[test]
    fn any_percentile_can_be_limited() {
        let quantile = |name: &str| PercentileRank::parse(name).map(PercentileRank::quantile);
        assert_eq!(quantile("p98"), Some(0.98));
        assert_eq!(quantile("p99.9"), Some(0.999));
        assert_eq!(quantile("p99.90"), quantile("p99.9"));
        assert_eq!(quantile("p0.001"), Some(0.00001));
        for name in ["p", "p0", "p0.000", "p100", "p99.", "p.9", "p99.9999", "p-1", "p1e1", "p+9", "99", "pé"]
        {
            assert_eq!(quantile(name), None, "{name}");
        }
        assert!(parse_limits("p99<1s,p99.0<2s").is_err(), "twice the same");
    }

    #[test]
    fn values_are_in_seconds_ratios_and_operations_per_second() {
        let values: Vec<f64> = parse_limits("p99<50ms,max<2min,errors<0.1%,delivered>=0.95,rate>500/s")
            .unwrap()
            .into_iter()
            .map(Limit::value)
            .collect();
        assert_eq!(values, [0.05, 120.0, 0.001, 0.95, 500.0]);
    }

    #[test]
    fn a_value_equal_to_the_limit_is_allowed_by_inclusive_limits() {
        let allows = |text: &str, value| parse_limits(text).unwrap()[0].allows(value);
        for (text, least, limit, most) in [
            ("mean<1s", true, false, false),
            ("mean<=1s", true, true, false),
            ("rate>1", false, false, true),
            ("rate>=1", false, true, true),
        ] {
            assert_eq!([0.9, 1.0, 1.1].map(|value| allows(text, value)), [least, limit, most], "{text}");
            assert!(!allows(text, f64::NAN));
        }
    }

    #[test]
    fn mistakes_have_a_position_and_a_hint() {
        const WHOLE: &str = "write metric, comparison and value, such as `p99<50ms,errors<0.1%`";
        for (text, place, message, hint) in [
            ("", "", "expected a limit, found ``", WHOLE),
            ("p99<1s,,", "", "expected a limit, found ``", WHOLE),
            ("p99", "p99", "expected a limit, found `p99`", WHOLE),
            (
                "errors<1%, p100<1s",
                "p100",
                "expected a metric, found `p100`",
                "percentiles are above p0 and below p100, with at most three decimals",
            ),
            ("eror < 1%", "eror", "expected a metric, found `eror`", "did you mean `errors`?"),
            (
                "p99 = 50ms",
                "= 50ms",
                "`= 50ms` is not a comparison with a limit",
                "write a limit such as `p99<50ms`",
            ),
            ("p99<", "", "expected a number, found ``", "write a limit such as `p99<50ms`"),
            ("p99<-5ms", "-5ms", "expected a number, found `-5ms`", "write a limit such as `p99<50ms`"),
            (
                "p99< 50 ",
                "50",
                "expected a time with its unit, found `50` without one",
                "write a limit such as `p99<50ms`",
            ),
            ("p99<50 sec", "sec", "`sec` is not a unit of `p99`", "write a limit such as `p99<50ms`"),
            ("errors<1ms", "ms", "`ms` is not a unit of `errors`", "write a limit such as `errors<0.1%`"),
            ("p99>50ms", "p99>50ms", "`p99` needs an upper limit", "write a limit such as `p99<50ms`"),
            ("rate<5", "rate<5", "`rate` needs a lower limit", "write a limit such as `rate>=500/s`"),
            (
                "errors<0%",
                "errors<0%",
                "`errors<0%` cannot be met: errors are from 0 to 100 %",
                "write a limit such as `errors<0.1%`",
            ),
            (
                "mean<2h",
                "mean<2h",
                "`mean<2h` is not a time above 0 and up to 1 h",
                "write a limit such as `mean<50ms`",
            ),
            ("p99<1s, p99<=2s", "p99<=2s", "`p99` is listed twice", "leave one of them out"),
        ] {
            let error = parse_limits(text).expect_err(text);
            let found = (&text[error.span.clone()], error.message.as_str(), error.hint.as_str());
            assert_eq!(found, (place, message, hint), "{text}");
        }
        for text in
            ["delivered>100%", "delivered>=0%", "rate>0", "max<0s", "errors<=101%", "p99<1.2.3s", "p99<<1s"]
        {
            assert!(parse_limits(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_stored_limit_is_its_text() {
        let limit = parse_limits("p99.9<=1.5s").unwrap()[0];
        let stored = serde_json::to_string(&limit).unwrap();
        assert_eq!(stored, "\"p99.9<=1.5s\"");
        assert_eq!(serde_json::from_str::<Limit>(&stored).unwrap(), limit);
        assert!(serde_json::from_str::<Limit>("\"p99>1s\"").is_err());
    }

    fn any_limit() -> impl Strategy<Value = Limit> {
        let comparison = |index: usize| COMPARISONS[index].1;
        let metric = prop_oneof![
            (0..METRICS.len()).prop_map(|index| METRICS[index].1),
            (1..100_000u32).prop_map(|rank| LimitMetric::Percentile(PercentileRank(rank))),
        ];
        (metric, 0..COMPARISONS.len(), 0..7usize, prop_oneof![0.0..1.0f64, 0.0..4000.0f64]).prop_filter_map(
            "makes no sense",
            move |(metric, sign, unit, amount)| {
                let units = metric.units();
                Limit::new(metric, comparison(sign), amount, units[unit % units.len()].1).ok()
            },
        )
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*|[a-z0-9.<>=%, ]*") {
            if let Err(error) = parse_limits(&text) {
                prop_assert!(text.get(error.span).is_some());
            }
        }

        #[test]
        fn a_written_limit_reads_back(limit in any_limit()) {
            prop_assert_eq!(parse_limits(&limit.to_string()), Ok(vec![limit]));
        }
    }
}
