//! Values that are taken from a reply.

use model::{EXTRACTED_BYTES_MAX, ExtractSource, Extraction, Request, compile_regex};
use regex::Regex;

use super::SessionContext;
use super::user::UserValues;
use crate::web::capture::Capture;
use crate::web::missing_value::MissingValue;

/// The values to take from the replies to one kind of request.
#[derive(Debug)]
pub(super) struct Extractor {
    values: Vec<(usize, Source)>,
}

#[derive(Debug)]
enum Source {
    Json(String),
    /// The index of the header field among those that are kept.
    Field(usize),
    /// `None` if it cannot be compiled, which planning has excluded.
    Regex(Option<Regex>),
}

impl Extractor {
    pub(super) fn new(request: &Request, session: &SessionContext) -> Extractor {
        let mut n_fields = 0;
        let value = |Extraction { name, from, .. }: &Extraction| {
            let source = match from {
                ExtractSource::Json(pointer) => Source::Json(pointer.clone()),
                ExtractSource::Header(_) => {
                    n_fields += 1;
                    Source::Field(n_fields - 1)
                }
                ExtractSource::Regex(pattern) => Source::Regex(compile_regex(pattern).ok()),
            };
            Some((session.extracted_number(name)?, source))
        };
        Extractor { values: request.extracts.iter().filter_map(value).collect() }
    }

    /// Gives the user the values of a reply.
    pub(super) fn take(&self, reply: &Capture, user: &mut UserValues) -> Result<(), MissingValue> {
        let mut json = None;
        for (number, source) in &self.values {
            let found = match source {
                Source::Json(pointer) => {
                    let json = json.get_or_insert_with(|| serde_json::from_slice(&reply.body).ok());
                    json.as_ref().and_then(|json| json_text(json, pointer))
                }
                Source::Field(index) => {
                    reply.fields[*index].clone().and_then(|value| String::from_utf8(value).ok())
                }
                Source::Regex(regex) => regex.as_ref().and_then(|regex| first_group(regex, &reply.body)),
            };
            let found = found.filter(|value| value.len() <= EXTRACTED_BYTES_MAX);
            user.set(*number, found.ok_or(MissingValue::NotInReply(*number))?);
        }
        Ok(())
    }
}

/// Returns the string, number or truth value at a JSON pointer.
pub(super) fn json_text(json: &serde_json::Value, pointer: &str) -> Option<String> {
    match json.pointer(pointer)? {
        serde_json::Value::String(text) => Some(text.clone()),
        value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns the first group of the first match, or the match itself where the expression has no group.
pub(super) fn first_group(regex: &Regex, body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let found = regex.captures(text)?;
    Some(found.get(usize::from(1 < found.len()))?.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn group(pattern: &str, body: &str) -> Option<String> {
        first_group(&compile_regex(pattern).unwrap(), body.as_bytes())
    }

    #[test]
    fn values_are_found_by_pointer_and_by_expression() {
        let json = serde_json::json!({"a/b": [{"id": 5, "ok": true, "t": "x"}], "n": null});
        let found =
            ["/a~1b/0/id", "/a~1b/0/ok", "/a~1b/0/t", "/a~1b", "/n", "/x"].map(|at| json_text(&json, at));
        assert_eq!(found, [Some("5".into()), Some("true".into()), Some("x".into()), None, None, None]);
        let form = "<input name=\"csrf\" value=\"abc\"><input name=\"csrf\" value=\"def\">";
        assert_eq!(group("name=\"csrf\" value=\"([a-f]+)\"", form).as_deref(), Some("abc"));
        assert_eq!(group("[d-f]{3}", form).as_deref(), Some("def"));
        assert_eq!((group("(x)?csrf", form), group("missing", form)), (None, None));
        assert_eq!(first_group(&compile_regex("a").unwrap(), b"a\xff"), None);
    }

    proptest! {
        #[test]
        fn any_body_has_a_value_or_none(body in prop::collection::vec(any::<u8>(), 0..200)) {
            first_group(&compile_regex("(a|b)+c?").unwrap(), &body);
            if let Ok(json) = serde_json::from_slice(&body) {
                json_text(&json, "/a/0");
            }
        }
    }
}
