//! Is one server faster than another? The ratio of two rates from repetitions that took turns.

use units::{Dice, Purpose, Ratio};

use crate::Estimate;
use crate::bootstrap::{N_REPLICATES, percentile_interval};
use crate::estimate::{normal_quantile, student_quantile};

/// With fewer pairs the resampled means take hardly any value.
const N_PAIRS_MIN: usize = 3;

/// Returns the ratio b ÷ a of pairs (a, b) of rates, with an interval by the bootstrap; without a difference it holds 1.
///
/// A pair is two measurements that followed each other, so that what drifts on the machine changes
/// both. The ratio is the geometric mean of b/a. With d_i = ln(b_i/a_i), their mean d and deviation s, each
/// end is the farther one of two:
///
/// - by the bootstrap, which sees when the ratios are skew: d is made again 1,000 times from n values
///   drawn from the d_i; the percentiles of these means, as far from d as they are times
///   t(n − 1)·√(n ÷ (n − 1)) ÷ z. Without that factor, 2.7 for three pairs and 1.1 for twenty, drawn
///   values vary too little, and do not show how few they are: A against A differs in a quarter of
///   all comparisons of three pairs;
/// - by Student's t: d ± t(n − 1)·s ÷ √n. A handful of values has too few different means for the
///   bootstrap alone.
///
/// `None` with fewer than three pairs, with rates that are not above zero, or if confidence is not
/// between 0 and 1.
///
/// Source: percentile interval: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13; its
/// factor for small samples: Hesterberg 2015, What Teachers Should Know About the Bootstrap, section 3.2.
pub fn ratio_interval(pairs: &[(f64, f64)], confidence: Ratio, seed: u64) -> Option<Estimate> {
    let positive = |rate: f64| 0.0 < rate && rate.is_finite();
    if pairs.len() < N_PAIRS_MIN || !pairs.iter().all(|(a, b)| positive(*a) && positive(*b)) {
        return None;
    }
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (b / a).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let error = (squares / ((logs.len() - 1) * logs.len()) as f64).sqrt();
    let student = Estimate::from_error(mean, error, logs.len() - 1, confidence)?;
    let drawn = percentile_interval(resampled_means(&logs, seed), confidence)?;
    let factor = stretch(logs.len(), confidence)?;
    let low = student.low.min(mean + factor * (drawn.0 - mean)).exp();
    let high = student.high.max(mean + factor * (drawn.1 - mean)).exp();
    (0.0 < low && high.is_finite()).then_some(Estimate { value: mean.exp(), low, high })
}

/// Returns t(n − 1)·√(n ÷ (n − 1)) ÷ z.
fn stretch(n: usize, confidence: Ratio) -> Option<f64> {
    let p = (1.0 + confidence.0) / 2.0;
    let t = student_quantile(p, n - 1)?;
    Some(t * (n as f64 / (n - 1) as f64).sqrt() / normal_quantile(p)?)
}

