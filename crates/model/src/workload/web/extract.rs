//! Values that are taken from replies and used in later requests.

use serde::{Deserialize, Serialize};

/// The most values that the requests of a workload extract, each with a name of its own.
pub const EXTRACTED_MAX: usize = 16;

/// The longest extracted value in bytes; a longer one is missing.
pub const EXTRACTED_BYTES_MAX: usize = 4 << 10;

/// The longest body from which something is extracted, or that is checked as JSON, in bytes.
pub const BUFFERED_BODY_MAX: usize = 1 << 20;

/// The largest compiled regular expression in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// A value that is taken from the reply to a request; a reply without it is a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extraction {
    /// Its name, by which `{extract.NAME}` stands for it.
    pub name: String,
    /// Its place in the reply.
    pub from: ExtractSource,
    /// Whether the user keeps it after the page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// The place of a value in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtractSource {
    /// The string, number or truth value at a JSON pointer (RFC 6901) of the body.
    Json(String),
    /// The first header field of this name.
    Header(String),
    /// The first group of the first match of a regular expression in the body; the whole match without a group.
    Regex(String),
}

impl ExtractSource {
    /// Returns whether the value is in the body.
    pub fn is_in_body(&self) -> bool {
        !matches!(self, ExtractSource::Header(_))
    }
}

/// A text that is no regular expression, or too large a one.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", reason(.0))]
pub struct RegexError(#[from] regex::Error);

/// Returns the last line of an error, which has the reason; those before it draw the position.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Compiles a regular expression, within 1 MiB; its matching takes time linear in the text.
///
/// # Errors
///
/// The text is no regular expression, or too large a one.
pub fn compile_regex(pattern: &str) -> Result<regex::Regex, RegexError> {
    Ok(regex::RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).build()?)
}

/// Returns whether a text is a JSON pointer (RFC 6901 §3).
pub fn is_json_pointer(text: &str) -> bool {
    let escapes = || text.match_indices('~').map(|(at, _)| text[at + 1..].chars().next());
    (text.is_empty() || text.starts_with('/')) && escapes().all(|next| matches!(next, Some('0' | '1')))
}
