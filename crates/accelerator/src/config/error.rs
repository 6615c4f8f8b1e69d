//! Errors of a configuration.

use std::fmt;

/// The terms of the TOML reader, and those of its users.
const WORDS: &[(&str, &str)] = &[
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("unknown variant", "unknown value"),
    ("invalid type: map", "invalid type: table"),
    ("invalid type: sequence", "invalid type: list"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected a table"),
    ("expected path string", "expected a string"),
    ("wanted string or table", "expected a string"),
    ("expected f64", "expected a number"),
    ("a nonzero u16", "a number from 1 to 65535"),
    ("a nonzero u32", "a number from 1 to 4294967295"),
    ("a nonzero u64", "a number from 1"),
    ("expected u32", "expected a number from 0 to 4294967295"),
];

/// Hints for errors whose message gives none, by a part of the message.
const HINTS: &[(&str, &str)] = &[
    (
        "expected a string",
        "write it in quotation marks, times and sizes with a unit: `\"10 s\"`, `\"64 MiB\"`",
    ),
    ("unknown key", "a key belongs to the section above it"),
    ("table, expected a list", "sections that may be repeated have two brackets: `[[listen]]`"),
    ("socket address", "write an IP address and a port: `127.0.0.1:8000`, `0.0.0.0:80`, `[::]:80`"),
];

/// An error in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// File, line and column, if known: `accelerator.toml:12:3`.
    pub position: Option<String>,
    /// The expected and the found value.
    pub message: String,
    /// The hint.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Makes an error without a position; a hint may follow the message on a line of its own.
    pub(super) fn new(text: impl Into<String>) -> ConfigError {
        let text = text.into();
        match text.split_once("\nhint: ") {
            Some((message, hint)) => {
                ConfigError { position: None, message: message.to_owned(), hint: Some(hint.to_owned()) }
            }
            None => ConfigError { position: None, message: text, hint: None },
        }
    }

    /// Converts an error of the TOML reader. Its text for a wrong name reads ``unknown field `a`, expected one of
    /// `b`, `c` ``: the names in backquotes after the first are the candidates.
    pub(super) fn of_toml(file_name: &str, text: &str, error: &toml::de::Error) -> ConfigError {
        let found = ConfigError::new(in_toml_terms(error.message().trim()));
        let is_unknown = found.message.starts_with("unknown");
        let mut quoted = found.message.split('`').skip(1).step_by(2);
        let near = quoted.next().filter(|_| is_unknown).and_then(|written| nearest(written, quoted));
        let start = error.span().map(|span| span.start);
        let position = start.map(|start| position(file_name, text, start));
        let default_value =
            default_hint(&found.message, start.and_then(|start| text.get(start..)).unwrap_or_default());
        match near {
            // With the right name at hand, the whole list is not needed.
            Some(near) => ConfigError {
                position,
                hint: Some(format!("did you mean `{near}`?")),
                message: found.message.split(", expected").next().unwrap_or_default().to_owned(),
            },
            None => ConfigError { position, hint: found.hint.or(default_value.map(str::to_owned)), ..found },
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "`{position}`: ")?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Returns a message of the reader in terms of TOML.
fn in_toml_terms(message: &str) -> String {
    let said = WORDS.iter().fold(message.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
    // The name of a type comes last.
    match said.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => said,
    }
}

/// Returns the hint for an error in the text that begins with `rest`.
fn default_hint(message: &str, rest: &str) -> Option<&'static str> {
    // A table given in place of a section is read like one without keys: the message is about its first value.
    if message.starts_with("invalid type: table") && rest.starts_with("[[") {
        return Some("only sections that may be repeated have two brackets");
    }
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

/// Returns file, line and column, both from 1, of a byte offset.
fn position(file_name: &str, text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    format!("{file_name}:{line}:{column}")
}

/// Returns the candidate that is most similar, if it may be a typing error.
fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(written, candidate);
    let best = candidates.min_by_key(|candidate| distance(candidate))?;
    (distance(best) <= (best.len().max(written.len()) / 3).max(1)).then_some(best)
}
