//! Header lines in the form that the policy reads.

/// The header lines of one message: pairs of name and value in order, which can be iterated repeatedly.
///
/// [`http1::headers`] returns them, as does any slice of pairs by `iter().copied()`. Values come without surrounding
/// blanks.
pub trait FieldLines<'a>: Iterator<Item = (&'a [u8], &'a [u8])> + Clone {}

impl<'a, L> FieldLines<'a> for L where L: Iterator<Item = (&'a [u8], &'a [u8])> + Clone {}

/// Returns the values of all lines of this name, in any case.
pub(crate) fn values<'a>(lines: impl FieldLines<'a>, name: &str) -> impl Iterator<Item = &'a [u8]> + Clone {
    let has_name = move |line: &(&[u8], &[u8])| line.0.eq_ignore_ascii_case(name.as_bytes());
    lines.filter(has_name).map(|(_, value)| value)
}

/// The value of a field that must not be repeated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SingletonField<'a> {
    /// No line has this name.
    #[default]
    Absent,
    /// One line has it, or several lines with the same value.
    Value(&'a [u8]),
    /// Several lines with different values, so that none counts.
    Conflict,
}

impl<'a> SingletonField<'a> {
    /// Adds another line.
    pub(crate) fn note(&mut self, value: &'a [u8]) {
        *self = match *self {
            SingletonField::Absent => SingletonField::Value(value),
            SingletonField::Value(known) if known == value => *self,
            _ => SingletonField::Conflict,
        };
    }

    /// Returns the value if there is exactly one.
    pub(crate) fn value(self) -> Option<&'a [u8]> {
        match self {
            SingletonField::Value(value) => Some(value),
            SingletonField::Absent | SingletonField::Conflict => None,
        }
    }
}

/// The longest name that the policy knows: `proxy-authentication-info`.
const NAME_BYTES_MAX: usize = 25;

/// A name in lower case, without allocation, for use in the patterns of a `match`.
///
/// A name that is longer than any known one is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LowercaseName {
    bytes: [u8; NAME_BYTES_MAX],
    length: usize,
}

impl LowercaseName {
    /// Converts a name to lower case.
    #[inline]
    pub(crate) fn new(name: &[u8]) -> LowercaseName {
        let mut lower = LowercaseName { bytes: [0; NAME_BYTES_MAX], length: 0 };
        if let Some(room) = lower.bytes.get_mut(..name.len()) {
            room.copy_from_slice(name);
            room.make_ascii_lowercase();
            lower.length = name.len();
        }
        lower
    }

    /// Returns the name.
    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_every_line_of_the_name() {
        let lines: [(&[u8], &[u8]); 3] = [(b"Vary", b"a"), (b"Age", b"1"), (b"VARY", b"b")];
        let found: Vec<_> = values(lines.iter().copied(), "vary").collect();
        assert_eq!(found, [b"a", b"b"]);
    }

    #[test]
    fn a_head_of_http1_gives_lines() {
        let head = http1::headers(b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n");
        assert_eq!(values(head, "etag").next(), Some(&b"\"1\""[..]));
    }

    #[test]
    fn equal_lines_count_once_and_conflicting_ones_not_at_all() {
        let single = |values: &[&'static str]| {
            let mut single = SingletonField::default();
            values.iter().for_each(|value| single.note(value.as_bytes()));
            single
        };
        assert_eq!(single(&[]), SingletonField::Absent);
        assert_eq!(single(&["a", "a"]).value(), Some(&b"a"[..]));
        assert_eq!(single(&["a", "b", "a"]), SingletonField::Conflict);
    }

    #[test]
    fn names_are_lowercased_and_long_ones_empty() {
        assert_eq!(LowercaseName::new(b"Proxy-Authentication-INFO").as_bytes(), b"proxy-authentication-info");
        assert_eq!(LowercaseName::new(&[b'a'; NAME_BYTES_MAX + 1]).as_bytes(), b"");
    }
}
