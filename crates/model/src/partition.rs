//! Partition of a load point over the load threads. The shares sum exactly to the whole.

use std::ops::Range;

use crate::Load;

/// The share of one load point that one load thread performs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Index of the load point.
    pub load_point: u32,
    /// Users in a closed loop, or slots for operations in flight in an open one.
    pub users: Range<u32>,
    /// Index among the shares, from 0. In an open loop, it is the slice of the schedule ([`crate::Schedule::slice`]).
    pub share: u32,
    /// Number of shares.
    pub n_shares: u32,
}

/// Divides a load point over `n_shares` load threads: users in ranges as equal as possible, scheduled
/// operations by slices.
pub fn partition(load_point: u32, load: Load, n_shares: u32) -> Vec<Assignment> {
    let total = load.in_flight_max();
    let start_of = |share: u32| {
        u32::try_from(u64::from(total) * u64::from(share) / u64::from(n_shares)).expect("a part of a u32")
    };
    (0..n_shares)
        .map(|share| Assignment { load_point, users: start_of(share)..start_of(share + 1), share, n_shares })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_sum_to_the_whole_and_differ_by_one_at_most(users in 0u32..100_000, n in 1u32..64) {
            let shares = partition(0, Load::Users(users), n);
            let sizes: Vec<usize> = shares.iter().map(|share| share.users.len()).collect();
            prop_assert_eq!(sizes.iter().sum::<usize>(), users as usize);
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            prop_assert!(shares.windows(2).all(|pair| pair[0].users.end == pair[1].users.start));
        }
    }
}
