//! What is wrong with a configuration.

use std::fmt;

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
        let said = error
            .message()
            .trim()
            .replace("unknown field", "unknown key")
            .replace("missing field", "missing key");
        let found = ConfigError::new(said);
        let is_unknown = found.message.starts_with("unknown");
        let mut quoted = found.message.split('`').skip(1).step_by(2);
        let near = quoted.next().filter(|_| is_unknown).and_then(|written| nearest(written, quoted));
        let place = error.span().map(|span| place(file_name, text, span.start));
        match near {
            // Who sees the right one need not see all.
            Some(near) => ConfigError {
                place,
                hint: Some(format!("did you mean `{near}`?")),
                message: found.message.split(", expected").next().unwrap_or_default().to_owned(),
            },
            None => ConfigError { place, ..found },
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
