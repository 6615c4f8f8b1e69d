//! What a worker counts. One thread counts, others read: no lock, and no instruction that locks a bus.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use units::Nanos;

use crate::message::{Handling, HitPath};

/// How many ways a request can go.
const PATHS: usize = HitPath::ALL.len();

/// How many pairs of way and reason have a place of their own; policy and the rest of the crate have some hundred names.
const PLACES: usize = 256;

/// What counts for pairs that found no place.
const OTHER: &str = "other";

/// A number that one thread raises and any may read.
///
/// Two threads that raise it lose counts, and nothing else.
#[derive(Debug, Default)]
struct Count(AtomicU64);

impl Count {
    #[inline]
    fn add(&self, n: u64) {
        // Cheaper than `fetch_add`, which would lock; right because one thread writes.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one worker; raised by its thread only, read by any.
#[derive(Debug, Default)]
pub struct Counters {
    replies: Reasons,
    refused: Reasons,
    bytes: [Count; PATHS],
    origin_ns: [Count; PATHS],
    statuses: [Count; Totals::CLASSES],
    opened: Count,
    closed: Count,
}

impl Counters {
    /// Counts a reply that was given: the way it went, its status, and how many bytes went out, head and body.
    #[inline]
    pub fn note(&self, handling: &Handling, status: u16, bytes_out: u64) {
        let path = handling.path as usize;
        self.replies.add(path as u8, handling.reason);
        self.bytes[path].add(bytes_out);
        self.statuses[Totals::class(status)].add(1);
        if let Some(time) = handling.origin_time {
            self.origin_ns[path].add(time.0);
        }
    }

    /// Counts a client's connection that was accepted.
    #[inline]
    pub fn connection_opened(&self) {
        self.opened.add(1);
    }

    /// Counts the end of a client's connection that was counted when it was accepted.
    #[inline]
    pub fn connection_closed(&self) {
        self.closed.add(1);
    }

    /// Counts a connection that was refused or broken off, by the reason: such as `connections-max` or `tls-handshake`.
    pub fn connection_refused(&self, reason: &'static str) {
        self.refused.add(0, reason);
    }

    /// Adds what has been counted so far to a sum over workers.
    fn add_to(&self, totals: &mut Totals) {
        for (path, reason, n) in self.replies.iter() {
            *totals.replies.entry((path, reason)).or_default() += n;
        }
        for (_, reason, n) in self.refused.iter() {
            *totals.refused.entry(reason).or_default() += n;
        }
        for (sum, count) in totals.bytes.iter_mut().zip(&self.bytes) {
            *sum += count.get();
        }
        for (sum, count) in totals.origin_time.iter_mut().zip(&self.origin_ns) {
            *sum = sum.saturating_add(Nanos(count.get()));
        }
        for (sum, count) in totals.statuses.iter_mut().zip(&self.statuses) {
            *sum += count.get();
        }
        totals.connections_opened += self.opened.get();
        totals.connections_closed += self.closed.get();
    }
}

/// Counts by a number and a name, of which there are few: a small table with open addressing.
///
/// Names are told apart by where they stand in memory, which is quick. The same text may stand in two places; whoever
/// reads adds both up.
#[derive(Debug)]
struct Reasons {
    places: Box<[Place]>,
    others: Count,
}

#[derive(Debug, Default)]
struct Place {
    what: OnceLock<(u8, &'static str)>,
    n: Count,
}

impl Default for Reasons {
    fn default() -> Reasons {
        Reasons { places: (0..PLACES).map(|_| Place::default()).collect(), others: Count::default() }
    }
}

impl Reasons {
    #[inline]
    fn add(&self, group: u8, reason: &'static str) {
        // Names stand close to each other; their addresses' lower bits differ most.
        let start = ((reason.as_ptr() as usize).wrapping_mul(0x9e37_79b1) >> 7) ^ (usize::from(group) * 29);
        for step in 0..PLACES {
            let place = &self.places[(start + step) % PLACES];
            let (its_group, its_reason) = *place.what.get_or_init(|| (group, reason));
            if its_group == group && std::ptr::eq(its_reason, reason) {
                return place.n.add(1);
            }
        }
        self.others.add(1);
    }

    fn iter(&self) -> impl Iterator<Item = (u8, &'static str, u64)> {
        let places = self
            .places
            .iter()
            .filter_map(|place| place.what.get().map(|what| (what.0, what.1, place.n.get())));
        let others = Some(self.others.get()).filter(|n| *n != 0).map(|n| (HitPath::Error as u8, OTHER, n));
        places.chain(others)
    }
}

/// What all workers have counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Replies by the place of their way in [`HitPath::ALL`] and their reason.
    pub replies: BTreeMap<(u8, &'static str), u64>,
    /// Bytes that went out, heads and bodies; indexed as [`HitPath::ALL`].
    pub bytes: [u64; PATHS],
    /// Time that the origin took, or that was saved (see [`Handling::origin_time`]); indexed as [`HitPath::ALL`].
    pub origin_time: [Nanos; PATHS],
    /// Replies by the first digit of the status, 1 to 5 at 0 to 4; all others at 5.
    pub statuses: [u64; Totals::CLASSES],
    /// Connections of clients that were accepted.
    pub connections_opened: u64,
    /// Those of them that have ended.
    pub connections_closed: u64,
    /// Connections that were refused or broken off, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

impl Totals {
    /// How many classes of statuses are told apart.
    pub const CLASSES: usize = 6;

    /// Sums up the counters of all workers.
    pub fn of<'a>(workers: impl IntoIterator<Item = &'a Counters>) -> Totals {
        let mut totals = Totals::default();
        workers.into_iter().for_each(|counters| counters.add_to(&mut totals));
        totals
    }

    /// Returns the place of a status in [`Totals::statuses`].
    fn class(status: u16) -> usize {
        let digit = usize::from(status / 100);
        if (1..Totals::CLASSES).contains(&digit) { digit - 1 } else { Totals::CLASSES - 1 }
    }

    /// Returns how many connections of clients there are.
    pub fn connections(&self) -> u64 {
        self.connections_opened.saturating_sub(self.connections_closed)
    }

    /// Returns how many replies went this way.
    pub fn replies_of(&self, path: HitPath) -> u64 {
        self.replies
            .range((path as u8, "")..)
            .take_while(|((one, _), _)| *one == path as u8)
            .map(|(_, n)| n)
            .sum()
    }

    /// Returns how many replies were given.
    pub fn replies(&self) -> u64 {
        self.replies.values().sum()
    }

    /// Returns the share of replies for which the origin sent no body: all hits, among replies that were not errors
    /// of our own. `None` if there were none.
    pub fn hit_ratio(&self) -> Option<f64> {
        let hits: u64 =
            HitPath::ALL.into_iter().filter(|path| is_hit(*path)).map(|path| self.replies_of(path)).sum();
        let all = self.replies() - self.replies_of(HitPath::Error);
        (all != 0).then(|| hits as f64 / all as f64)
    }

    /// Returns the time that the origin was spared: what the stored responses took when they were fetched.
    pub fn origin_time_saved(&self) -> Nanos {
        self.origin_time_where(|path| is_hit(path) && path != HitPath::Revalidated)
    }

    /// Returns the time that the origin took to answer.
    pub fn origin_time_taken(&self) -> Nanos {
        self.origin_time_where(|path| !is_hit(path) || path == HitPath::Revalidated)
    }

    fn origin_time_where(&self, counts: impl Fn(HitPath) -> bool) -> Nanos {
        let times = HitPath::ALL.into_iter().zip(self.origin_time).filter(|(path, _)| counts(*path));
        times.fold(Nanos::ZERO, |sum, (_, time)| sum.saturating_add(time))
    }
}

/// Tells whether the body came from what is stored, or from another's request.
fn is_hit(path: HitPath) -> bool {
    match path {
        HitPath::Memory | HitPath::Disk | HitPath::Revalidated | HitPath::Stale => true,
        HitPath::Negative | HitPath::Collapsed => true,
        HitPath::Miss | HitPath::Pass | HitPath::Error => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handling(path: HitPath, reason: &'static str) -> Handling {
        Handling { path, reason, origin_time: Some(Nanos(10)) }
    }

    #[test]
    fn ways_are_indexed_as_they_are_listed() {
        for (place, path) in HitPath::ALL.into_iter().enumerate() {
            assert_eq!(path as usize, place, "{path:?}");
        }
    }

    #[test]
    fn workers_are_summed_by_way_and_reason() {
        let workers = [Counters::default(), Counters::default()];
        for counters in &workers {
            counters.note(&handling(HitPath::Memory, "fresh"), 200, 1_000);
            counters.note(&handling(HitPath::Memory, "fresh"), 304, 100);
            counters.note(&handling(HitPath::Miss, "uri-miss"), 200, 1_100);
            counters.note(&handling(HitPath::Miss, "vary-miss"), 404, 200);
        }
        workers[1].note(&handling(HitPath::Error, "all-down"), 502, 50);
        let totals = Totals::of(&workers);
        let expected = [((0, "fresh"), 4), ((6, "uri-miss"), 2), ((6, "vary-miss"), 2), ((8, "all-down"), 1)];
        assert_eq!(totals.replies, BTreeMap::from(expected));
        assert_eq!((totals.replies(), totals.replies_of(HitPath::Miss)), (9, 4));
        assert_eq!(totals.bytes[HitPath::Memory as usize], 2_200);
        assert_eq!(totals.statuses, [0, 4, 2, 2, 1, 0]);
        assert_eq!(totals.hit_ratio(), Some(0.5), "4 of the 8 that are no errors");
        assert_eq!((totals.origin_time_saved(), totals.origin_time_taken()), (Nanos(40), Nanos(50)));
    }

    #[test]
    fn nothing_has_no_ratio() {
        assert_eq!(Totals::of(&[Counters::default()]).hit_ratio(), None);
    }

    #[test]
    fn a_reason_that_finds_no_place_is_still_counted() {
        let reasons = Reasons::default();
        let names: Vec<&'static str> =
            (0..PLACES + 3).map(|k| &*Box::leak(format!("reason-{k}").into())).collect();
        for name in names.iter().chain(&names) {
            reasons.add(3, name);
        }
        let all: Vec<_> = reasons.iter().collect();
        assert_eq!(all.len(), PLACES + 1);
        assert_eq!(all.iter().map(|(_, _, n)| n).sum::<u64>(), 2 * (PLACES as u64 + 3));
        assert_eq!(all.last(), Some(&(HitPath::Error as u8, OTHER, 6)));
    }

    #[test]
    fn statuses_beyond_all_classes_are_counted_as_others() {
        for (status, class) in [(100, 0), (204, 1), (599, 4), (0, 5), (600, 5), (u16::MAX, 5)] {
            assert_eq!(Totals::class(status), class);
        }
    }

    #[test]
    fn connections_that_are_open_are_those_not_closed() {
        let counters = Counters::default();
        counters.connection_opened();
        counters.connection_opened();
        counters.connection_closed();
        counters.connection_refused("connections-max");
        let totals = Totals::of([&counters]);
        assert_eq!((totals.connections_opened, totals.connections()), (2, 1));
        assert_eq!(totals.refused, BTreeMap::from([("connections-max", 1)]));
    }
}
