//! Conversion between a list of words and a shell command line.

/// Joins words into a command line that a shell splits into the same words.
pub fn join(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Splits a text of [`join`] into words: spaces separate words, single quotes group characters, a backslash escapes the
/// next character. Never fails.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '\\' if !is_quoted => word.get_or_insert_default().extend(characters.next()),
            ' ' if !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
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
        assert_eq!(split("  a  'b c"), ["a", "b c"]);
        assert_eq!(split("a\\"), ["a"]);
    }
}
