//! Load balancing between origin servers.

use std::cell::RefCell;
use std::cmp::Ordering;

use units::mix_bits;

use super::settings::Balance;

/// A server that may get the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The index of the server.
    pub(super) index: usize,
    /// The weight; not zero.
    pub(super) weight: u32,
    /// The number of requests in progress.
    pub(super) in_use: usize,
    /// A value that identifies the server, whatever the order of servers.
    pub(super) salt: u64,
}

/// A load balancer for one thread.
#[derive(Debug)]
pub(super) struct Balancer {
    rule: Balance,
    /// The credit of each server, for weighted round robin.
    credits: RefCell<Vec<i64>>,
}

impl Balancer {
    /// Makes a balancer for this many servers.
    pub(super) fn new(rule: Balance, servers: usize) -> Balancer {
        Balancer { rule, credits: RefCell::new(vec![0; servers]) }
    }

    /// Returns the index of the server for the request with this key; `None` if there is no candidate.
    pub(super) fn choose(&self, candidates: &[Candidate], key_hash: u64) -> Option<usize> {
        match self.rule {
            Balance::RoundRobin => self.round_robin(candidates.iter()),
            Balance::LeastConnections => {
                let least = candidates.iter().min_by(|one, other| compare_load(one, other))?;
                self.round_robin(candidates.iter().filter(|one| compare_load(one, least).is_eq()))
            }
            Balance::Hash => rendezvous(candidates, key_hash),
        }
    }

    /// Smooth weighted round robin: gives each server credit by its weight and lets the one with most credit pay for
    /// all, so that the turns of one server are spread evenly among the others' (weights 5, 1, 1 give `a a b a c a
    /// a`).
    fn round_robin<'a>(&self, candidates: impl Iterator<Item = &'a Candidate>) -> Option<usize> {
        let mut credits = self.credits.borrow_mut();
        let mut total = 0;
        let mut best: Option<(usize, i64)> = None;
        for candidate in candidates {
            let credit = credits.get_mut(candidate.index)?;
            *credit += i64::from(candidate.weight);
            total += i64::from(candidate.weight);
            if best.is_none_or(|(_, most)| most < *credit) {
                best = Some((candidate.index, *credit));
            }
        }
        let (index, _) = best?;
        *credits.get_mut(index)? -= total;
        Some(index)
    }
}

/// Compares (n + 1) / w, with n requests in progress besides this one and w the weight.
fn compare_load(one: &Candidate, other: &Candidate) -> Ordering {
    let load = |one: &Candidate, other: &Candidate| (one.in_use as u128 + 1) * u128::from(other.weight);
    load(one, other).cmp(&load(other, one))
}

/// Returns the server with the least −ln(u) / w, with u from 0 to 1 by hash of key and server, and w the weight.
///
/// Each server has its share of the keys, and when one comes or goes only its own keys move. Needs no hash ring, as
/// there are few servers.
///
/// Source: weighted rendezvous hashing; the least of exponential variables with rates w falls to each in proportion
/// to w.
fn rendezvous(candidates: &[Candidate], key_hash: u64) -> Option<usize> {
    let distance = |candidate: &Candidate| {
        let bits = mix_bits(mix_bits(key_hash) ^ candidate.salt) >> 11;
        let uniform = (bits + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln() / f64::from(candidate.weight)
    };
    let by_distance = |one: &&Candidate, other: &&Candidate| distance(one).total_cmp(&distance(other));
    candidates.iter().min_by(by_distance).map(|one| one.index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Servers of these weights, with nothing to do.
    fn candidates(weights: &[u32]) -> Vec<Candidate> {
        let candidate = |(index, &weight): (usize, &u32)| Candidate {
            index,
            weight,
            in_use: 0,
            salt: mix_bits(index as u64),
        };
        weights.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn round_robin_interleaves_by_weight() {
        let balancer = Balancer::new(Balance::RoundRobin, 3);
        let candidates = candidates(&[5, 1, 1]);
        let turns: Vec<_> = (0..14).filter_map(|_| balancer.choose(&candidates, 0)).collect();
        assert_eq!(turns, [0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
    }

    #[test]
    fn servers_that_are_not_candidates_are_skipped() {
        let balancer = Balancer::new(Balance::RoundRobin, 3);
        let candidates = candidates(&[1, 1, 1]);
        let turns: Vec<_> = (0..4).filter_map(|_| balancer.choose(&candidates[1..], 0)).collect();
        assert_eq!(turns, [1, 2, 1, 2]);
        assert_eq!(balancer.choose(&[], 0), None);
    }

    #[test]
    fn least_connections_is_weighted_and_ties_take_turns() {
        let balancer = Balancer::new(Balance::LeastConnections, 3);
        let mut candidates = candidates(&[1, 1, 2]);
        (candidates[0].in_use, candidates[1].in_use, candidates[2].in_use) = (1, 2, 4);
        assert_eq!(balancer.choose(&candidates, 0), Some(0)); // 2/1, 3/1, 5/2
        candidates[2].in_use = 2; // 3/2
        assert_eq!(balancer.choose(&candidates, 0), Some(2));
        (candidates[0].in_use, candidates[2].in_use) = (2, 9);
        let turns: Vec<_> = (0..4).filter_map(|_| balancer.choose(&candidates, 0)).collect();
        assert!(turns == [0, 1, 0, 1] || turns == [1, 0, 1, 0], "{turns:?}");
    }

    #[test]
    fn hashed_keys_stay_when_another_server_goes() {
        let balancer = Balancer::new(Balance::Hash, 3);
        let candidates = candidates(&[1, 1, 2]);
        let mut counts = [0; 3];
        for key in 0..4000 {
            let home = balancer.choose(&candidates, key).expect("a server");
            counts[home] += 1;
            let without_last = balancer.choose(&candidates[..2], key).expect("a server");
            assert!(home == 2 || home == without_last, "{key}");
        }
        // 1000, 1000 and 2000 expected; standard deviations 27 and 32.
        assert!(counts[..2].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
