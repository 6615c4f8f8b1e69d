//! Responses when the origin fails (RFC 9111 §4.2.4, §4.3.3; RFC 5861 §4).

use units::{Nanos, WallTime};

use crate::directives::DirectiveScope;
use crate::request_meta::RequestMeta;
use crate::reuse::{StaleReason, wishes};
use crate::settings::Settings;
use crate::status::is_error;
use crate::stored_meta::StoredMeta;

/// A failure of the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchFailure {
    /// It could not be reached, did not answer in time or broke off.
    NoAnswer,
    /// It answered with this status.
    Status(u16),
}

reasons! {
    /// The reason for which no stale response replaces a failure.
    NoStaleReason {
        /// The status is not one of those that a stale response may replace.
        NotAnError = "not-an-error", "RFC 5861 §4";
        /// The origin forbids to use the response without validation.
        Forbidden = "forbidden", "RFC 9111 §4.2.4";
        /// An unsafe request has made the response invalid.
        Invalidated = "invalidated", "RFC 9111 §4.4";
        /// The client wants a validated or a younger response.
        Unwanted = "unwanted", "RFC 9111 §5.2.1";
        /// Nothing allows it, or no longer.
        NotAllowed = "not-allowed", "RFC 9111 §4.2.4";
    }
}

/// The decision about a failure of the origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureDecision {
    /// Serve the stored response.
    Stale {
        /// Its age.
        age: Nanos,
        /// The time since it became stale; zero if it is fresh.
        past: Nanos,
        /// The rule that allows it.
        why: StaleReason,
    },
    /// Pass on the origin's error, or 504 if there is none.
    PassOn(NoStaleReason),
}

/// Decides what the client gets if the origin fails when a stored response is to be validated.
pub fn on_failure(
    stored: &StoredMeta,
    request: &RequestMeta,
    failure: FetchFailure,
    now: WallTime,
    settings: &Settings,
) -> FailureDecision {
    if let Some(why) = objection(stored, request, failure, now, settings) {
        return FailureDecision::PassOn(why);
    }
    let age = stored.age(now);
    let past = age.saturating_sub(stored.lifetime.length);
    let said = stored.response.directives.stale_if_error;
    let own = said.unwrap_or(settings.stale.if_error);
    let wished = wishes(request, settings).stale_if_error.unwrap_or(Nanos::ZERO);
    // A missing response counts as an error: an origin that sets `stale-if-error` has the last word.
    let is_cut_off = failure == FetchFailure::NoAnswer && said.is_none();
    let disconnected = if is_cut_off { settings.stale.disconnected } else { Nanos::ZERO };
    let windows = [(own.max(wished), StaleReason::IfError), (disconnected, StaleReason::Disconnected)];
    match windows.iter().find(|(window, _)| past < *window) {
        Some((_, why)) => FailureDecision::Stale { age, past, why: *why },
        None => FailureDecision::PassOn(NoStaleReason::NotAllowed),
    }
}

/// Returns the reason that forbids the stored response whatever its age.
fn objection(
    stored: &StoredMeta,
    request: &RequestMeta,
    failure: FetchFailure,
    now: WallTime,
    settings: &Settings,
) -> Option<NoStaleReason> {
    let wishes = wishes(request, settings);
    let is_stale = !stored.is_fresh(now);
    let is_too_old =
        wishes.max_age.is_some_and(|max_age| max_age < stored.age(now)) && wishes.max_stale.is_none();
    let is_forbidden = stored.response.directives.no_cache == DirectiveScope::Whole
        || (is_stale && stored.response.forbids_stale(settings));
    let objections = [
        (matches!(failure, FetchFailure::Status(status) if !is_error(status)), NoStaleReason::NotAnError),
        (stored.is_invalid, NoStaleReason::Invalidated),
        (is_forbidden, NoStaleReason::Forbidden),
        (wishes.no_cache || is_too_old, NoStaleReason::Unwanted),
    ];
    objections.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}
