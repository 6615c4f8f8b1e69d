//! The order of turns of several runs, so that what changes on the machine concerns all alike.

/// The order in which several runs take turns.
///
/// Runs are given repetition by repetition, each with all servers in the same order. At each load point, one repetition
/// follows the other, and in each of them all servers have a turn, in an order that changes from repetition to repetition and
/// from load point to load point: A B, B A, A B. A machine that becomes steadily slower is then as slow for one as for the
/// other, and none of them always comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOrder {
    /// Number of servers.
    n_servers: usize,
}

impl TurnOrder {
    /// Makes the order of runs of so many servers, at least one.
    pub fn of(n_servers: usize) -> TurnOrder {
        TurnOrder { n_servers: n_servers.max(1) }
    }

    /// Returns the turns at a load point: the indexes of `n_runs` runs, each once.
    ///
    /// Forward, then backward; of more than two servers, each such pair begins with the next one: A B C, C B A, B C A, A C B,
    /// C A B, B A C.
    pub(crate) fn turns(self, point: usize, n_runs: usize) -> Vec<usize> {
        let runs: Vec<usize> = (0..n_runs).collect();
        let repetitions = runs.chunks(self.n_servers).enumerate();
        let in_turn = |(repetition, servers): (usize, &[usize])| {
            let block = point + repetition;
            let mut turns = servers.to_vec();
            if 2 < servers.len() {
                turns.rotate_left(block / 2 % servers.len());
            }
            if block % 2 == 1 {
                turns.reverse();
            }
            turns
        };
        repetitions.flat_map(in_turn).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The turns at one load point of repetitions of servers, as letters.
    fn letters(n_servers: usize, point: usize, n_runs: usize) -> String {
        let turns = TurnOrder::of(n_servers).turns(point, n_runs);
        turns.iter().map(|run| char::from(b'A' + (run % n_servers) as u8)).collect()
    }

    #[test]
    fn two_servers_alternate_from_repetition_to_repetition_and_from_load_to_load() {
        assert_eq!([0, 1, 2].map(|point| letters(2, point, 2)), ["AB", "BA", "AB"]);
        assert_eq!([0, 1].map(|point| letters(2, point, 8)), ["ABBAABBA", "BAABBAAB"]);
        assert_eq!(TurnOrder::of(2).turns(1, 4), [1, 0, 2, 3], "each repetition keeps its runs");
    }

    #[test]
    fn each_of_three_servers_comes_first_twice_in_six_load_points() {
        let found: Vec<String> = (0..6).map(|point| letters(3, point, 3)).collect();
        assert_eq!(found, ["ABC", "CBA", "BCA", "ACB", "CAB", "BAC"]);
    }

    /// Goal: a machine that becomes slower by as much from turn to turn is as slow for one server as for the other.
    #[test]
    fn the_mean_turn_is_the_same_for_both() {
        for (point, n_runs) in [(0, 4), (1, 4), (0, 16), (3, 8)] {
            let places = |letter| {
                letters(2, point, n_runs).match_indices(letter).map(|(place, _)| place).sum::<usize>()
            };
            assert_eq!(places('A'), places('B'), "{point}, {n_runs}");
        }
    }

    #[test]
    fn a_single_run_or_none_has_its_turns() {
        assert_eq!(TurnOrder::of(1).turns(3, 1), [0]);
        assert_eq!(TurnOrder::of(0).turns(1, 0), [0; 0]);
    }
}
