//! How a request was handled: told to the client by `Cache-Status`, to logs and metrics by [`Handling`].

use units::{Nanos, WallTime};

use super::settings::{Detail, ExchangeSettings};
use crate::message::{Handling, HeaderLines, HitPath};
use crate::policy::{CacheStatus, Forward, Freshness, Handled, Key, LifetimeSource, Stored};
use crate::store::Object;

/// What `detail` says of a lifetime that was guessed.
const GUESSED: &str = LifetimeSource::Heuristic.name();

/// How a request was handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// As `Cache-Status` has it.
    pub handled: Handled,
    /// As logs and metrics have it.
    pub path: HitPath,
    /// The reason's name.
    pub reason: &'static str,
    /// As in [`Handling`].
    pub origin_time: Option<Nanos>,
}

impl Told {
    /// It was answered from the store by a fresh response, which was found on this path.
    pub fn fresh(path: HitPath, object: &Object) -> Told {
        let (path, reason) =
            if object.is_negative() { (HitPath::Negative, "negative") } else { (path, "fresh") };
        Told::hit(path, reason, object.origin_time)
    }

    /// It was answered from the store.
    pub fn hit(path: HitPath, reason: &'static str, saved: Nanos) -> Told {
        Told { handled: Handled::Hit, path, reason, origin_time: Some(saved) }
    }

    /// It was forwarded, and the client gets what came back.
    pub fn forwarded(why: Forward, path: HitPath, reason: &'static str, waited: Option<Nanos>) -> Told {
        let handled = Handled::Forwarded { why, status: None, is_stored: false, collapsed: None };
        Told { handled, path, reason, origin_time: waited }
    }

    /// Adds what the origin answered, which is not what the client gets.
    pub fn with_status(mut self, answered: u16) -> Told {
        if let Handled::Forwarded { status, .. } = &mut self.handled {
            *status = Some(answered);
        }
        self
    }

    /// Adds whether the response is in the store. Of one that is still on its way nobody knows whether it will be.
    pub fn with_stored(mut self, stored: bool) -> Told {
        if let Handled::Forwarded { is_stored, .. } = &mut self.handled {
            *is_stored = stored;
        }
        self
    }

    /// Adds that it was served with a response that another request had asked for.
    pub fn with_collapsed(mut self) -> Told {
        if let Handled::Forwarded { collapsed, .. } = &mut self.handled {
            *collapsed = Some(true);
        }
        self
    }

    /// Returns it for logs and metrics.
    pub fn handling(&self) -> Handling {
        Handling { path: self.path, reason: self.reason, origin_time: self.origin_time }
    }

    /// Appends `Cache-Status`, as far as the operator wants it; `stored` is the response that is served of the store, or
    /// on its way into it, and the time.
    ///
    /// A lifetime that was guessed is disclosed (RFC 9111 §4.2.2) whatever the detail.
    pub fn write(
        &self,
        lines: &mut HeaderLines,
        stored: Option<(&Stored, WallTime)>,
        key: &Key,
        settings: &ExchangeSettings,
    ) {
        if settings.cache_status == Detail::Off {
            return;
        }
        let is_detailed = settings.cache_status == Detail::Detailed;
        let guessed = stored.filter(|(stored, _)| stored.is_guessed()).map(|_| GUESSED);
        let detail: Vec<&str> = is_detailed.then_some(self.reason).into_iter().chain(guessed).collect();
        let detail = detail.join("/");
        let status = CacheStatus {
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

/// Returns how long a stored response is still fresh, or has not been.
fn freshness(stored: &Stored, now: WallTime) -> Freshness {
    let (age, length) = (stored.age(now), stored.lifetime.length);
    if age < length {
        Freshness::Left(length.saturating_sub(age))
    } else {
        Freshness::Past(age.saturating_sub(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{DotSegments, Response, Scheme, Settings, Times, Variant};

    /// Returns what is told of a response with this line that came now.
    fn written(detail: Detail, line: (&[u8], &[u8])) -> Option<String> {
        let now = WallTime(784_111_777_000);
        let (times, policy) = (Times { requested: now, received: now }, Settings::default());
        let response = Response::read(200, [line].into_iter(), times, &policy);
        let stored = Stored::new(response, Variant::default(), 5, &policy);
        let told = Told::forwarded(Forward::Stale, HitPath::Revalidated, "no-cache", None)
            .with_status(304)
            .with_stored(true)
            .with_collapsed();
        let settings = ExchangeSettings { cache_status: detail, ..ExchangeSettings::default() };
        let key = Key::new(Scheme::Http, b"a", b"/b", DotSegments::Resolved).unwrap();
        let mut lines = HeaderLines::new();
        told.write(&mut lines, Some((&stored, now)), &key, &settings);
        lines.get("cache-status").map(|value| String::from_utf8_lossy(value).into_owned())
    }

    #[test]
    fn clients_are_told_as_much_as_the_operator_wants() {
        let line = (&b"Cache-Control"[..], &b"max-age=5"[..]);
        assert_eq!(written(Detail::Off, line), None);
        let short = "plimsoll; fwd=stale; fwd-status=304; stored; collapsed; ttl=5";
        assert_eq!(written(Detail::On, line).as_deref(), Some(short));
        let long = format!("{short}; key=\"http://a/b\"; detail=no-cache");
        assert_eq!(written(Detail::Detailed, line), Some(long));
    }

    /// Unchanged for a day: a tenth is more than the hour that is guessed at most.
    #[test]
    fn a_lifetime_that_was_guessed_is_disclosed() {
        let line = (&b"Last-Modified"[..], &b"Sat, 05 Nov 1994 08:49:37 GMT"[..]);
        assert_eq!(written(Detail::Off, line), None);
        let short = "plimsoll; fwd=stale; fwd-status=304; stored; collapsed; ttl=3600";
        assert_eq!(written(Detail::On, line), Some(format!("{short}; detail=heuristic")));
        let long = format!("{short}; key=\"http://a/b\"; detail=no-cache/heuristic");
        assert_eq!(written(Detail::Detailed, line), Some(long));
    }
}
