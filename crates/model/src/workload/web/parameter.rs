//! Parameters of a request: their values and distributions.

use std::fmt;
use std::str::FromStr;

use languages::NamedValues;
use serde::{Deserialize, Serialize};
use units::Weights;

use super::PathValue;

/// Weights are whole numbers: probabilities are multiplied with this before they are rounded.
const WEIGHT_SCALE: f64 = (1u64 << 40) as f64;

/// The most values of a parameter that are not equally likely: a probability is stored for each.
const VALUES_MAX: u64 = 10_000_000;

/// The greatest weight of a value.
const WEIGHT_MAX: f64 = 1e12;

/// A part of a request's path that varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name in the path pattern.
    pub name: String,
    /// The first value; the others follow it one by one. 0 where values are texts.
    pub first: u64,
    /// The values where they are texts; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Number of values.
    pub count: ValueCount,
    /// The distribution of the values.
    pub pick: ValueDistribution,
}

impl Parameter {
    /// Makes a parameter with numbers for values, equally likely.
    pub fn numbers(name: &str, first: u64, count: ValueCount) -> Parameter {
        Parameter { name: name.to_owned(), first, texts: Vec::new(), count, pick: ValueDistribution::Uniform }
    }

    /// Makes a parameter with texts for values, equally likely.
    pub fn texts(name: &str, texts: Vec<String>) -> Parameter {
        let count = ValueCount::Fixed(texts.len() as u64);
        Parameter { texts, ..Parameter::numbers(name, 0, count) }
    }

    /// Returns a value as it is written, by its index.
    pub fn written_value(&self, index: u64) -> PathValue<'_> {
        let text = usize::try_from(index).ok().and_then(|index| self.texts.get(index));
        text.map_or(PathValue::Number(self.first + index), |text| PathValue::Text(text))
    }

    /// Checks that the distribution fits the number of values at a level of load.
    ///
    /// # Errors
    ///
    /// If there is not one weight per value, or there are too many values that are not equally likely.
    pub fn check(&self, level: f64) -> Result<(), ParameterError> {
        let values = self.count.at(level);
        match (&self.pick, self.count) {
            (ValueDistribution::Uniform, _) => Ok(()),
            (ValueDistribution::Weights(_), ValueCount::SquareRoot(_)) => {
                Err(ParameterError::WeightsOfGrowing)
            }
            (ValueDistribution::Weights(weights), _) if weights.len() as u64 != values => {
                Err(ParameterError::Weights { weights: weights.len(), values })
            }
            _ if VALUES_MAX < values => Err(ParameterError::Values(values)),
            _ => Ok(()),
        }
    }
}

/// A reason why values of a parameter cannot be picked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// There is not one weight per value.
    #[error("{weights} weights for {values} values")]
    Weights {
        /// Weights.
        weights: usize,
        /// Values.
        values: u64,
    },
    /// The number of values depends on the load, the number of weights does not.
    #[error("weights for values whose number grows with the load")]
    WeightsOfGrowing,
    /// A table of so many probabilities would be too large.
    #[error("{0} values; more than {VALUES_MAX} can only be picked with `uniform`")]
    Values(u64),
}

/// Number of values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueCount {
    /// Always as many; above zero.
    Fixed(u64),
    /// ⌈√(factor · L)⌉ at the load L (users, or operations per second): four times the load, twice the values.
    /// Only the first parameter of a request may grow, so that objects keep their numbers.
    SquareRoot(f64),
}

impl ValueCount {
    /// Returns the number of values at a level of load; at least 1.
    pub fn at(self, level: f64) -> u64 {
        match self {
            ValueCount::Fixed(count) => count,
            ValueCount::SquareRoot(factor) => ((factor * level).sqrt().ceil() as u64).max(1),
        }
    }
}

/// The distribution by which one of `n` values, numbered i = 1…n, is picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueDistribution {
    /// Uniform: p = 1/n.
    Uniform,
    /// Zipf with this exponent: p ∝ i⁻ˢ.
    Zipf(f64),
    /// A Poisson distribution with this mean, truncated to 1…n: p ∝ mⁱ/i!.
    Poisson(f64),
    /// These weights, one per value.
    Weights(Vec<f64>),
}

impl ValueDistribution {
    /// Returns the relative probabilities of `n` values; `None` if they are equal.
    fn relative(&self, n: u64) -> Option<Vec<f64>> {
        match self {
            ValueDistribution::Uniform => None,
            ValueDistribution::Zipf(exponent) => Some((1..=n).map(|i| (i as f64).powf(-exponent)).collect()),
            ValueDistribution::Poisson(mean) => {
                let mut term = 1.0;
                let mut next = |i: u64| {
                    term *= mean / i as f64;
                    term
                };
                Some((1..=n).map(&mut next).collect())
            }
            ValueDistribution::Weights(weights) => Some(weights.clone()),
        }
    }

    /// Returns the weights to draw from; `None` if all `n` values are equally likely.
    pub(super) fn weights(&self, n: u64) -> Option<Weights> {
        let relative = self.relative(n)?;
        let total: f64 = relative.iter().sum();
        // Rounded up, so that no value with a probability above zero loses it.
        Weights::new(relative.iter().map(|p| (p / total * WEIGHT_SCALE).ceil() as u64))
    }

    /// Returns the probability of each of `n` values.
    pub(crate) fn probabilities(&self, n: u64) -> Vec<f64> {
        match self.relative(n) {
            None => vec![1.0 / n as f64; n as usize],
            Some(relative) => {
                let total: f64 = relative.iter().sum();
                relative.iter().map(|p| p / total).collect()
            }
        }
    }
}

