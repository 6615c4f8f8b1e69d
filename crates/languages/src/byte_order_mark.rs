//! The byte order mark that some editors write at the beginning of a text.

const MARK: char = '\u{feff}';

/// Returns a text without a byte order mark.
pub fn without_mark(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_removed_once_and_only_at_the_beginning() {
        let without = ["\u{feff}a\u{feff}", "a", ""].map(|text| without_mark(text.to_owned()));
        assert_eq!(without, ["a\u{feff}", "a", ""]);
    }
}
