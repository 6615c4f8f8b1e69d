//! Entity tags and their comparison (RFC 9110 §8.8.3).

use crate::message::{FieldLines, values};

/// An entity tag: `"xyzzy"`, or weak: `W/"xyzzy"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityTag {
    /// Whether it identifies equivalent content rather than identical bytes.
    pub is_weak: bool,
    /// The text between the quotation marks.
    pub opaque: Vec<u8>,
}

impl EntityTag {
    /// Reads a tag; `None` for anything else, a tag without quotation marks for example.
    pub fn parse(value: &[u8]) -> Option<EntityTag> {
        let (tag, rest) = split_tag(value)?;
        rest.is_empty().then(|| tag.to_owned())
    }

    /// Returns the tag as it is written in a field.
    pub fn to_bytes(&self) -> Vec<u8> {
        let prefix: &[u8] = if self.is_weak { b"W/\"" } else { b"\"" };
        [prefix, &self.opaque, b"\""].concat()
    }

    /// Strong comparison (RFC 9110 §8.8.3.2): returns whether both are equal and neither is weak.
    pub(crate) fn strongly_matches(&self, other: &EntityTag) -> bool {
        !self.is_weak && self == other
    }

    /// Weak comparison (RFC 9110 §8.8.3.2): returns whether both are equal, weak or not.
    pub(crate) fn weakly_matches(&self, other: &EntityTag) -> bool {
        self.opaque == other.opaque
    }
}

/// A borrowed tag, still part of a field.
#[derive(Debug, Clone, Copy)]
struct TagPart<'a> {
    is_weak: bool,
    opaque: &'a [u8],
}

impl TagPart<'_> {
    fn to_owned(self) -> EntityTag {
        EntityTag { is_weak: self.is_weak, opaque: self.opaque.to_vec() }
    }
}

/// Splits a tag off the start; there are no escapes between the marks, so a backslash is an ordinary character.
fn split_tag(value: &[u8]) -> Option<(TagPart<'_>, &[u8])> {
    let (is_weak, rest) = value.strip_prefix(b"W/").map_or((false, value), |rest| (true, rest));
    let rest = rest.strip_prefix(b"\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    let opaque = &rest[..end];
    let rest = &rest[end + 1..];
    let is_tag_byte = |byte: &u8| *byte == b'!' || (b'#' <= *byte && *byte != 0x7f);
    opaque.iter().all(is_tag_byte).then_some((TagPart { is_weak, opaque }, rest))
}

/// The result of `If-None-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagMatch {
    /// There is no such field.
    Absent,
    /// It lists a tag that weakly matches the given one, or `*`.
    Matching,
    /// It lists no matching tag.
    Different,
}

impl TagMatch {
    /// Compares the tag of a stored response with all that `If-None-Match` lists, weakly (RFC 9110 §13.1.2).
    ///
    /// `*` matches any response. A malformed tag matches nothing; tags after it on the line still count.
    pub fn of_if_none_match<'a>(lines: impl FieldLines<'a>, stored: Option<&EntityTag>) -> TagMatch {
        let mut outcome = TagMatch::Absent;
        for value in values(lines, "if-none-match") {
            outcome = TagMatch::Different;
            if value == b"*" || stored.is_some_and(|stored| lists(value, stored)) {
                return TagMatch::Matching;
            }
        }
        outcome
    }
}

/// Returns whether a list of tags holds one that weakly matches.
fn lists(mut rest: &[u8], wanted: &EntityTag) -> bool {
    loop {
        let blank = |byte: &u8| b", \t".contains(byte);
        let start = rest.iter().position(|byte| !blank(byte)).unwrap_or(rest.len());
        rest = &rest[start..];
        if rest.is_empty() {
            return false;
        }
        match split_tag(rest) {
            Some((tag, _)) if tag.opaque == wanted.opaque => return true,
            Some((_, after)) => rest = after,
            None => rest = rest.iter().position(|&byte| byte == b',').map_or(&[], |comma| &rest[comma..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> EntityTag {
        EntityTag::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn entity_tags_round_trip() {
        for text in [r#""a""#, r#"W/"a""#, r#""""#, r#"W/"""#, r#""a,b\c'!""#, "\"\u{fc}\""] {
            assert_eq!(tag(text).to_bytes(), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn invalid_entity_tags_are_refused() {
        for text in [
            "",
            "a",
            "\"",
            "\"a",
            "a\"",
            "w/\"a\"",
            "W\"a\"",
            "\"a b\"",
            "\"a\"b",
            "\"a\", \"b\"",
            "*",
            "'a'",
        ] {
            assert_eq!(EntityTag::parse(text.as_bytes()), None, "{text}");
        }
    }

    /// The table of RFC 9110 §8.8.3.2.
    #[test]
    fn comparison_is_strong_or_weak() {
        for (one, other, is_strong, is_weak) in [
            (r#"W/"1""#, r#"W/"1""#, false, true),
            (r#"W/"1""#, r#"W/"2""#, false, false),
            (r#"W/"1""#, r#""1""#, false, true),
            (r#""1""#, r#""1""#, true, true),
        ] {
            let one = tag(one);
            let other = tag(other);
            assert_eq!((one.strongly_matches(&other), one.weakly_matches(&other)), (is_strong, is_weak));
            assert_eq!((other.strongly_matches(&one), other.weakly_matches(&one)), (is_strong, is_weak));
        }
    }

    #[test]
    fn tag_lists_are_searched_to_the_end() {
        let listed = |value: &str| {
            let lines: [(&[u8], &[u8]); 1] = [(b"If-None-Match", value.as_bytes())];
            TagMatch::of_if_none_match(lines.iter().copied(), Some(&tag(r#""b""#)))
        };
        for value in
            [r#""b""#, r#"W/"b""#, r#""a","b""#, r#", "a" , W/"b","#, "*", r#"nonsense, "b""#, r#""a" "b""#]
        {
            assert_eq!(listed(value), TagMatch::Matching, "{value}");
        }
        for value in ["", "b", r#""a""#, r#""a,b""#, r#""a", *"#, r#""b"#, r#"""#] {
            assert_eq!(listed(value), TagMatch::Different, "{value}");
        }
    }

    #[test]
    fn a_star_matches_a_response_without_a_tag() {
        let lines: [(&[u8], &[u8]); 1] = [(b"If-None-Match", b"*")];
        assert_eq!(TagMatch::of_if_none_match(lines.iter().copied(), None), TagMatch::Matching);
        assert_eq!(TagMatch::of_if_none_match(lines[1..].iter().copied(), None), TagMatch::Absent);
    }
}
