//! Reuse of a stored response that matches a request (RFC 9111 §4).

use units::{Nanos, WallTime};

use crate::directives::{DirectiveScope, RequestDirectives};
use crate::request_meta::RequestMeta;
use crate::response_meta::ResponseMeta;
use crate::settings::Settings;
use crate::stored_meta::StoredMeta;

reasons! {
    /// The reason for which a stale response may be used.
    StaleReason {
        /// The client accepts it.
        MaxStale = "max-stale", "RFC 9111 §5.2.1.2";
        /// The origin, or the operator, allows it while it is validated in the background.
        WhileRevalidating = "while-revalidating", "RFC 5861 §3";
        /// The origin, the client or the operator allows it instead of an error.
        IfError = "if-error", "RFC 5861 §4";
        /// The origin cannot be reached.
        Disconnected = "disconnected", "RFC 9111 §4.2.4";
    }
}

reasons! {
    /// The reason for which a response must be validated before use.
    ValidationReason {
        /// It is stale.
        Stale = "stale", "RFC 9111 §4.2";
        /// The origin demands it.
        NoCache = "no-cache", "RFC 9111 §5.2.2.4";
        /// An unsafe request has made it invalid.
        Invalidated = "invalidated", "RFC 9111 §4.4";
        /// The client demands it.
        RequestNoCache = "request-no-cache", "RFC 9111 §5.2.1.4";
        /// It is older than the client accepts.
        RequestMaxAge = "request-max-age", "RFC 9111 §5.2.1.1";
        /// It is not fresh for as long as the client demands.
        RequestMinFresh = "request-min-fresh", "RFC 9111 §5.2.1.3";
    }
}

/// The decision about the reuse of a stored response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReuseDecision {
    /// It may be used: it is fresh.
    Fresh {
        /// Its age.
        age: Nanos,
        /// Its remaining freshness.
        ttl: Nanos,
    },
    /// It may be used although it is stale. With [`StaleReason::WhileRevalidating`] it is to be validated meanwhile.
    Stale {
        /// Its age.
        age: Nanos,
        /// The time since it became stale.
        past: Nanos,
        /// The rule that allows it.
        why: StaleReason,
    },
    /// It may be used once the origin has validated it.
    Validate {
        /// Its age.
        age: Nanos,
        /// The reason.
        why: ValidationReason,
    },
}

/// Decides whether a stored response that matches a request, including its variant, may be used now.
///
/// Demands of the origin come before those of the client, and those before what the age allows.
pub fn reuse(
    stored: &StoredMeta,
    request: &RequestMeta,
    now: WallTime,
    settings: &Settings,
) -> ReuseDecision {
    let age = stored.age(now);
    let wishes = wishes(request, settings);
    if let Some(why) = demand(stored, &wishes, age) {
        return ReuseDecision::Validate { age, why };
    }
    if age < stored.lifetime.length {
        return fresh(age, stored.lifetime.length.saturating_sub(age), &wishes);
    }
    let past = age.saturating_sub(stored.lifetime.length);
    match stale_reason(stored, &wishes, past, settings) {
        Some(why) => ReuseDecision::Stale { age, past, why },
        None => ReuseDecision::Validate { age, why: ValidationReason::Stale },
    }
}

/// Returns the client's directives, as far as the operator lets clients decide.
pub(crate) fn wishes(request: &RequestMeta, settings: &Settings) -> RequestDirectives {
    if settings.is_obeying_clients { request.directives } else { RequestDirectives::default() }
}

/// Returns the reason that demands validation whether or not the response is fresh.
fn demand(stored: &StoredMeta, wishes: &RequestDirectives, age: Nanos) -> Option<ValidationReason> {
    let is_too_old = wishes.max_age.is_some_and(|max_age| max_age < age);
    let demands = [
        (stored.is_invalid, ValidationReason::Invalidated),
        (stored.response.directives.no_cache == DirectiveScope::Whole, ValidationReason::NoCache),
        (wishes.no_cache, ValidationReason::RequestNoCache),
        (is_too_old, ValidationReason::RequestMaxAge),
    ];
    demands.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

fn fresh(age: Nanos, ttl: Nanos, wishes: &RequestDirectives) -> ReuseDecision {
    if wishes.min_fresh.is_some_and(|min_fresh| ttl < min_fresh) {
        return ReuseDecision::Validate { age, why: ValidationReason::RequestMinFresh };
    }
    ReuseDecision::Fresh { age, ttl }
}

/// Returns the reason that allows a stale response, without an error of the origin.
fn stale_reason(
    stored: &StoredMeta,
    wishes: &RequestDirectives,
    past: Nanos,
    settings: &Settings,
) -> Option<StaleReason> {
    // Without `max-stale`, `max-age` excludes stale responses (RFC 9111 §5.2.1.1), and so does `min-fresh`.
    let is_fresh_wanted =
        wishes.min_fresh.is_some() || (wishes.max_age.is_some() && wishes.max_stale.is_none());
    if stored.response.forbids_stale(settings) || is_fresh_wanted {
        return None;
    }
    let directives = &stored.response.directives;
    let window = directives.stale_while_revalidate.unwrap_or(settings.stale.while_revalidating);
    if past < window {
        return Some(StaleReason::WhileRevalidating);
    }
    wishes.max_stale.filter(|max_stale| past <= *max_stale).map(|_| StaleReason::MaxStale)
}

impl ResponseMeta {
    /// Returns whether the origin forbids the use of the response once it is stale (RFC 9111 §4.2.4).
    pub(crate) fn forbids_stale(&self, settings: &Settings) -> bool {
        let directives = &self.directives;
        let is_allowed_by_s_maxage = settings.stale.is_allowed_by_s_maxage
            && (directives.stale_while_revalidate.is_some() || directives.stale_if_error.is_some());
        directives.must_revalidate
            || directives.proxy_revalidate
            || directives.no_cache == DirectiveScope::Whole
            || (directives.s_maxage.is_some() && !is_allowed_by_s_maxage)
    }
}
