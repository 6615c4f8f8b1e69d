//! The objects, and the state shared by clients, origin and disturbances.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Content;
use units::{Clock, Nanos, RealClock};

/// Number of objects; their total size exceeds the accelerator's memory limit.
pub(super) const OBJECTS: u32 = 4000;

/// Time after an outage in which failures are still excused: broken connections are noticed then.
pub(super) const AFTERMATH: Nanos = Nanos::from_millis(1500);

/// Maximum number of responses described per kind.
const DESCRIBED_MAX: usize = 10;

/// The class of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectClass {
    /// Cacheable for long, with a purge tag.
    Lasting,
    /// Must be validated every second.
    Brief,
    /// Not cacheable.
    Never,
    /// Sent in chunks.
    Chunked,
    /// Varies by a request field.
    Varying,
    /// May be served stale while it is revalidated.
    Stale,
}

/// A representation of an object: its content at a time, for a variant of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Representation {
    /// The object.
    pub id: u32,
    /// The version of its content, by time.
    pub version: u64,
    /// The variant, 0 or 1.
    pub variant: u32,
}

impl Representation {
    /// Returns the entity tag, which identifies the representation: `"12-7-0"`.
    pub(super) fn tag(&self) -> String {
        format!("\"{}-{}-{}\"", self.id, self.version, self.variant)
    }

    /// Parses an entity tag.
    pub(super) fn of_tag(tag: &[u8]) -> Option<Representation> {
        let text = std::str::from_utf8(tag).ok()?.strip_prefix('"')?.strip_suffix('"')?;
        let mut numbers = text.split('-');
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let id = next()?;
        let version = next()?;
        let variant = next()?;
        Some(Representation { id: u32::try_from(id).ok()?, version, variant: u32::try_from(variant).ok()? })
    }

    /// Returns the length of the body in bytes: some 10 KB, every fiftieth half a megabyte and more.
    pub(super) fn bytes(&self) -> usize {
        let id = u64::from(self.id);
        let usual = 200 + id * 7919 % 20_000;
        let bytes = if id % 50 == 49 { usual + 500_000 } else { usual };
        (bytes + self.version % 7 * 13) as usize
    }

    /// Returns the number from which its content is generated.
    pub(super) fn object(&self) -> u32 {
        self.id << 16 | self.variant << 15 | (self.version & 0x7fff) as u32
    }
}

/// Returns the class of an object.
pub(super) fn class(id: u32) -> ObjectClass {
    match id % 8 {
        0..=2 => ObjectClass::Lasting,
        3 => ObjectClass::Brief,
        4 => ObjectClass::Never,
        5 => ObjectClass::Chunked,
        6 => ObjectClass::Varying,
        _ => ObjectClass::Stale,
    }
}

/// Counts of request results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SoakCounts {
    pub right: u64,
    pub bytes: u64,
    pub unchanged: u64,
    pub ranges: u64,
    pub left: u64,
    pub cut: u64,
    pub excused: u64,
    pub wrong: u64,
    pub dropped: u64,
}

impl fmt::Display for SoakCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SoakCounts { right, excused, wrong, dropped, .. } = self;
        write!(f, "{right} right, {excused} excused, {wrong} wrong, {dropped} dropped")
    }
}

/// An outage in which responses may fail, by its number.
#[must_use]
pub(super) struct Outage(usize);

/// State shared by clients, origin and disturbances.
pub(super) struct Fixture {
    clock: RealClock,
    /// The content of all representations.
    pub content: Content,
    is_over: AtomicBool,
    n_origin_requests: AtomicU64,
    counts: Mutex<SoakCounts>,
    described: Mutex<[Vec<String>; 2]>,
    /// Starts and ends; the end is in the far future during the outage.
    troubles: Mutex<Vec<(Nanos, Nanos)>>,
    /// The oldest version of each object that may still be served: the one at its last purge.
    floors: Vec<AtomicU64>,
}

