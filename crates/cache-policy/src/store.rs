//! Storing of responses (RFC 9111 §3).

use http1::RequestMethod;
use units::Nanos;

use crate::directives::DirectiveScope;
use crate::freshness::{Lifetime, LifetimeSource, lifetime};
use crate::request_meta::RequestMeta;
use crate::response_meta::ResponseMeta;
use crate::settings::{SetCookie, Settings};
use crate::status::{is_caused_by_request, is_heuristically_cacheable, is_understood};
use crate::vary::{VARY_FIELDS_MAX, Vary};

reasons! {
    /// The reason for which a response is not stored.
    NotStored {
        /// The request was no GET.
        Method = "method", "RFC 9111 §3";
        /// The request had a body, which is not part of the key.
        RequestBody = "request-body", "RFC 9110 §9.3.1";
        /// The client forbids it.
        RequestNoStore = "request-no-store", "RFC 9111 §5.2.1.5";
        /// The response is an interim one.
        Interim = "interim", "RFC 9111 §3";
        /// The response is partial.
        PartialContent = "partial-content", "RFC 9111 §3.3";
        /// The response is a 304.
        NotModified = "not-modified", "RFC 9111 §3";
        /// The response is only for caches that understand its status.
        StatusNotUnderstood = "status-not-understood", "RFC 9111 §5.2.2.3";
        /// The origin forbids it.
        NoStore = "no-store", "RFC 9111 §5.2.2.5";
        /// The response is for one user.
        Private = "private", "RFC 9111 §5.2.2.7";
        /// The request carried credentials, and the response does not allow sharing.
        AuthorizationWithoutPermission = "authorization-without-permission", "RFC 9111 §3.5";
        /// The response sets a cookie.
        SetCookie = "set-cookie", "RFC 9111 §7.3";
        /// The response depends on more than the request.
        VariesByEverything = "varies-by-everything", "RFC 9111 §4.1";
        /// The response depends on more fields than are compared.
        VariesByTooMuch = "varies-by-too-much", "RFC 9111 §4.1";
        /// The status blames something that is not part of the key.
        RequestError = "request-error", "RFC 9111 §7.1";
        /// Neither its status nor a directive allows it.
        NotAllowed = "not-allowed", "RFC 9111 §3";
        /// It could never be used: stale at once, without a validator and not allowed to be used stale.
        NeverReusable = "never-reusable", "RFC 9111 §4";
        /// Its body ended early.
        Incomplete = "incomplete", "RFC 9111 §3.3";
        /// It is larger than the store accepts.
        TooLarge = "too-large", "RFC 9111 §3";
        /// The store has no room for it: what it holds is being sent to clients.
        NoRoom = "no-room", "RFC 9111 §3";
    }
}

impl NotStored {
    /// Returns whether the next response to the same key will most likely not be stored for the same reason.
    ///
    /// True if the origin is the cause, not this client or this transfer.
    pub fn is_persistent(self) -> bool {
        const TRANSIENT: [NotStored; 10] = [
            NotStored::Method,
            NotStored::RequestBody,
            NotStored::RequestNoStore,
            NotStored::Interim,
            NotStored::PartialContent,
            NotStored::NotModified,
            NotStored::AuthorizationWithoutPermission,
            NotStored::RequestError,
            NotStored::Incomplete,
            NotStored::NoRoom,
        ];
        !TRANSIENT.contains(&self)
    }
}

/// The decision about storing a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreDecision {
    /// Store it, without the fields of [`ResponseMeta::withheld`]; it has this lifetime.
    Yes(Lifetime),
    /// Do not store it.
    No(NotStored),
}

/// A response and everything that decides about storing it.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    request: &'a RequestMeta,
    response: &'a ResponseMeta,
    settings: &'a Settings,
    lifetime: Lifetime,
}

/// A predicate that tells whether a reason applies.
type Objection = fn(&Case) -> bool;

/// The objections to storing, in the order in which they are checked; the first that applies is the reason.
const OBJECTIONS: [(NotStored, Objection); 16] = [
    (NotStored::Method, |case| case.request.method != RequestMethod::Get),
    (NotStored::RequestBody, |case| case.request.has_body),
    (NotStored::RequestNoStore, |case| case.request.directives.no_store),
    (NotStored::Interim, |case| case.response.status < 200),
    (NotStored::PartialContent, |case| case.response.status == 206),
    (NotStored::NotModified, |case| case.response.status == 304),
    (NotStored::StatusNotUnderstood, |case| must_understand(case) && !is_understood(case.response.status)),
    (NotStored::NoStore, |case| case.response.directives.no_store && !must_understand(case)),
    (NotStored::Private, |case| case.response.directives.private == DirectiveScope::Whole),
    (NotStored::AuthorizationWithoutPermission, |case| case.request.has_authorization && !is_shareable(case)),
    (NotStored::SetCookie, shares_cookie),
    (NotStored::VariesByEverything, |case| case.response.vary == Vary::Everything),
    (NotStored::VariesByTooMuch, |case| VARY_FIELDS_MAX < case.response.vary.fields().len()),
    (NotStored::RequestError, blames_request),
    (NotStored::NotAllowed, |case| !is_allowed(case)),
    (NotStored::NeverReusable, |case| !is_reusable(case)),
];

