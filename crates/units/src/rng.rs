//! Random streams by (seed, purpose, index).
//!
//! The generator comes from a crate, the distributions are ours: an update of a crate must not
//! move a result. The golden tests below hold them in place.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Nanos, saturating_u64};

/// The purpose of a random stream. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPurpose {
    /// The next steps of a virtual user; the index is the user.
    User,
    /// The k-th operation of an open-loop schedule; the index is k.
    Schedule,
    /// The due times of an open-loop schedule; the index is the lane (upper 32 bits) and the load point.
    Arrivals,
    /// The bytes of a data set; the index is the object or block.
    Content,
    /// The behavior of a simulated server; the index is the server.
    Simulation,
    /// The values of a resampled estimate (bootstrap); the index is the replicate.
    Resampling,
    /// The rows of a user's data; the index is made of data, user and page.
    Data,
    /// The operations of a cycle of a client, or of a loop of a user; the index is made of both numbers.
    Cycle,
}

impl StreamPurpose {
    /// A fixed number of its own for every purpose; part of what makes a run repeatable.
    const fn salt(self) -> u64 {
        match self {
            StreamPurpose::User => 0x7573_6572,
            StreamPurpose::Schedule => 0x7363_6865,
            StreamPurpose::Arrivals => 0x6172_7269,
            StreamPurpose::Content => 0x636f_6e74,
            StreamPurpose::Simulation => 0x7369_6d75,
            StreamPurpose::Resampling => 0x7265_7361,
            StreamPurpose::Data => 0x6461_7461,
            StreamPurpose::Cycle => 0x6379_636c,
        }
    }
}

/// A stream of random numbers that is a function of (seed, purpose, index) alone.
#[derive(Debug, Clone)]
pub struct Rng {
    generator: Xoshiro256PlusPlus,
}

impl Rng {
    /// Makes the stream of `index` for `purpose`.
    pub fn new(seed: u64, purpose: StreamPurpose, index: u64) -> Rng {
        let mixed = mix_bits(mix_bits(seed ^ mix_bits(purpose.salt())) ^ index);
        Rng { generator: Xoshiro256PlusPlus::seed_from_u64(mixed) }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Returns a number from 0 (included) to 1 (excluded), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a whole number below `bound`; zero if `bound` is zero.
    ///
    /// Source: multiplication and shift (Lemire 2019) without the rejection step; the bias is below bound/2⁶⁴.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns an index of a list with so many elements; zero if it has none.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a length")
    }

    /// Returns a time from the negative exponential distribution with the given mean, not truncated.
    ///
    /// Formula: −mean · ln(1 − u), u uniform in [0, 1).
    pub fn exponential(&mut self, mean: Nanos) -> Nanos {
        Nanos(saturating_u64((mean.0 as f64 * self.exponential_unit()).round()))
    }

    /// Returns a number from the negative exponential distribution with mean 1.
    pub fn exponential_unit(&mut self) -> f64 {
        -(-self.uniform()).ln_1p()
    }

    /// Brings values into a random order, each with the same probability.
    ///
    /// Source: R. Durstenfeld, Algorithm 235: Random permutation, CACM 7 (1964), which is the shuffle of Fisher and Yates.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.index(last + 1));
        }
    }

    /// Draws an index with the given weights.
    pub fn weighted(&mut self, weights: &Weights) -> usize {
        weights.index_of(self.below(weights.total()))
    }
}

/// Whole-number weights that can be drawn from.
///
/// Invariant: not empty, and the total is above zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Running sums, in the order of the weights; the last is the total.
    cumulative: Vec<u64>,
}

impl Weights {
    /// Makes weights, in the order of their indexes. `None` if there are none, all are zero, or their sum does not fit.
    pub fn new(weights: impl IntoIterator<Item = u64>) -> Option<Weights> {
        let mut total = 0u64;
        let mut cumulative = Vec::new();
        for weight in weights {
            total = total.checked_add(weight)?;
            cumulative.push(total);
        }
        (0 < total).then_some(Weights { cumulative })
    }

