//! A tournament: which of several lanes is due next.

use units::Nanos;

/// The key of a lane that has ended: after all others.
const ENDED: u128 = u128::MAX;

/// Bits of a key below the due time, which hold the position of the lane.
const POSITION_BITS: u32 = 16;

/// A tournament of lanes by their next due times, equal ones in order of position.
///
/// It is a tree of losers: `nodes[0]` is the key of the earliest lane, and node i from 1 on the key of the lane that lost
/// the match of its children 2i and 2i + 1; the lanes are the leaves n, n + 1 … 2n − 1. A lane that moves on plays one
/// match per level, where a binary heap compares twice.
///
/// Source: Knuth, The Art of Computer Programming 3, section 5.4.1.
#[derive(Debug, Clone)]
pub(super) struct Tournament {
    nodes: Vec<u128>,
}

impl Tournament {
    /// Plays all matches. `due` has up to 2¹⁶ lanes by position; `None` for a lane that has ended.
    pub(super) fn new(due: &[Option<Nanos>]) -> Tournament {
        let n = due.len();
        let mut winners = vec![ENDED; n.max(1)];
        winners.extend(due.iter().enumerate().map(|(position, due)| key(*due, position)));
        let mut nodes = vec![ENDED; n.max(1)];
        for node in (1..n).rev() {
            let one = winners[2 * node];
            let other = winners[2 * node + 1];
            (winners[node], nodes[node]) = (one.min(other), one.max(other));
        }
        nodes[0] = winners.get(1).copied().unwrap_or(ENDED);
        Tournament { nodes }
    }

    /// Returns the earliest due time and the position of its lane; `None` if all lanes have ended.
    pub(super) fn earliest(&self) -> Option<(Nanos, usize)> {
        let key = self.nodes[0];
        let position = (key & ((1 << POSITION_BITS) - 1)) as usize;
        (key != ENDED).then_some((Nanos((key >> POSITION_BITS) as u64), position))
    }

    /// Sets the next due time of the lane that is the earliest; `None` if it has ended.
    pub(super) fn replace_earliest(&mut self, due: Option<Nanos>) {
        let Some((_, position)) = self.earliest() else { return };
        let mut winner = key(due, position);
        let mut node = (self.nodes.len() + position) / 2;
        while 0 < node {
            let other = self.nodes[node];
            self.nodes[node] = winner.max(other);
            winner = winner.min(other);
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

fn key(due: Option<Nanos>, position: usize) -> u128 {
    due.map_or(ENDED, |due| u128::from(due.0) << POSITION_BITS | position as u128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Lanes of any number and length come out like one sorted list.
        #[test]
        fn lanes_are_merged_in_order(lanes in prop::collection::vec(prop::collection::vec(0u64..20, 0..8), 0..20)) {
            let mut lanes = lanes;
            lanes.iter_mut().for_each(|lane| lane.sort_unstable());
            let mut expected: Vec<(u64, usize)> = Vec::new();
            for (position, lane) in lanes.iter().enumerate() {
                expected.extend(lane.iter().map(|due| (*due, position)));
            }
            expected.sort_unstable();
            let mut rest: Vec<_> = lanes.iter().map(|lane| lane.iter().map(|due| Nanos(*due))).collect();
            let first: Vec<_> = rest.iter_mut().map(Iterator::next).collect();
            let mut tournament = Tournament::new(&first);
            let mut found = Vec::new();
            while let Some((due, position)) = tournament.earliest() {
                found.push((due.0, position));
                tournament.replace_earliest(rest[position].next());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
