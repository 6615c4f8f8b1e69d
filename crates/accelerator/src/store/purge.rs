//! What can be removed at once, and how.

use super::object::Object;
use super::pattern::Pattern;

/// What is meant by a purge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// All variants under one key, in its normal form ([`Key::as_str`](crate::policy::Key::as_str)).
    Key(String),
    /// All whose key begins so.
    Prefix(String),
    /// All whose key fits.
    Pattern(Pattern),
    /// All that have this tag.
    Tag(String),
    /// All.
    All,
}

/// What happens to what is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Delete,
    /// It is stale from now on: a soft purge. It still serves while it is validated or the origin is dead.
    Expire,
    /// It must not be used without validation (RFC 9111 §4.4).
    Invalidate,
}

impl Purge {
    /// Returns the key if one is meant.
    pub(super) fn key(&self) -> Option<&str> {
        match self {
            Purge::Key(key) => Some(key),
            _ => None,
        }
    }

    /// Tells whether an object is meant.
    pub(super) fn matches(&self, object: &Object) -> bool {
        self.matches_parts(object.key.as_str(), &object.tags)
    }

    /// Tells whether an object with this key and these tags is meant.
    pub(super) fn matches_parts(&self, key: &str, tags: &[Box<str>]) -> bool {
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
    fn every_kind_of_purge_means_what_it_says() {
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
