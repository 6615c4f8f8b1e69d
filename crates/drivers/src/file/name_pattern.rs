//! The names that a search matches, where the driver compares them itself.
//!
//! Patterns are those of SMB: `*` matches any characters and `?` one; `<` matches any up to the last dot, with or without
//! it, `>` one character or none before a dot and at the end, and `"` a dot or the end. Letters are compared as they are.
//!
//! Source: [MS-FSA] section 2.1.4.4.

/// The most bytes of a name; longer ones match nothing.
const NAME_BYTES_MAX: usize = 255;

/// A pattern of names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamePattern<'a> {
    text: &'a [u8],
    /// What names must end with, where the pattern is `*` and plain characters: the usual one.
    suffix: Option<&'a [u8]>,
}

/// The places in a name up to which it has been matched, a flag for each.
type Reached = [bool; NAME_BYTES_MAX + 1];

impl<'a> NamePattern<'a> {
    /// Makes a pattern.
    pub(crate) fn new(text: &'a str) -> NamePattern<'a> {
        let suffix = text.strip_prefix('*').filter(|rest| !NamePattern::is_pattern(rest));
        NamePattern { text: text.as_bytes(), suffix: suffix.map(str::as_bytes) }
    }

    /// Returns whether a text is a pattern, and not only a name.
    pub(crate) fn is_pattern(text: &str) -> bool {
        text.contains(['*', '?', '<', '>', '"'])
    }

    /// Returns whether a name matches.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        if let Some(suffix) = self.suffix {
            return name.ends_with(suffix);
        }
        if NAME_BYTES_MAX < name.len() {
            return false;
        }
        let last_dot = name.iter().rposition(|byte| *byte == b'.');
        let mut reached: Reached = [false; NAME_BYTES_MAX + 1];
        reached[0] = true;
        for wanted in self.text {
            reached = advance(&reached, *wanted, name, last_dot);
        }
        reached[name.len()]
    }
}

/// Returns the places that are reached when one more character of the pattern is matched.
fn advance(before: &Reached, wanted: u8, name: &[u8], last_dot: Option<usize>) -> Reached {
    let mut after = [false; NAME_BYTES_MAX + 1];
    for at in (0..=name.len()).filter(|at| before[*at]) {
        let next = name.get(at).copied();
        match wanted {
            b'*' => after[at..=name.len()].fill(true),
            b'<' => {
                let end = last_dot.filter(|dot| at <= *dot).map_or(name.len(), |dot| dot + 1);
                after[at..=end].fill(true);
            }
            b'>' => {
                after[at] |= next.is_none_or(|next| next == b'.');
                after[(at + 1).min(name.len())] |= next.is_some();
            }
            b'"' => {
                after[at] |= next.is_none();
                after[(at + 1).min(name.len())] |= next == Some(b'.');
            }
            _ => {
                let matches = next.is_some_and(|next| wanted == b'?' || next == wanted);
                after[(at + 1).min(name.len())] |= matches;
            }
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_a_file_server_has_it() {
        let cases = [
            ("*.bin", &["f00000.bin", ".bin"][..], &["f00000.old", "bin", "a.bin.x", "A.BIN"][..]),
            ("*", &["", ".", "..", "a.b"], &[]),
            ("*.*", &["a.b", ".", "a.b.c"], &["ab"]),
            ("a?c*", &["abc", "a.cdef"], &["ac", "abd"]),
            ("<.jnk", &["a.jnk", "a.b.jnk"], &["a.jnk.b", "jnk"]),
            ("<", &["", "a", "a."], &["a.b"]),
            ("<\"*", &["a", "a.b", "a.b.c"], &[]),
            ("a>>>.b", &["a.b", "abc.b", "abcd.b"], &["abcde.b", "ab.c"]),
            ("a\"", &["a", "a."], &["a.b", "b"]),
            ("plain", &["plain"], &["plain2", "plai"]),
        ];
        for (text, right, wrong) in cases {
            let pattern = NamePattern::new(text);
            for name in right {
                assert!(pattern.matches(name.as_bytes()), "{text} and {name}");
            }
            for name in wrong {
                assert!(!pattern.matches(name.as_bytes()), "{text} and {name}");
            }
        }
        assert!(!NamePattern::new("a*b").matches(&[b'a'; 256]));
    }

    /// Goal: the time is bounded, whatever the pattern. A matcher that tries all ways would not end.
    #[test]
    fn a_pattern_of_many_stars_ends() {
        let text = "*a".repeat(200);
        let name = [b'a'; 255];
        assert!(NamePattern::new(&text).matches(&name));
        assert!(!NamePattern::new(&format!("{text}b")).matches(&name));
    }
}
