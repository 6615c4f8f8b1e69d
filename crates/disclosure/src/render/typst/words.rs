//! Texts of the report as typst expressions.
//!
//! All of them are string literals. Only the backslash and the quote have a meaning inside a literal and are escaped; `#`,
//! `$`, `*`, `_`, `@`, `<`, `[`, `//` and others have none.

use crate::{Span, Text};

/// A zero-width space, where a line may break.
const BREAK: char = '\u{200b}';

/// Characters of a word after which a line may break.
const BREAKS_AFTER: &str = "/=,;:&?._-+";

/// Length of the longest unbroken word of running text.
const WORD_MAX: usize = 48;

/// Length of the longest unbroken word of a table's cell.
pub(super) const CELL_WORD_MAX: usize = 24;

/// Length of the longest unbroken word of a file or a command line: nearly a line.
const LISTING_WORD_MAX: usize = 96;

/// Returns a literal in one line.
pub(super) fn words(text: &str) -> String {
    literal(&breakable(&one_line(text), WORD_MAX))
}

/// Returns a literal for a table's cell; its line breaks are kept.
pub(super) fn cell_words(text: &str) -> String {
    let lines: Vec<String> = text.trim_end_matches('\n').split('\n').map(one_line).collect();
    literal(&breakable(&lines.join("\n"), CELL_WORD_MAX))
}

/// Returns a literal without line breaks, for a number with its unit.
pub(super) fn unbroken(text: &str) -> String {
    literal(&one_line(text).replace(' ', "\u{a0}"))
}

/// Returns a literal that keeps its line breaks.
pub(super) fn listing(text: &str) -> String {
    literal(&breakable(text.trim_end_matches('\n'), LISTING_WORD_MAX))
}

/// Returns running text as content.
pub(super) fn rich(text: &Text) -> String {
    let spans = text.0.iter().map(|span| match span {
        Span::Plain(text) => words(text),
        Span::Strong(text) => format!("strong({})", words(text)),
        Span::Code(text) => format!("raw({})", words(text)),
    });
    let spans: Vec<String> = spans.collect();
    if spans.is_empty() { "\"\"".to_owned() } else { spans.join(" + ") }
}

/// Returns an array of expressions.
pub(super) fn array(items: impl IntoIterator<Item = String>) -> String {
    let mut out = String::from("(");
    for item in items {
        // A comma behind the last one as well: without it, one item would be no array.
        out.push_str(&item);
        out.push_str(", ");
    }
    out.truncate(out.trim_end().len());
    out.push(')');
    out
}

