//! How a request was handled: told to the client by `Cache-Status`, to logs and metrics by [`Handling`].

use units::{Nanos, WallTime};

use super::settings::{Detail, ExchangeSettings};
use crate::message::{Handling, HeaderLines, HitPath};
use crate::policy::{CacheStatus, Forward, Freshness, Handled, Key, Stored};
use crate::store::Object;

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

    /// Adds that the response is kept.
    pub fn with_stored(mut self) -> Told {
        if let Handled::Forwarded { is_stored, .. } = &mut self.handled {
            *is_stored = true;
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

    /// Appends `Cache-Status`, as far as the operator wants it.
    pub fn write(
        &self,
        lines: &mut HeaderLines,
        freshness: Option<Freshness>,
        key: &Key,
        settings: &ExchangeSettings,
    ) {
        if settings.cache_status == Detail::Off {
            return;
        }
        let is_detailed = settings.cache_status == Detail::Detailed;
        let status = CacheStatus {
            cache: &settings.name,
            handled: self.handled,
            freshness,
            key: is_detailed.then_some(key.as_str()),
            detail: is_detailed.then_some(self.reason),
        };
        let mut text = String::with_capacity(64);
        status.write(&mut text);
        lines.push(b"Cache-Status", text.as_bytes());
    }
}

/// Returns how long a stored response is still fresh, or has not been.
pub(super) fn freshness(stored: &Stored, now: WallTime) -> Freshness {
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
    use crate::policy::{DotSegments, Scheme};

    fn written(detail: Detail) -> Option<String> {
        let told = Told::forwarded(Forward::Stale, HitPath::Revalidated, "no-cache", None)
            .with_status(304)
            .with_stored()
            .with_collapsed();
        let settings = ExchangeSettings { cache_status: detail, ..ExchangeSettings::default() };
        let key = Key::new(Scheme::Http, b"a", b"/b", DotSegments::Resolved).unwrap();
        let mut lines = HeaderLines::new();
        told.write(&mut lines, Some(Freshness::Left(Nanos::from_secs(5))), &key, &settings);
        lines.get("cache-status").map(|value| String::from_utf8_lossy(value).into_owned())
    }

    #[test]
    fn clients_are_told_as_much_as_the_operator_wants() {
        assert_eq!(written(Detail::Off), None);
        let short = "plimsoll; fwd=stale; fwd-status=304; stored; collapsed; ttl=5";
        assert_eq!(written(Detail::On).as_deref(), Some(short));
        let long = format!("{short}; key=\"http://a/b\"; detail=no-cache");
        assert_eq!(written(Detail::Detailed), Some(long));
    }
}
