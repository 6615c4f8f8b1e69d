//! Variants: the request fields that a response depends on, and their values (RFC 9111 §4.1).

use crate::list::{allocations_of, lower_token, members};
use crate::message::{FieldLines, values};
use crate::normal::normal;

/// The most fields that a response may depend on; with more it is not stored.
pub const VARY_FIELDS_MAX: usize = 16;

/// The content of `Vary`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Vary {
    /// The response is the same for all requests.
    #[default]
    Nothing,
    /// It depends on these request fields: names in lower case, sorted, each once.
    Fields(Vec<String>),
    /// It depends on more than fields (`*`), or on a malformed name.
    Everything,
}

impl Vary {
    /// Reads all `Vary` lines of a response.
    pub fn read<'a>(lines: impl FieldLines<'a>) -> Vary {
        let mut names = Vec::new();
        for member in values(lines, "vary").flat_map(members) {
            match lower_token(member) {
                Some(name) if name != "*" => names.push(name),
                _ => return Vary::Everything,
            }
        }
        names.sort_unstable();
        names.dedup();
        if names.is_empty() { Vary::Nothing } else { Vary::Fields(names) }
    }

    /// Returns the names of the fields; none for the other cases.
    #[inline]
    pub fn fields(&self) -> &[String] {
        match self {
            Vary::Fields(names) => names,
            Vary::Nothing | Vary::Everything => &[],
        }
    }

    /// Returns the bytes of each heap allocation.
    pub(crate) fn allocations(&self) -> impl Iterator<Item = usize> {
        let names = if let Vary::Fields(names) = self { Some(names) } else { None };
        names.into_iter().flat_map(allocations_of)
    }
}

/// A variant: a request's values of the fields that a response depends on; equal if the response matches both
/// requests.
///
/// Values are compared in normal form, in which equivalent values are equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Variant(Vec<u8>);

impl Variant {
    /// Collects the values from a request; `None` if no request ever matches ([`Vary::Everything`]).
    ///
    /// `codings` as in [`Settings`](crate::Settings).
    pub fn of<'a>(vary: &Vary, request: impl FieldLines<'a>, codings: &[String]) -> Option<Variant> {
        let mut text = Vec::new();
        match vary {
            Vary::Everything => return None,
            Vary::Nothing => {}
            Vary::Fields(names) => {
                for name in names {
                    text.extend_from_slice(name.as_bytes());
                    // An absent field differs from an empty one; no value contains a line end.
                    if let Some(value) = normal(name, request.clone(), codings) {
                        text.push(b':');
                        text.extend_from_slice(&value);
                    }
                    text.push(b'\n');
                }
            }
        }
        Some(Variant(text))
    }

    /// Restores a variant from the bytes that [`Variant::as_bytes`] returned.
    pub fn from_bytes(bytes: Vec<u8>) -> Variant {
        Variant(bytes)
    }

    /// Returns the values in normal form; empty if the response depends on nothing.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes of memory that the values take.
    pub(crate) fn capacity(&self) -> usize {
        self.0.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vary(lines: &[&str]) -> Vary {
        let lines: Vec<_> = lines.iter().map(|line| (&b"Vary"[..], line.as_bytes())).collect();
        Vary::read(lines.iter().copied())
    }

    #[test]
    fn vary_names_are_collected_from_all_lines() {
        assert_eq!(vary(&[]), Vary::Nothing);
        assert_eq!(vary(&["", " , "]), Vary::Nothing);
        assert_eq!(vary(&["Foo, bar", "BAR,a"]).fields(), ["a", "bar", "foo"]);
    }

    #[test]
    fn an_asterisk_or_malformed_name_means_everything() {
        for lines in [&["*"][..], &["a, *"], &["a", "*, b"], &["a b"], &["\"a\""], &[", *"]] {
            assert_eq!(vary(lines), Vary::Everything, "{lines:?}");
        }
    }

    #[test]
    fn an_absent_field_differs_from_an_empty_one() {
        let variant = |lines: &[(&'static [u8], &'static [u8])]| {
            Variant::of(&vary(&["a, b"]), lines.iter().copied(), &[]).unwrap()
        };
        let absent = variant(&[]);
        let empty = variant(&[(b"A", b"")]);
        assert_ne!(absent, empty);
        assert_ne!(empty, variant(&[(b"B", b"")]));
        assert_eq!(empty, variant(&[(b"C", b"x"), (b"a", b"")]));
    }
}
