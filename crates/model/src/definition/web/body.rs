//! Reading `body`: a text, a value from elsewhere, JSON, a form or a form in parts (multipart).

use languages::reader::{NamedEntry, TomlTable, ValueError};
use languages::spec::{ValueSpec, line, text};
use units::mix_bits;

use super::secret::{SecretWords, WrittenValue, read_value};
use crate::{BodyEncoding, TemplatePiece, template_pieces};

/// The longest body that is sent: 1 MiB.
const BODY_MAX: usize = 1 << 20;

/// The body of a request as written.
pub(super) struct WrittenBody {
    pub(super) value: WrittenValue,
    pub(super) encoding: BodyEncoding,
    /// The media type that follows from how it is written.
    pub(super) content_type: Option<String>,
}

/// The keys of bodies that have a form of their own.
const STRUCTURED: [&str; 3] = ["json", "form", "multipart"];

/// The words for the body in descriptions.
const WORDS: SecretWords = SecretWords { value: "the body", of_file: ", and sent as it is" };

/// Reads the body of a request.
pub(super) fn read_body(table: &mut TomlTable) -> Option<WrittenBody> {
    let literal = body().map(|text| plain(WrittenValue::Literal { text, disclose: None }));
    table.optional_either("body", "The body that is sent; if absent: none.", literal, read_table)
}

/// Reads a body that is written as a table.
fn read_table(mut table: TomlTable) -> Option<WrittenBody> {
    table.describe("Body", "A body: one of `env`, `file`, `value`, `json`, `form` and `multipart`.");
    let structured = STRUCTURED.into_iter().find(|key| table.value(key).is_some());
    let [json, form, multipart] = STRUCTURED.map(Some);
    let mut written = None;
    for key in table.cases(structured, &[None, json, form, multipart]) {
        written = match key {
            Some(key) => read_structured(&mut table, key),
            None => read_value(&mut table, WORDS, body()).map(plain),
        };
    }
    if structured.is_none() {
        table.finish();
    }
    written
}

fn plain(value: WrittenValue) -> WrittenBody {
    WrittenBody { value, encoding: BodyEncoding::Text, content_type: None }
}

/// Reads `{ json = … }`, `{ form = … }` or `{ multipart = … }`.
fn read_structured(table: &mut TomlTable, key: &'static str) -> Option<WrittenBody> {
    let literal = |text| WrittenValue::Literal { text, disclose: None };
    let written = match key {
        "json" => {
            let about = "JSON, in which placeholders stand for numbers or for parts of strings.";
            table.optional("json", about, json()).map(|text| WrittenBody {
                value: literal(text),
                encoding: BodyEncoding::Json,
                content_type: Some("application/json".to_owned()),
            })
        }
        "form" => {
            let about = "The fields of a form (`application/x-www-form-urlencoded`).";
            table.optional_table("form", about).map(|inner| WrittenBody {
                value: literal(read_form(inner)),
                encoding: BodyEncoding::Form,
                content_type: Some("application/x-www-form-urlencoded".to_owned()),
            })
        }
        _ => {
            let about = "The parts of a form (`multipart/form-data`).";
            let parts = table.optional_table("multipart", about).map(read_parts);
            parts.map(|(boundary, text)| WrittenBody {
                value: literal(text),
                encoding: BodyEncoding::Text,
                content_type: Some(format!("multipart/form-data; boundary={boundary}")),
            })
        }
    };
    for other in table.keys().filter(|other| *other != key) {
        table.reject(other, ValueError::new(format!("`{key}` is the whole body")).hint("leave this out"));
    }
    if let Some(written) = &written
        && let WrittenValue::Literal { text, .. } = &written.value
        && BODY_MAX < text.len()
    {
        table.reject(key, ValueError::new(format!("expected at most {BODY_MAX} bytes")));
    }
    written
}

fn body() -> ValueSpec<String> {
    text().and_then(|body| match body.len() {
        0..=BODY_MAX => Ok(body),
        _ => Err(ValueError::new(format!("expected at most {BODY_MAX} bytes"))),
    })
}

