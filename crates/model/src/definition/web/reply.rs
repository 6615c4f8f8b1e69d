//! Reading `reply`: the expected body.

use languages::reader::{NamedEntry, TomlTable, ValueError, kind};
use languages::spec::{NamedChoice, ValueSpec, bytes, flag, one_of, text, whole};
use serde_json::{Value, json};
use toml::de::DeValue;

use super::extract::check_pointer;
use crate::{JsonCheck, ReplyBody, Request, ValueCount};

/// Replies that are written as one word.
const REPLIES: &[NamedChoice<ReplyBody>] = &[
    NamedChoice("empty", "No body.", ReplyBody::Empty),
    NamedChoice(
        "seen",
        "The body of the first reply for the same path, until the page changes; then its type, and a length that is \
         not cut.",
        ReplyBody::Seen,
    ),
    NamedChoice(
        "same",
        "The body of the first reply for the same path: it must stay the same.",
        ReplyBody::Same,
    ),
    NamedChoice("any", "Anything.", ReplyBody::Any),
];

/// The smallest generated HTML page: its markup takes up most of it.
const HTML_LETTERS_MIN: u64 = 64;

/// The longest text that a reply can be searched for.
const CONTAINS_MAX: usize = 4096;

/// The keys of a reply that is written as a table: one of them, or both limits of the length.
const KEYS: &str = "expected one of `file`, `letters`, `html-letters`, `contains`, `content-type`, `json` and `length-min` with `length-max`";

/// The most values that a JSON body is checked for.
const JSON_CHECKS_MAX: usize = 100;

/// Reads the reply of a request, a word or a table.
pub(super) fn reply(table: &mut TomlTable) -> Option<ReplyBody> {
    let words = one_of("ReplyWord", "The body of a reply.", REPLIES);
    table.required_either("reply", "The body of the right reply.", words, read_reply)
}

fn read_reply(mut table: TomlTable) -> Option<ReplyBody> {
    table.describe("Reply", "The body of a reply: one of these.");
    let about =
        "A file of the file set, by its size in bytes; or one size for each value of the last parameter.";
    let sizes = bytes().map(|bytes| vec![bytes]);
    let sizes = sizes.or(bytes().non_empty_list(), |value| matches!(value, DeValue::Array(_)));
    let file = table.optional("file", about, sizes);
    let about = "Length of a generated text in letters; its seed is the parameter `seed`, or 0.";
    let letters = table.optional("letters", about, whole(1..=ReplyBody::LETTERS_BYTES_MAX));
    let about = "A generated HTML page of so many bytes.";
    let html_letters =
        table.optional("html-letters", about, whole(HTML_LETTERS_MIN..=ReplyBody::LETTERS_BYTES_MAX));
    let contains = table.optional("contains", "Anything that contains this text.", contains());
    let about = "A content type, `text/html`: the body may be anything.";
    let content_type = table.optional("content-type", about, content_type());
    let about = "JSON with these values at their places, JSON pointers (RFC 6901), and anything else.";
    let json = table.optional_table("json", about).map(read_json);
    let least = table.optional("length-min", "The least length in bytes of anything.", bytes());
    let most = table.optional("length-max", "The greatest length in bytes of anything.", bytes());
    let given: Vec<&str> = table.keys().collect();
    let is_length = given.iter().all(|key| key.starts_with("length-"));
    if given.is_empty() || (1 < given.len() && !is_length) {
        table.reject(given.get(1).copied().unwrap_or("file"), ValueError::new(KEYS));
    }
    let length = (is_length && least.or(most).is_some())
        .then(|| ReplyBody::Length { least: least.unwrap_or(0), most: most.unwrap_or(u64::MAX >> 1) });
    if let Some(ReplyBody::Length { least, most }) = length
        && most < least
    {
        table.reject("length-max", ValueError::new("the greatest length is below the least"));
    }
    table.finish();
    let file = file.map(ReplyBody::File);
    let letters = letters.map(|bytes| ReplyBody::Letters { bytes, markup: false });
    let html_letters = html_letters.map(|bytes| ReplyBody::Letters { bytes, markup: true });
    let contains = contains.map(ReplyBody::Contains);
    let content_type = content_type.map(ReplyBody::ContentType);
    file.or(letters).or(html_letters).or(contains).or(content_type).or(json).or(length)
}

