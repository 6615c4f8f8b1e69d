//! Patterns of keys and targets.

/// A text in which `*` matches any text, even none; every other character, `?` too, matches itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

impl Pattern {
    /// Makes a pattern; every text is one.
    pub fn new(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }

    /// Returns the pattern's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a whole text matches. Takes at most as many steps as the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let Some(mut text) = text.strip_prefix(start) else {
            return false;
        };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        // Matching each part at its first occurrence leaves the most to the parts after it.
        for part in middle.split('*') {
            match text.find(part) {
                Some(found) => text = &text[found + part.len()..],
                None => return false,
            }
        }
        text.ends_with(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asterisk_matches_anything_and_others_match_themselves() {
        for (pattern, fitting, other) in [
            ("abc", &["abc"][..], &["ab", "abcd", "xabc", ""][..]),
            ("", &[""], &["a"]),
            ("*", &["", "a", "a*b"], &[]),
            ("a*", &["a", "ab"], &["ba", ""]),
            ("*a", &["a", "ba", "aa"], &["ab", ""]),
            ("a*a", &["aa", "aba", "aaa"], &["a", "ab"]),
            ("a*b*c", &["abc", "axbxc", "abbc", "abcc"], &["ac", "acb", "abcd"]),
            ("**a**", &["a", "xay"], &["", "b"]),
            ("/a?b*", &["/a?b", "/a?b=c"], &["/axb"]),
            ("*.php*x", &["/a.phpx", "/.php.x"], &["/a.php", "/.ph.x"]),
        ] {
            for text in fitting {
                assert!(Pattern::new(pattern).matches(text), "{pattern} {text}");
            }
            for text in other {
                assert!(!Pattern::new(pattern).matches(text), "{pattern} {text}");
            }
        }
    }
}
