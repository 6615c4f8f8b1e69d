//! Purges: their selection and their effect.

use crate::pattern::Pattern;
use crate::stored_response::StoredResponse;

/// The selection of a purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// All variants under one key, in its normal form ([`Key::as_str`](cache_policy::Key::as_str)).
    Key(String),
    /// All whose key has this prefix.
    Prefix(String),
    /// All whose key matches.
    Pattern(Pattern),
    /// All that have this tag.
    Tag(String),
    /// All.
    All,
}

/// The effect of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Delete it.
    Delete,
    /// Make it stale from now on: a soft purge. It is still served while it is validated or no server can be reached.
    Expire,
    /// It must not be used without validation (RFC 9111 §4.4).
    Invalidate,
}

impl Purge {
    /// Returns the key if one is named.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Purge::Key(key) => Some(key),
            _ => None,
        }
    }

    /// Returns whether the purge matches an object.
    pub(crate) fn matches(&self, object: &StoredResponse) -> bool {
        self.matches_parts(object.key.as_str(), &object.tags)
    }

    /// Returns whether the purge matches an object with this key and these tags.
    pub(crate) fn matches_parts(&self, key: &str, tags: &[Box<str>]) -> bool {
        match self {
            Purge::Key(meant) => meant == key,
            Purge::Prefix(prefix) => key.starts_with(prefix.as_str()),
            Purge::Pattern(pattern) => pattern.matches(key),
            Purge::Tag(tag) => tags.iter().any(|one| **one == **tag),
            Purge::All => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_purge_matches_its_objects() {
        let tags: [Box<str>; 2] = ["news".into(), "a b".into()];
        let matches = |purge: Purge| purge.matches_parts("http://a/b/c?d", &tags);
        assert!(matches(Purge::Key("http://a/b/c?d".into())) && !matches(Purge::Key("http://a/b/c".into())));
        assert!(matches(Purge::Prefix("http://a/b".into())) && !matches(Purge::Prefix("a/b".into())));
        assert!(
            matches(Purge::Pattern(Pattern::new("*/c?*"))) && !matches(Purge::Pattern(Pattern::new("*/c")))
        );
        assert!(matches(Purge::Tag("news".into())) && !matches(Purge::Tag("new".into())));
        assert!(matches(Purge::All));
    }
}