fn content_type() -> ValueSpec<String> {
    text().rule("pattern", "^[^/ ;]+/[^/ ;]+$").and_then(|written| {
        let is_token = |part: &str| {
            let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
            !part.is_empty() && part.bytes().all(is_plain)
        };
        match written.split_once('/') {
            Some((kind, subtype)) if is_token(kind) && is_token(subtype) => Ok(written.to_ascii_lowercase()),
            _ => {
                Err(ValueError::new("expected a content type without parameters")
                    .hint("write it as `text/html`"))
            }
        }
    })
}

/// Reads the values that a JSON body must have, by their JSON pointers.
fn read_json(mut table: TomlTable) -> ReplyBody {
    let mut checks = Vec::new();
    let literal = json_value();
    for (pointer, _, entry) in table.named_entries(&literal) {
        if let Err(error) = check_pointer(pointer) {
            table.reject(pointer, error);
        }
        let value = match entry {
            NamedEntry::Value(value) => literal.read(value).map(Some),
            NamedEntry::Table(mut inner) => {
                inner.describe("AnyValue", "Any value.");
                let any = inner.required("any", "Always `true`.", flag());
                inner.finish();
                match any {
                    Some(false) => Err(ValueError::new("expected `{ any = true }`")),
                    _ => Ok(None),
                }
            }
        };
        match value {
            Ok(value) => checks.push(JsonCheck { pointer: pointer.to_owned(), value }),
            Err(error) => table.reject(pointer, error),
        }
    }
    if checks.is_empty() || JSON_CHECKS_MAX < checks.len() {
        let error =
            ValueError::new(format!("expected 1 to {JSON_CHECKS_MAX} values, found {}", checks.len()));
        table.reject_all(
            error.hint(
                "write the place and the value: `{ \"/status\" = \"open\", \"/id\" = { any = true } }`",
            ),
        );
    }
    table.finish();
    ReplyBody::Json(checks)
}

/// Strings, numbers and truth values.
fn json_value() -> ValueSpec<Value> {
    let read = |value: &DeValue| -> Result<Value, ValueError> {
        let written = match value {
            DeValue::String(text) => return Ok(text.to_string().into()),
            DeValue::Boolean(value) => return Ok((*value).into()),
            DeValue::Integer(number) => number.as_str().parse::<i64>().ok().map(Value::from),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok().map(Value::from),
            _ => None,
        };
        let found = || format!("expected a string, a number or a truth value, found {}", kind(value));
        written.ok_or_else(|| ValueError::new(found()).hint("`{ any = true }` takes any value"))
    };
    ValueSpec::new(|| json!({ "type": ["string", "number", "boolean"] }), read)
}

fn contains() -> ValueSpec<String> {
    text().rule("minLength", 1).rule("maxLength", CONTAINS_MAX).and_then(|found| match found.len() {
        0 => Err(ValueError::new("expected a string that the reply contains, found an empty one")
            .hint("write `reply = \"any\"` if any body is right")),
        1..=CONTAINS_MAX => Ok(found),
        _ => Err(ValueError::new(format!("expected at most {CONTAINS_MAX} bytes"))),
    })
}

