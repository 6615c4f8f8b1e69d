//! Compliance of a load point with a limit: met, missed, or undecidable, with the numbers.

use model::{Limit, LimitMetric};
use units::Ratio;

use crate::percentiles::{CONFIDENCE, values_needed};
use crate::{LoadPointResult, StageResult, TimeSummary};

/// The distance of a percentile from its limit, relative to that, beyond which it is clearly on one side: its
/// interval assumes independent operations, which those that queue behind each other are not.
const MARGIN: f64 = 0.10;

/// The compliance of a load point with a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compliance {
    /// The limit is met.
    Met(LimitMeasurement),
    /// The limit is missed.
    Missed(LimitMeasurement),
    /// There is no value to decide it, so it is not met.
    Undecided(NoData),
}

/// A measured value, in the unit of [`Limit::value`]: s, a ratio from 0 to 1, or operations/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitMeasurement {
    /// The limit.
    pub limit: Limit,
    /// The value.
    pub value: f64,
    /// Its 95 % interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

/// A reason why a limit cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoData {
    /// No operation was completed.
    Nothing,
    /// Too few values for this percentile.
    TooFew {
        /// Successful operations.
        n: u64,
        /// Number of values that the percentile needs.
        needed: u64,
    },
    /// A closed loop has no offered rate.
    ClosedLoop,
}

/// Compares a load point with a limit. A value that was not measured meets no limit.
pub fn comply(limit: Limit, result: &LoadPointResult) -> Compliance {
    let figures = JudgedFigures {
        n: result.total.n,
        errors: result.total.errors,
        rate: result.rate,
        rate_interval: result.rate_interval,
        offered_rate: result.offered_rate,
        response: &result.response,
    };
    figures.comply(limit)
}

/// Compares a stage of a load point with a limit, likewise.
pub fn comply_stage(limit: Limit, stage: &StageResult) -> Compliance {
    let figures = JudgedFigures {
        n: stage.n,
        errors: stage.errors,
        rate: stage.rate,
        rate_interval: stage.rate_interval,
        offered_rate: stage.offered_rate,
        response: &stage.response,
    };
    figures.comply(limit)
}

impl Compliance {
    /// Returns whether the limit is met.
    pub fn is_met(&self) -> bool {
        matches!(self, Compliance::Met(_))
    }

    /// Returns whether there was a value to decide it.
    pub fn is_decided(&self) -> bool {
        !matches!(self, Compliance::Undecided(_))
    }

    /// Returns whether the result is clear, not decided by noise: the whole interval is on one side of the limit, and
    /// a percentile is off it by at least a tenth.
    pub fn is_clear(&self) -> bool {
        let (Compliance::Met(measured) | Compliance::Missed(measured)) = self else { return false };
        let LimitMeasurement { limit, value, interval } = *measured;
        let is_apart = MARGIN * limit.value() <= (value - limit.value()).abs();
        let same_side = |other: f64| limit.allows(other) == self.is_met();
        interval.is_some_and(|(low, high)| same_side(low) && same_side(high))
            && (is_apart || limit.metric().quantile().is_none())
    }
}

/// A value and its interval.
type Value = (f64, Option<(f64, f64)>);

/// The figures that limits are on, of one load.
struct JudgedFigures<'a> {
    n: u64,
    errors: u64,
    rate: f64,
    rate_interval: Option<(f64, f64)>,
    offered_rate: Option<f64>,
    response: &'a TimeSummary,
}

impl JudgedFigures<'_> {
    fn comply(&self, limit: Limit) -> Compliance {
        match self.measure(limit.metric()) {
            Err(reason) => Compliance::Undecided(reason),
            Ok((value, interval)) => {
                let measured = LimitMeasurement { limit, value, interval };
                if limit.allows(value) { Compliance::Met(measured) } else { Compliance::Missed(measured) }
            }
        }
    }

    fn measure(&self, metric: LimitMetric) -> Result<Value, NoData> {
        if let Some(q) = metric.quantile() {
            return self.quantile(Ratio(q));
        }
        match metric {
            LimitMetric::Errors => self.errors(),
            LimitMetric::Delivered => self.delivered(),
            LimitMetric::Rate if 0 < self.n => Ok((self.rate, self.rate_interval)),
            LimitMetric::Max => self.response.max.map(|max| (max.as_secs_f64(), None)).ok_or(NoData::Nothing),
            LimitMetric::Mean => {
                self.response.mean.map(|mean| (mean, self.response.mean_interval)).ok_or(NoData::Nothing)
            }
            _ => Err(NoData::Nothing),
        }
    }

    fn quantile(&self, q: Ratio) -> Result<Value, NoData> {
        let histogram = &self.response.histogram;
        let too_few = NoData::TooFew { n: histogram.n(), needed: values_needed(q) };
        let found = histogram.quantile_interval(q, CONFIDENCE).ok_or(too_few)?;
        Ok((found.value.as_secs_f64(), Some((found.low.as_secs_f64(), found.high.as_secs_f64()))))
    }

    /// E ÷ n of completed operations, and (E ± 2·√(E + 1)) ÷ n: about 95 % of a Poisson count, not empty at E = 0.
    fn errors(&self) -> Result<Value, NoData> {
        let errors = self.errors as f64;
        let completed = self.n.saturating_add(self.errors) as f64;
        if completed == 0.0 {
            return Err(NoData::Nothing);
        }
        let reach = 2.0 * (errors + 1.0).sqrt();
        let interval = ((errors - reach).max(0.0) / completed, ((errors + reach) / completed).min(1.0));
        Ok((errors / completed, Some(interval)))
    }

    fn delivered(&self) -> Result<Value, NoData> {
        let offered = self.offered_rate.ok_or(NoData::ClosedLoop)?;
        if offered == 0.0 {
            return Err(NoData::Nothing);
        }
        let interval = self.rate_interval.map(|(low, high)| (low / offered, high / offered));
        Ok((self.rate / offered, interval))
    }
}
