//! Secrets of requests, as the plan stores them: it says where each comes from, and never what it is.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a request whose value is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// The part of the request.
    pub part: SecretLocation,
    /// The text before the value, in clear: `Bearer `.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// The source of the value.
    pub source: SecretSource,
}

/// A part of a request that can be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretLocation {
    /// The value of the header field of this name.
    Header(String),
    /// The body.
    Body,
    /// The only value of the parameter of this name.
    Parameter(String),
    /// The path, of which the plan has all but the credentials.
    Path,
}

/// The source of a secret's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretSource {
    /// An environment variable of the process that makes the run.
    Env(String),
    /// A file, by its path from where the definition is.
    File(String),
    /// The text of the definition itself.
    Definition,
}

impl SecretLocation {
    /// Returns its key in a definition: `headers.Authorization`.
    pub fn key(&self) -> String {
        match self {
            SecretLocation::Header(name) => format!("headers.{name}"),
            SecretLocation::Body => "body".to_owned(),
            SecretLocation::Parameter(name) => format!("parameters.{name}"),
            SecretLocation::Path => "path".to_owned(),
        }
    }

    /// Returns the reason why a value is not allowed there, if any; never repeats the value. Of a parameter: in a path.
    pub fn fault(&self, value: &str) -> Option<&'static str> {
        let is_line = |c: char| c == '\t' || c == ' ' || c.is_ascii_graphic();
        match self {
            _ if value.is_empty() => Some("it is empty"),
            SecretLocation::Header(_) if value.trim() != value || !value.chars().all(is_line) => {
                Some("it is not one line of ASCII without spaces around it")
            }
            SecretLocation::Parameter(_)
                if !value.chars().all(|c| c.is_ascii_graphic() && !"#{}".contains(c)) =>
            {
                Some("it has characters that are not allowed in a path")
            }
            _ => None,
        }
    }
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SecretSource::Env(name) => write!(f, "the environment variable `{name}`"),
            SecretSource::File(path) => write!(f, "the file `{path}`"),
            SecretSource::Definition => f.write_str("the definition"),
        }
    }
}

/// A secret of a definition, with its place there.
#[derive(Clone, PartialEq, Eq)]
pub struct PlacedSecret {
    /// The index of its request.
    pub kind: usize,
    /// The place of the value in the definition's text, in bytes.
    pub span: Range<usize>,
    /// The secret as the plan stores it.
    pub secret: Secret,
    /// The value where the definition has it itself.
    pub value: Option<String>,
}

impl fmt::Debug for PlacedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlacedSecret").field("kind", &self.kind).field("secret", &self.secret).finish()
    }
}