/// JSON in which placeholders stand for numbers or for parts of strings.
fn json() -> ValueSpec<String> {
    body().and_then(|body| {
        let filled: String = template_pieces(&body)
            .iter()
            .map(|piece| match piece {
                TemplatePiece::Text(text) => text,
                _ => "0",
            })
            .collect();
        match serde_json::from_str::<serde::de::IgnoredAny>(&filled) {
            Ok(_) => Ok(body),
            Err(error) => Err(ValueError::new(format!("not JSON: {error}"))
                .hint("write it in single quotes: `'{\"id\": {id}, \"name\": \"{users.name}\"}'`")),
        }
    })
}

/// Reads the fields of a form and writes them, but for placeholders, in the encoding of forms.
fn read_form(mut table: TomlTable) -> String {
    let fields = table.named(text());
    table.finish();
    let fields = fields
        .into_iter()
        .map(|(name, value)| format!("{}={}", form_encoded(&name), encoded_template(&value)));
    fields.collect::<Vec<String>>().join("&")
}

/// Returns a text in the encoding of forms, its placeholders as they are.
fn encoded_template(text: &str) -> String {
    let written = |piece: &TemplatePiece| match piece {
        TemplatePiece::Text(text) => form_encoded(text),
        placeholder => placeholder.to_string(),
    };
    template_pieces(text).iter().map(written).collect()
}

/// Returns a text in the encoding of forms (WHATWG URL, `application/x-www-form-urlencoded`).
fn form_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// Reads the parts of a form in parts; returns the boundary between them and the body (RFC 7578).
fn read_parts(mut table: TomlTable) -> (String, String) {
    let mut parts = String::new();
    let mut texts: Vec<String> = Vec::new();
    let literal = text();
    for (name, _, entry) in table.named_entries(&literal) {
        let mut head = format!("Content-Disposition: form-data; name=\"{}\"", quoted(name));
        let value = match entry {
            NamedEntry::Value(value) => {
                literal.read(value).map_err(|error| table.reject(name, error)).unwrap_or_default()
            }
            NamedEntry::Table(mut inner) => {
                inner.describe("Part", "A part of a form with its properties.");
                let about = "The name of the file that it stands for.";
                if let Some(file_name) = inner.optional("file-name", about, line()) {
                    head += &format!("; filename=\"{}\"", quoted(&file_name));
                }
                if let Some(media_type) = inner.optional("type", "Its media type: `text/plain`.", line()) {
                    head += &format!("\r\nContent-Type: {media_type}");
                }
                let value = inner.required("value", "Its content.", text()).unwrap_or_default();
                inner.finish();
                value
            }
        };
        texts.push(format!("{head}\r\n\r\n{value}\r\n"));
    }
    table.finish();
    let boundary = boundary(&texts.concat());
    for text in texts {
        parts += &format!("--{boundary}\r\n{text}");
    }
    (boundary.clone(), format!("{parts}--{boundary}--\r\n"))
}

/// Returns a boundary that a text does not contain, a function of the text.
fn boundary(text: &str) -> String {
    let mut state = text.bytes().fold(0u64, |state, byte| mix_bits(state ^ u64::from(byte)));
    loop {
        let boundary = format!("plimsoll-{state:016x}");
        if !text.contains(&boundary) {
            return boundary;
        }
        state = mix_bits(state);
    }
}

/// Returns a name as it stands between quotes (RFC 7578 section 2, WHATWG HTML): quotes and line breaks encoded.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_around_placeholders() {
        assert_eq!(encoded_template("a b&ä{x}=/{users.name}{"), "a+b%26%C3%A4{x}%3D%2F{users.name}%7B");
        assert_eq!(encoded_template("{x}{y:3}"), "{x}{y:3}");
        assert_eq!(encoded_template("{ {x} {"), "%7B+{x}+%7B");
    }

    #[test]
    fn a_boundary_is_in_no_part() {
        let first = boundary("");
        assert_ne!(boundary(&format!("--{first}")), first);
        assert_eq!(boundary("a"), boundary("a"));
    }
}
