//! Pairing of interleaved repetitions of two sides, so that a drift of the machine affects both.

use units::WallTime;

/// The fewest pairs that count as repetitions.
pub(super) const N_PAIRS_MIN: usize = 3;

/// Returns the pairs of interleaved repetitions of two sides: indexes in `a` and `b` of those that followed each other.
///
/// By the order in time; two neighbors of different sides are a pair, one between pairs is left out (its partner may
/// not be valid). `None` with fewer than three pairs, as when all of one side came before the other, or if a time is
/// missing.
pub(super) fn interleaved_pairs(
    a: &[Option<WallTime>],
    b: &[Option<WallTime>],
) -> Option<Vec<(usize, usize)>> {
    let of = |side: &[Option<WallTime>], is_b: bool| -> Option<Vec<(WallTime, bool, usize)>> {
        side.iter().enumerate().map(|(index, began)| Some(((*began)?, is_b, index))).collect()
    };
    let mut order = [of(a, false)?, of(b, true)?].concat();
    order.sort();
    let mut pairs = Vec::new();
    let mut rest = order.as_slice();
    while let [one, other, after @ ..] = rest {
        rest = match (one.1, other.1) {
            (false, true) => {
                pairs.push((one.2, other.2));
                after
            }
            (true, false) => {
                pairs.push((other.2, one.2));
                after
            }
            _ => &rest[1..],
        };
    }
    (N_PAIRS_MIN <= pairs.len()).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters in the order of time; returns the pairs.
    fn paired(order: &str) -> Option<Vec<(usize, usize)>> {
        let times = |letter: char| {
            let at = order.char_indices().filter(|(_, one)| *one == letter);
            at.map(|(index, _)| Some(WallTime(index as i64))).collect::<Vec<_>>()
        };
        interleaved_pairs(&times('a'), &times('b'))
    }

    #[test]
    fn neighbors_of_different_sides_are_pairs() {
        let all = Some(vec![(0, 0), (1, 1), (2, 2)]);
        assert_eq!(paired("ababab"), all);
        assert_eq!(paired("bababa"), all);
        assert_eq!(paired("abbaab"), all);
        assert_eq!(paired("abaab"), None, "two pairs");
        assert_eq!(paired("abaabab"), Some(vec![(0, 0), (2, 1), (3, 2)]), "one without a partner");
    }

    #[test]
    fn one_side_after_the_other_is_not_interleaved() {
        assert_eq!(paired("aaabbb"), None);
        assert_eq!(interleaved_pairs(&[Some(WallTime(1)), None], &[Some(WallTime(2)); 2]), None);
    }
}