    /// Returns the sum of all weights.
    pub fn total(&self) -> u64 {
        *self.cumulative.last().expect("weights are never empty")
    }

    /// Returns the index whose share of [0, total) contains `point`.
    fn index_of(&self, point: u64) -> usize {
        self.cumulative.partition_point(|sum| *sum <= point)
    }
}

/// Spreads the bits of a number over all 64 positions (the finalizer of SplitMix64).
pub fn mix_bits(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_function_of_seed_purpose_and_index() {
        let draw = |seed, purpose, index| Rng::new(seed, purpose, index).bits();
        let one = draw(1, StreamPurpose::User, 17);
        assert_eq!(one, draw(1, StreamPurpose::User, 17));
        assert_ne!(one, draw(2, StreamPurpose::User, 17));
        assert_ne!(one, draw(1, StreamPurpose::Schedule, 17));
        assert_ne!(one, draw(1, StreamPurpose::User, 18));
    }

    /// Goal: no update of a crate changes what a seed means. If this fails, every benchmark's version must rise.
    #[test]
    fn draws_never_change() {
        let mut rng = Rng::new(42, StreamPurpose::User, 7);
        let weights = Weights::new([350, 500, 140, 9, 1]).unwrap();
        let drawn: Vec<usize> = (0..12).map(|_| rng.weighted(&weights)).collect();
        assert_eq!(
            (drawn, rng.below(1_000_000), rng.exponential(Nanos::from_millis(270)).0),
            (vec![1, 1, 0, 0, 0, 1, 2, 2, 0, 1, 0, 0], 748_113, 467_428_513)
        );
    }

    #[test]
    fn weighted_draws_follow_the_weights() {
        let weights = Weights::new([350, 500, 140, 9, 1]).unwrap();
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut counts = [0u32; 5];
        for _ in 0..1_000_000 {
            counts[rng.weighted(&weights)] += 1;
        }
        // Three standard deviations of a binomial count with p = w/1000, n = 10⁶.
        for (count, weight) in counts.into_iter().zip([350.0, 500.0, 140.0, 9.0, 1.0]) {
            let p: f64 = weight / 1000.0;
            let deviation = (1e6 * p * (1.0 - p)).sqrt();
            assert!((f64::from(count) - 1e6 * p).abs() < 3.0 * deviation, "{count} for weight {weight}");
        }
    }

    /// Each of the six orders of three numbers comes in a sixth of the cases: 10,000 of 60,000, within four deviations,
    /// 4 · √(60,000 · 1/6 · 5/6) = 365.
    #[test]
    fn every_order_is_equally_likely() {
        let mut rng = Rng::new(2, StreamPurpose::Content, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..60_000 {
            let mut numbers = [1, 2, 3];
            rng.shuffle(&mut numbers);
            *counts.entry(numbers).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| count.abs_diff(10_000) < 365), "{counts:?}");
    }

    /// Golden check G28 of the web specification: mean and standard deviation 0.270 s, not truncated.
    #[test]
    fn exponential_think_times_have_the_mean_and_deviation_asked_for() {
        let mut rng = Rng::new(3, StreamPurpose::User, 0);
        let mut sum = 0.0;
        let mut squares = 0.0;
        let mut longest = 0.0_f64;
        for _ in 0..1_000_000 {
            let seconds = rng.exponential(Nanos::from_millis(270)).as_secs_f64();
            sum += seconds;
            squares += seconds * seconds;
            longest = longest.max(seconds);
        }
        let mean = sum / 1e6;
        let deviation = (squares / 1e6 - mean * mean).sqrt();
        assert!((mean - 0.270).abs() < 0.001, "mean {mean}");
        assert!((deviation - 0.270).abs() < 0.0012, "deviation {deviation}");
        assert!(10.0 * 0.270 < longest, "a million draws must pass ten means: {longest}");
    }

    #[test]
    fn empty_or_zero_weights_are_refused() {
        assert_eq!(Weights::new([]), None);
        assert_eq!(Weights::new([0, 0]), None);
        assert_eq!(Weights::new([u64::MAX, 1]), None);
    }
}
