//! The metadata of a stored response.

use units::{Nanos, WallTime};

use crate::freshness::{Lifetime, LifetimeSource, lifetime};
use crate::response_meta::ResponseMeta;
use crate::settings::Settings;
use crate::vary::Variant;

/// The metadata of a stored response: everything except its lines and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMeta {
    /// The metadata of its head.
    pub response: ResponseMeta,
    /// Its lifetime.
    pub lifetime: Lifetime,
    /// The request's values of the fields that it depends on.
    pub variant: Variant,
    /// The length of its body.
    pub body_bytes: u64,
    /// Whether an unsafe request has invalidated it: it must not be used without validation (RFC 9111 §4.4).
    pub is_invalid: bool,
}

impl StoredMeta {
    /// Makes the metadata of a response that [`store`](crate::store()) allows to store.
    pub fn new(response: ResponseMeta, variant: Variant, body_bytes: u64, settings: &Settings) -> StoredMeta {
        let lifetime = lifetime(&response, settings);
        StoredMeta { response, lifetime, variant, body_bytes, is_invalid: false }
    }

    /// Returns its current age.
    #[inline]
    pub fn age(&self, now: WallTime) -> Nanos {
        self.response.age(now)
    }

    /// Returns its remaining freshness; zero if it is stale.
    #[inline]
    pub fn ttl(&self, now: WallTime) -> Nanos {
        self.lifetime.length.saturating_sub(self.age(now))
    }

    /// Returns whether it is fresh: younger than its lifetime (RFC 9111 §4.2).
    #[inline]
    pub fn is_fresh(&self, now: WallTime) -> bool {
        self.age(now) < self.lifetime.length
    }

    /// Returns whether its lifetime is heuristic, which this cache discloses.
    #[inline]
    pub fn is_heuristic(&self) -> bool {
        self.lifetime.source == LifetimeSource::Heuristic
    }

    /// Makes it stale from now on: a soft purge, or a response to HEAD that does not match (RFC 9111 §4.3.5).
    pub fn expire(&mut self, now: WallTime) {
        self.lifetime.length = self.lifetime.length.min(self.age(now));
    }

    /// Makes it unusable without validation (RFC 9111 §4.4).
    pub fn invalidate(&mut self) {
        self.is_invalid = true;
    }

    /// Returns the bytes of each heap allocation, some of which may be zero; in no order.
    pub fn allocations(&self) -> impl Iterator<Item = usize> {
        let ResponseMeta { etag, directives, vary, .. } = &self.response;
        let tag = etag.iter().map(|tag| tag.opaque.capacity());
        let directives = directives.no_cache.allocations().chain(directives.private.allocations());
        let variant = std::iter::once(self.variant.capacity());
        tag.chain(directives).chain(vary.allocations()).chain(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request_meta::RequestMeta;
    use crate::response_meta::ExchangeTimes;
    use crate::reuse::{ReuseDecision, ValidationReason, reuse};

    const RECEIVED: WallTime = WallTime(784_111_777_000);

    /// A response that lives for 60 s.
    fn stored() -> StoredMeta {
        let lines: [(&[u8], &[u8]); 1] = [(b"Cache-Control", b"max-age=60")];
        let times = ExchangeTimes { requested: RECEIVED, received: RECEIVED };
        let response = ResponseMeta::read(200, lines.iter().copied(), times, &Settings::default());
        StoredMeta::new(response, Variant::default(), 5, &Settings::default())
    }

    fn after(seconds: i64) -> WallTime {
        WallTime(RECEIVED.0 + 1000 * seconds)
    }

    #[test]
    fn remaining_freshness_shrinks_to_zero() {
        for (seconds, ttl, is_fresh) in [(0, 60, true), (59, 1, true), (60, 0, false), (90, 0, false)] {
            assert_eq!(stored().ttl(after(seconds)), Nanos::from_secs(ttl));
            assert_eq!(stored().is_fresh(after(seconds)), is_fresh);
        }
    }

    #[test]
    fn every_allocation_is_reported() {
        let lines: [(&[u8], &[u8]); 3] =
            [(b"ETag", b"\"abc\""), (b"Vary", b"one"), (b"Cache-Control", b"no-cache=\"x, yz\"")];
        let times = ExchangeTimes { requested: RECEIVED, received: RECEIVED };
        let response = ResponseMeta::read(200, lines.iter().copied(), times, &Settings::default());
        let variant = Variant::from_bytes(b"one:1\n".to_vec());
        let stored = StoredMeta::new(response, variant, 5, &Settings::default());
        let allocations: Vec<usize> = stored.allocations().collect();
        // The tag; a list of two names and both; a list of one name and it; the variant.
        assert_eq!(allocations.len(), 1 + 3 + 2 + 1, "{allocations:?}");
        let least = [3, 2 * size_of::<String>(), 1, 2, size_of::<String>(), 3, 6];
        assert!(allocations.iter().zip(least).all(|(bytes, least)| least <= *bytes), "{allocations:?}");
    }

    #[test]
    fn expire_makes_stale_from_that_moment() {
        let mut stored = stored();
        stored.expire(after(30));
        assert!(stored.is_fresh(after(29)) && !stored.is_fresh(after(30)));
        stored.expire(after(50));
        assert!(!stored.is_fresh(after(30)));
    }

    #[test]
    fn invalidated_responses_need_validation_while_fresh() {
        let mut stored = stored();
        stored.invalidate();
        let request = RequestMeta::read(b"GET", [].iter().copied(), false);
        let decision = reuse(&stored, &request, after(30), &Settings::default());
        assert_eq!(
            decision,
            ReuseDecision::Validate { age: Nanos::from_secs(30), why: ValidationReason::Invalidated }
        );
    }
}
