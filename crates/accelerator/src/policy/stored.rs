//! What policy keeps of a stored response.

use units::{Nanos, WallTime};

use super::freshness::{Lifetime, LifetimeSource, lifetime};
use super::response::Response;
use super::settings::Settings;
use super::vary::Variant;

/// A stored response, as policy sees it: everything but its lines and its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What its head says.
    pub response: Response,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// The fields of the request that it depends on, as they were.
    pub variant: Variant,
    /// How many bytes its body has.
    pub body_bytes: u64,
    /// Whether an unsafe request has made it invalid: it must not be used without validation (RFC 9111 §4.4).
    pub is_invalid: bool,
}

impl Stored {
    /// Makes the record of a response that [`store`](super::store()) has allowed to keep.
    pub fn new(response: Response, variant: Variant, body_bytes: u64, settings: &Settings) -> Stored {
        let lifetime = lifetime(&response, settings);
        Stored { response, lifetime, variant, body_bytes, is_invalid: false }
    }

    /// Returns how old it is.
    pub fn age(&self, now: WallTime) -> Nanos {
        self.response.age(now)
    }

    /// Returns how long it is still fresh; zero if it is stale.
    pub fn ttl(&self, now: WallTime) -> Nanos {
        self.lifetime.length.saturating_sub(self.age(now))
    }

    /// Tells whether it is fresh: younger than its lifetime (RFC 9111 §4.2).
    pub fn is_fresh(&self, now: WallTime) -> bool {
        self.age(now) < self.lifetime.length
    }

    /// Tells whether its lifetime is a guess of this cache, which it discloses.
    pub fn is_guessed(&self) -> bool {
        self.lifetime.source == LifetimeSource::Heuristic
    }

    /// Makes it stale from now on: a soft purge, or a reply to HEAD that does not fit (RFC 9111 §4.3.5).
    pub fn expire(&mut self, now: WallTime) {
        self.lifetime.length = self.lifetime.length.min(self.age(now));
    }

    /// Makes it unusable without validation (RFC 9111 §4.4).
    pub fn invalidate(&mut self) {
        self.is_invalid = true;
    }

    /// Returns the bytes of each piece of memory that it has allocated, some of which may be zero; in no order.
    pub fn allocations(&self) -> impl Iterator<Item = usize> {
        let Response { etag, directives, vary, .. } = &self.response;
        let tag = etag.iter().map(|tag| tag.opaque.capacity());
        let directives = directives.no_cache.allocations().chain(directives.private.allocations());
        let variant = std::iter::once(self.variant.capacity());
        tag.chain(directives).chain(vary.allocations()).chain(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Request;
    use super::super::response::Times;
    use super::super::reuse::{Needs, Reuse, reuse};
    use super::*;

    const RECEIVED: WallTime = WallTime(784_111_777_000);

    /// A response that lives for 60 s.
    fn stored() -> Stored {
        let lines: [(&[u8], &[u8]); 1] = [(b"Cache-Control", b"max-age=60")];
        let times = Times { requested: RECEIVED, received: RECEIVED };
        let response = Response::read(200, lines.iter().copied(), times, &Settings::default());
        Stored::new(response, Variant::default(), 5, &Settings::default())
    }

    fn after(seconds: i64) -> WallTime {
        WallTime(RECEIVED.0 + 1000 * seconds)
    }

    #[test]
    fn time_left_shrinks_to_nothing() {
        for (seconds, ttl, is_fresh) in [(0, 60, true), (59, 1, true), (60, 0, false), (90, 0, false)] {
            assert_eq!(stored().ttl(after(seconds)), Nanos::from_secs(ttl));
            assert_eq!(stored().is_fresh(after(seconds)), is_fresh);
        }
    }

    #[test]
    fn every_allocation_is_known() {
        let lines: [(&[u8], &[u8]); 3] =
            [(b"ETag", b"\"abc\""), (b"Vary", b"one"), (b"Cache-Control", b"no-cache=\"x, yz\"")];
        let times = Times { requested: RECEIVED, received: RECEIVED };
        let response = Response::read(200, lines.iter().copied(), times, &Settings::default());
        let variant = Variant::from_bytes(b"one:1\n".to_vec());
        let stored = Stored::new(response, variant, 5, &Settings::default());
        let allocations: Vec<usize> = stored.allocations().collect();
        // The tag; a list of two names and both; a list of one name and it; the variant.
        assert_eq!(allocations.len(), 1 + 3 + 2 + 1, "{allocations:?}");
        let least = [3, 2 * size_of::<String>(), 1, 2, size_of::<String>(), 3, 6];
        assert!(allocations.iter().zip(least).all(|(bytes, least)| least <= *bytes), "{allocations:?}");
    }

    #[test]
    fn what_is_expired_is_stale_from_then_on_and_not_before() {
        let mut stored = stored();
        stored.expire(after(30));
        assert!(stored.is_fresh(after(29)) && !stored.is_fresh(after(30)));
        stored.expire(after(50));
        assert!(!stored.is_fresh(after(30)));
    }

    #[test]
    fn what_is_invalid_needs_validation_while_fresh() {
        let mut stored = stored();
        stored.invalidate();
        let request = Request::read(b"GET", [].iter().copied(), false);
        let decision = reuse(&stored, &request, after(30), &Settings::default());
        assert_eq!(decision, Reuse::Validate { age: Nanos::from_secs(30), why: Needs::Invalidated });
    }
}
