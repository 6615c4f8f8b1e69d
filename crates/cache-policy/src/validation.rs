//! Validation of stored responses (RFC 9111 §4.3.1).

use crate::date::write_date;
use crate::entity_tag::EntityTag;
use crate::stored_meta::StoredMeta;

/// The conditions that a validation adds to the request, in place of the client's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValidationConditions {
    /// The value of `If-None-Match`: the tags of all stored responses that may be validated.
    pub if_none_match: Option<Vec<u8>>,
    /// The value of `If-Modified-Since`; only if one response is validated.
    pub if_modified_since: Option<String>,
}

/// Returns the conditions that validate one of these responses.
///
/// Pass the one response that [`decide`](crate::decide()) wants validated, or all under the key if none matches the
/// request: the origin may then select one by its tag. Without a validator there is no condition, and the request
/// fetches the response anew.
pub fn conditional(stored: &[&StoredMeta]) -> ValidationConditions {
    let tags: Vec<_> =
        stored.iter().filter_map(|one| one.response.etag.as_ref()).map(EntityTag::to_bytes).collect();
    let changed = match stored {
        [one] => one.response.last_modified,
        _ => None,
    };
    ValidationConditions {
        if_none_match: (!tags.is_empty()).then(|| tags.join(&b", "[..])),
        if_modified_since: changed.map(write_date),
    }
}
