//! Arithmetic of the tables.

/// Returns the median of a value over rounds.
///
/// # Panics
/// Without rounds.
pub(super) fn over<Round>(rounds: &[Round], value: impl Fn(&Round) -> f64) -> f64 {
    let values: Vec<f64> = rounds.iter().map(value).collect();
    stats::median(&values).expect("there are rounds")
}

/// Returns `met` or `missed`.
pub(super) fn word(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(over(&[3.0, 1.0, 2.0], |value| *value), 2.0);
        assert_eq!(over(&[4.0, 1.0, 2.0, 3.0], |value| *value), 2.5);
    }
}
