//! Bodies: data, joined as cURL joins them, and forms of several parts (RFC 7578).

use super::CurlFault;
use crate::percent_encoded;

/// The line between the parts of a form.
const BOUNDARY: &str = "------------------------form-part-boundary";

/// The data of a command.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// The data so far; `None` without any.
    pub text: Option<String>,
    /// Whether they are JSON.
    pub is_json: bool,
}

impl Data {
    /// Appends data: fields behind an ampersand, JSON as it is.
    pub(super) fn push(&mut self, text: &str, is_json: bool) {
        match &mut self.text {
            Some(all) => {
                if !is_json {
                    all.push('&');
                }
                all.push_str(text);
            }
            None => self.text = Some(text.to_owned()),
        }
        self.is_json |= is_json;
    }
}

/// Encodes `CONTENT`, `=CONTENT` or `NAME=CONTENT` as fields of forms; the name is encoded already. `None` if the content is
/// in a file.
pub(super) fn url_encoded(value: &str) -> Option<String> {
    let encoded = |content: &str| percent_encoded(content).replace("%20", "+");
    match value.find(['=', '@']) {
        Some(at) if value[at..].starts_with('@') => None,
        Some(0) => Some(encoded(&value[1..])),
        Some(at) => Some(format!("{}={}", &value[..at], encoded(&value[at + 1..]))),
        None => Some(encoded(value)),
    }
}

/// A part of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FormPart {
    name: String,
    content: String,
    file_name: Option<String>,
    content_type: Option<String>,
}

impl FormPart {
    /// Makes a part of `NAME=CONTENT`, whatever the content is.
    pub(super) fn text(value: &str) -> Option<FormPart> {
        let (name, content) = value.split_once('=')?;
        Some(FormPart {
            name: name.to_owned(),
            content: content.to_owned(),
            file_name: None,
            content_type: None,
        })
    }

    /// Reads `NAME=CONTENT;type=TYPE;filename=NAME`.
    ///
    /// # Errors
    /// Another form, or a content that is in a file.
    pub(super) fn read(option: &str, value: &str) -> Result<FormPart, CurlFault> {
        let expected = "`NAME=CONTENT`, perhaps with `;type=TYPE` and `;filename=NAME`";
        let wrong = || CurlFault::Value { option: option.to_owned(), expected };
        let mut part = FormPart::text(value).ok_or_else(wrong)?;
        if part.content.starts_with(['@', '<']) {
            return Err(CurlFault::File(option.to_owned()));
        }
        let text = std::mem::take(&mut part.content);
        let (content, mut rest) = quoted(&text).ok_or_else(wrong)?;
        part.content = content;
        while let Some(parameter) = rest.strip_prefix(';') {
            let (key, value) = parameter.split_once('=').ok_or_else(wrong)?;
            let (value, behind) = quoted(value).ok_or_else(wrong)?;
            match key.trim() {
                "type" => part.content_type = Some(value),
                "filename" => part.file_name = Some(value),
                _ => return Err(wrong()),
            }
            rest = behind;
        }
        if rest.is_empty() && !value.starts_with("=(") { Ok(part) } else { Err(wrong()) }
    }
}

/// Reads a text, perhaps in quotes, and returns it with the rest, which begins with a semicolon if there is one.
fn quoted(text: &str) -> Option<(String, &str)> {
    let Some(inner) = text.strip_prefix('"') else {
        let (text, rest) = text.split_at(text.find(';').unwrap_or(text.len()));
        return Some((text.to_owned(), rest));
    };
    let mut content = String::new();
    let mut rest = inner.chars();
    loop {
        match rest.next()? {
            '"' => return Some((content, rest.as_str())),
            '\\' if rest.as_str().starts_with(['"', '\\']) => content.extend(rest.next()),
            c => content.push(c),
        }
    }
}

/// Returns the type and the body of a form.
pub(super) fn multipart(parts: &[FormPart]) -> (String, String) {
    // One letter more than any part has behind the line.
    let letters = |rest: &str| rest.len() - rest.trim_start_matches('x').len();
    let behind = parts.iter().flat_map(|part| part.content.split(BOUNDARY).skip(1));
    let boundary = match behind.map(letters).max() {
        Some(most) => format!("{BOUNDARY}{}", "x".repeat(most + 1)),
        None => BOUNDARY.to_owned(),
    };
    let mut body = String::new();
    for part in parts {
        body += &format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", escaped(&part.name));
        if let Some(name) = &part.file_name {
            body += &format!("; filename=\"{}\"", escaped(name));
        }
        if let Some(content_type) = &part.content_type {
            body += &format!("\r\nContent-Type: {}", content_type.replace(['\r', '\n'], " "));
        }
        body += &format!("\r\n\r\n{}\r\n", part.content);
    }
    body += &format!("--{boundary}--\r\n");
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Escapes a name in quotes, as browsers do.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_encoded_by_their_form() {
        for (value, encoded) in [
            ("a b", Some("a+b")),
            ("=a=b", Some("a%3Db")),
            ("q=a&b", Some("q=a%26b")),
            ("q=a+b c", Some("q=a%2Bb+c")),
            ("q@file", None),
            ("@file", None),
            ("q=@no file", Some("q=%40no+file")),
        ] {
            assert_eq!(url_encoded(value).as_deref(), encoded, "{value}");
        }
    }

    #[test]
    fn a_form_has_its_parts_between_a_line_that_none_has() {
        let part = |value: &str| FormPart::read("-F", value).unwrap();
        let parts = [part("a=1"), part("b=\"x;\\\"y\";type=text/plain;filename=\"n.txt\"")];
        let (content_type, body) = multipart(&parts);
        assert_eq!(content_type, format!("multipart/form-data; boundary={BOUNDARY}"));
        let expected = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
             --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"b\"; filename=\"n.txt\"\r\nContent-Type: text/plain\r\n\r\n\
             x;\"y\r\n--{BOUNDARY}--\r\n"
        );
        assert_eq!(body, expected);
        let (other, body) = multipart(&[part(&format!("a={BOUNDARY}"))]);
        assert!(other.ends_with("boundaryx") && body.ends_with("boundaryx--\r\n"), "{other}");
        let longer = [part(&format!("a={BOUNDARY}xx {BOUNDARY}x")), part("b=c")];
        assert!(multipart(&longer).0.ends_with("boundaryxxx"));
        for wrong in ["a", "a=\"b", "a=1;x=2", "a=1;type", "=(;type=multipart/mixed"] {
            assert!(FormPart::read("-F", wrong).is_err(), "{wrong}");
        }
        for file in ["a=@b", "a=<b"] {
            assert_eq!(FormPart::read("-F", file), Err(CurlFault::File("-F".to_owned())), "{file}");
        }
    }
}
