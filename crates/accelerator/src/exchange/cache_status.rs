//! The cache status of a response: told to the client by `Cache-Status`, to logs and metrics by [`RequestHandling`].

use cache_policy::{
    CacheStatusMember, Forward, Freshness, HitOrForward, Key, LifetimeSource, ReuseDecision, StoredMeta,
};
use cache_store::StoredResponse;
use http1::HeaderLines;
use units::{Nanos, WallTime};

use super::settings::{CacheStatusDetail, ExchangeSettings};
use crate::message::{HandlingReason, ProxyReason, RequestHandling, ResponsePath};

/// The `detail` of a heuristic lifetime.
const HEURISTIC: &str = LifetimeSource::Heuristic.name();

/// The cache status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheStatus {
    /// The handling, as `Cache-Status` reports it.
    pub handled: HitOrForward,
    /// The handling, as logs and metrics report it.
    pub path: ResponsePath,
    /// The reason.
    pub reason: HandlingReason,
    /// As in [`RequestHandling`].
    pub origin_time: Option<Nanos>,
}

impl CacheStatus {
    /// Makes the status of a hit in this tier.
    pub(super) fn of_hit(path: ResponsePath, how: ReuseDecision, object: &StoredResponse) -> CacheStatus {
        match how {
            ReuseDecision::Stale { why, .. } => {
                CacheStatus::hit(ResponsePath::Stale, why.into(), object.origin_time)
            }
            _ => CacheStatus::fresh(path, object),
        }
    }

    /// Makes the status of a fresh hit in this tier.
    pub(super) fn fresh(path: ResponsePath, object: &StoredResponse) -> CacheStatus {
        let (path, reason) = if object.is_negative() {
            (ResponsePath::Negative, ProxyReason::Negative)
        } else {
            (path, ProxyReason::Fresh)
        };
        CacheStatus::hit(path, reason.into(), object.origin_time)
    }

    /// Makes the status of a hit.
    pub(super) fn hit(path: ResponsePath, reason: HandlingReason, saved: Nanos) -> CacheStatus {
        CacheStatus { handled: HitOrForward::Hit, path, reason, origin_time: Some(saved) }
    }

    /// Makes the status of a forwarded request.
    pub(super) fn forwarded(
        why: Forward,
        path: ResponsePath,
        reason: HandlingReason,
        waited: Option<Nanos>,
    ) -> CacheStatus {
        let handled = HitOrForward::Forwarded { why, status: None, is_stored: false, collapsed: None };
        CacheStatus { handled, path, reason, origin_time: waited }
    }

    /// Adds the status of the origin's response, if that is not what the client gets.
    pub(super) fn with_status(mut self, answered: u16) -> CacheStatus {
        if let HitOrForward::Forwarded { status, .. } = &mut self.handled {
            *status = Some(answered);
        }
        self
    }

    /// Adds whether the response is in the store. Of a response in progress it is not known whether it will be.
    pub(super) fn with_stored(mut self, stored: bool) -> CacheStatus {
        if let HitOrForward::Forwarded { is_stored, .. } = &mut self.handled {
            *is_stored = stored;
        }
        self
    }

    /// Adds that the response was fetched for another request.
    pub(super) fn with_collapsed(mut self) -> CacheStatus {
        if let HitOrForward::Forwarded { collapsed, .. } = &mut self.handled {
            *collapsed = Some(true);
        }
        self
    }

    /// Returns the handling, for logs and metrics.
    pub(super) fn handling(&self) -> RequestHandling {
        RequestHandling { path: self.path, reason: self.reason, origin_time: self.origin_time }
    }

