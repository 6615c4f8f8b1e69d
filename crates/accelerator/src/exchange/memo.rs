//! A memoized response, which the frontend may repeat without asking the exchange.

use std::sync::{Arc, Weak};

use cache_store::{EpochSnapshot, StoredResponse};
use units::WallTime;

use super::cache_status::CacheStatus;
use crate::message::{RequestHandling, ResponsePath};

/// The part of a stored response that a hit sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoKind {
    /// Head and body.
    Whole,
    /// The head only: HEAD.
    HeadOnly,
    /// 304.
    NotModified,
}

/// A memoized response, valid as long as the very same head would be answered the same way.
///
/// For requests whose head is the same byte for byte, on a connection of the same scheme, under the same settings.
/// Made only for fresh responses to requests without directives. Send [`hit_lines`](super::hit_lines) and, for
/// [`MemoKind::Whole`], the stored body.
#[derive(Debug, Clone)]
pub struct Memo {
    object: Weak<StoredResponse>,
    epoch: EpochSnapshot,
    until: WallTime,
    kind: MemoKind,
}

impl Memo {
    /// Memoizes a response: until what is stored under the key changes, or the response is no longer fresh.
    pub(super) fn new(
        object: &Arc<StoredResponse>,
        epoch: EpochSnapshot,
        now: WallTime,
        kind: MemoKind,
    ) -> Memo {
        let left = i64::try_from(object.stored.ttl(now).0 / 1_000_000).unwrap_or(i64::MAX);
        Memo { object: Arc::downgrade(object), epoch, until: WallTime(now.0.saturating_add(left)), kind }
    }

    /// Returns the stored response if it still answers the request; takes no lock and allocates nothing.
    ///
    /// The caller counts the hit with [`StoredResponse::note_hit`]; [`Exchange::recall`](super::Exchange::recall)
    /// does both.
    #[inline]
    pub fn object(&self, now: WallTime) -> Option<Arc<StoredResponse>> {
        if self.until <= now || !self.epoch.is_current() {
            return None;
        }
        self.object.upgrade()
    }

    /// Returns the part to send.
    pub fn kind(&self) -> MemoKind {
        self.kind
    }

    /// Returns the status that the client gets.
    pub fn status(&self, object: &StoredResponse) -> u16 {
        if self.kind == MemoKind::NotModified { 304 } else { object.status() }
    }

    /// Returns the handling, for logs and metrics.
    pub fn handling(&self, object: &StoredResponse) -> RequestHandling {
        CacheStatus::fresh(ResponsePath::Memory, object).handling()
    }
}
