//! Texts with placeholders: `Bearer {extract.token}`, `user={users.name}&page={id:3}`.
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{id}`, `{id:5}` | the value of the request's parameter `id`, as five digits |
//! | `{users.name}` | the column `name` in the user's row of the data `users` |
//! | `{extract.token}` | the value `token` that an earlier reply gave the user |
//!
//! In a path every brace belongs to a placeholder. In headers and bodies, where JSON has braces of its own, those that
//! enclose no such name stand for themselves.

use std::fmt;

use super::path::PathPatternError;

/// The name before the point of values that were extracted from replies.
pub(crate) const EXTRACTED: &str = "extract";

/// The most digits of a placeholder.
const DIGITS_MAX: usize = 20;

/// A piece of a text with placeholders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplatePiece<'a> {
    /// Text, as it is.
    Text(&'a str),
    /// The value of a parameter of the request, with leading zeros up to so many digits.
    Parameter {
        /// The name of the parameter.
        name: &'a str,
        /// The least number of digits of a number.
        digits: usize,
    },
    /// A value that the user has.
    Session(SessionValue<'a>),
}

/// A value that a user has when it makes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionValue<'a> {
    /// A column in the user's row of some data.
    Column {
        /// The name of the data.
        data: &'a str,
        /// The name of the column.
        column: &'a str,
    },
    /// A value that was extracted from an earlier reply.
    Extracted(&'a str),
}

impl fmt::Display for TemplatePiece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplatePiece::Text(text) => f.write_str(text),
            TemplatePiece::Parameter { name, digits: 0 } => write!(f, "{{{name}}}"),
            TemplatePiece::Parameter { name, digits } => write!(f, "{{{name}:{digits}}}"),
            TemplatePiece::Session(value) => value.fmt(f),
        }
    }
}

impl fmt::Display for SessionValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionValue::Column { data, column } => write!(f, "{{{data}.{column}}}"),
            SessionValue::Extracted(name) => write!(f, "{{{EXTRACTED}.{name}}}"),
        }
    }
}

/// Splits a header or a body into its pieces: braces that enclose no name of a placeholder are text.
pub fn template_pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        at = open + 1;
        let Some(close) = text[at..].find('}').map(|close| at + close) else { break };
        let Some(piece) = placeholder(&text[at..close]) else { continue };
        if from < open {
            pieces.push(TemplatePiece::Text(&text[from..open]));
        }
        pieces.push(piece);
        (from, at) = (close + 1, close + 1);
    }
    if from < text.len() {
        pieces.push(TemplatePiece::Text(&text[from..]));
    }
    pieces
}

/// Returns whether a header or a body has placeholders.
pub(crate) fn has_placeholders(text: &str) -> bool {
    template_pieces(text).iter().any(|piece| !matches!(piece, TemplatePiece::Text(_)))
}

/// Splits a path into its pieces: every brace must belong to a placeholder.
pub(super) fn path_pieces(text: &str) -> Result<Vec<TemplatePiece<'_>>, PathPatternError> {
    let fail = |problem, rest: &str| PathPatternError { problem, rest: rest.to_owned() };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['{', '}']) {
        let inside = rest[open..].strip_prefix('{').ok_or_else(|| fail("`}` without `{`", &rest[open..]))?;
        let close = inside.find('}').ok_or_else(|| fail("`{` without `}`", &rest[open..]))?;
        let piece = placeholder(&inside[..close]).ok_or_else(|| {
            let name = inside[..close].split_once(':').map_or(&inside[..close], |(name, _)| name);
            if is_name(name) {
                fail("expected a number of digits up to 20", &rest[open..])
            } else {
                fail("expected the name of a parameter, such as `{id}`,", &rest[open..])
            }
        })?;
        if open != 0 {
            pieces.push(TemplatePiece::Text(&rest[..open]));
        }
        pieces.push(piece);
        rest = &inside[close + 1..];
    }
    if !rest.is_empty() {
        pieces.push(TemplatePiece::Text(rest));
    }
    Ok(pieces)
}

/// Reads the text between the braces of a placeholder; `None` if it is none.
fn placeholder(inside: &str) -> Option<TemplatePiece<'_>> {
    if let Some((data, column)) = inside.split_once('.') {
        let value = match data {
            EXTRACTED => SessionValue::Extracted(column),
            _ => SessionValue::Column { data, column },
        };
        return (is_name(data) && is_name(column)).then_some(TemplatePiece::Session(value));
    }
    let (name, digits) = match inside.split_once(':') {
        None => (inside, 0),
        Some((name, text)) => {
            // In one way only, so that `{a:0}` in a body is text, and stays as it is.
            let digits: usize = text.parse().ok().filter(|digits| (1..=DIGITS_MAX).contains(digits))?;
            (name, Some(digits).filter(|digits| digits.to_string() == text)?)
        }
    };
    is_name(name).then_some(TemplatePiece::Parameter { name, digits })
}

/// Returns whether a text can be the name of a parameter, of data, a column or an extracted value.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn placeholders_are_found_among_braces_of_json() {
        use TemplatePiece::{Parameter, Session, Text};
        let text =
            r#"{"id": {id:3}, "token": "{extract.token}", "a": {"b": "{users.full-name}"}, "c": "{ no }{}"}"#;
        assert_eq!(
            template_pieces(text),
            [
                Text(r#"{"id": "#),
                Parameter { name: "id", digits: 3 },
                Text(r#", "token": ""#),
                Session(SessionValue::Extracted("token")),
                Text(r#"", "a": {"b": ""#),
                Session(SessionValue::Column { data: "users", column: "full-name" }),
                Text(r#""}, "c": "{ no }{}"}"#),
            ]
        );
        assert!(!has_placeholders(r#"{"a": {"b": 5}}"#) && !has_placeholders("{a.b.c} {.a} {a.} {a:x} {"));
    }

    /// Returns the text of pieces.
    fn joined(pieces: &[TemplatePiece]) -> String {
        pieces.iter().map(TemplatePiece::to_string).collect()
    }

    /// Found by fuzzing: a body with `{a:0}` was sent with `{a}`.
    #[test]
    fn digits_are_written_in_one_way() {
        for text in ["{a:0}", "{a:08}", "{a:+8}", "{a:}", "{a: 8}"] {
            assert_eq!(template_pieces(text), [TemplatePiece::Text(text)], "{text}");
        }
        assert_eq!(template_pieces("{a:8}"), [TemplatePiece::Parameter { name: "a", digits: 8 }]);
    }

    proptest! {
        #[test]
        fn templates_round_trip(text in "[a-z{}.\":0-9+ ä-]{0,40}") {
            let pieces = template_pieces(&text);
            prop_assert_eq!(joined(&pieces), text.clone());
            if let Ok(pieces) = path_pieces(&text) {
                prop_assert_eq!(joined(&pieces), text);
            }
        }
    }
}
