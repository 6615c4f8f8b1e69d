//! Weights with decimals: `35`, `0.7`.
//!
//! Only the ratios of weights count, so all weights of a definition are multiplied by the power of ten that makes
//! them whole: 0.7 and 0.3 become 7 and 3, exactly.

use languages::reader::{ValueError, kind};
use languages::spec::ValueSpec;
use serde_json::json;
use toml::de::DeValue;

/// The largest weight.
const WEIGHT_MAX: u64 = 1_000_000_000;

/// The most decimals of a weight.
const DECIMALS_MAX: u32 = 9;

/// A number above zero as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::definition) struct Weight {
    /// All digits, those after the point included.
    digits: u64,
    /// Number of digits after the point.
    decimals: u32,
}

impl Weight {
    /// Weights.
    pub(in crate::definition) fn spec() -> ValueSpec<Weight> {
        let schema = || json!({ "type": "number", "exclusiveMinimum": 0, "maximum": WEIGHT_MAX });
        ValueSpec::new(schema, Weight::read).named("Weight", "A weight above 0, with at most nine decimals.")
    }

    fn read(value: &DeValue) -> Result<Weight, ValueError> {
        let written = match value {
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str()),
            DeValue::Float(number) => Ok(number.as_str()),
            DeValue::Integer(number) => Err(number.as_str()),
            other => Err(kind(other)),
        };
        written.and_then(|text| Weight::parse(text).ok_or(text)).map_err(|found| {
            ValueError::new(format!("expected a number above 0 and up to {WEIGHT_MAX}, found {found}"))
                .hint(format!("write it with at most {DECIMALS_MAX} decimals and no exponent, such as `0.7`"))
        })
    }

    fn parse(text: &str) -> Option<Weight> {
        let (whole, decimals) = text.trim_start_matches('+').split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let is_short = decimals.len() <= DECIMALS_MAX as usize && whole.parse::<u64>().ok()? <= WEIGHT_MAX;
        let digits: u64 = format!("{whole}{decimals}").parse().ok()?;
        (is_short && 0 < digits).then_some(Weight { digits, decimals: decimals.len() as u32 })
    }

    /// Returns weights as whole numbers in the same proportions; `None` if those are too large: the sum of each
    /// times `uses` must fit 64 bits.
    pub(in crate::definition) fn whole(weights: &[Weight], uses: u64) -> Option<Vec<u64>> {
        let decimals = weights.iter().map(|weight| weight.decimals).max()?;
        let scaled = |weight: &Weight| weight.digits.checked_mul(10u64.pow(decimals - weight.decimals));
        let whole: Vec<u64> = weights.iter().map(scaled).collect::<Option<_>>()?;
        whole.iter().try_fold(0u64, |sum, weight| sum.checked_add(*weight))?.checked_mul(uses)?;
        Some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(weights: &[&str]) -> Option<Vec<u64>> {
        let weights: Vec<Weight> = weights.iter().map(|text| Weight::parse(text).expect(text)).collect();
        Weight::whole(&weights, 1)
    }

    #[test]
    fn decimals_become_whole_numbers_in_the_same_proportions() {
        assert_eq!(whole(&["35", "50", "14", "1"]), Some(vec![35, 50, 14, 1]));
        assert_eq!(whole(&["7", "0.7", "0.30", "20.00"]), Some(vec![70, 7, 3, 200]));
        assert_eq!(whole(&["0.000000001", "+2"]), Some(vec![1, 2_000_000_000]));
    }

    #[test]
    fn invalid_weights_are_refused() {
        for text in ["0", "0.0", "-1", "1e3", "nan", "inf", "1000000001", "0.0000000001", "", "."] {
            assert_eq!(Weight::parse(text), None, "{text}");
        }
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        let large: Vec<&str> = vec!["1000000000"; 30];
        assert_eq!(whole(&[&large[..], &["0.000000001"]].concat()), None);
        assert!(whole(&large).is_some());
    }
}