/// Checks the expected reply against the rest of the request.
pub(super) fn check_reply(table: &TomlTable, request: &Request) {
    if !request.allows_body() && !matches!(request.reply, ReplyBody::Empty | ReplyBody::Any) {
        let why = if request.method == "HEAD" { "a reply to `HEAD`" } else { "a reply with this status" };
        table
            .reject("reply", ValueError::new(format!("{why} has no body")).hint("write `reply = \"empty\"`"));
    }
    if let ReplyBody::File(sizes) = &request.reply
        && 1 < sizes.len()
    {
        let n_sizes = sizes.len();
        let error = match request.parameters.last().map(|parameter| (parameter.count, &parameter.name)) {
            Some((ValueCount::Fixed(values), _)) if values == n_sizes as u64 => return,
            Some((ValueCount::Fixed(values), name)) => {
                format!("{n_sizes} sizes for {values} values of `{name}`")
            }
            Some((ValueCount::SquareRoot(_), name)) => {
                format!("{n_sizes} sizes, but `{name}` grows with the load")
            }
            None => format!("{n_sizes} sizes for one file"),
        };
        let hint = "give one size for all, or one for each value of the last parameter in the path";
        table.reject("reply", ValueError::new(error).hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use crate::definition::parse::problems_of_request;

    #[test]
    fn mistakes_in_replies_have_a_position() {
        let found = problems_of_request([
            ("{ file = [1000, 2000, 3000] }", "{ file = [1000, 2000] }"),
            ("{ file = [1000, 2000, 3000] }", "{ file = -1 }"),
            ("{ file = [1000, 2000, 3000] }", "{ file = [1, \"2\", 3] }"),
            ("{ letters = 1000 }", "\"eny\""),
            ("{ letters = 1000 }", "{ letters = 0 }"),
            ("{ letters = 1000 }", "{ letters = 1, file = 1 }"),
            ("{ letters = 1000 }", "{}"),
            ("{ letters = 1000 }", "{ bytes = 5 }"),
            ("{ letters = 1000 }", "{ file = [1, 2] }"),
            ("{ html-letters = 1024 }", "{ html-letters = 63 }"),
            ("{ contains = \"accepted\" }", "{ contains = \"\" }"),
            ("{ contains = \"accepted\" }", "{ content-type = \"text/html; charset=utf-8\" }"),
            ("weight = 0.7", "weight = 0"),
            ("weight = 0.7", "weight = 1e3"),
            ("weight = 0.7", ""),
            ("\"image\", \"letters\"]", "\"image\", \"leters\"]"),
            ("[\"image\", \"image\", \"letters\"]", "[]"),
            ("name = \"letters\"", "name = \"letters\"\nweight = 5"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 20, `{ file = [1000, 2000] }`: `workload.requests.reply` is not valid: 2 sizes for 3 values of `id`
        line 20, `-1`: `workload.requests.reply.file` is not valid: expected a whole number from 0 to 1099511627776, found -1
        line 20, `[1, "2", 3]`: `workload.requests.reply.file` is not valid: expected a whole number from 0 to 1099511627776, found a string
        line 36, `"eny"`: `workload.requests.reply` is not valid: expected `empty` or `seen` or `same` or `any`, found `eny`
        line 36, `0`: `workload.requests.reply.letters` is not valid: expected a whole number from 1 to 10485760, found 0
        line 36, `1`: `workload.requests.reply.letters` is not valid: expected one of `file`, `letters`, `html-letters`, `contains`, `content-type`, `json` and `length-min` with `length-max`
        line 36, `reply`: `workload.requests.reply.file` is not valid: expected one of `file`, `letters`, `html-letters`, `contains`, `content-type`, `json` and `length-min` with `length-max`
        line 36, `bytes`: unknown key `bytes` in `workload.requests.reply`: not a key of a definition
        line 36, `{ file = [1, 2] }`: `workload.requests.reply` is not valid: 2 sizes for one file
        line 41, `63`: `workload.requests.reply.html-letters` is not valid: expected a whole number from 64 to 10485760, found 63
        line 31, `""`: `workload.requests.reply.contains` is not valid: expected a string that the reply contains, found an empty one
        line 31, `"text/html; charset=utf-8"`: `workload.requests.reply.content-type` is not valid: expected a content type without parameters
        line 44, `0`: `workload.pages.weight` is not valid: expected a number above 0 and up to 1000000000, found 0
        line 44, `1e3`: `workload.pages.weight` is not valid: expected a number above 0 and up to 1000000000, found 1e3
        line 43, `[[workload.pages]]`: `workload.pages.weight` is missing: `weight` must be given here
        line 45, `["image", "image", "leters"]`: `workload.pages.requests` is not valid: no request is called `leters`
        line 45, `[]`: `workload.pages.requests` is not valid: expected an array, found an empty one
        line 35, `5`: `workload.requests.weight` is not valid: the weights belong to `[[workload.pages]]`
        "#);
    }
}
