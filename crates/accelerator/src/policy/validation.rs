//! The question whether a stored response is still good (RFC 9111 §4.3.1).

use super::date::write_date;
use super::entity_tag::EntityTag;
use super::stored::Stored;

/// The conditions that a validation adds to the request; those of the client are left out meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditional {
    /// The value of `If-None-Match`: the tags of all stored responses that the reply may be about.
    pub if_none_match: Option<Vec<u8>>,
    /// The value of `If-Modified-Since`; only if the question is about one response.
    pub if_modified_since: Option<String>,
}

/// Returns the conditions that ask whether one of these responses is still good.
///
/// Give the one response that [`answer`](super::answer()) wants validated, or all under the key if none suits the
/// request: the origin may then say by its tag that one of them does. Without a validator there is no condition, and
/// the request asks for the response anew.
pub fn conditional(stored: &[&Stored]) -> Conditional {
    let tags: Vec<_> =
        stored.iter().filter_map(|one| one.response.etag.as_ref()).map(EntityTag::to_bytes).collect();
    let changed = match stored {
        [one] => one.response.last_modified,
        _ => None,
    };
    Conditional {
        if_none_match: (!tags.is_empty()).then(|| tags.join(&b", "[..])),
        if_modified_since: changed.map(write_date),
    }
}
