//! Bodies that nobody has described: the first one of each object, and what later ones may be.
//!
//! A page changes with time: a clock, a counter of visits, a cache that is filled anew. What it must not do is change with
//! the load. The rule, for each object of a load thread by itself:
//!
//! | bodies are | a body | the operation | then |
//! |---|---|---|---|
//! | any | empty, or shorter than half of the shortest so far, though the first was not | wrong length | as before |
//! | any | of another type than the first | wrong bytes | as before |
//! | compared | equal to the first | ok | compared |
//! | compared | another | ok | changed |
//! | changed | equal to the first, requested within [`RETURN_MAX`] after the change | ok | changed |
//! | changed | equal to the first, requested later | ok | mixed: the server has two bodies at a time |
//! | changed | another | ok, not compared | changed |
//! | mixed | other than the first | wrong length, wrong bytes | mixed |
//!
//! Where bodies must never change, only an equal one is right from the beginning. Whether a change came with the load is
//! judged when the load is over, by the page at rest ([`ObjectSeen::came_with_the_load`]).

use std::cell::RefCell;
use std::collections::HashMap;

use model::Outcome;
use units::{Clock, Nanos, RealClock, mix_bits};

use crate::net::OperationFailure;

/// The most objects whose first body is remembered; bodies of others are not checked.
const SEEN_MAX: usize = 1 << 20;

/// The longest time for which a first body may come back after a change: replies overtake each other, and processes of a
/// server renew their caches one after the other.
const RETURN_MAX: Nanos = Nanos::from_secs(1);

/// A body as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeenBody {
    pub(crate) length: u64,
    pub(crate) digest: u64,
    /// A hash of its media type; 0 without one.
    pub(crate) media_type: u64,
}

/// The state of the bodies of an object: what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonState {
    /// All were equal to the first.
    Compared,
    /// From this time on there were others, of which the first had this length; so many are not equal to the first.
    Changed {
        /// The time of the change.
        at: Nanos,
        /// The length of the first other body.
        length: u64,
        /// The number of other bodies.
        n: u64,
    },
    /// The first body came back after others: they were there at the same time.
    Mixed {
        /// The time of the first other body.
        at: Nanos,
        /// Its length.
        length: u64,
        /// The number of other bodies until the first came back, of operations that succeeded.
        n: u64,
    },
}

/// The bodies of an object so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectSeen {
    first: SeenBody,
    /// The shortest length of an operation that succeeded.
    shortest: u64,
    stage: ComparisonState,
}

impl ObjectSeen {
    fn new(first: SeenBody) -> ObjectSeen {
        ObjectSeen { first, shortest: first.length, stage: ComparisonState::Compared }
    }

    /// Returns what became of the bodies.
    pub fn stage(&self) -> ComparisonState {
        self.stage
    }

    /// Returns the length of the first body.
    pub fn first_length(&self) -> u64 {
        self.first.length
    }

    /// Returns whether other bodies came with the load: the page at rest, of which length and hash are given, has its first
    /// body again; or all bodies under load were equal, and are not those at rest.
    pub fn came_with_the_load(&self, length: u64, digest: u64) -> bool {
        let is_first = (self.first.length, self.first.digest) == (length, digest);
        match self.stage {
            ComparisonState::Compared => !is_first,
            ComparisonState::Changed { .. } | ComparisonState::Mixed { .. } => is_first,
        }
    }

    /// Judges another body, of a request that was sent at a time; `now` is called for one that differs only.
    #[inline]
    fn judge(
        &mut self,
        body: SeenBody,
        (may_change, sent): (bool, Nanos),
        now: impl FnOnce() -> Nanos,
    ) -> Result<(), OperationFailure> {
        if body == self.first && self.stage == ComparisonState::Compared {
            return Ok(());
        }
        self.judge_changing(body, (may_change, sent), now)
    }