/// Each with an example of its numbers, but for the weights.
impl NamedValues for ValueDistribution {
    const NAMES: &'static [(&'static str, ValueDistribution)] = &[
        ("uniform", ValueDistribution::Uniform),
        ("zipf", ValueDistribution::Zipf(1.0)),
        ("poisson", ValueDistribution::Poisson(5.0)),
        ("weights", ValueDistribution::Weights(Vec::new())),
    ];
}

/// Writes the distribution as in definitions and on the command line.
impl fmt::Display for ValueDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            ValueDistribution::Uniform => f.write_str(name),
            ValueDistribution::Zipf(number) | ValueDistribution::Poisson(number) => {
                write!(f, "{name}:{number}")
            }
            ValueDistribution::Weights(weights) => {
                let weights: Vec<String> = weights.iter().map(f64::to_string).collect();
                write!(f, "{name}:{}", weights.join(","))
            }
        }
    }
}

/// A text that is not a distribution.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `uniform`, `zipf:1.0`, `poisson:5` or `weights:3,2,1`, found `{found}`")]
pub struct PickError {
    /// The text found.
    pub found: String,
}

impl FromStr for ValueDistribution {
    type Err = PickError;

    fn from_str(text: &str) -> Result<ValueDistribution, PickError> {
        let number =
            |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && 0.0 <= *number);
        let (name, numbers) = text.split_once(':').unwrap_or((text, ""));
        let pick = ValueDistribution::named(name).and_then(|pick| match pick {
            ValueDistribution::Uniform => numbers.is_empty().then_some(ValueDistribution::Uniform),
            ValueDistribution::Zipf(_) => number(numbers).filter(|s| *s <= 10.0).map(ValueDistribution::Zipf),
            ValueDistribution::Poisson(_) => {
                number(numbers).filter(|m| 0.0 < *m && *m <= 100.0).map(ValueDistribution::Poisson)
            }
            ValueDistribution::Weights(_) => {
                let weights: Option<Vec<f64>> = numbers.split(',').map(number).collect();
                weights.filter(|weights| are_weights(weights)).map(ValueDistribution::Weights)
            }
        });
        pick.ok_or_else(|| PickError { found: text.to_owned() })
    }
}

/// Returns whether numbers can be weights: one is above zero and none too large.
fn are_weights(numbers: &[f64]) -> bool {
    numbers.iter().any(|weight| 0.0 < *weight) && numbers.iter().all(|weight| *weight <= WEIGHT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden checks G16 to G18: D = ⌈10·√(λ/5)⌉ = ⌈√(20·λ)⌉.
    #[test]
    fn a_file_set_grows_with_the_square_root_of_the_load() {
        let directories = |load| ValueCount::SquareRoot(20.0).at(load);
        assert_eq!(
            [5.0, 100.0, 500.0, 1000.0, 1650.0, 2150.0, 10_000.0].map(directories),
            [10, 45, 100, 142, 182, 208, 448]
        );
    }

    /// Golden check G20: H₁₈₂ = 5.783967, H₂₀₈ = 5.917156.
    #[test]
    fn zipf_is_one_over_the_rank_over_the_harmonic_number() {
        for (n, harmonic) in [(182, 5.783_967), (208, 5.917_156)] {
            let p = ValueDistribution::Zipf(1.0).probabilities(n);
            assert!((1.0 / p[0] - harmonic).abs() < 5e-7, "{}", 1.0 / p[0]);
            assert!((p[0] / p[9] - 10.0).abs() < 1e-12);
        }
    }

    /// The table of `web.md` 4.2, in percent.
    #[test]
    fn poisson_with_mean_five_has_the_published_probabilities() {
        let p: Vec<f64> = ValueDistribution::Poisson(5.0)
            .probabilities(9)
            .iter()
            .map(|p| (p * 1e5).round() / 1e3)
            .collect();
        assert_eq!(p, [3.504, 8.760, 14.600, 18.251, 18.251, 15.209, 10.863, 6.790, 3.772]);
    }

    #[test]
    fn picks_are_written_as_they_are_read() {
        for text in ["uniform", "zipf:1", "zipf:0.8", "poisson:5", "weights:3,0,1.5"] {
            assert_eq!(text.parse::<ValueDistribution>().unwrap().to_string(), text);
        }
        let refused = [
            "",
            "uniform:1",
            "zipf",
            "zipf:-1",
            "zipf:11",
            "zipf:nan",
            "poisson:0",
            "poisson:101",
            "weights:",
            "weights:0,0",
            "weights:1,x",
            "weights:1e300",
            "normal",
        ];
        refused.iter().for_each(|text| assert!(text.parse::<ValueDistribution>().is_err(), "{text}"));
    }

    #[test]
    fn distributions_that_do_not_fit_are_refused() {
        let check = |pick: &str, count| {
            let pick = pick.parse().unwrap();
            Parameter { pick, ..Parameter::numbers("id", 0, count) }.check(1e6)
        };
        let growing = ValueCount::SquareRoot(20.0);
        assert_eq!(check("weights:1,2", ValueCount::Fixed(2)), Ok(()));
        assert_eq!(
            check("weights:1,2", ValueCount::Fixed(3)),
            Err(ParameterError::Weights { weights: 2, values: 3 })
        );
        assert_eq!(check("weights:1,2", growing), Err(ParameterError::WeightsOfGrowing));
        assert_eq!(check("zipf:1", growing), Ok(()));
        assert_eq!(check("zipf:1", ValueCount::Fixed(1 << 31)), Err(ParameterError::Values(1 << 31)));
        assert_eq!(check("uniform", ValueCount::Fixed(1 << 31)), Ok(()));
    }

    #[test]
    fn a_value_with_a_small_probability_keeps_it() {
        let weights = ValueDistribution::Weights(vec![1.0, 1e-15]).weights(2).unwrap();
        assert_eq!(weights.total(), (1 << 40) + 1);
    }
}
