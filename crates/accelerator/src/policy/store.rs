//! Which responses may be stored (RFC 9111 §3).

use http1::RequestMethod;
use units::Nanos;

use super::directives::Scope;
use super::freshness::{Lifetime, LifetimeSource, lifetime};
use super::request::Request;
use super::response::Response;
use super::settings::{SetCookie, Settings};
use super::status::{is_caused_by_request, is_heuristically_cacheable, is_understood};
use super::vary::{VARY_FIELDS_MAX, Vary};

reasons! {
    /// Why a response is not stored.
    NotStored {
        /// The request was no GET.
        Method = "method", "RFC 9111 §3";
        /// The request had a body, which is no part of the key.
        RequestBody = "request-body", "RFC 9110 §9.3.1";
        /// The client asked for that.
        RequestNoStore = "request-no-store", "RFC 9111 §5.2.1.5";
        /// The response is not the final one.
        Interim = "interim", "RFC 9111 §3";
        /// The response is part of another.
        PartialContent = "partial-content", "RFC 9111 §3.3";
        /// The response says that there is nothing new.
        NotModified = "not-modified", "RFC 9111 §3";
        /// The response is only for caches that know its status.
        StatusNotUnderstood = "status-not-understood", "RFC 9111 §5.2.2.3";
        /// The origin asked for that.
        NoStore = "no-store", "RFC 9111 §5.2.2.5";
        /// The response is for one user.
        Private = "private", "RFC 9111 §5.2.2.7";
        /// The request said who asks, and the response does not say that it is for all.
        AuthorizationWithoutPermission = "authorization-without-permission", "RFC 9111 §3.5";
        /// The response sets a cookie.
        SetCookie = "set-cookie", "RFC 9111 §7.3";
        /// The response depends on more than the request.
        VariesByEverything = "varies-by-everything", "RFC 9111 §4.1";
        /// The response depends on more fields than are looked at.
        VariesByTooMuch = "varies-by-too-much", "RFC 9111 §4.1";
        /// The status blames something that is no part of the key.
        RequestError = "request-error", "RFC 9111 §7.1";
        /// Neither its status nor a word of its own allows it.
        NotAllowed = "not-allowed", "RFC 9111 §3";
        /// It could never be used: stale at once, without a validator and without leave to be used stale.
        NeverReusable = "never-reusable", "RFC 9111 §4";
        /// Its body ended early.
        Incomplete = "incomplete", "RFC 9111 §3.3";
        /// It is larger than the store takes.
        TooLarge = "too-large", "RFC 9111 §3";
    }
}

impl NotStored {
    /// Tells whether the next response to the same key will most likely not be stored for the same reason.
    ///
    /// That is so if the origin, not this client or this transfer, brought it about.
    pub fn is_lasting(self) -> bool {
        const PASSING: [NotStored; 9] = [
            NotStored::Method,
            NotStored::RequestBody,
            NotStored::RequestNoStore,
            NotStored::Interim,
            NotStored::PartialContent,
            NotStored::NotModified,
            NotStored::AuthorizationWithoutPermission,
            NotStored::RequestError,
            NotStored::Incomplete,
        ];
        !PASSING.contains(&self)
    }
}

/// Whether a response may be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// It may, without the fields of [`Response::withheld`], and lives so long.
    Yes(Lifetime),
    /// It may not.
    No(NotStored),
}

/// A response and all that decides about it.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    request: &'a Request,
    response: &'a Response,
    settings: &'a Settings,
    lifetime: Lifetime,
}

/// What tells whether a reason applies.
type Objection = fn(&Case) -> bool;

/// What speaks against storing, in the order in which it is looked at; the first that applies is the reason.
const OBJECTIONS: [(NotStored, Objection); 16] = [
    (NotStored::Method, |case| case.request.method != RequestMethod::Get),
    (NotStored::RequestBody, |case| case.request.has_body),
    (NotStored::RequestNoStore, |case| case.request.directives.no_store),
    (NotStored::Interim, |case| case.response.status < 200),
    (NotStored::PartialContent, |case| case.response.status == 206),
    (NotStored::NotModified, |case| case.response.status == 304),
    (NotStored::StatusNotUnderstood, |case| must_understand(case) && !is_understood(case.response.status)),
    (NotStored::NoStore, |case| case.response.directives.no_store && !must_understand(case)),
    (NotStored::Private, |case| case.response.directives.private == Scope::Whole),
    (NotStored::AuthorizationWithoutPermission, |case| case.request.has_authorization && !is_for_all(case)),
    (NotStored::SetCookie, shares_cookie),
    (NotStored::VariesByEverything, |case| case.response.vary == Vary::Everything),
    (NotStored::VariesByTooMuch, |case| VARY_FIELDS_MAX < case.response.vary.fields().len()),
    (NotStored::RequestError, blames_request),
    (NotStored::NotAllowed, |case| !is_allowed(case)),
    (NotStored::NeverReusable, |case| !is_reusable(case)),
];

