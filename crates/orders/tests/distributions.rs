//! NURand against its exact distributions (golden checks 9.2).

use orders::{DataScale, NuRand};
use statrs::distribution::{ChiSquared, ContinuousCDF};
use units::{Rng, StreamPurpose};

/// Returns the number of pairs of draws that lead to each key, by key less the first.
///
/// The draws of a key with the same bits above A are a block. In a whole block, every bit of A is 0 or 1 in both draws:
/// their OR has it set in three of four cases, so that a value v comes 3^popcount(v mod (A + 1)) times. The first and
/// the last block have no whole range of draws, and are counted.
fn exact_counts(distribution: &NuRand) -> Vec<u64> {
    let &NuRand { a, c, first, last } = distribution;
    let n_keys = (last - first + 1) as usize;
    let mut counts = vec![0; n_keys];
    let mut count = |value: u32, n: u64| counts[(value + c) as usize % n_keys] += n;
    for start in (0..=last).step_by(a as usize + 1) {
        let from = first.max(start);
        let to = last.min(start + a);
        if to - from == a {
            (from..=to).for_each(|value| count(value, 3u64.pow((value & a).count_ones())));
        } else {
            (from..=to).for_each(|key| (0..=a).for_each(|low| count(low | key, 1)));
        }
    }
    counts
}

struct Expected {
    distribution: NuRand,
    denominator: u64,
    largest: (u64, &'static [u32]),
    mean: f64,
    entropy: f64,
    /// The share of draws, in percent, that the hottest 1, 2, 10, 20 and 50 % of the keys take.
    hottest: [f64; 5],
}

fn expected() -> [Expected; 3] {
    let scale = DataScale::new(1, 1).unwrap();
    [
        Expected {
            distribution: scale.last_names(0),
            denominator: 256_000,
            largest: (6561, &[255, 511, 767]),
            mean: 487.392,
            entropy: 8.50911,
            hottest: [14.73, 23.28, 54.23, 72.33, 92.58],
        },
        Expected {
            distribution: scale.customers(0),
            denominator: 3_072_000,
            largest: (59_049, &[2048]),
            mean: 1464.2408,
            entropy: 9.72284,
            hottest: [22.24, 29.50, 61.32, 78.99, 94.86],
        },
        Expected {
            distribution: scale.items_ordered(0),
            denominator: 819_200_000,
            largest: (1_594_323, &[16_384, 24_576, 32_768]),
            mean: 50625.1596,
            entropy: 14.18236,
            hottest: [30.46, 39.27, 70.98, 84.44, 97.43],
        },
    ]
}

#[test]
fn exact_counts_are_those_of_all_pairs() {
    let small = NuRand { a: 7, c: 3, first: 1, last: 30 };
    let mut counts = vec![0; 30];
    for draw_a in 0..=7 {
        (1..=30).for_each(|draw_key| counts[small.key(draw_a, draw_key) as usize - 1] += 1);
    }
    assert_eq!(exact_counts(&small), counts);
}

#[test]
fn distributions_are_those_of_the_specification() {
    for one in expected() {
        let counts = exact_counts(&one.distribution);
        let total: u64 = counts.iter().sum();
        assert_eq!(total, one.denominator);
        assert!(counts.iter().all(|count| 0 < *count), "every key can be drawn");

        let (largest, keys) = one.largest;
        assert_eq!(counts.iter().max(), Some(&largest));
        let hottest = |key: &u32| counts[(key - one.distribution.first) as usize] == largest;
        assert!(keys.iter().all(hottest), "{keys:?}");

        let share = |count: &u64| *count as f64 / total as f64;
        let keyed = (one.distribution.first..).zip(&counts);
        let mean: f64 = keyed.map(|(key, count)| f64::from(key) * share(count)).sum();
        assert!((mean - one.mean).abs() < 0.0005, "{mean}");
        let entropy: f64 = counts.iter().map(|count| -share(count) * share(count).log2()).sum();
        assert!((entropy - one.entropy).abs() < 5e-6, "{entropy}");

        let mut sorted = counts.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        for (percent, expected) in [1, 2, 10, 20, 50].into_iter().zip(one.hottest) {
            let taken: f64 = sorted[..sorted.len() * percent / 100].iter().map(share).sum();
            assert!((taken * 100.0 - expected).abs() < 0.006, "{percent} %: {taken}");
        }
    }
}

/// Goal: the draws have the exact distribution, with any C. Method: 10⁷ draws in at most 100 groups of neighboring keys of
/// nearly equal probability (a key can have more than one in a hundred), χ², p above 0.001.
#[test]
fn draws_have_the_exact_distribution() {
    const N_DRAWS: u64 = 10_000_000;
    for (index, one) in (0..).zip(expected()) {
        let distribution = NuRand { c: one.distribution.a / 3, ..one.distribution };
        let counts = exact_counts(&distribution);
        let total: u64 = counts.iter().sum();

        // The group of each key, and the probability of each group.
        let mut group_of = Vec::new();
        let mut probabilities = Vec::new();
        let mut sum = 0;
        let mut hundredth = None;
        for count in &counts {
            let begun = hundredth.replace(sum * 100 / total);
            if begun != hundredth {
                probabilities.push(0.0);
            }
            group_of.push(probabilities.len() - 1);
            *probabilities.last_mut().unwrap() += *count as f64 / total as f64;
            sum += count;
        }
        assert!(50 < probabilities.len());

        let mut rng = Rng::new(7, StreamPurpose::User, index);
        let mut drawn = vec![0u64; probabilities.len()];
        for _ in 0..N_DRAWS {
            drawn[group_of[(distribution.draw(&mut rng) - distribution.first) as usize]] += 1;
        }
        let freedom = probabilities.len() as f64 - 1.0;
        let parts = drawn.iter().zip(probabilities).map(|(count, probability)| {
            let expected = N_DRAWS as f64 * probability;
            (*count as f64 - expected).powi(2) / expected
        });
        let p = 1.0 - ChiSquared::new(freedom).unwrap().cdf(parts.sum());
        assert!(0.001 < p, "{distribution:?}: p {p}");
    }
}
