//! Speed-up, efficiency and serial share, straight from the rates.

use units::Ratio;

/// Speed-up and efficiency of a size, relative to size 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedUp {
    /// The size p.
    pub size: f64,
    /// Speed-up S = X(p) ÷ X(1).
    pub speed_up: f64,
    /// Efficiency E = S ÷ p; above 1 where it grows faster than the size.
    pub efficiency: Ratio,
    /// Karp and Flatt's serial share, (1/S − 1/p) ÷ (1 − 1/p); `None` unless p is above 1.
    ///
    /// It stays the same with p where Amdahl's law holds, and grows where contention adds to it. Below 0 where the
    /// efficiency is above 1.
    pub serial_share: Option<f64>,
}

/// Returns speed-up and efficiency of each pair (size, rate), in the order of sizes.
///
/// `None` if size 1 is missing, or if a size or rate is not above zero.
///
/// Source: Karp and Flatt 1990, Measuring Parallel Processor Performance.
pub fn speed_ups(rates: &[(f64, f64)]) -> Option<Vec<SpeedUp>> {
    let positive = |value: f64| 0.0 < value && value.is_finite();
    if !rates.iter().all(|(size, rate)| positive(*size) && positive(*rate)) {
        return None;
    }
    let (_, single) = *rates.iter().find(|(size, _)| *size == 1.0)?;
    let mut sorted = rates.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(sorted.into_iter().map(|(size, rate)| speed_up(size, rate / single)).collect())
}

fn speed_up(size: f64, speed_up: f64) -> SpeedUp {
    let serial_share = (1.0 < size).then(|| (1.0 / speed_up - 1.0 / size) / (1.0 - 1.0 / size));
    SpeedUp { size, speed_up, efficiency: Ratio(speed_up / size), serial_share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rates: &[(f64, f64)], expected: &[(f64, f64, Option<f64>)], within: f64) {
        let found = speed_ups(rates).expect("size 1 is there");
        assert_eq!(found.len(), expected.len());
        for (found, (speed_up, efficiency, serial_share)) in found.iter().zip(expected) {
            assert!((found.speed_up - speed_up).abs() <= within, "{found:?}");
            assert!((found.efficiency.0 - efficiency).abs() <= within, "{found:?}");
            assert_eq!(found.serial_share.is_some(), serial_share.is_some(), "{found:?}");
            let apart = found.serial_share.unwrap_or(0.0) - serial_share.unwrap_or(0.0);
            assert!(apart.abs() <= within, "{found:?}");
        }
    }

    /// Golden check. By hand at 2: (1 ÷ 1.9 − 1/2) ÷ (1/2) = 0.052632.
    #[test]
    fn speed_up_efficiency_and_serial_share_of_four_sizes() {
        check(
            &[(8.0, 5_200.0), (1.0, 1_000.0), (2.0, 1_900.0), (4.0, 3_400.0)],
            &[
                (1.0, 1.0, None),
                (1.9, 0.95, Some(0.05263)),
                (3.4, 0.85, Some(0.05882)),
                (5.2, 0.65, Some(0.07692)),
            ],
            5e-6,
        );
    }

    #[test]
    fn a_rate_that_grows_faster_than_its_size_has_a_share_below_zero() {
        check(&[(1.0, 100.0), (2.0, 250.0)], &[(1.0, 1.0, None), (2.5, 1.25, Some(-0.2))], 1e-12);
    }

    #[test]
    fn without_size_one_or_with_impossible_values_there_is_no_speed_up() {
        for rates in [
            &[][..],
            &[(2.0, 100.0), (4.0, 150.0)],
            &[(1.0, 0.0), (2.0, 1.0)],
            &[(1.0, 1.0), (2.0, f64::NAN)],
            &[(1.0, 1.0), (-2.0, 1.0)],
        ] {
            assert_eq!(speed_ups(rates), None, "{rates:?}");
        }
    }
}
