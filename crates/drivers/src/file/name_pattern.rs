//! The names that a search matches, where the driver compares them itself.
//!
//! Patterns are those of SMB: `*` matches any characters and `?` one; `<` matches any up to the last dot, with or without
//! it, `>` one character or none before a dot and at the end, and `"` a dot or the end.
//!
//! Source: [MS-FSA] section 2.1.4.4.

/// The most bytes of a name; longer ones match nothing.
const NAME_BYTES_MAX: usize = 255;

/// A pattern of names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamePattern<'a> {
    text: &'a [u8],
    /// The end of matching names, where the pattern is `*` and plain characters: the usual one.
    suffix: Option<&'a [u8]>,
    ignores_case: bool,
}

/// The places in a name up to which it has been matched, a flag for each.
type Reached = [bool; NAME_BYTES_MAX + 1];

impl<'a> NamePattern<'a> {
    /// Makes a pattern, which may ignore the case of ASCII letters.
    pub(crate) fn new(text: &'a str, ignores_case: bool) -> NamePattern<'a> {
        let suffix = text.strip_prefix('*').filter(|rest| !NamePattern::is_pattern(rest));
        NamePattern { text: text.as_bytes(), suffix: suffix.map(str::as_bytes), ignores_case }
    }

    /// Returns whether a text is a pattern, and not only a name.
    pub(crate) fn is_pattern(text: &str) -> bool {
        text.contains(['*', '?', '<', '>', '"'])
    }

    /// Returns whether a name matches.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        if let Some(suffix) = self.suffix {
            let end = name.len().checked_sub(suffix.len()).map(|start| &name[start..]);
            return end.is_some_and(|end| {
                if self.ignores_case { end.eq_ignore_ascii_case(suffix) } else { end == suffix }
            });
        }
        if NAME_BYTES_MAX < name.len() {
            return false;
        }
        let last_dot = name.iter().rposition(|byte| *byte == b'.');
        let mut reached: Reached = [false; NAME_BYTES_MAX + 1];
        reached[0] = true;
        for wanted in self.text {
            reached = self.advance(&reached, *wanted, name, last_dot);
        }
        reached[name.len()]
    }

    /// Returns the places that are reached when one more character of the pattern is matched.
    fn advance(&self, before: &Reached, wanted: u8, name: &[u8], last_dot: Option<usize>) -> Reached {
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
                    let matches = next.is_some_and(|next| wanted == b'?' || self.is_same(next, wanted));
                    after[(at + 1).min(name.len())] |= matches;
                }
            }
        }
        after
    }

    fn is_same(&self, found: u8, wanted: u8) -> bool {
        found == wanted || self.ignores_case && found.eq_ignore_ascii_case(&wanted)
    }
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
            let pattern = NamePattern::new(text, false);
            for name in right {
                assert!(pattern.matches(name.as_bytes()), "{text} and {name}");
            }
            for name in wrong {
                assert!(!pattern.matches(name.as_bytes()), "{text} and {name}");
            }
        }
        assert!(!NamePattern::new("a*b", false).matches(&[b'a'; 256]));
    }

    #[test]
    fn the_case_of_letters_is_ignored_where_that_is_wanted() {
        for text in ["FILLER.*", "*.bIn", "*.b?N"] {
            let matches = |ignores_case| NamePattern::new(text, ignores_case).matches(b"filler.bin");
            assert_eq!((matches(true), matches(false)), (true, false), "{text}");
        }
        assert!(!NamePattern::new("*.bin", true).matches(b"bin"));
    }

    /// Goal: the time is bounded, whatever the pattern. A matcher that tries all ways would not end.
    #[test]
    fn a_pattern_of_many_stars_ends() {
        let text = "*a".repeat(200);
        let name = [b'a'; 255];
        assert!(NamePattern::new(&text, false).matches(&name));
        assert!(!NamePattern::new(&format!("{text}b"), false).matches(&name));
    }
}