/// Decides whether a shared cache may store a response to a request.
///
/// Fields that are not kept for others are not stored with it: see [`Response::withheld`].
pub fn store(request: &Request, response: &Response, settings: &Settings) -> Store {
    let lifetime = lifetime(response, settings);
    let case = Case { request, response, settings, lifetime };
    let objection = OBJECTIONS.iter().find(|(_, applies)| applies(&case));
    objection.map_or(Store::Yes(lifetime), |(reason, _)| Store::No(*reason))
}

/// Tells whether a body is all there once no more comes: as long as announced, or ended by the coding itself.
///
/// # Errors
///
/// [`NotStored::Incomplete`] if it is not, and the response must not be kept (RFC 9111 §3.3).
pub fn body_is_complete(announced: Option<u64>, received: u64, is_ended: bool) -> Result<(), NotStored> {
    let is_complete = announced.map_or(is_ended, |length| length == received);
    if is_complete { Ok(()) } else { Err(NotStored::Incomplete) }
}

fn must_understand(case: &Case) -> bool {
    case.response.directives.must_understand
}

/// Tells whether the response may be shared although the request said who asks.
fn is_for_all(case: &Case) -> bool {
    let directives = &case.response.directives;
    directives.public || directives.must_revalidate || directives.s_maxage.is_some()
}

/// Tells whether a cookie would be given to others: it is set, and neither origin nor operator had it taken out.
fn shares_cookie(case: &Case) -> bool {
    let is_withheld = || case.response.withheld().any(|name| name == "set-cookie");
    case.response.sets_cookie && case.settings.set_cookie == SetCookie::NotStored && !is_withheld()
}

fn blames_request(case: &Case) -> bool {
    let status = case.response.status;
    let is_named = || case.settings.lifetimes_of_statuses.iter().any(|(named, _)| *named == status);
    is_caused_by_request(status) && !case.settings.is_storing_request_errors && !is_named()
}

/// Tells whether the response's status, a word of its own or the operator allows to store it.
fn is_allowed(case: &Case) -> bool {
    let source = case.lifetime.source;
    let is_set_by_operator = source == LifetimeSource::Status;
    let status = case.response.status;
    source.is_explicit()
        || is_set_by_operator
        || case.response.directives.public
        || is_heuristically_cacheable(status)
}

/// Tells whether there may be a request that the stored response answers.
fn is_reusable(case: &Case) -> bool {
    let Case { response, settings, lifetime, .. } = case;
    if response.has_validator() {
        return true;
    }
    if response.directives.no_cache == Scope::Whole {
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
    fn a_body_is_complete_when_it_is_as_long_as_announced_or_ended_by_its_coding() {
        assert_eq!(body_is_complete(Some(5), 5, true), Ok(()));
        assert_eq!(body_is_complete(Some(5), 4, true), Err(NotStored::Incomplete));
        assert_eq!(body_is_complete(None, 4, true), Ok(()));
        assert_eq!(body_is_complete(None, 4, false), Err(NotStored::Incomplete));
    }

    #[test]
    fn every_objection_but_those_to_a_body_is_in_the_table() {
        let listed: Vec<_> = OBJECTIONS.iter().map(|(reason, _)| *reason).collect();
        assert_eq!(listed, NotStored::ALL[..NotStored::ALL.len() - 2]);
        assert_eq!(NotStored::ALL[listed.len()..], [NotStored::Incomplete, NotStored::TooLarge]);
    }

    #[test]
    fn what_one_client_brought_about_says_nothing_about_the_next() {
        assert!(NotStored::NoStore.is_lasting() && NotStored::SetCookie.is_lasting());
        assert!(
            !NotStored::RequestNoStore.is_lasting()
                && !NotStored::AuthorizationWithoutPermission.is_lasting()
        );
    }
}