    #[cold]
    fn judge_changing(
        &mut self,
        body: SeenBody,
        (may_change, sent): (bool, Nanos),
        now: impl FnOnce() -> Nanos,
    ) -> Result<(), OperationFailure> {
        if body == self.first {
            if let ComparisonState::Changed { at, length, n } = self.stage
                && at.saturating_add(RETURN_MAX) < sent
            {
                self.stage = ComparisonState::Mixed { at, length, n };
            }
            return Ok(());
        }
        let wrong = |outcome, detail| Err(OperationFailure::new(outcome, detail));
        let is_cut =
            self.first.length != 0 && (body.length == 0 || body.length.saturating_mul(2) < self.shortest);
        match self.stage {
            _ if is_cut => return wrong(Outcome::WrongLength, body.length),
            _ if body.media_type != self.first.media_type => return wrong(Outcome::WrongBytes, 0),
            ComparisonState::Compared if may_change => {
                self.stage = ComparisonState::Changed { at: now(), length: body.length, n: 1 };
            }
            ComparisonState::Changed { at, length, n } => {
                self.stage = ComparisonState::Changed { at, length, n: n + 1 }
            }
            _ if body.length != self.first.length => return wrong(Outcome::WrongLength, body.length),
            _ => return wrong(Outcome::WrongBytes, 0),
        }
        self.shortest = self.shortest.min(body.length);
        Ok(())
    }
}

/// The bodies of each object, by kind and number.
#[derive(Debug)]
pub(crate) struct SeenBodies {
    objects: RefCell<HashMap<(u16, u64), ObjectSeen>>,
    clock: RealClock,
}

impl SeenBodies {
    pub(crate) fn new(clock: RealClock) -> SeenBodies {
        SeenBodies { objects: RefCell::default(), clock }
    }

    /// Returns the bodies of an object.
    pub(crate) fn object(&self, object: (u16, u64)) -> Option<ObjectSeen> {
        self.objects.borrow().get(&object).copied()
    }

    /// Returns the bodies of all objects that have changed, and of the first object of each kind.
    pub(crate) fn notable(&self) -> Vec<((u16, u64), ObjectSeen)> {
        let objects = self.objects.borrow();
        let is_notable = |(_, number): (u16, u64), seen: &ObjectSeen| {
            number == 0 || seen.stage != ComparisonState::Compared
        };
        let mut notable: Vec<_> = objects
            .iter()
            .filter(|(at, seen)| is_notable(**at, seen))
            .map(|(at, seen)| (*at, *seen))
            .collect();
        notable.sort_by_key(|(at, _)| *at);
        notable
    }

    /// Takes the body of an object, in reply to a request that was sent at a time.
    pub(crate) fn take(
        &self,
        object: (u16, u64),
        body: SeenBody,
        (may_change, sent): (bool, Nanos),
    ) -> Result<(), OperationFailure> {
        let mut objects = self.objects.borrow_mut();
        if let Some(seen) = objects.get_mut(&object) {
            return seen.judge(body, (may_change, sent), || self.clock.now());
        }
        if objects.len() < SEEN_MAX {
            objects.insert(object, ObjectSeen::new(body));
        }
        Ok(())
    }
}

