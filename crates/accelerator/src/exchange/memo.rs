//! An answer that a front may give again without asking.

use std::sync::{Arc, Weak};

use units::WallTime;

use super::told::Told;
use crate::message::{Handling, HitPath};
use crate::store::{EpochSeen, Object};

/// What a hit sends of a stored response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoKind {
    /// Head and body.
    Whole,
    /// The head only: HEAD.
    HeadOnly,
    /// 304.
    NotModified,
}

/// The answer to a request, for as long as the very same head would be answered the same way.
///
/// Good for requests whose head is the same byte for byte, on a connection of the same scheme, under the same settings.
/// Given only for fresh responses to requests that want nothing special. Send [`hit_lines`](super::hit_lines) and, for
/// [`MemoKind::Whole`], the object's body.
#[derive(Debug, Clone)]
pub struct Memo {
    object: Weak<Object>,
    epoch: EpochSeen,
    until: WallTime,
    kind: MemoKind,
}

impl Memo {
    /// Remembers an answer: until what is stored under the key changes, or the response is no longer fresh.
    pub(super) fn new(object: &Arc<Object>, epoch: EpochSeen, now: WallTime, kind: MemoKind) -> Memo {
        let left = i64::try_from(object.stored.ttl(now).0 / 1_000_000).unwrap_or(i64::MAX);
        Memo { object: Arc::downgrade(object), epoch, until: WallTime(now.0.saturating_add(left)), kind }
    }

    /// Returns the stored response if it still answers the request; takes no lock and allocates nothing.
    ///
    /// Whoever sends it says so with [`Object::note_hit`]; [`Exchange::recall`](super::Exchange::recall) does both.
    #[inline]
    pub fn object(&self, now: WallTime) -> Option<Arc<Object>> {
        if self.until <= now || !self.epoch.is_current() {
            return None;
        }
        self.object.upgrade()
    }

    /// Returns what is to be sent of it.
    pub fn kind(&self) -> MemoKind {
        self.kind
    }

    /// Returns the status that the client gets.
    pub fn status(&self, object: &Object) -> u16 {
        if self.kind == MemoKind::NotModified { 304 } else { object.status() }
    }

    /// Returns what was done, for logs and metrics.
    pub fn handling(&self, object: &Object) -> Handling {
        Told::fresh(HitPath::Memory, object).handling()
    }
}