/// Decides whether a shared cache may store a response to a request.
///
/// Fields that must not be shared are not stored with it: see [`ResponseMeta::withheld`].
pub fn store(request: &RequestMeta, response: &ResponseMeta, settings: &Settings) -> StoreDecision {
    let lifetime = lifetime(response, settings);
    let case = Case { request, response, settings, lifetime };
    let objection = OBJECTIONS.iter().find(|(_, applies)| applies(&case));
    objection.map_or(StoreDecision::Yes(lifetime), |(reason, _)| StoreDecision::No(*reason))
}

/// Checks that a body is complete at its end: as long as announced, or ended by its transfer coding.
///
/// # Errors
///
/// [`NotStored::Incomplete`] if it is not; the response must not be stored then (RFC 9111 §3.3).
pub fn body_is_complete(announced: Option<u64>, received: u64, is_ended: bool) -> Result<(), NotStored> {
    let is_complete = announced.map_or(is_ended, |length| length == received);
    if is_complete { Ok(()) } else { Err(NotStored::Incomplete) }
}

fn must_understand(case: &Case) -> bool {
    case.response.directives.must_understand
}

/// Returns whether the response may be shared although the request carried credentials.
fn is_shareable(case: &Case) -> bool {
    let directives = &case.response.directives;
    directives.public || directives.must_revalidate || directives.s_maxage.is_some()
}

/// Returns whether a cookie would be shared: it is set, and neither origin nor operator has it removed.
fn shares_cookie(case: &Case) -> bool {
    let is_withheld = || case.response.withheld().any(|name| name == "set-cookie");
    case.response.sets_cookie && case.settings.set_cookie == SetCookie::NotStored && !is_withheld()
}

fn blames_request(case: &Case) -> bool {
    let status = case.response.status;
    let is_named = || case.settings.lifetimes_of_statuses.iter().any(|(named, _)| *named == status);
    is_caused_by_request(status) && !case.settings.is_storing_request_errors && !is_named()
}

/// Returns whether the response's status, a directive or the operator allows storing it.
fn is_allowed(case: &Case) -> bool {
    let source = case.lifetime.source;
    let is_set_by_operator = source == LifetimeSource::Status;
    let status = case.response.status;
    source.is_explicit()
        || is_set_by_operator
        || case.response.directives.public
        || is_heuristically_cacheable(status)
}

/// Returns whether there may be a request that the stored response answers.
fn is_reusable(case: &Case) -> bool {
    let Case { response, settings, lifetime, .. } = case;
    if response.has_validator() {
        return true;
    }
    if response.directives.no_cache == DirectiveScope::Whole {
        return false;
    }
    let is_fresh = response.age_on_arrival() < lifetime.length;
    let directives = &response.directives;
    let windows = [
        directives.stale_while_revalidate.unwrap_or(settings.stale.while_revalidating),
        directives.stale_if_error.unwrap_or(settings.stale.if_error),
    ];
    let may_be_stale =
        !response.forbids_stale(settings) && windows.iter().any(|window| *window != Nanos::ZERO);
    is_fresh || may_be_stale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_complete_by_length_or_by_its_coding() {
        assert_eq!(body_is_complete(Some(5), 5, true), Ok(()));
        assert_eq!(body_is_complete(Some(5), 4, true), Err(NotStored::Incomplete));
        assert_eq!(body_is_complete(None, 4, true), Ok(()));
        assert_eq!(body_is_complete(None, 4, false), Err(NotStored::Incomplete));
    }

    #[test]
    fn every_objection_except_those_to_a_body_is_in_the_table() {
        let listed: Vec<_> = OBJECTIONS.iter().map(|(reason, _)| *reason).collect();
        assert_eq!(listed, NotStored::ALL[..NotStored::ALL.len() - 3]);
        assert_eq!(
            NotStored::ALL[listed.len()..],
            [NotStored::Incomplete, NotStored::TooLarge, NotStored::NoRoom]
        );
    }

    #[test]
    fn reasons_caused_by_one_client_are_not_lasting() {
        assert!(NotStored::NoStore.is_persistent() && NotStored::SetCookie.is_persistent());
        assert!(
            !NotStored::RequestNoStore.is_persistent()
                && !NotStored::AuthorizationWithoutPermission.is_persistent()
        );
    }
}