/// Returns a hash of a media type, whatever its case; never 0.
pub(crate) fn media_type_hash(media_type: &[u8]) -> u64 {
    media_type
        .iter()
        .fold(1, |hash, byte| mix_bits(hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_add(1))
        | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: u64 = 1;
    const JSON: u64 = 2;

    /// A body of this length; those of one letter are equal.
    fn body(letter: char, length: u64) -> SeenBody {
        SeenBody { length, digest: letter as u64, media_type: HTML }
    }

    /// Judges bodies in replies to requests of these times, in ms, after a first body `a` of 100 bytes; each reply takes
    /// 5 ms. Returns a letter per operation, `.` for a success, `l` and `b` for wrong length and bytes, and the stage.
    fn judged(may_change: bool, bodies: &[(u64, SeenBody)]) -> (String, ComparisonState) {
        let mut seen = ObjectSeen::new(body('a', 100));
        let mut letters = String::new();
        for (sent, body) in bodies {
            let now = || Nanos::from_millis(sent + 5);
            letters.push(match seen.judge(*body, (may_change, Nanos::from_millis(*sent)), now) {
                Ok(()) => '.',
                Err(OperationFailure { outcome: Outcome::WrongLength, .. }) => 'l',
                Err(OperationFailure { outcome: Outcome::WrongBytes, .. }) => 'b',
                Err(other) => panic!("{other:?}"),
            });
        }
        (letters, seen.stage)
    }

    #[test]
    fn a_page_may_change_with_time_and_must_not_change_with_the_load() {
        let a = body('a', 100);
        let b = body('b', 100);
        let c = body('c', 60);
        let changed = |ms: u64, length, n| ComparisonState::Changed { at: Nanos::from_millis(ms), length, n };
        let mixed = |ms: u64, length, n| ComparisonState::Mixed { at: Nanos::from_millis(ms), length, n };
        let other_type = SeenBody { media_type: JSON, ..b };
        let cases = [
            ("nothing happens", vec![(1, a), (2, a)], "..", ComparisonState::Compared),
            ("a clock", vec![(1, a), (10, b), (20, b), (5000, c)], "....", changed(15, 100, 3)),
            ("replies that overtake each other", vec![(10, b), (9, a), (20, b)], "...", changed(15, 100, 2)),
            (
                "two caches, renewed one after the other",
                vec![(10, b), (900, a), (2000, b)],
                "...",
                changed(15, 100, 2),
            ),
            (
                "an error page beside the page",
                vec![(10, c), (20, a), (1010, c), (1016, a), (1020, c), (1030, a), (1040, b)],
                "....l.b",
                mixed(15, 60, 2),
            ),
            ("an empty body", vec![(1, body('e', 0)), (2, a)], "l.", ComparisonState::Compared),
            ("less than half", vec![(1, body('s', 49)), (2, body('s', 50))], "l.", changed(7, 50, 1)),
            (
                "less than half of the shortest",
                vec![(1, c), (2, body('s', 30)), (3, body('t', 14)), (4, body('u', 15))],
                "..l.",
                changed(6, 60, 3),
            ),
            (
                "another type",
                vec![(1, other_type), (2, a), (3, b), (4, other_type)],
                "b..b",
                changed(8, 100, 1),
            ),
        ];
        for (name, bodies, letters, stage) in cases {
            assert_eq!(judged(true, &bodies), (letters.to_owned(), stage), "{name}");
        }
    }

    #[test]
    fn a_body_that_must_not_change_is_always_compared() {
        let bodies = [(1, body('b', 100)), (2, body('a', 100)), (3, body('c', 101))];
        assert_eq!(judged(false, &bodies), ("b.l".to_owned(), ComparisonState::Compared));
    }

    #[test]
    fn anything_may_follow_an_empty_first_body() {
        let mut seen = ObjectSeen::new(body('e', 0));
        assert_eq!(seen.judge(body('a', 5), (true, Nanos::ZERO), || Nanos(7)), Ok(()));
        assert_eq!(seen.stage, ComparisonState::Changed { at: Nanos(7), length: 5, n: 1 });
    }

    #[test]
    fn the_page_at_rest_tells_time_from_load() {
        let at_rest = |stage, letter| {
            let seen = ObjectSeen { stage, ..ObjectSeen::new(body('a', 100)) };
            seen.came_with_the_load(100, letter as u64)
        };
        let changed = ComparisonState::Changed { at: Nanos(1), length: 9, n: 1 };
        assert!(!at_rest(ComparisonState::Compared, 'a') && at_rest(ComparisonState::Compared, 'b'));
        assert!(at_rest(changed, 'a') && !at_rest(changed, 'b'));
    }

    #[test]
    fn a_media_type_is_compared_whatever_its_case() {
        assert_eq!(media_type_hash(b"text/HTML"), media_type_hash(b"Text/html"));
        assert_ne!(media_type_hash(b"text/html"), media_type_hash(b"text/plain"));
        assert_ne!(media_type_hash(b""), 0);
    }
}
