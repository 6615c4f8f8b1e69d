//! Which request fields a response depends on, and what they were (RFC 9111 §4.1).

use super::list::{allocations_of, lower_token, members};
use super::message::{Lines, values};
use super::normal::normal;

/// The most fields that a response may depend on; with more it is not stored.
pub const VARY_FIELDS_MAX: usize = 16;

/// What `Vary` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Vary {
    /// The response is the same for all requests.
    #[default]
    Nothing,
    /// It depends on these request fields: names in lower case, sorted, each once.
    Fields(Vec<String>),
    /// It depends on what no field tells (`*`), or on a name that is none.
    Everything,
}

impl Vary {
    /// Reads all `Vary` lines of a response.
    pub fn read<'a>(lines: impl Lines<'a>) -> Vary {
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
    pub fn fields(&self) -> &[String] {
        match self {
            Vary::Fields(names) => names,
            Vary::Nothing | Vary::Everything => &[],
        }
    }

    /// Returns the bytes of each piece of memory that it has allocated.
    pub(super) fn allocations(&self) -> impl Iterator<Item = usize> {
        let names = if let Vary::Fields(names) = self { Some(names) } else { None };
        names.into_iter().flat_map(allocations_of)
    }
}

/// The values that a request has in the fields that a response depends on: equal if the response suits both.
///
/// Values are compared in a form in which what means the same is the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Variant(Vec<u8>);

impl Variant {
    /// Collects the values from a request; `None` if nothing ever matches ([`Vary::Everything`]).
    ///
    /// `codings` as in [`Settings`](super::Settings).
    pub fn of<'a>(vary: &Vary, request: impl Lines<'a>, codings: &[String]) -> Option<Variant> {
        let mut text = Vec::new();
        match vary {
            Vary::Everything => return None,
            Vary::Nothing => {}
            Vary::Fields(names) => {
                for name in names {
                    text.extend_from_slice(name.as_bytes());
                    // A field that is absent differs from one that is empty; no value has a line end in it.
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

    /// Takes a variant from where it was stored: the bytes that [`Variant::as_bytes`] gave.
    pub fn from_bytes(bytes: Vec<u8>) -> Variant {
        Variant(bytes)
    }

    /// Returns the values in the form in which they are compared; empty if the response depends on nothing.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns how many bytes of memory the values take.
    pub(super) fn capacity(&self) -> usize {
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
    fn names_of_all_lines_are_collected() {
        assert_eq!(vary(&[]), Vary::Nothing);
        assert_eq!(vary(&["", " , "]), Vary::Nothing);
        assert_eq!(vary(&["Foo, bar", "BAR,a"]).fields(), ["a", "bar", "foo"]);
    }

    #[test]
    fn a_star_or_no_name_means_everything() {
        for lines in [&["*"][..], &["a, *"], &["a", "*, b"], &["a b"], &["\"a\""], &[", *"]] {
            assert_eq!(vary(lines), Vary::Everything, "{lines:?}");
        }
    }

    #[test]
    fn an_absent_field_differs_from_an_empty_one() {
        let variant = |lines: &[(&'static [u8], &'static [u8])]| {
            Variant::of(&vary(&["a, b"]), lines.iter().copied(), &[]).unwrap()
        };
        let (absent, empty) = (variant(&[]), variant(&[(b"A", b"")]));
        assert_ne!(absent, empty);
        assert_ne!(empty, variant(&[(b"B", b"")]));
        assert_eq!(empty, variant(&[(b"C", b"x"), (b"a", b"")]));
    }
}
