//! Uniform whole numbers and permutations.

use units::Rng;

/// Returns a uniform number from `first` to `last`, both included.
pub(crate) fn uniform(rng: &mut Rng, first: u32, last: u32) -> u32 {
    let n_values = u64::from(last - first) + 1;
    first + u32::try_from(rng.below(n_values)).expect("it is below a number of u32 values")
}

/// Returns true in so many of a hundred cases.
pub(crate) fn is_percent(rng: &mut Rng, percent: u32) -> bool {
    uniform(rng, 1, 100) <= percent
}

/// Returns a random permutation of the numbers from 1 to `count`.
pub(crate) fn permutation(rng: &mut Rng, count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (1..=count).collect();
    rng.shuffle(&mut numbers);
    numbers
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    #[test]
    fn both_ends_are_drawn_and_nothing_beyond() {
        let mut rng = Rng::new(1, StreamPurpose::Content, 0);
        let mut counts = [0u32; 6];
        (0..60_000).for_each(|_| counts[uniform(&mut rng, 2, 5) as usize] += 1);
        assert_eq!(counts[..2], [0, 0]);
        // Four standard deviations of a binomial count with n = 60,000, p = 1/4: 4 · √11,250 = 424.
        assert!(counts[2..].iter().all(|count| count.abs_diff(15_000) < 424), "{counts:?}");
        assert_eq!(uniform(&mut rng, 7, 7), 7);
        uniform(&mut rng, 0, u32::MAX);
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        let mut rng = Rng::new(1, StreamPurpose::Content, 0);
        for count in [0, 1, 2, 30, 3000] {
            let mut numbers = permutation(&mut rng, count);
            assert!(count < 30 || !numbers.is_sorted(), "{count}");
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(1..=count));
        }
    }
}
