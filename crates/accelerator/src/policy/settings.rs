//! What an operator may set. The defaults do what the documents say; all that they guess is a lifetime where only the
//! date of change is given.

use units::{Nanos, Ratio};

/// The choices that the documents leave to whoever runs a cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How long a response lives that names no lifetime but when it was last changed; by default a tenth of the time
    /// since then, at most an hour. Never that of a URL with a query.
    pub heuristic: Option<Heuristic>,
    /// How long a response with a status of RFC 9110 §15.1 lives that says nothing; off by default.
    pub default_lifetime: Option<Nanos>,
    /// How long responses with these statuses live that name no lifetime themselves: negative caching.
    ///
    /// Status and lifetime, the first of a status counts; empty by default. May name statuses that are caused by the
    /// request, whatever `is_storing_request_errors` says.
    pub lifetimes_of_statuses: Vec<(u16, Nanos)>,
    /// The least lifetime of a response that has one; zero by default. Never raises that of a response with `no-cache`,
    /// `must-revalidate` or `proxy-revalidate`.
    pub lifetime_min: Nanos,
    /// The longest lifetime; by default none is too long.
    pub lifetime_max: Nanos,
    /// Targeted fields to heed, in lower case, the most specific first (RFC 9213 §2.2).
    pub targets: Vec<String>,
    /// What happens to responses with `Set-Cookie`.
    pub set_cookie: SetCookie,
    /// Whether clients may demand fresher or staler answers by `Cache-Control` and `Pragma`; their `no-store` always
    /// counts.
    pub is_obeying_clients: bool,
    /// Whether responses are stored whose status says that the request's own fields were at fault, such as 400 or 431.
    ///
    /// Off by default: those fields are no part of the key, so one client could put an error before all others.
    pub is_storing_request_errors: bool,
    /// Under which conditions stale responses are used.
    pub stale: StaleSettings,
    /// The most responses that one key may have beside each other because of `Vary`.
    pub variants_max: usize,
    /// The most ranges that one request may ask for.
    pub ranges_max: usize,
    /// The content codings that requests are reduced to, most wanted first; empty leaves `Accept-Encoding` as it is.
    ///
    /// The reduced field is what the origin gets, so that variants are as many as it can tell apart.
    pub codings: Vec<String>,
    /// What happens to paths with dot segments.
    pub dot_segments: DotSegments,
    /// How long requests are not made to wait for each other after a response that could not be stored.
    pub hit_for_miss: Nanos,
}

/// A lifetime guessed from how long a response has not changed (RFC 9111 §4.2.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heuristic {
    /// The part of the time since the last change; a tenth is usual and the most that is taken.
    pub fraction: Ratio,
    /// The longest lifetime that is guessed.
    pub lifetime_max: Nanos,
}

impl Heuristic {
    /// The largest fraction that has an effect: a tenth.
    pub const FRACTION_MAX: Ratio = Ratio(0.1);
}

impl Default for Heuristic {
    /// A tenth, as RFC 9111 §4.2.2 names it, and no more than an hour: what has changed is seen soon enough.
    fn default() -> Heuristic {
        Heuristic { fraction: Heuristic::FRACTION_MAX, lifetime_max: Nanos::from_secs(3600) }
    }
}

/// What happens to responses that set a cookie, unless `private` or `no-cache` names the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetCookie {
    /// They are not stored.
    NotStored,
    /// They are stored without it: the operator knows that the rest is for everybody.
    StoredWithout,
}

/// Under which conditions stale responses are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaleSettings {
    /// How long after its end a response is used when the origin cannot be reached (RFC 9111 §4.2.4 allows it then).
    pub disconnected: Nanos,
    /// As `stale-if-error` for responses without that directive; zero by default.
    pub if_error: Nanos,
    /// As `stale-while-revalidate` for responses without that directive; zero by default.
    pub while_revalidating: Nanos,
    /// Whether the two directives count beside `s-maxage`, which strictly forbids stale use (RFC 9111 §5.2.2.10).
    ///
    /// Off by default. Many origins write both and mean it.
    pub is_allowed_by_s_maxage: bool,
}

/// What happens to paths with the segments `.` and `..`, plain or percent-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotSegments {
    /// They are resolved (RFC 3986 §5.2.4), and the origin gets the result.
    Resolved,
    /// The request is refused.
    Refused,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            heuristic: Some(Heuristic::default()),
            default_lifetime: None,
            lifetimes_of_statuses: Vec::new(),
            lifetime_min: Nanos::ZERO,
            lifetime_max: Nanos::MAX,
            targets: vec!["cdn-cache-control".to_owned()],
            set_cookie: SetCookie::NotStored,
            is_obeying_clients: true,
            is_storing_request_errors: false,
            stale: StaleSettings::default(),
            variants_max: 32,
            ranges_max: 16,
            codings: Vec::new(),
            dot_segments: DotSegments::Resolved,
            hit_for_miss: Nanos::from_secs(60),
        }
    }
}

impl Default for StaleSettings {
    fn default() -> StaleSettings {
        StaleSettings {
            disconnected: Nanos::from_secs(3600),
            if_error: Nanos::ZERO,
            while_revalidating: Nanos::ZERO,
            is_allowed_by_s_maxage: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_nothing_is_used_longer_than_its_origin_says_or_lets_guess() {
        let settings = Settings::default();
        let guess = Heuristic { fraction: Ratio(0.1), lifetime_max: Nanos::from_secs(3600) };
        assert_eq!((settings.heuristic, settings.default_lifetime), (Some(guess), None));
        assert!(settings.lifetimes_of_statuses.is_empty() && settings.lifetime_min == Nanos::ZERO);
        assert_eq!((settings.stale.if_error, settings.stale.while_revalidating), (Nanos::ZERO, Nanos::ZERO));
        assert!(!settings.stale.is_allowed_by_s_maxage);
    }

    #[test]
    fn by_default_no_client_decides_what_others_get() {
        let settings = Settings::default();
        assert!(!settings.is_storing_request_errors && settings.is_obeying_clients);
        assert_eq!(settings.set_cookie, SetCookie::NotStored);
    }
}