impl Fixture {
    pub(super) fn new() -> Fixture {
        Fixture {
            clock: RealClock::start(),
            content: Content::new(7),
            is_over: AtomicBool::new(false),
            n_origin_requests: AtomicU64::new(0),
            counts: Mutex::default(),
            described: Mutex::default(),
            troubles: Mutex::default(),
            floors: (0..OBJECTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns the current version of an object: a new one every few seconds, not for all objects at once.
    pub(super) fn version(&self, id: u32) -> u64 {
        let period = if class(id) == ObjectClass::Lasting { 11_000 } else { 3_000 };
        (self.now().0 / 1_000_000 + u64::from(id) * 97) / period
    }

    /// Counts a request at the origin.
    pub(super) fn note_origin_request(&self) {
        self.n_origin_requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn n_origin_requests(&self) -> u64 {
        self.n_origin_requests.load(Ordering::Relaxed)
    }

    /// Returns the current versions of the objects that a purge `concerns`; call it before the purge, and
    /// [`Fixture::raise_floors`] with its result when the purge is done.
    pub(super) fn versions(&self, concerns: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
        (0..OBJECTS).filter(|id| concerns(*id)).map(|id| (id, self.version(id))).collect()
    }

    /// Makes older versions unacceptable.
    pub(super) fn raise_floors(&self, versions: &[(u32, u64)]) {
        for (id, version) in versions {
            self.floors[*id as usize].fetch_max(*version, Ordering::Relaxed);
        }
    }

    /// Returns the oldest acceptable version for a request that starts now.
    pub(super) fn floor(&self, id: u32) -> u64 {
        self.floors[id as usize].load(Ordering::Relaxed)
    }

    pub(super) fn begin_outage(&self) -> Outage {
        let mut troubles = lock(&self.troubles);
        troubles.push((self.now(), Nanos(u64::MAX)));
        Outage(troubles.len() - 1)
    }

    pub(super) fn end_outage(&self, outage: Outage) {
        lock(&self.troubles)[outage.0].1 = self.now() + AFTERMATH;
    }

    /// Returns whether a request from `begin` to now may have failed because of an outage.
    pub(super) fn is_excused(&self, begin: Nanos) -> bool {
        let now = self.now();
        lock(&self.troubles).iter().any(|(from, to)| *from <= now && begin <= *to)
    }

    /// Changes the counts.
    pub(super) fn count(&self, change: impl FnOnce(&mut SoakCounts)) {
        change(&mut lock(&self.counts));
    }

    pub(super) fn counts(&self) -> SoakCounts {
        *lock(&self.counts)
    }

    /// Records a response that must never occur.
    pub(super) fn note_wrong(&self, what: String) {
        self.count(|counts| counts.wrong += 1);
        self.describe(0, what);
    }

    /// Records a request that failed without a known reason.
    pub(super) fn note_dropped(&self, what: String) {
        self.count(|counts| counts.dropped += 1);
        self.describe(1, what);
    }

    fn describe(&self, list: usize, what: String) {
        let list = &mut lock(&self.described)[list];
        if list.len() < DESCRIBED_MAX {
            list.push(format!("at {:.1} s: {what}", self.now().as_secs_f64()));
        }
    }

    pub(super) fn wrong(&self) -> Vec<String> {
        lock(&self.described)[0].clone()
    }

    pub(super) fn dropped(&self) -> Vec<String> {
        lock(&self.described)[1].clone()
    }
}

/// A thread that panicked left consistent data here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_tag_identifies_a_representation() {
        let representation = Representation { id: 3999, version: 1234, variant: 1 };
        assert_eq!(Representation::of_tag(representation.tag().as_bytes()), Some(representation));
        for wrong in ["", "3999-1-1", "\"3999-1\"", "\"a-1-1\"", "W/\"1-1-1\""] {
            assert_eq!(Representation::of_tag(wrong.as_bytes()), None, "{wrong}");
        }
        assert_ne!(representation.object(), Representation { variant: 0, ..representation }.object());
    }

    #[test]
    fn failures_are_excused_during_an_outage_and_shortly_after() {
        let fixture = Fixture::new();
        let before = fixture.now();
        assert!(!fixture.is_excused(before));
        let outage = fixture.begin_outage();
        assert!(fixture.is_excused(before));
        fixture.end_outage(outage);
        assert!(fixture.is_excused(fixture.now()));
        assert!(!fixture.is_excused(fixture.now() + AFTERMATH + AFTERMATH));
    }

    #[test]
    fn purged_versions_are_unacceptable() {
        let fixture = Fixture::new();
        let versions = fixture.versions(|id| id == 9);
        assert_eq!(versions, [(9, fixture.version(9))]);
        fixture.raise_floors(&[(9, 500)]);
        fixture.raise_floors(&[(9, 400)]);
        assert_eq!((fixture.floor(9), fixture.floor(8)), (500, 0));
    }
}
