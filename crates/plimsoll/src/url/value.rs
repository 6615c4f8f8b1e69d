//! Values of the command line that may end with one from the environment: `Bearer {env:TOKEN}`.

use model::{Secret, SecretLocation, SecretSource};

/// The start of a reference to an environment variable.
const START: &str = "{env:";

/// A value, as far as it is known before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UrlValue {
    /// The value itself.
    Literal(String),
    /// The value of an environment variable behind a text in clear.
    Env {
        /// The text.
        prefix: String,
        /// The name of the variable.
        name: String,
    },
}

impl UrlValue {
    /// Reads a value.
    ///
    /// # Errors
    /// A reference is not the end of the value, or its name is not that of a variable.
    pub(super) fn parse(text: &str) -> Result<UrlValue, &'static str> {
        let Some((prefix, rest)) = text.split_once(START) else {
            return Ok(UrlValue::Literal(text.to_owned()));
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match rest.strip_suffix('}') {
            Some(name) if !name.is_empty() && name.chars().all(is_plain) => {
                Ok(UrlValue::Env { prefix: prefix.to_owned(), name: name.to_owned() })
            }
            _ => Err("`{env:NAME}` with the name of an environment variable must be the end of the value"),
        }
    }

    /// Returns it as the secret of a part of a request; `None` of a value that is known.
    pub(super) fn secret(&self, part: &SecretLocation) -> Option<Secret> {
        match self {
            UrlValue::Literal(_) => None,
            UrlValue::Env { prefix, name } => Some(Secret {
                part: part.clone(),
                prefix: prefix.clone(),
                source: SecretSource::Env(name.clone()),
            }),
        }
    }

    /// Returns the text in clear.
    pub(super) fn text(&self) -> &str {
        match self {
            UrlValue::Literal(text) => text,
            UrlValue::Env { prefix, .. } => prefix,
        }
    }

    /// Returns the value as a definition has it.
    pub(super) fn toml(&self) -> String {
        match self {
            UrlValue::Literal(text) => quoted(text),
            UrlValue::Env { prefix, name } if prefix.is_empty() => format!("{{ env = {} }}", quoted(name)),
            UrlValue::Env { prefix, name } => {
                format!("{{ env = {}, prefix = {} }}", quoted(name), quoted(prefix))
            }
        }
    }
}

/// Returns a text as a TOML string: a JSON string, in which TOML allows everything but DEL.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_end_with_one_from_the_environment() {
        let toml = |text| UrlValue::parse(text).map(|value| value.toml());
        assert_eq!(toml("a \"b\"\n").as_deref(), Ok(r#""a \"b\"\n""#));
        assert_eq!(toml("{env:TOKEN}").as_deref(), Ok(r#"{ env = "TOKEN" }"#));
        assert_eq!(toml("Bearer {env:T_1}").as_deref(), Ok(r#"{ env = "T_1", prefix = "Bearer " }"#));
        assert_eq!(toml("{\"a\":1}").as_deref(), Ok(r#""{\"a\":1}""#));
        for mistake in ["{env:}", "{env:A", "{env:A}b", "{env:A B}", "{env:$A}"] {
            assert!(toml(mistake).is_err(), "{mistake}");
        }
    }
}
