//! Freshness lifetime of a response (RFC 9111 §4.2).

use units::Nanos;

use crate::age::since;
use crate::directives::DirectiveScope;
use crate::response_meta::{Expires, ResponseMeta};
use crate::settings::{Heuristic, Settings};
use crate::status::is_heuristically_cacheable;

reasons! {
    /// The source of a lifetime.
    LifetimeSource {
        /// `s-maxage`.
        SMaxAge = "s-maxage", "RFC 9111 §5.2.2.10";
        /// `max-age`.
        MaxAge = "max-age", "RFC 9111 §5.2.2.1";
        /// The time between `Date` and `Expires`.
        Expires = "expires", "RFC 9111 §5.3";
        /// An `Expires` that is not a date: lifetime zero.
        InvalidExpires = "invalid-expires", "RFC 9111 §5.3";
        /// The operator's lifetime for the status.
        Status = "status", "RFC 9111 §4.2.2";
        /// A fraction of the time since the last change; never for a URL with a query.
        Heuristic = "heuristic", "RFC 9111 §4.2.2";
        /// The operator's default lifetime.
        Default = "default", "RFC 9111 §4.2.2";
        /// None: lifetime zero.
        Nothing = "nothing", "RFC 9111 §4.2.1";
    }
}

impl LifetimeSource {
    /// Returns whether the origin itself has set the lifetime.
    pub(crate) fn is_explicit(self) -> bool {
        use LifetimeSource::{Expires, InvalidExpires, MaxAge, SMaxAge};
        matches!(self, SMaxAge | MaxAge | Expires | InvalidExpires)
    }
}

/// The lifetime of a response, from the time it was generated, with its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime {
    /// The age at which it becomes stale.
    pub length: Nanos,
    /// Its source.
    pub source: LifetimeSource,
}

/// Returns the lifetime of a response: that set by its origin, else that set by the operator, else zero.
///
/// The operator's limits apply; the lower one never to a response without a lifetime or that demands validation.
///
/// Source: RFC 9111 §4.2.1 for the order, §4.2.2 for heuristic lifetimes.
pub fn lifetime(response: &ResponseMeta, settings: &Settings) -> Lifetime {
    let Lifetime { length, source } = explicit(response).unwrap_or_else(|| implicit(response, settings));
    let is_raised = source != LifetimeSource::Nothing && !asks_for_validation(response);
    let length = if is_raised { length.max(settings.lifetime_min) } else { length };
    Lifetime { length: length.min(settings.lifetime_max), source }
}

fn asks_for_validation(response: &ResponseMeta) -> bool {
    let directives = &response.directives;
    directives.no_cache == DirectiveScope::Whole || directives.must_revalidate || directives.proxy_revalidate
}

/// Returns the lifetime set by the origin; `None` if there is none.
fn explicit(response: &ResponseMeta) -> Option<Lifetime> {
    let directives = &response.directives;
    let of = |length, source| Some(Lifetime { length, source });
    match (directives.s_maxage, directives.max_age, response.expires) {
        (Some(length), _, _) => of(length, LifetimeSource::SMaxAge),
        (_, Some(length), _) => of(length, LifetimeSource::MaxAge),
        (_, _, Expires::At(end)) => of(since(response.date, end), LifetimeSource::Expires),
        (_, _, Expires::Invalid) => of(Nanos::ZERO, LifetimeSource::InvalidExpires),
        (None, None, Expires::Absent) => None,
    }
}

/// Returns the lifetime set by the operator, or the heuristic one, for a response that sets none itself.
fn implicit(response: &ResponseMeta, settings: &Settings) -> Lifetime {
    let of_status = settings.lifetimes_of_statuses.iter().find(|(status, _)| *status == response.status);
    if let Some((_, length)) = of_status {
        return Lifetime { length: *length, source: LifetimeSource::Status };
    }
    let may_be_guessed = is_heuristically_cacheable(response.status) || response.directives.public;
    let heuristic = settings.heuristic.filter(|_| !response.has_query && !response.has_pragma);
    let guess = heuristic.and_then(|heuristic| heuristic_length(response, heuristic));
    match (may_be_guessed, guess, settings.default_lifetime) {
        (true, Some(length), _) => Lifetime { length, source: LifetimeSource::Heuristic },
        (true, None, Some(length)) => Lifetime { length, source: LifetimeSource::Default },
        _ => Lifetime { length: Nanos::ZERO, source: LifetimeSource::Nothing },
    }
}

