//! Whether a stored response that suits a request may be used (RFC 9111 §4).

use units::{Nanos, WallTime};

use super::directives::{RequestDirectives, Scope};
use super::request::Request;
use super::response::Response;
use super::settings::Settings;
use super::stored::Stored;

reasons! {
    /// Why a response may be used though it is stale.
    StaleReason {
        /// The client takes it.
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
    /// Why a response must be validated before it is used.
    Needs {
        /// It is stale.
        Stale = "stale", "RFC 9111 §4.2";
        /// The origin wants that.
        NoCache = "no-cache", "RFC 9111 §5.2.2.4";
        /// An unsafe request has made it invalid.
        Invalidated = "invalidated", "RFC 9111 §4.4";
        /// The client wants that.
        RequestNoCache = "request-no-cache", "RFC 9111 §5.2.1.4";
        /// It is older than the client takes.
        RequestMaxAge = "request-max-age", "RFC 9111 §5.2.1.1";
        /// It is not fresh for as long as the client wants.
        RequestMinFresh = "request-min-fresh", "RFC 9111 §5.2.1.3";
    }
}

/// Whether a stored response may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// As it is.
    Fresh {
        /// How old it is.
        age: Nanos,
        /// How long it is still fresh.
        ttl: Nanos,
    },
    /// As it is, though it is stale. With [`StaleReason::WhileRevalidating`] it is to be validated meanwhile.
    Stale {
        /// How old it is.
        age: Nanos,
        /// How long it has been stale.
        past: Nanos,
        /// Why that is allowed.
        why: StaleReason,
    },
    /// Only once the origin has said that it is still good.
    Validate {
        /// How old it is.
        age: Nanos,
        /// Why.
        why: Needs,
    },
}

/// Decides whether a stored response that suits a request, variant and all, may be used now.
///
/// What the origin demands comes before what the client wants, and that before what age allows.
pub fn reuse(stored: &Stored, request: &Request, now: WallTime, settings: &Settings) -> Reuse {
    let age = stored.age(now);
    let wishes = wishes(request, settings);
    if let Some(why) = demand(stored, &wishes, age) {
        return Reuse::Validate { age, why };
    }
    if age < stored.lifetime.length {
        return fresh(age, stored.lifetime.length.saturating_sub(age), &wishes);
    }
    let past = age.saturating_sub(stored.lifetime.length);
    match stale_reason(stored, &wishes, past, settings) {
        Some(why) => Reuse::Stale { age, past, why },
        None => Reuse::Validate { age, why: Needs::Stale },
    }
}

/// Returns what the client says, as far as the operator lets clients have a say.
pub(super) fn wishes(request: &Request, settings: &Settings) -> RequestDirectives {
    if settings.is_obeying_clients { request.directives } else { RequestDirectives::default() }
}

/// Returns what calls for validation whether or not the response is fresh.
fn demand(stored: &Stored, wishes: &RequestDirectives, age: Nanos) -> Option<Needs> {
    let is_too_old = wishes.max_age.is_some_and(|max_age| max_age < age);
    let demands = [
        (stored.is_invalid, Needs::Invalidated),
        (stored.response.directives.no_cache == Scope::Whole, Needs::NoCache),
        (wishes.no_cache, Needs::RequestNoCache),
        (is_too_old, Needs::RequestMaxAge),
    ];
    demands.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

fn fresh(age: Nanos, ttl: Nanos, wishes: &RequestDirectives) -> Reuse {
    if wishes.min_fresh.is_some_and(|min_fresh| ttl < min_fresh) {
        return Reuse::Validate { age, why: Needs::RequestMinFresh };
    }
    Reuse::Fresh { age, ttl }
}

/// Returns what allows a stale response, without an error of the origin.
fn stale_reason(
    stored: &Stored,
    wishes: &RequestDirectives,
    past: Nanos,
    settings: &Settings,
) -> Option<StaleReason> {
    // Without `max-stale` a `max-age` says that nothing stale is wanted (RFC 9111 §5.2.1.1), `min-fresh` all the more.
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

impl Response {
    /// Tells whether the origin forbids to use the response once it is stale (RFC 9111 §4.2.4).
    pub fn forbids_stale(&self, settings: &Settings) -> bool {
        let directives = &self.directives;
        let is_allowed_by_s_maxage = settings.stale.is_allowed_by_s_maxage
            && (directives.stale_while_revalidate.is_some() || directives.stale_if_error.is_some());
        directives.must_revalidate
            || directives.proxy_revalidate
            || directives.no_cache == Scope::Whole
            || (directives.s_maxage.is_some() && !is_allowed_by_s_maxage)
    }
}
