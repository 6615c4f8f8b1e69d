//! What is done when the origin does not answer, or answers with an error (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).

use units::{Nanos, WallTime};

use super::directives::Scope;
use super::request::Request;
use super::reuse::{StaleReason, wishes};
use super::settings::Settings;
use super::status::is_error;
use super::stored::Stored;

/// How the origin failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It could not be reached, did not answer in time or broke off.
    NoAnswer,
    /// It answered with this status.
    Status(u16),
}

reasons! {
    /// Why a failure is passed on to the client although a response is stored.
    PassedOn {
        /// The status is none of those that a stale response may stand in for.
        NotAnError = "not-an-error", "RFC 5861 §4";
        /// The origin forbids to use the response without validation.
        Forbidden = "forbidden", "RFC 9111 §4.2.4";
        /// An unsafe request has made the response invalid.
        Invalidated = "invalidated", "RFC 9111 §4.4";
        /// The client wants a validated or a young response.
        Unwanted = "unwanted", "RFC 9111 §5.2.1";
        /// Nothing allows it, or no longer.
        NotAllowed = "not-allowed", "RFC 9111 §4.2.4";
    }
}

/// What the client gets when the origin failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The stored response.
    Stale {
        /// How old it is.
        age: Nanos,
        /// How long it has been stale; zero if it is fresh.
        past: Nanos,
        /// Why that is allowed.
        why: StaleReason,
    },
    /// The origin's error, or 504 if there is none.
    PassOn(PassedOn),
}

/// Decides what the client gets if the origin fails when a stored response is to be validated.
pub fn on_failure(
    stored: &Stored,
    request: &Request,
    failure: Failure,
    now: WallTime,
    settings: &Settings,
) -> OnFailure {
    if let Some(why) = objection(stored, request, failure, now, settings) {
        return OnFailure::PassOn(why);
    }
    let age = stored.age(now);
    let past = age.saturating_sub(stored.lifetime.length);
    let said = stored.response.directives.stale_if_error;
    let own = said.unwrap_or(settings.stale.if_error);
    let wished = wishes(request, settings).stale_if_error.unwrap_or(Nanos::ZERO);
    // No answer is an error like others: an origin that says how long it may be stood in for has the last word.
    let is_cut_off = failure == Failure::NoAnswer && said.is_none();
    let disconnected = if is_cut_off { settings.stale.disconnected } else { Nanos::ZERO };
    let windows = [(own.max(wished), StaleReason::IfError), (disconnected, StaleReason::Disconnected)];
    match windows.iter().find(|(window, _)| past < *window) {
        Some((_, why)) => OnFailure::Stale { age, past, why: *why },
        None => OnFailure::PassOn(PassedOn::NotAllowed),
    }
}

/// Returns what forbids the stored response whatever time has passed.
fn objection(
    stored: &Stored,
    request: &Request,
    failure: Failure,
    now: WallTime,
    settings: &Settings,
) -> Option<PassedOn> {
    let wishes = wishes(request, settings);
    let is_stale = !stored.is_fresh(now);
    let is_too_old =
        wishes.max_age.is_some_and(|max_age| max_age < stored.age(now)) && wishes.max_stale.is_none();
    let is_forbidden = stored.response.directives.no_cache == Scope::Whole
        || (is_stale && stored.response.forbids_stale(settings));
    let objections = [
        (matches!(failure, Failure::Status(status) if !is_error(status)), PassedOn::NotAnError),
        (stored.is_invalid, PassedOn::Invalidated),
        (is_forbidden, PassedOn::Forbidden),
        (wishes.no_cache || is_too_old, PassedOn::Unwanted),
    ];
    objections.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}
