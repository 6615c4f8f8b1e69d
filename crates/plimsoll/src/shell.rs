//! Conversion between a list of words and a shell command line.

/// Joins words into a command line that a shell splits into the same words.
pub(crate) fn join(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// Quotes a word if necessary. `shlex` would quote `--load=1,2` too, and run files hold the form that is easier to read.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Splits a text of [`join`] into words. A text that no shell would accept is one word.
pub(crate) fn split(text: &str) -> Vec<String> {
    shlex::split(text).unwrap_or_else(|| vec![text.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_words_split_into_the_same_words() {
        let words = ["plimsoll", "--duration", "2 s", "it's", "", r"a\b", "ä ö", "--load=1,2"];
        let words = words.map(str::to_owned);
        let text = join(words.clone());
        assert!(text.starts_with("plimsoll --duration '2 s' "), "{text}");
        assert_eq!(split(&text), words);
    }

    #[test]
    fn any_text_can_be_split() {
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split("  a  'b c'"), ["a", "b c"]);
        assert_eq!(split("a 'b c"), ["a 'b c"]);
        assert_eq!(split("a\\"), ["a\\"]);
    }
}