/// Returns a string literal. What no font can show, and what would turn the direction of reading around, becomes U+FFFD.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => {}
            c if is_disorderly(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Control characters, ends of lines and paragraphs, and what switches the direction of reading.
fn is_disorderly(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn one_line(text: &str) -> String {
    let is_end = |c| matches!(c, '\n'..='\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if is_end(c) { ' ' } else { c }).collect()
}

/// Lets lines end inside of words that are longer than `most`: behind a seam, and where there is none for so long, anywhere.
fn breakable(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let whole = piece.chars().count() <= most;
        let mut length = 0;
        for c in piece.chars() {
            if !whole && most <= length {
                out.push(BREAK);
                length = 0;
            }
            out.push(c);
            length += 1;
            if !whole && BREAKS_AFTER.contains(c) {
                out.push(BREAK);
                length = 0;
            }
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Reads literals out of markup as typst does: what they say, and the markup with all of them empty. `None` if one has
    /// no end, or an escape that we never write.
    pub(crate) fn read_literals(markup: &str) -> Option<(Vec<String>, String)> {
        let mut said = Vec::new();
        let mut rest = String::new();
        let mut chars = markup.chars();
        while let Some(c) = chars.next() {
            rest.push(c);
            if c != '"' {
                continue;
            }
            let mut literal = String::new();
            loop {
                match chars.next()? {
                    '"' => break,
                    '\\' => literal.push(match chars.next()? {
                        'n' => '\n',
                        't' => '\t',
                        c @ ('"' | '\\') => c,
                        _ => return None,
                    }),
                    c => literal.push(c),
                }
            }
            rest.push('"');
            said.push(literal);
        }
        Some((said, rest))
    }

    /// Returns a text as it appears in print.
    fn printed(text: &str) -> String {
        let shown = text.replace('\r', "");
        shown
            .chars()
            .map(|c| if is_disorderly(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
            .collect()
    }

    #[test]
    fn everything_that_typst_could_take_for_markup_stands_in_a_literal() {
        let hostile = r##"#panic() $x$ *b* _i_ `c` @ref <label> [x] {y} // /* - + = ~ ' \ " "##;
        assert_eq!(
            words(hostile),
            r##""#panic() $x$ *b* _i_ `c` @ref <label> [x] {y} // /* - + = ~ ' \\ \" ""##
        );
        assert_eq!(words("\"]#evil[\\\""), r#""\"]#evil[\\\"""#);
    }

    #[test]
    fn text_is_joined_of_literals() {
        let text = Text::from("a ").strong("b").code("c\"");
        assert_eq!(rich(&text), r#""a " + strong("b") + raw("c\"")"#);
        assert_eq!(rich(&Text::default()), "\"\"");
    }

    #[test]
    fn one_item_is_an_array_too() {
        assert_eq!(array(["a".to_owned()]), "(a,)");
        assert_eq!(array(["a".to_owned(), "b".to_owned()]), "(a, b,)");
        assert_eq!(array([]), "()");
    }

    #[test]
    fn lines_survive_in_listings_only() {
        assert_eq!(listing("a\n\tb\r\n\n"), r#""a\n\tb""#);
        assert_eq!(words("a\nb\u{2028}c\u{85}d"), r#""a b c d""#);
        assert_eq!(words("10\u{202f}000\u{a0}s"), "\"10\u{202f}000\u{a0}s\"");
    }

    #[test]
    fn what_cannot_be_shown_or_turns_the_text_around_is_replaced() {
        assert_eq!(words("a\u{0}b\u{1b}[31m\u{202e}c"), "\"a\u{fffd}b\u{fffd}[31m\u{fffd}c\"");
    }

    #[test]
    fn only_long_words_get_places_to_break() {
        let path = format!("/{}/file.html", "d".repeat(60));
        let broken = breakable(&path, 48);
        assert_eq!(broken.matches(BREAK).count(), 4, "{broken:?}");
        assert_eq!(broken.replace(BREAK, ""), path);
        assert_eq!(breakable("/short/path of it", 48), "/short/path of it");
    }

    #[test]
    fn numbers_keep_their_units() {
        assert_eq!(unbroken("12.3 ms"), "\"12.3\u{a0}ms\"");
    }

    proptest! {
        /// Method: a literal is read back as typst would; it must be one, say the same, and stand on one line.
        #[test]
        fn a_literal_is_whole_whatever_it_says(text in vec(any::<char>(), 0..200)) {
            let text = String::from_iter(text);
            let literal = literal(&text);
            let (said, rest) = read_literals(&literal).expect("a literal with an end");
            prop_assert_eq!(rest, "\"\"");
            prop_assert_eq!(&said[..], &[printed(&text)][..]);
            prop_assert!(!literal.contains('\n'));
        }

        #[test]
        fn places_to_break_take_nothing_away(text in "[^\u{200b}]{0,200}", most in 1_usize..60) {
            let broken = breakable(&text, most);
            prop_assert_eq!(broken.replace(BREAK, ""), text);
            let longest = broken.split(|c: char| c == BREAK || c.is_whitespace()).map(|one| one.chars().count()).max();
            prop_assert!(longest.unwrap_or(0) <= most);
        }
    }
}
