//! The objects, and what everyone knows of one another.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Content;
use units::{Clock, Nanos, RealClock};

/// How many objects there are; all together have more bytes than the accelerator may keep in memory.
pub const OBJECTS: u32 = 4000;

/// How long after the end of a trouble failures still come of it: connections that were cut are found so.
pub const AFTERMATH: Nanos = Nanos::from_millis(1500);

/// How many replies of a sort are described.
const DESCRIBED_MAX: usize = 10;

/// What kind of reply an object gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// May be kept for long, has a tag.
    Lasting,
    /// Has to be validated every second.
    Brief,
    /// Must not be kept.
    Never,
    /// Comes in chunks.
    Chunked,
    /// Differs by a field of the request.
    Varying,
    /// May be used stale while it is fetched anew.
    Stale,
}

/// An object as it is at a time, and for a variant of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edition {
    /// Which object.
    pub id: u32,
    /// Which of its contents, by time.
    pub version: u64,
    /// Which variant, 0 or 1.
    pub variant: u32,
}

impl Edition {
    /// Returns the entity tag, which says all: `"12-7-0"`.
    pub fn tag(&self) -> String {
        format!("\"{}-{}-{}\"", self.id, self.version, self.variant)
    }

    /// Reads an entity tag.
    pub fn of_tag(tag: &[u8]) -> Option<Edition> {
        let text = std::str::from_utf8(tag).ok()?.strip_prefix('"')?.strip_suffix('"')?;
        let mut numbers = text.split('-');
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let (id, version, variant) = (next()?, next()?, next()?);
        Some(Edition { id: u32::try_from(id).ok()?, version, variant: u32::try_from(variant).ok()? })
    }

    /// Returns the length of the body in bytes: some 10 KB, every fiftieth half a megabyte and more.
    pub fn bytes(&self) -> usize {
        let id = u64::from(self.id);
        let usual = 200 + id * 7919 % 20_000;
        let bytes = if id % 50 == 49 { usual + 500_000 } else { usual };
        (bytes + self.version % 7 * 13) as usize
    }

    /// Returns the number by which its content is made.
    pub fn object(&self) -> u32 {
        self.id << 16 | self.variant << 15 | (self.version & 0x7fff) as u32
    }
}

/// Returns what kind of reply an object gives.
pub fn class(id: u32) -> Class {
    match id % 8 {
        0..=2 => Class::Lasting,
        3 => Class::Brief,
        4 => Class::Never,
        5 => Class::Chunked,
        6 => Class::Varying,
        _ => Class::Stale,
    }
}

/// What came of all requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
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

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { right, excused, wrong, dropped, .. } = self;
        write!(f, "{right} right, {excused} excused, {wrong} wrong, {dropped} dropped")
    }
}

/// A time in which replies may fail, by its number.
#[must_use]
pub struct Trouble(usize);

/// What clients, origin and those who disturb have in common.
pub struct World {
    clock: RealClock,
    /// The content of all editions.
    pub content: Content,
    is_over: AtomicBool,
    asked_behind: AtomicU64,
    counts: Mutex<Counts>,
    described: Mutex<[Vec<String>; 2]>,
    /// Beginnings and ends; the last end is far away while it lasts.
    troubles: Mutex<Vec<(Nanos, Nanos)>>,
    /// The oldest version of each object that may still be served: the one at its last purge.
    floors: Vec<AtomicU64>,
}

