//! Entity tags, and when two of them are the same (RFC 9110 §8.8.3).

use super::message::{Lines, values};

/// An entity tag: `"xyzzy"`, or weak: `W/"xyzzy"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntityTag {
    /// Whether it stands for equivalent content, not for the same bytes.
    pub is_weak: bool,
    /// What is between the quotation marks.
    pub opaque: Vec<u8>,
}

impl EntityTag {
    /// Reads a tag; `None` for anything else, such as one without quotation marks.
    pub fn parse(value: &[u8]) -> Option<EntityTag> {
        let (tag, rest) = split_tag(value)?;
        rest.is_empty().then(|| tag.to_owned())
    }

    /// Returns the tag as it is written in a field.
    pub fn to_bytes(&self) -> Vec<u8> {
        let prefix: &[u8] = if self.is_weak { b"W/\"" } else { b"\"" };
        [prefix, &self.opaque, b"\""].concat()
    }

    /// Tells whether both stand for the same bytes (RFC 9110 §8.8.3.2): equal, and neither is weak.
    pub fn is_strongly(&self, other: &EntityTag) -> bool {
        !self.is_weak && self == other
    }

    /// Tells whether both stand for equivalent content (RFC 9110 §8.8.3.2): equal, weak or not.
    pub fn is_weakly(&self, other: &EntityTag) -> bool {
        self.opaque == other.opaque
    }
}

/// A tag that is still part of a field.
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

/// Splits a tag off the start; what is between the marks has no escapes, so a backslash is just one.
fn split_tag(value: &[u8]) -> Option<(TagPart<'_>, &[u8])> {
    let (is_weak, rest) = value.strip_prefix(b"W/").map_or((false, value), |rest| (true, rest));
    let rest = rest.strip_prefix(b"\"")?;
    let end = rest.iter().position(|&byte| byte == b'"')?;
    let (opaque, rest) = (&rest[..end], &rest[end + 1..]);
    let is_tag_byte = |byte: &u8| *byte == b'!' || (b'#' <= *byte && *byte != 0x7f);
    opaque.iter().all(is_tag_byte).then_some((TagPart { is_weak, opaque }, rest))
}

/// What `If-None-Match` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    /// There is no such field.
    Absent,
    /// A tag that is weakly the given one, or `*`, is among them.
    Matching,
    /// None of them is.
    Different,
}

impl Tags {
    /// Compares the tag of a stored response with all that `If-None-Match` lists, weakly (RFC 9110 §13.1.2).
    ///
    /// `*` means any response at all. What is no tag matches nothing; tags after it on the line still count.
    pub fn of_if_none_match<'a>(lines: impl Lines<'a>, stored: Option<&EntityTag>) -> Tags {
        let mut outcome = Tags::Absent;
        for value in values(lines, "if-none-match") {
            outcome = Tags::Different;
            if value == b"*" || stored.is_some_and(|stored| lists(value, stored)) {
                return Tags::Matching;
            }
        }
        outcome
    }
}

/// Tells whether a list of tags holds one that is weakly the same.
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
    fn tags_come_back_as_they_were_written() {
        for text in [r#""a""#, r#"W/"a""#, r#""""#, r#"W/"""#, r#""a,b\c'!""#, "\"\u{fc}\""] {
            assert_eq!(tag(text).to_bytes(), text.as_bytes(), "{text}");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused() {
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
            let (one, other) = (tag(one), tag(other));
            assert_eq!((one.is_strongly(&other), one.is_weakly(&other)), (is_strong, is_weak));
            assert_eq!((other.is_strongly(&one), other.is_weakly(&one)), (is_strong, is_weak));
        }
    }

    #[test]
    fn lists_are_searched_to_the_end() {
        let listed = |value: &str| {
            let lines: [(&[u8], &[u8]); 1] = [(b"If-None-Match", value.as_bytes())];
            Tags::of_if_none_match(lines.iter().copied(), Some(&tag(r#""b""#)))
        };
        for value in
            [r#""b""#, r#"W/"b""#, r#""a","b""#, r#", "a" , W/"b","#, "*", r#"nonsense, "b""#, r#""a" "b""#]
        {
            assert_eq!(listed(value), Tags::Matching, "{value}");
        }
        for value in ["", "b", r#""a""#, r#""a,b""#, r#""a", *"#, r#""b"#, r#"""#] {
            assert_eq!(listed(value), Tags::Different, "{value}");
        }
    }

    #[test]
    fn a_star_matches_a_response_without_a_tag() {
        let lines: [(&[u8], &[u8]); 1] = [(b"If-None-Match", b"*")];
        assert_eq!(Tags::of_if_none_match(lines.iter().copied(), None), Tags::Matching);
        assert_eq!(Tags::of_if_none_match(lines[1..].iter().copied(), None), Tags::Absent);
    }
}
