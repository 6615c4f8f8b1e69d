//! Texts and sets in commands.

use std::fmt::Write as _;

use super::number_set::NumberRange;

/// Writes a text in quotes. `None` if it cannot be quoted: it has a line end or NUL, or is not ASCII, and must be a literal.
pub fn quoted(text: &str) -> Option<String> {
    if text.bytes().any(|byte| byte == 0 || byte == b'\r' || byte == b'\n' || !byte.is_ascii()) {
        return None;
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        if letter == '"' || letter == '\\' {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    Some(quoted)
}

/// Writes a set of ranges behind a command: `1:5,7`.
pub fn write_set(ranges: impl IntoIterator<Item = NumberRange>, command: &mut String) {
    for (index, NumberRange { first, last }) in ranges.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let written = if first == last {
            write!(command, "{comma}{first}")
        } else {
            write!(command, "{comma}{first}:{last}")
        };
        written.expect("texts take what is written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_or_must_be_literals() {
        assert_eq!(quoted("a \"b\" \\c").unwrap(), r#""a \"b\" \\c""#);
        assert_eq!(quoted("").unwrap(), "\"\"");
        for text in ["a\r\nP2 LOGOUT", "a\nb", "a\0b", "é"] {
            assert_eq!(quoted(text), None);
        }
    }

    #[test]
    fn sets_are_written_as_ranges() {
        let mut command = "UID FETCH ".to_owned();
        write_set([NumberRange { first: 1, last: 5 }, NumberRange { first: 7, last: 7 }], &mut command);
        assert_eq!(command, "UID FETCH 1:5,7");
    }
}
