//! Invalidation by unsafe requests (RFC 9111 §4.4).

use crate::key::Key;
use crate::message::{FieldLines, values};
use crate::request_meta::RequestMeta;

reasons! {
    /// The reason for which nothing is invalidated.
    NotInvalidated {
        /// The method is safe.
        Safe = "safe", "RFC 9110 §9.2.1";
        /// The request failed.
        Error = "error", "RFC 9111 §4.4";
    }
}

/// The effect of a response on what is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalidation {
    /// Everything under these keys is invalidated, each once; the first is that of the request.
    Keys(Vec<Key>),
    /// Nothing is invalidated.
    No(NotInvalidated),
}

/// Fields of a response that name other changed resources.
const LOCATION_FIELDS: [&str; 2] = ["location", "content-location"];

/// Decides which keys a response invalidates: after an unsafe request that did not fail, its own key, and those that
/// the response names if they are of the same origin. Nothing of another origin can be invalidated.
pub fn invalidation<'a>(
    request: &RequestMeta,
    key: &Key,
    status: u16,
    response: impl FieldLines<'a>,
) -> Invalidation {
    if request.is_safe {
        return Invalidation::No(NotInvalidated::Safe);
    }
    if !(200..400).contains(&status) {
        return Invalidation::No(NotInvalidated::Error);
    }
    let mut keys = vec![key.clone()];
    let named = LOCATION_FIELDS.iter().flat_map(|name| values(response.clone(), name));
    for other in named.filter_map(|reference| key.resolve(reference).ok()) {
        if other.origin() == key.origin() && !keys.contains(&other) {
            keys.push(other);
        }
    }
    Invalidation::Keys(keys)
}
