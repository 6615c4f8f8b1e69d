//! Slicing a plan: who performs which part. Shares sum exactly to the whole.

use std::ops::Range;

use crate::Load;

/// The part of one load point that one load thread performs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Index of the load point.
    pub load_point: u32,
    /// Users in a closed loop, or places for operations in flight in an open one.
    pub users: Range<u32>,
    /// Place among the slices, from 0. In an open loop, operation k belongs to slice k mod `n_slices`.
    pub slice: u32,
    /// Number of shares.
    pub n_slices: u32,
}

/// Divides a load point over `n_slices` load threads: users in ranges as equal as possible, scheduled
/// operations in turn.
pub fn slice(load_point: u32, load: Load, n_slices: u32) -> Vec<Assignment> {
    let total = load.in_flight_max();
    let start_of = |slice: u32| {
        u32::try_from(u64::from(total) * u64::from(slice) / u64::from(n_slices)).expect("a part of a u32")
    };
    (0..n_slices)
        .map(|slice| Assignment { load_point, users: start_of(slice)..start_of(slice + 1), slice, n_slices })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_sum_to_the_whole_and_differ_by_one_at_most(users in 0u32..100_000, n in 1u32..64) {
            let slices = slice(0, Load::Users(users), n);
            let sizes: Vec<usize> = slices.iter().map(|part| part.users.len()).collect();
            prop_assert_eq!(sizes.iter().sum::<usize>(), users as usize);
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            prop_assert!(slices.windows(2).all(|pair| pair[0].users.end == pair[1].users.start));
        }
    }
}