/// Returns a fraction of the time between change and `Date`; `None` if the response does not give the time of its
/// change.
fn heuristic_length(response: &ResponseMeta, heuristic: Heuristic) -> Option<Nanos> {
    let unchanged = since(response.last_modified?, response.date);
    let fraction = heuristic.fraction.0.clamp(0.0, Heuristic::FRACTION_MAX.0);
    let guess = Nanos::from_secs_f64(unchanged.as_secs_f64() * fraction);
    Some(guess.min(heuristic.lifetime_max))
}

#[cfg(test)]
mod tests {
    use units::{Ratio, WallTime};

    use super::*;
    use crate::key::{Key, Scheme};
    use crate::response_meta::ExchangeTimes;
    use crate::settings::DotSegments;

    fn check(lines: &[(&str, &str)], settings: &Settings, seconds: u64, source: LifetimeSource) {
        let times =
            ExchangeTimes { requested: WallTime(784_111_777_000), received: WallTime(784_111_777_000) };
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let response = ResponseMeta::read(200, lines.iter().copied(), times, settings);
        let expected = Lifetime { length: Nanos::from_secs(seconds), source };
        assert_eq!(lifetime(&response, settings), expected, "{lines:?}");
    }

    /// Unchanged for a day of 86,400 s: a tenth is 8,640 s, and half counts as a tenth.
    #[test]
    fn heuristic_lifetimes_are_limited_to_a_tenth_and_by_the_operator() {
        let changed = [("Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT")];
        for (fraction, bound, seconds) in [
            (0.1, 86_400, 8_640),
            (0.5, 86_400, 8_640),
            (0.05, 86_400, 4_320),
            (0.1, 3600, 3600),
            (-1.0, 3600, 0),
        ] {
            let heuristic = Heuristic { fraction: Ratio(fraction), lifetime_max: Nanos::from_secs(bound) };
            let settings = Settings { heuristic: Some(heuristic), ..Settings::default() };
            check(&changed, &settings, seconds, LifetimeSource::Heuristic);
        }
        check(&changed, &Settings::default(), 3600, LifetimeSource::Heuristic);
        let off = Settings { heuristic: None, ..Settings::default() };
        check(&changed, &off, 0, LifetimeSource::Nothing);
    }

    /// A page that a query brings about may change with every request.
    #[test]
    fn urls_with_a_query_get_no_heuristic_lifetime() {
        let lines: [(&[u8], &[u8]); 1] = [(b"Last-Modified", b"Sat, 05 Nov 1994 08:49:37 GMT")];
        let times =
            ExchangeTimes { requested: WallTime(784_111_777_000), received: WallTime(784_111_777_000) };
        let of = |target: &[u8]| {
            let key = Key::new(Scheme::Http, b"h", target, DotSegments::Resolved).unwrap();
            let settings = Settings::default();
            lifetime(&ResponseMeta::read(200, lines.iter().copied(), times, &settings).of(&key), &settings)
                .source
        };
        assert_eq!(of(b"/a"), LifetimeSource::Heuristic);
        for target in [&b"/a?b"[..], b"/a?", b"?b"] {
            assert_eq!(of(target), LifetimeSource::Nothing, "{}", target.escape_ascii());
        }
    }

    #[test]
    fn lifetime_limits_do_not_apply_to_responses_that_demand_validation() {
        let settings = Settings {
            lifetime_min: Nanos::from_secs(60),
            lifetime_max: Nanos::from_secs(600),
            ..Settings::default()
        };
        check(&[("Cache-Control", "max-age=1")], &settings, 60, LifetimeSource::MaxAge);
        check(&[("Cache-Control", "max-age=6000")], &settings, 600, LifetimeSource::MaxAge);
        check(&[("Cache-Control", "max-age=1, must-revalidate")], &settings, 1, LifetimeSource::MaxAge);
        check(&[("Cache-Control", "max-age=1, no-cache")], &settings, 1, LifetimeSource::MaxAge);
        check(&[], &settings, 0, LifetimeSource::Nothing);
    }
}
