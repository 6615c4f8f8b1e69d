//! Counters of a worker. One thread counts, others read: no lock, and no atomic read-modify-write.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use units::Nanos;

use crate::message::{DisconnectReason, HandlingReason, RequestHandling, ResponsePath};

/// The number of paths.
const PATHS: usize = ResponsePath::ALL.len();

/// A counter that one thread raises and any thread may read.
///
/// Two threads that raise it lose counts, and nothing else.
#[derive(Debug, Default)]
struct SingleWriterCounter(AtomicU64);

impl SingleWriterCounter {
    #[inline]
    fn add(&self, n: u64) {
        // Cheaper than `fetch_add`, which would lock the bus; right because one thread writes.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one worker; raised by its thread only, read by any.
#[derive(Debug, Default)]
pub struct WorkerCounters {
    responses: ResponseCounters,
    refused: [SingleWriterCounter; DisconnectReason::ALL.len()],
    bytes: [SingleWriterCounter; PATHS],
    origin_ns: [SingleWriterCounter; PATHS],
    statuses: [SingleWriterCounter; CounterTotals::CLASSES],
    opened: SingleWriterCounter,
    closed: SingleWriterCounter,
}

impl WorkerCounters {
    /// Counts a response: its path, its status, and the bytes sent, head and body.
    #[inline]
    pub fn note(&self, handling: &RequestHandling, status: u16, bytes_out: u64) {
        let path = handling.path as usize;
        self.responses.0[path * HandlingReason::COUNT + handling.reason.index()].add(1);
        self.bytes[path].add(bytes_out);
        self.statuses[CounterTotals::class(status)].add(1);
        if let Some(time) = handling.origin_time {
            self.origin_ns[path].add(time.0);
        }
    }

    /// Counts a client connection that was accepted.
    #[inline]
    pub(crate) fn connection_opened(&self) {
        self.opened.add(1);
    }

    /// Counts the end of a client connection that was accepted.
    #[inline]
    pub(crate) fn connection_closed(&self) {
        self.closed.add(1);
    }

    /// Counts a connection that was refused or aborted.
    pub fn connection_refused(&self, reason: DisconnectReason) {
        self.refused[reason as usize].add(1);
    }

    /// Adds these counts to a total over workers.
    fn add_to(&self, totals: &mut CounterTotals) {
        for (path, counters) in self.responses.0.chunks_exact(HandlingReason::COUNT).enumerate() {
            for (reason, count) in HandlingReason::all().zip(counters).filter(|(_, count)| count.get() != 0) {
                // Some reasons share a name.
                *totals.responses.entry((path as u8, reason.name())).or_default() += count.get();
            }
        }
        for (reason, count) in DisconnectReason::ALL.iter().zip(&self.refused) {
            if count.get() != 0 {
                *totals.refused.entry(reason.name()).or_default() += count.get();
            }
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

/// Counters of responses, by path and within it by reason.
#[derive(Debug)]
struct ResponseCounters(Box<[SingleWriterCounter]>);

impl Default for ResponseCounters {
    fn default() -> ResponseCounters {
        ResponseCounters((0..PATHS * HandlingReason::COUNT).map(|_| SingleWriterCounter::default()).collect())
    }
}

/// The totals over all workers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CounterTotals {
    /// Responses by the index of their path in [`ResponsePath::ALL`] and their reason.
    pub responses: BTreeMap<(u8, &'static str), u64>,
    /// Bytes sent, heads and bodies; indexed as [`ResponsePath::ALL`].
    pub bytes: [u64; PATHS],
    /// The time that the origin took, or that was saved (see [`RequestHandling::origin_time`]); indexed as
    /// [`ResponsePath::ALL`].
    pub origin_time: [Nanos; PATHS],
    /// Responses by the first digit of the status, 1 to 5 at 0 to 4; all others at 5.
    pub statuses: [u64; CounterTotals::CLASSES],
    /// Client connections that were accepted.
    pub connections_opened: u64,
    /// Those of them that have ended.
    pub connections_closed: u64,
    /// Refused or aborted client connections, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

impl CounterTotals {
    /// The number of status classes.
    pub const CLASSES: usize = 6;

    /// Adds up the counters of all workers.
    pub fn of<'a>(workers: impl IntoIterator<Item = &'a WorkerCounters>) -> CounterTotals {
        let mut totals = CounterTotals::default();
        workers.into_iter().for_each(|counters| counters.add_to(&mut totals));
        totals
    }

    /// Returns the index of a status in [`CounterTotals::statuses`].
    fn class(status: u16) -> usize {
        let digit = usize::from(status / 100);
        if (1..CounterTotals::CLASSES).contains(&digit) { digit - 1 } else { CounterTotals::CLASSES - 1 }
    }

    /// Returns the number of open client connections.
    pub fn connections(&self) -> u64 {
        self.connections_opened.saturating_sub(self.connections_closed)
    }

    /// Returns the number of responses with this path.
    pub fn responses_by(&self, path: ResponsePath) -> u64 {
        self.responses
            .range((path as u8, "")..)
            .take_while(|((one, _), _)| *one == path as u8)
            .map(|(_, n)| n)
            .sum()
    }

    /// Returns the number of responses.
    pub fn responses(&self) -> u64 {
        self.responses.values().sum()
    }

    /// Returns the hit ratio: the share of responses for which the origin sent no body, among all responses but
    /// errors that arose here. `None` if there were none.
    pub fn hit_ratio(&self) -> Option<f64> {
        let hits: u64 = ResponsePath::ALL
            .into_iter()
            .filter(|path| is_hit(*path))
            .map(|path| self.responses_by(path))
            .sum();
        let all = self.responses() - self.responses_by(ResponsePath::Error);
        (all != 0).then(|| hits as f64 / all as f64)
    }

    /// Returns the time that the origin was spared: the time that the stored responses took when they were fetched.
    pub(crate) fn origin_time_saved(&self) -> Nanos {
        self.origin_time_where(|path| is_hit(path) && path != ResponsePath::Revalidated)
    }

    /// Returns the time that the origin took to answer.
    pub(crate) fn origin_time_taken(&self) -> Nanos {
        self.origin_time_where(|path| !is_hit(path) || path == ResponsePath::Revalidated)
    }

    fn origin_time_where(&self, counts: impl Fn(ResponsePath) -> bool) -> Nanos {
        let times = ResponsePath::ALL.into_iter().zip(self.origin_time).filter(|(path, _)| counts(*path));
        times.fold(Nanos::ZERO, |sum, (_, time)| sum.saturating_add(time))
    }
}

/// Returns whether the body came from the store, or from a collapsed fetch.
fn is_hit(path: ResponsePath) -> bool {
    match path {
        ResponsePath::Memory | ResponsePath::Disk | ResponsePath::Revalidated | ResponsePath::Stale => true,
        ResponsePath::Negative | ResponsePath::Collapsed => true,
        ResponsePath::Miss | ResponsePath::Pass | ResponsePath::Error => false,
    }
}

#[cfg(test)]
mod tests {
    use cache_policy::{MissReason, PassReason};

    use super::*;
    use crate::message::ProxyReason;

    fn handling(path: ResponsePath, reason: impl Into<HandlingReason>) -> RequestHandling {
        RequestHandling { path, reason: reason.into(), origin_time: Some(Nanos(10)) }
    }

    #[test]
    fn paths_are_indexed_in_their_order() {
        for (slot, path) in ResponsePath::ALL.into_iter().enumerate() {
            assert_eq!(path as usize, slot, "{path:?}");
        }
    }

    #[test]
    fn workers_are_summed_by_path_and_reason() {
        let workers = [WorkerCounters::default(), WorkerCounters::default()];
        for counters in &workers {
            counters.note(&handling(ResponsePath::Memory, ProxyReason::Fresh), 200, 1_000);
            counters.note(&handling(ResponsePath::Memory, ProxyReason::Fresh), 304, 100);
            counters.note(&handling(ResponsePath::Miss, MissReason::UriMiss), 200, 1_100);
            counters.note(&handling(ResponsePath::Miss, MissReason::VaryMiss), 404, 200);
        }
        workers[1].note(&handling(ResponsePath::Error, ProxyReason::OriginDown), 502, 50);
        let totals = CounterTotals::of(&workers);
        let expected =
            [((0, "fresh"), 4), ((6, "uri-miss"), 2), ((6, "vary-miss"), 2), ((8, "origin-down"), 1)];
        assert_eq!(totals.responses, BTreeMap::from(expected));
        assert_eq!((totals.responses(), totals.responses_by(ResponsePath::Miss)), (9, 4));
        assert_eq!(totals.bytes[ResponsePath::Memory as usize], 2_200);
        assert_eq!(totals.statuses, [0, 4, 2, 2, 1, 0]);
        assert_eq!(totals.hit_ratio(), Some(0.5), "4 of the 8 that are no errors");
        assert_eq!((totals.origin_time_saved(), totals.origin_time_taken()), (Nanos(40), Nanos(50)));
    }

    #[test]
    fn no_responses_have_no_hit_ratio() {
        assert_eq!(CounterTotals::of(&[WorkerCounters::default()]).hit_ratio(), None);
    }

    #[test]
    fn reasons_of_one_name_are_counted_together() {
        let counters = WorkerCounters::default();
        counters.note(&handling(ResponsePath::Error, ProxyReason::Method), 405, 10);
        counters.note(&handling(ResponsePath::Error, PassReason::Method), 405, 10);
        counters.note(&handling(ResponsePath::Pass, PassReason::Method), 200, 10);
        let totals = CounterTotals::of([&counters]);
        assert_eq!(totals.responses, BTreeMap::from([((7, "method"), 1), ((8, "method"), 2)]));
    }

    #[test]
    fn unknown_status_classes_are_counted_as_other() {
        for (status, class) in [(100, 0), (204, 1), (599, 4), (0, 5), (600, 5), (u16::MAX, 5)] {
            assert_eq!(CounterTotals::class(status), class);
        }
    }

    #[test]
    fn open_connections_are_opened_minus_closed() {
        let counters = WorkerCounters::default();
        counters.connection_opened();
        counters.connection_opened();
        counters.connection_closed();
        counters.connection_refused(DisconnectReason::ConnectionsMax);
        let totals = CounterTotals::of([&counters]);
        assert_eq!((totals.connections_opened, totals.connections()), (2, 1));
        assert_eq!(totals.refused, BTreeMap::from([("connections-max", 1)]));
    }
}
