//! What an unsafe request makes invalid (RFC 9111 §4.4).

use super::key::Key;
use super::message::{Lines, values};
use super::request::Request;

reasons! {
    /// Why everything stays valid.
    Kept {
        /// The method changes nothing.
        Safe = "safe", "RFC 9110 §9.2.1";
        /// The request failed.
        Error = "error", "RFC 9111 §4.4";
    }
}

/// What a response to a request makes invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalidation {
    /// Everything stored under these keys, each once; the first is that of the request.
    Keys(Vec<Key>),
    /// Nothing.
    No(Kept),
}

/// Fields of a response that name what else has changed.
const NAMING: [&str; 2] = ["location", "content-location"];

/// Decides what a response makes invalid: after an unsafe request that did not fail, its own key, and those that the
/// response names if they are of the same origin. Of another origin nobody may have anything thrown out.
pub fn invalidation<'a>(request: &Request, key: &Key, status: u16, response: impl Lines<'a>) -> Invalidation {
    if request.is_safe {
        return Invalidation::No(Kept::Safe);
    }
    if !(200..400).contains(&status) {
        return Invalidation::No(Kept::Error);
    }
    let mut keys = vec![key.clone()];
    let named = NAMING.iter().flat_map(|name| values(response.clone(), name));
    for other in named.filter_map(|reference| key.resolve(reference).ok()) {
        if other.origin() == key.origin() && !keys.contains(&other) {
            keys.push(other);
        }
    }
    Invalidation::Keys(keys)
}
