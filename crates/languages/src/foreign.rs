//! Escaping of foreign text, that is, untrusted text from servers, collectors, started programs and other people's
//! files, before it is printed or stored.
//!
//! - [`foreign_text`]: one line, escaped and bounded; for any text from a peer
//! - [`escaped_json`]: the same for JSON
//! - [`escaped`]: any length and any number of lines, escaped; for the last step before a terminal or a page
//!
//! An escape sequence could color the terminal, set its title or overwrite other output; a line break could forge a
//! line of output; a bidirectional control could make a text look like another.

use std::borrow::Cow;

/// The most characters of a foreign text that are shown.
pub const FOREIGN_CHARS_MAX: usize = 300;

/// Returns a foreign text as one line without terminal control characters. A longer text is truncated, with a note of
/// its length.
pub fn foreign_text(text: &str) -> String {
    let mut shown = String::new();
    for (n, c) in text.trim_end().chars().enumerate() {
        if n == FOREIGN_CHARS_MAX {
            return format!("{shown}… ({} bytes in all)", text.len());
        }
        push(&mut shown, c, is_terminal_control(c));
    }
    shown
}

/// Returns foreign bytes as [`foreign_text`]; invalid UTF-8 becomes `U+FFFD`.
pub fn foreign_bytes(bytes: &[u8]) -> String {
    // Four bytes make a character at most; one more shows that there is more.
    let kept = &bytes[..bytes.len().min(4 * (FOREIGN_CHARS_MAX + 1))];
    let shown = foreign_text(&String::from_utf8_lossy(kept));
    if kept.len() < bytes.len() {
        let start = shown.rfind("… (").unwrap_or(shown.len());
        format!("{}… ({} bytes in all)", &shown[..start], bytes.len())
    } else {
        shown
    }
}

/// Returns a text of several lines without terminal control characters; line breaks (`\n`, `\r\n`) and tabs stay.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| matches!(c, '\n' | '\t') || !is_terminal_control(c);
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_break = c == '\r' && rest.peek() == Some(&'\n');
        push(&mut shown, c, !is_break && !is_kept(c));
    }
    Cow::Owned(shown)
}

/// Returns a JSON text with terminal control characters, which can only be in its strings, as JSON escapes; line
/// breaks stay. `serde_json` escapes C0 controls only.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c == '\n' || !is_terminal_control(c);
    if json.chars().all(is_kept) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_kept(c) {
            shown.push(c);
        } else {
            let units =
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            shown += &units;
        }
    }
    Cow::Owned(shown)
}

fn push(shown: &mut String, c: char, escape: bool) {
    if escape { shown.extend(c.escape_default()) } else { shown.push(c) }
}

/// Returns whether a character controls a terminal or a page instead of being shown: controls (C0, DEL, C1), line and
/// paragraph separators, bidirectional controls and invisible characters (Unicode 16.0, chapters 23.1 to 23.4 and
/// 23.9), and noncharacters.
pub fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terminal_control_characters_are_shown_as_escapes() {
        assert_eq!(
            foreign_text("\u{1b}[31mRED\u{1b}]0;owned\u{7}\nerror: forged\r\u{9b}2J\u{202e}x\u{7f}"),
            r"\u{1b}[31mRED\u{1b}]0;owned\u{7}\nerror: forged\r\u{9b}2J\u{202e}x\u{7f}"
        );
        assert_eq!(foreign_text("Grüße, 東京, 👩‍🔬: “ok”\n"), "Grüße, 東京, 👩‍🔬: “ok”");
        assert_eq!(escaped("a\tb\nc\u{1b}[0m\u{85}"), "a\tb\nc\\u{1b}[0m\\u{85}");
        assert_eq!(escaped("a,b\r\nc\rd\r\n"), "a,b\r\nc\\rd\r\n");
        assert!(matches!(escaped("a\nb"), Cow::Borrowed(_)));
        assert_eq!(
            escaped_json("[\n\"\u{9b}2J\u{7f}\u{e0001}é\"]"),
            "[\n\"\\u009b2J\\u007f\\udb40\\udc01é\"]"
        );
    }

    #[test]
    fn a_long_text_is_cut_and_says_how_long_it_was() {
        let exact = "x".repeat(FOREIGN_CHARS_MAX);
        assert_eq!(foreign_text(&exact), exact);
        let shown = foreign_text(&"é".repeat(8192));
        assert_eq!(shown, "é".repeat(FOREIGN_CHARS_MAX) + "… (16384 bytes in all)");
        assert_eq!(foreign_bytes(&vec![b'x'; 16_384]), exact + "… (16384 bytes in all)");
        assert_eq!(foreign_bytes(b"a\xff\x1b"), "a\u{fffd}\\u{1b}");
    }

    proptest! {
        #[test]
        fn nothing_that_commands_is_left(text in "(?s).{0,400}", bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            for shown in [foreign_text(&text), foreign_bytes(&bytes)] {
                prop_assert!(!shown.contains(is_terminal_control), "{:?}", shown);
                let most = FOREIGN_CHARS_MAX * r"\u{10ffff}".len() + 40;
                prop_assert!(shown.chars().count() <= most);
            }
            let shown = escaped(&text).replace("\r\n", "\n");
            prop_assert!(!shown.contains(|c| is_terminal_control(c) && c != '\n' && c != '\t'));
        }
    }
}
