//! Conditions of a request, judged against a stored response (RFC 9111 §4.3.2, RFC 9110 §13).

use super::date::parse_date;
use super::entity_tag::Tags;
use super::message::{Lines, Single, values};
use super::request::Request;
use super::stored::Stored;

reasons! {
    /// The condition that decided.
    Condition {
        /// The tags that the client has.
        IfNoneMatch = "if-none-match", "RFC 9110 §13.1.2";
        /// The date of what the client has.
        IfModifiedSince = "if-modified-since", "RFC 9110 §13.1.3";
    }
}

/// What the conditions of a request come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// There is none that a cache may judge.
    Absent,
    /// The client has the response already: 304.
    NotModified(Condition),
    /// The client has another.
    Modified(Condition),
}

/// Judges the conditions of a request against the stored response that would answer it.
///
/// Only for GET and HEAD, and for stored responses that say that all is well (RFC 9110 §13.2.1). Of the two conditions
/// that caches judge, tags outweigh dates (§13.2.2).
pub fn precondition<'a>(request: &Request, lines: impl Lines<'a>, stored: &Stored) -> Precondition {
    if !request.has_condition || !request.is_retrieval() || !(200..300).contains(&stored.response.status) {
        return Precondition::Absent;
    }
    match Tags::of_if_none_match(lines.clone(), stored.response.etag.as_ref()) {
        Tags::Matching => Precondition::NotModified(Condition::IfNoneMatch),
        Tags::Different => Precondition::Modified(Condition::IfNoneMatch),
        Tags::Absent => modified_since(lines, stored),
    }
}

/// Compares `If-Modified-Since` with the date of change, or with `Date` without one (RFC 9111 §4.3.2).
///
/// A field that stands several times or is no date does not count (RFC 9110 §13.1.3).
fn modified_since<'a>(lines: impl Lines<'a>, stored: &Stored) -> Precondition {
    let mut since = Single::Absent;
    values(lines, "if-modified-since").for_each(|value| since.note(value));
    let Some(since) = since.value().and_then(parse_date) else {
        return Precondition::Absent;
    };
    let changed = stored.response.last_modified.unwrap_or(stored.response.date);
    if changed <= since {
        Precondition::NotModified(Condition::IfModifiedSince)
    } else {
        Precondition::Modified(Condition::IfModifiedSince)
    }
}