    /// Appends `Cache-Status`, with the configured detail; `stored` is the stored response that is served, or the one
    /// on its way into the store, and the time.
    ///
    /// A heuristic lifetime is always disclosed (RFC 9111 §4.2.2).
    pub(super) fn write(
        &self,
        lines: &mut HeaderLines,
        stored: Option<(&StoredMeta, WallTime)>,
        key: &Key,
        settings: &ExchangeSettings,
    ) {
        if settings.cache_status == CacheStatusDetail::Off {
            return;
        }
        let is_detailed = settings.cache_status == CacheStatusDetail::Detailed;
        let guessed = stored.filter(|(stored, _)| stored.is_heuristic()).map(|_| HEURISTIC);
        let detail: Vec<&str> =
            is_detailed.then_some(self.reason.name()).into_iter().chain(guessed).collect();
        let detail = detail.join("/");
        let status = CacheStatusMember {
            cache: &settings.name,
            handled: self.handled,
            freshness: stored.map(|(stored, now)| freshness(stored, now)),
            key: is_detailed.then_some(key.as_str()),
            detail: (!detail.is_empty()).then_some(&detail),
        };
        let mut text = String::with_capacity(64);
        status.write(&mut text);
        lines.push(b"Cache-Status", text.as_bytes());
    }
}

/// Returns the remaining freshness of a stored response, or the time since it became stale.
fn freshness(stored: &StoredMeta, now: WallTime) -> Freshness {
    let age = stored.age(now);
    let length = stored.lifetime.length;
    if age < length {
        Freshness::Fresh(length.saturating_sub(age))
    } else {
        Freshness::Stale(age.saturating_sub(length))
    }
}

#[cfg(test)]
mod tests {
    use cache_policy::{
        DotSegments, ExchangeTimes, ResponseMeta, Scheme, Settings, ValidationReason, Variant,
    };

    use super::*;

    /// Returns the `Cache-Status` of a response with this line that was received now.
    fn written(detail: CacheStatusDetail, line: (&[u8], &[u8])) -> Option<String> {
        let now = WallTime(784_111_777_000);
        let times = ExchangeTimes { requested: now, received: now };
        let policy = Settings::default();
        let meta = ResponseMeta::read(200, [line].into_iter(), times, &policy);
        let stored = StoredMeta::new(meta, Variant::default(), 5, &policy);
        let cache_status = CacheStatus::forwarded(
            Forward::Stale,
            ResponsePath::Revalidated,
            ValidationReason::NoCache.into(),
            None,
        )
        .with_status(304)
        .with_stored(true)
        .with_collapsed();
        let settings = ExchangeSettings { cache_status: detail, ..ExchangeSettings::default() };
        let key = Key::new(Scheme::Http, b"a", b"/b", DotSegments::Resolved).unwrap();
        let mut lines = HeaderLines::new();
        cache_status.write(&mut lines, Some((&stored, now)), &key, &settings);
        lines.get("cache-status").map(|value| String::from_utf8_lossy(value).into_owned())
    }

    #[test]
    fn cache_status_has_the_configured_detail() {
        let line = (&b"Cache-Control"[..], &b"max-age=5"[..]);
        assert_eq!(written(CacheStatusDetail::Off, line), None);
        let short = "plimsoll; fwd=stale; fwd-status=304; stored; collapsed; ttl=5";
        assert_eq!(written(CacheStatusDetail::On, line).as_deref(), Some(short));
        let long = format!("{short}; key=\"http://a/b\"; detail=no-cache");
        assert_eq!(written(CacheStatusDetail::Detailed, line), Some(long));
    }

    /// Unchanged for a day: a tenth is more than the hour that is guessed at most.
    #[test]
    fn a_heuristic_lifetime_is_disclosed() {
        let line = (&b"Last-Modified"[..], &b"Sat, 05 Nov 1994 08:49:37 GMT"[..]);
        assert_eq!(written(CacheStatusDetail::Off, line), None);
        let short = "plimsoll; fwd=stale; fwd-status=304; stored; collapsed; ttl=3600";
        assert_eq!(written(CacheStatusDetail::On, line), Some(format!("{short}; detail=heuristic")));
        let long = format!("{short}; key=\"http://a/b\"; detail=no-cache/heuristic");
        assert_eq!(written(CacheStatusDetail::Detailed, line), Some(long));
    }
}
