//! What is wrong with a configuration.

use std::fmt;

/// How the reader speaks of what stands in a configuration, and how its writers do.
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

/// What to do about mistakes whose message does not say it, by a part of the message.
const HINTS: &[(&str, &str)] = &[
    (
        "expected a string",
        "write it in quotation marks, times and sizes with a unit: `\"10 s\"`, `\"64 MiB\"`",
    ),
    ("unknown key", "a key belongs to the section above it"),
    ("table, expected a list", "sections that may be repeated have two brackets: `[[listen]]`"),
    ("socket address", "write an IP address and a port: `127.0.0.1:8000`, `0.0.0.0:80`, `[::]:80`"),
];

/// A mistake in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// File, line and column, where they are known: `accelerator.toml:12:3`.
    pub place: Option<String>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Makes one that no single place is to blame for; a hint may follow the message on a line of its own.
    pub(super) fn new(text: impl Into<String>) -> ConfigError {
        let text = text.into();
        match text.split_once("\nhint: ") {
            Some((message, hint)) => {
                ConfigError { place: None, message: message.to_owned(), hint: Some(hint.to_owned()) }
            }
            None => ConfigError { place: None, message: text, hint: None },
        }
    }

    /// Makes one of what the TOML reader says. Its text for a wrong name reads ``unknown field `a`, expected one of
    /// `b`, `c` ``: what stands in backquotes after the first are the candidates.
    pub(super) fn of_toml(file_name: &str, text: &str, error: &toml::de::Error) -> ConfigError {
        let found = ConfigError::new(in_plain_words(error.message().trim()));
        let is_unknown = found.message.starts_with("unknown");
        let mut quoted = found.message.split('`').skip(1).step_by(2);
        let near = quoted.next().filter(|_| is_unknown).and_then(|written| nearest(written, quoted));
        let start = error.span().map(|span| span.start);
        let place = start.map(|start| place(file_name, text, start));
        let usual = usual_hint(&found.message, start.and_then(|start| text.get(start..)).unwrap_or_default());
        match near {
            // Who sees the right one need not see all.
            Some(near) => ConfigError {
                place,
                hint: Some(format!("did you mean `{near}`?")),
                message: found.message.split(", expected").next().unwrap_or_default().to_owned(),
            },
            None => ConfigError { place, hint: found.hint.or(usual.map(str::to_owned)), ..found },
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "`{place}`: ")?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Returns a message of the reader as somebody understands it who knows TOML only.
fn in_plain_words(message: &str) -> String {
    let said = WORDS.iter().fold(message.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
    // The name of a type comes last.
    match said.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a table"),
        None => said,
    }
}

/// Returns what to do about a mistake in the text that begins with `rest`.
fn usual_hint(message: &str, rest: &str) -> Option<&'static str> {
    // What should be a table is read like one without names of keys: the message is about what would stand first.
    if message.starts_with("invalid type: table") && rest.starts_with("[[") {
        return Some("only sections that may be repeated have two brackets");
    }
    HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

/// Returns file, line and column, both from 1, of a byte of a text.
fn place(file_name: &str, text: &str, at: usize) -> String {
    let before = &text[..text.floor_char_boundary(at.min(text.len()))];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    format!("{file_name}:{line}:{column}")
}

/// Returns the candidate that is most like what was written, if it may be a slip of the keyboard.
fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |candidate: &str| strsim::damerau_levenshtein(written, candidate);
    let best = candidates.min_by_key(|candidate| distance(candidate))?;
    (distance(best) <= (best.len().max(written.len()) / 3).max(1)).then_some(best)
}
