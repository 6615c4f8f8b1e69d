//! Errors of a configuration.

use std::fmt;

use languages::Diagnostics;

/// An error in a configuration: everything that is wrong with it, as far as it can be found at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// Mistakes in the file.
    Text(Diagnostics),
    /// Mistakes that have no position: something is missing, or the command line is wrong. Not empty.
    Other(Vec<ConfigMistake>),
}

/// A mistake without a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMistake {
    /// The expected and the found value.
    pub message: String,
    /// The remedy, if there is one.
    pub hint: Option<String>,
}

impl ConfigError {
    /// Makes an error without a position.
    pub(super) fn new(message: String, hint: Option<String>) -> ConfigError {
        ConfigError::Other(vec![ConfigMistake { message, hint }])
    }

    /// Writes the error for people, with the mistakes in their lines of the file; without `error:` at the beginning.
    pub fn render(&self) -> String {
        match self {
            ConfigError::Text(diagnostics) => {
                let text = diagnostics.render(false);
                text.strip_prefix("error: ").unwrap_or(&text).to_owned()
            }
            ConfigError::Other(mistakes) => lines(mistakes, "\nerror: "),
        }
    }
}

impl fmt::Display for ConfigError {
    /// Writes the error for a log: a line for each mistake, and one for its hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Text(diagnostics) => f.write_str(&diagnostics.brief()),
            ConfigError::Other(mistakes) => f.write_str(&lines(mistakes, "\n")),
        }
    }
}

impl std::error::Error for ConfigError {}

impl From<Diagnostics> for ConfigError {
    fn from(diagnostics: Diagnostics) -> ConfigError {
        ConfigError::Text(diagnostics)
    }
}

fn lines(mistakes: &[ConfigMistake], separator: &str) -> String {
    let line = |ConfigMistake { message, hint }: &ConfigMistake| match hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message.clone(),
    };
    mistakes.iter().map(line).collect::<Vec<_>>().join(separator)
}
