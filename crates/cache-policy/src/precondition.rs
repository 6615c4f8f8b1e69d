//! Evaluation of a request's conditions against a stored response (RFC 9111 §4.3.2, RFC 9110 §13).

use crate::date::parse_date;
use crate::entity_tag::TagMatch;
use crate::message::{FieldLines, SingletonField, values};
use crate::request_meta::RequestMeta;
use crate::stored_meta::StoredMeta;

reasons! {
    /// The condition that decided.
    Condition {
        /// `If-None-Match`.
        IfNoneMatch = "if-none-match", "RFC 9110 §13.1.2";
        /// `If-Modified-Since`.
        IfModifiedSince = "if-modified-since", "RFC 9110 §13.1.3";
    }
}

/// The result of a request's conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// No condition that a cache may evaluate.
    Absent,
    /// The client has the response already: 304.
    NotModified(Condition),
    /// The client has another response.
    Modified(Condition),
}

/// Evaluates the conditions of a request against the stored response that would answer it.
///
/// Only for GET and HEAD, and for stored responses with a successful status (RFC 9110 §13.2.1). Of the two conditions
/// that caches evaluate, tags take precedence over dates (§13.2.2).
pub fn precondition<'a>(
    request: &RequestMeta,
    lines: impl FieldLines<'a>,
    stored: &StoredMeta,
) -> Precondition {
    if !request.has_condition || !request.is_retrieval() || !(200..300).contains(&stored.response.status) {
        return Precondition::Absent;
    }
    match TagMatch::of_if_none_match(lines.clone(), stored.response.etag.as_ref()) {
        TagMatch::Matching => Precondition::NotModified(Condition::IfNoneMatch),
        TagMatch::Different => Precondition::Modified(Condition::IfNoneMatch),
        TagMatch::Absent => modified_since(lines, stored),
    }
}

/// Compares `If-Modified-Since` with `Last-Modified`, or with `Date` without it (RFC 9111 §4.3.2).
///
/// A repeated or malformed field does not count (RFC 9110 §13.1.3).
fn modified_since<'a>(lines: impl FieldLines<'a>, stored: &StoredMeta) -> Precondition {
    let mut since = SingletonField::Absent;
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