impl World {
    pub fn new() -> World {
        World {
            clock: RealClock::start(),
            content: Content::new(7),
            is_over: AtomicBool::new(false),
            asked_behind: AtomicU64::new(0),
            counts: Mutex::default(),
            described: Mutex::default(),
            troubles: Mutex::default(),
            floors: (0..OBJECTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Returns which content an object has now: a new one every few seconds, not all at once.
    pub fn version(&self, id: u32) -> u64 {
        let period = if class(id) == Class::Lasting { 11_000 } else { 3_000 };
        (self.now().0 / 1_000_000 + u64::from(id) * 97) / period
    }

    /// Counts a request at the server behind.
    pub fn note_asked_behind(&self) {
        self.asked_behind.fetch_add(1, Ordering::Relaxed);
    }

    pub fn asked_behind(&self) -> u64 {
        self.asked_behind.load(Ordering::Relaxed)
    }

    /// Notes that what is older than now is purged, for objects that `concerns`; call it before the purge is ordered, and
    /// [`World::raise_floors`] with what it returns when that is done.
    pub fn versions(&self, concerns: impl Fn(u32) -> bool) -> Vec<(u32, u64)> {
        (0..OBJECTS).filter(|id| concerns(*id)).map(|id| (id, self.version(id))).collect()
    }

    /// Lets nothing older than these versions be right any more.
    pub fn raise_floors(&self, versions: &[(u32, u64)]) {
        for (id, version) in versions {
            self.floors[*id as usize].fetch_max(*version, Ordering::Relaxed);
        }
    }

    /// Returns the oldest version that a reply to a request that begins now may have.
    pub fn floor(&self, id: u32) -> u64 {
        self.floors[id as usize].load(Ordering::Relaxed)
    }

    pub fn begin_trouble(&self) -> Trouble {
        let mut troubles = lock(&self.troubles);
        troubles.push((self.now(), Nanos(u64::MAX)));
        Trouble(troubles.len() - 1)
    }

    pub fn end_trouble(&self, trouble: Trouble) {
        lock(&self.troubles)[trouble.0].1 = self.now() + AFTERMATH;
    }

    /// Returns whether a request from `begin` to now may have failed because of a trouble.
    pub fn is_excused(&self, begin: Nanos) -> bool {
        let now = self.now();
        lock(&self.troubles).iter().any(|(from, to)| *from <= now && begin <= *to)
    }

    /// Changes the counts.
    pub fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    pub fn counts(&self) -> Counts {
        *lock(&self.counts)
    }

    /// Notes a reply that must never come.
    pub fn note_wrong(&self, what: String) {
        self.count(|counts| counts.wrong += 1);
        self.describe(0, what);
    }

    /// Notes a request that failed for no reason that is known.
    pub fn note_dropped(&self, what: String) {
        self.count(|counts| counts.dropped += 1);
        self.describe(1, what);
    }

    fn describe(&self, list: usize, what: String) {
        let list = &mut lock(&self.described)[list];
        if list.len() < DESCRIBED_MAX {
            list.push(format!("at {:.1} s: {what}", self.now().as_secs_f64()));
        }
    }

    pub fn wrong(&self) -> Vec<String> {
        lock(&self.described)[0].clone()
    }

    pub fn dropped(&self) -> Vec<String> {
        lock(&self.described)[1].clone()
    }
}

/// A thread that panicked has left nothing half done here.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_tag_says_which_edition_it_is() {
        let edition = Edition { id: 3999, version: 1234, variant: 1 };
        assert_eq!(Edition::of_tag(edition.tag().as_bytes()), Some(edition));
        for wrong in ["", "3999-1-1", "\"3999-1\"", "\"a-1-1\"", "W/\"1-1-1\""] {
            assert_eq!(Edition::of_tag(wrong.as_bytes()), None, "{wrong}");
        }
        assert_ne!(edition.object(), Edition { variant: 0, ..edition }.object());
    }

    #[test]
    fn failures_are_excused_while_there_is_trouble_and_shortly_after() {
        let world = World::new();
        let before = world.now();
        assert!(!world.is_excused(before));
        let trouble = world.begin_trouble();
        assert!(world.is_excused(before));
        world.end_trouble(trouble);
        assert!(world.is_excused(world.now()));
        assert!(!world.is_excused(world.now() + AFTERMATH + AFTERMATH));
    }

    #[test]
    fn what_was_purged_is_too_old_afterwards() {
        let world = World::new();
        let versions = world.versions(|id| id == 9);
        assert_eq!(versions, [(9, world.version(9))]);
        world.raise_floors(&[(9, 500)]);
        world.raise_floors(&[(9, 400)]);
        assert_eq!((world.floor(9), world.floor(8)), (500, 0));
    }
}
