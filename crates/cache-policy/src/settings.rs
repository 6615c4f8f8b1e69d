//! The settings of the policy. The defaults follow the RFCs; the only heuristic is a lifetime where nothing but the
//! time of the last change is given.

use units::{Nanos, Ratio};

/// The choices that the RFCs leave to the operator of a cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The heuristic lifetime of a response that sets none but has `Last-Modified`; by default a tenth of the time
    /// since then, at most an hour. Never for a URL with a query.
    pub heuristic: Option<Heuristic>,
    /// The lifetime of a response that sets none, with a status of RFC 9110 §15.1; off by default.
    pub default_lifetime: Option<Nanos>,
    /// The lifetimes of responses with these statuses that set none themselves: negative caching.
    ///
    /// Status and lifetime, the first of a status counts; empty by default. May name statuses that are caused by the
    /// request, whatever `is_storing_request_errors` says.
    pub lifetimes_of_statuses: Vec<(u16, Nanos)>,
    /// The minimum lifetime of a response that has one; zero by default. Never raises that of a response with
    /// `no-cache`, `must-revalidate` or `proxy-revalidate`.
    pub lifetime_min: Nanos,
    /// The maximum lifetime; unlimited by default.
    pub lifetime_max: Nanos,
    /// The targeted fields to honour, in lower case, the most specific first (RFC 9213 §2.2).
    pub targets: Vec<String>,
    /// The treatment of responses with `Set-Cookie`.
    pub set_cookie: SetCookie,
    /// Whether clients may demand fresher or staler responses by `Cache-Control` and `Pragma`; their `no-store`
    /// always counts.
    pub is_obeying_clients: bool,
    /// Whether responses are stored whose status blames the request's own fields: 400 or 431, for example.
    ///
    /// Off by default: those fields are not part of the key, so one client could store an error for all others.
    pub is_storing_request_errors: bool,
    /// The conditions for the use of stale responses.
    pub stale: StaleSettings,
    /// The most variants of one key (`Vary`).
    pub variants_max: usize,
    /// The most ranges of one request.
    pub ranges_max: usize,
    /// The content codings that requests are reduced to, most wanted first; empty leaves `Accept-Encoding` as it is.
    ///
    /// The origin gets the reduced field, so there are only as many variants as it can tell apart.
    pub codings: Vec<String>,
    /// The treatment of paths with dot segments.
    pub dot_segments: DotSegments,
    /// The time for which requests are not collapsed after a response that could not be stored.
    pub hit_for_miss: Nanos,
}

/// A heuristic lifetime, from the time that a response has not changed (RFC 9111 §4.2.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heuristic {
    /// The fraction of the time since the last change; a tenth is usual and the maximum.
    pub fraction: Ratio,
    /// The longest heuristic lifetime.
    pub lifetime_max: Nanos,
}

impl Heuristic {
    /// The largest fraction that has an effect: a tenth.
    pub const FRACTION_MAX: Ratio = Ratio(0.1);
}

impl Default for Heuristic {
    /// A tenth, as RFC 9111 §4.2.2 suggests, and no more than an hour: changes are seen soon enough.
    fn default() -> Heuristic {
        Heuristic { fraction: Heuristic::FRACTION_MAX, lifetime_max: Nanos::from_secs(3600) }
    }
}

/// The treatment of responses that set a cookie, unless `private` or `no-cache` names the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetCookie {
    /// They are not stored.
    NotStored,
    /// They are stored without it: the operator knows that the rest is the same for all clients.
    StoredWithout,
}

/// The conditions for the use of stale responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaleSettings {
    /// The time after expiry in which a response is used when the origin cannot be reached (RFC 9111 §4.2.4 allows it
    /// then).
    pub disconnected: Nanos,
    /// The `stale-if-error` of responses without that directive; zero by default.
    pub if_error: Nanos,
    /// The `stale-while-revalidate` of responses without that directive; zero by default.
    pub while_revalidating: Nanos,
    /// Whether the two directives count beside `s-maxage`, which strictly forbids stale use (RFC 9111 §5.2.2.10).
    ///
    /// Off by default, although many origins send both and mean it.
    pub is_allowed_by_s_maxage: bool,
}

/// The treatment of paths with the segments `.` and `..`, plain or percent-encoded.
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
    fn defaults_never_extend_the_origins_lifetime() {
        let settings = Settings::default();
        let guess = Heuristic { fraction: Ratio(0.1), lifetime_max: Nanos::from_secs(3600) };
        assert_eq!((settings.heuristic, settings.default_lifetime), (Some(guess), None));
        assert!(settings.lifetimes_of_statuses.is_empty() && settings.lifetime_min == Nanos::ZERO);
        assert_eq!((settings.stale.if_error, settings.stale.while_revalidating), (Nanos::ZERO, Nanos::ZERO));
        assert!(!settings.stale.is_allowed_by_s_maxage);
    }

    #[test]
    fn defaults_let_no_client_decide_for_others() {
        let settings = Settings::default();
        assert!(!settings.is_storing_request_errors && settings.is_obeying_clients);
        assert_eq!(settings.set_cookie, SetCookie::NotStored);
    }
}
