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

impl Assignment {
    /// Returns the part of a number of operations that the users of this share start, each user about as many. The parts of all
    /// shares add up to the whole.
    pub fn operations(&self, whole: u64, load: Load) -> u64 {
        let before = |user: u32| {
            let part = u128::from(whole) * u128::from(user) / u128::from(load.in_flight_max().max(1));
            u64::try_from(part).unwrap_or(whole)
        };
        before(self.users.end) - before(self.users.start)
    }
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

    /// By hand: of 10 operations of 3 users on 4 threads, the users have 3, 3 and 4, and the first thread has no user.
    #[test]
    fn a_thread_without_users_has_no_operations() {
        let load = Load::Users(3);
        let parts = partition(0, load, 4).iter().map(|share| share.operations(10, load)).collect::<Vec<_>>();
        assert_eq!(parts, [0, 3, 3, 4]);
    }

    proptest! {
        #[test]
        fn operations_sum_to_the_whole(users in 1u32..100_000, n in 1u32..64, whole in any::<u64>()) {
            let load = Load::Users(users);
            let shares = partition(0, load, n);
            let parts = shares.iter().map(|share| u128::from(share.operations(whole, load)));
            prop_assert_eq!(parts.sum::<u128>(), u128::from(whole));
            let has_some = shares.iter().all(|share| share.users.is_empty() || 0 < share.operations(whole, load));
            prop_assert!(has_some || whole < u64::from(users));
        }

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