fn resampled_means(values: &[f64], seed: u64) -> Vec<f64> {
    let mean = |replicate| {
        let mut dice = Dice::new(seed, Purpose::Resampling, replicate);
        let mut drawn = || values[dice.below(values.len() as u64) as usize];
        values.iter().map(|_| drawn()).sum::<f64>() / values.len() as f64
    };
    (0..N_REPLICATES).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIDENCE: Ratio = Ratio(0.95);

    type Scatter = fn(&mut Dice) -> f64;

    /// How rates scatter from one repetition to the next, relative to their mean.
    const SCATTERS: [(&str, Scatter); 3] = [
        // The sum of twelve uniform numbers has variance 1.
        ("normal, 3 %", |dice| 0.03 * ((0..12).map(|_| dice.uniform()).sum::<f64>() - 6.0)),
        ("skew, 5 %", |dice| -0.05 * dice.exponential_unit()),
        ("one in ten a fifth slower", |dice| {
            0.04 * (dice.uniform() - 0.5) - if dice.uniform() < 0.1 { 0.2 } else { 0.0 }
        }),
    ];

    /// Two servers of 1,000/s and `ratio` times that on a machine that becomes 10 % slower on the way.
    fn pairs(seed: u64, n: usize, ratio: f64, scatter: Scatter) -> Vec<(f64, f64)> {
        let mut dice = Dice::new(seed, Purpose::Simulation, n as u64);
        let pair = |index: usize| {
            let speed = 1_000.0 * (1.0 - 0.1 * index as f64 / n as f64);
            (speed * (1.0 + scatter(&mut dice)), ratio * speed * (1.0 + scatter(&mut dice)))
        };
        (0..n).map(pair).collect()
    }

    /// Returns the share of 1,000 comparisons, seeds 0 to 999, whose interval does not hold 1.
    fn share_told_apart(n: usize, ratio: f64, scatter: Scatter) -> f64 {
        let apart = |seed: &u64| {
            let found = ratio_interval(&pairs(*seed, n, ratio, scatter), CONFIDENCE, *seed).unwrap();
            1.0 < found.low || found.high < 1.0
        };
        (0..1_000).filter(apart).count() as f64 / 1_000.0
    }

    /// Goal: A against A is told apart in at most 5 %: on average over all cases, and in each within three
    /// deviations of a share of 0.05 in 1,000. Reached: 4 to 5 % for normal scatter, 2 to 4 % for the others.
    #[test]
    fn equal_servers_are_seldom_told_apart() {
        let mut sum = 0.0;
        for (name, scatter) in SCATTERS {
            for n in [3, 4, 5, 7, 10, 20] {
                let alarms = share_told_apart(n, 1.0, scatter);
                assert!(alarms <= 0.05 + 0.0207, "{name}, {n} pairs: {alarms}");
                sum += alarms;
            }
        }
        assert!(sum / 18.0 <= 0.05, "{sum}");
    }

    #[test]
    fn a_tenth_faster_is_found() {
        let found = share_told_apart(5, 1.1, SCATTERS[0].1);
        assert!(0.9 <= found, "{found}");
    }

    /// By hand: ratios 2, 2, 2; and 1/2, 1, 2 whose geometric mean is 1.
    #[test]
    fn the_ratio_is_the_geometric_mean() {
        let equal = ratio_interval(&[(1.0, 2.0), (3.0, 6.0), (0.5, 1.0)], CONFIDENCE, 1).unwrap();
        assert!((equal.value - 2.0).abs() < 1e-12 && equal.high - equal.low < 1e-9, "{equal:?}");
        let pairs = [(2.0, 1.0), (5.0, 5.0), (1.0, 2.0)];
        let found = ratio_interval(&pairs, CONFIDENCE, 1).unwrap();
        assert!((found.value - 1.0).abs() < 1e-12 && found.low < 1.0 && 1.0 < found.high, "{found:?}");
        assert_eq!(ratio_interval(&pairs, CONFIDENCE, 1), Some(found));
        let turned = ratio_interval(&pairs.map(|(a, b)| (b, a)), CONFIDENCE, 1).unwrap();
        assert!((turned.value - 1.0).abs() < 1e-12, "{turned:?}");
    }

    /// By hand: t(2) at 0.975 is 4.3027, z 1.95996: 4.3027 · √1.5 ÷ 1.96 = 2.6886.
    #[test]
    fn few_pairs_stretch_the_interval() {
        assert!((stretch(3, CONFIDENCE).unwrap() - 2.6886).abs() < 1e-4);
        assert!((stretch(10_000, CONFIDENCE).unwrap() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn impossible_rates_and_too_few_pairs_have_no_ratio() {
        let good = (1.0, 1.0);
        assert_eq!(ratio_interval(&[good; 2], CONFIDENCE, 1), None);
        for bad in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(ratio_interval(&[good, good, bad], CONFIDENCE, 1), None);
        }
        assert_eq!(ratio_interval(&[good; 3], Ratio(1.0), 1), None);
    }
}
