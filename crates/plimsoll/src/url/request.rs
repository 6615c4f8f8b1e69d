//! The parts of requests besides their URLs: method, header fields and body.

use std::path::{Path, PathBuf};

use languages::{credential_spans, foreign_text, is_credential};
use model::{Secret, SecretLocation, SecretSource, TemplatePiece, header_name_fault, template_pieces};

use super::value::{UrlValue, quoted};
use crate::exit::Failure;
use crate::files::read_input;
use crate::url_arguments::UrlArguments;

/// The environment variable from which a definition takes the data of `-d`, which are stored nowhere.
pub(super) const DATA_VARIABLE: &str = "PLIMSOLL_DATA";

/// The type of data of `-d`, as curl sends it.
const FORM: &str = "application/x-www-form-urlencoded";

/// The longest body, in bytes: that of definitions.
const BODY_MAX: usize = 1 << 20;

/// Method, header fields and body of requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestParts {
    /// The method.
    pub method: String,
    /// The header fields.
    pub headers: Vec<(String, UrlValue)>,
    /// The body; `None` without one.
    pub body: Option<UrlBody>,
}

/// The source of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UrlBody {
    /// A text that is held for the run, in place of an environment variable.
    Given {
        /// The name of the variable.
        variable: String,
        /// The text.
        text: String,
    },
    /// An environment variable behind a text in clear.
    Value(UrlValue),
    /// A file.
    File(PathBuf),
}

impl RequestParts {
    /// Reads the parts.
    ///
    /// # Errors
    /// One is malformed, contradicts another, or has a credential in clear.
    pub(super) fn of(arguments: &UrlArguments) -> Result<RequestParts, Failure> {
        let body = body(arguments)?;
        let method = method(arguments.method.as_deref(), body.is_some())?;
        let mut headers = Vec::new();
        for text in &arguments.headers {
            let (name, value) = header(text)?;
            if headers.iter().any(|(other, _): &(String, _)| other.eq_ignore_ascii_case(&name)) {
                return Err(Failure::usage(format!("`-H {name}: …` is given twice")));
            }
            headers.push((name, value));
        }
        let has_type = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if body.is_some() && !has_type {
            headers.push(("Content-Type".to_owned(), UrlValue::Literal(FORM.to_owned())));
        }
        Ok(RequestParts { method, headers, body })
    }
}

impl UrlBody {
    /// Makes the body of data of the command line.
    fn data(text: String) -> UrlBody {
        UrlBody::Given { variable: DATA_VARIABLE.to_owned(), text }
    }

    /// Returns the body as a definition in `folder` has it.
    pub(super) fn toml(&self, folder: &Path) -> String {
        match self {
            UrlBody::Given { variable, .. } => format!("{{ env = {} }}", quoted(variable)),
            UrlBody::Value(value) => value.toml(),
            UrlBody::File(path) => format!("{{ file = {} }}", quoted(&named_from(path, folder))),
        }
    }

    /// Returns it as the secret of requests of a definition in `folder`.
    pub(super) fn secret(&self, folder: &Path) -> Option<Secret> {
        let source = match self {
            UrlBody::Given { variable, .. } => SecretSource::Env(variable.clone()),
            UrlBody::Value(value) => return value.secret(&SecretLocation::Body),
            UrlBody::File(path) => SecretSource::File(named_from(path, folder)),
        };
        Some(Secret { part: SecretLocation::Body, prefix: String::new(), source })
    }
}

/// Returns the path of a file from the folder of a definition.
fn named_from(path: &Path, folder: &Path) -> String {
    let is_there = folder.as_os_str().is_empty() || path.is_absolute();
    let absolute = std::path::absolute(path).ok().filter(|_| !is_there);
    absolute.as_deref().unwrap_or(path).display().to_string()
}

/// Returns the method of a request.
///
/// # Errors
/// It is none that can be measured, or contradicts the body.
pub(super) fn method(asked: Option<&str>, has_body: bool) -> Result<String, Failure> {
    let Some(asked) = asked else { return Ok(if has_body { "POST" } else { "GET" }.to_owned()) };
    let is_plain = !asked.is_empty() && asked.len() <= 32 && asked.bytes().all(|c| c.is_ascii_uppercase());
    if !is_plain {
        let failure =
            Failure::usage(format!("`-X {}`: expected a method in capital letters", foreign_text(asked)));
        let upper = asked.to_ascii_uppercase();
        let is_meant = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(&&*upper);
        return Err(if is_meant { failure.hint(format!("write `-X {upper}`")) } else { failure });
    }
    match asked {
        "CONNECT" => Err(Failure::usage("`-X CONNECT` opens a tunnel, which cannot be measured")),
        "GET" | "HEAD" if has_body => {
            let error = format!("`-X {asked}` has no body, but `-d` or `--data-file` sets one");
            Err(Failure::usage(error)
                .hint("omit `-X`, and the body is sent by POST; put values of a GET request into the query of the URL"))
        }
        _ => Ok(asked.to_owned()),
    }
}

fn header(text: &str) -> Result<(String, UrlValue), Failure> {
    let Some((name, value)) = text.split_once(':') else {
        // What is not a name may be a credential.
        let shown = if header_name_fault(text).is_none() { text } else { "…" };
        let error = format!("`-H {shown}`: expected `NAME: VALUE`");
        return Err(Failure::usage(error).hint("write it as `-H 'Accept: text/html'`, quoted for the shell"));
    };
    let name = name.trim();
    let value = value.trim();
    if let Some(fault) = header_name_fault(name) {
        return Err(Failure::usage(format!("`-H {}: …`: {fault}", foreign_text(name))));
    }
    let parsed = UrlValue::parse(value).map_err(|why| Failure::usage(format!("`-H {name}: …`: {why}")))?;
    if let UrlValue::Literal(value) = &parsed {
        if let Some(fault) = SecretLocation::Header(name.to_owned()).fault(value) {
            return Err(Failure::usage(format!("the value of `-H {name}: …` cannot be sent: {fault}")));
        }
        let is_text = |piece: &TemplatePiece| matches!(piece, TemplatePiece::Text(_));
        if let Some(placeholder) = template_pieces(value).into_iter().find(|piece| !is_text(piece)) {
            let error = format!("`-H {name}: …`: `{placeholder}` has no values");
            return Err(Failure::usage(error).hint(
                "a definition (docs/definitions.md) can give it some; a text with these braces can come from an environment \
                 variable: `{env:NAME}`",
            ));
        }
        if is_credential(name, value) {
            let error = format!("`-H {name}: …` has a credential in clear, which others can see");
            let scheme = value.split_once(' ').map(|(scheme, _)| scheme);
            let scheme = scheme.filter(|scheme| matches!(*scheme, "Bearer" | "Basic" | "Token"));
            let prefix = scheme.map(|scheme| format!("{scheme} ")).unwrap_or_default();
            return Err(Failure::usage(error).hint(format!(
                "put it into an environment variable and name that: `-H '{name}: {prefix}{{env:NAME}}'`"
            )));
        }
    }
    Ok((name.to_owned(), parsed))
}

fn body(arguments: &UrlArguments) -> Result<Option<UrlBody>, Failure> {
    let data = match (&arguments.data, &arguments.data_file) {
        (_, Some(path)) => return file(path, "--data-file").map(Some),
        (None, None) => return Ok(None),
        (Some(data), None) => data,
    };
    if data == "@-" {
        return input();
    }
    if let Some(path) = data.strip_prefix('@') {
        return file(Path::new(path), "-d").map(Some);
    }
    check_length(data)?;
    if arguments.method.is_none() && is_time(data) {
        return Err(Failure::usage(format!("`-d {data}` is a body, as in curl, and not a length of time"))
            .hint(format!(
                "`--duration {data}` sets the length of a load point; to send this body, add `-X POST`"
            )));
    }
    // The message does not repeat the data.
    let value = UrlValue::parse(data).map_err(|why| Failure::usage(format!("`-d`: {why}")))?;
    if let UrlValue::Env { .. } = value {
        return Ok(Some(UrlBody::Value(value)));
    }
    if !credential_spans(data).is_empty() {
        return Err(Failure::usage("the data of `-d` has a credential in clear, which others can see").hint(
            "put them into a file, `--data-file FILE`, or into an environment variable, `-d '{env:NAME}'`",
        ));
    }
    Ok((!data.is_empty()).then(|| UrlBody::data(data.clone())))
}

/// Returns whether data are meant as a time, as for `-d 30s` of wrk.
fn is_time(data: &str) -> bool {
    let digits = data.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &data[digits.len()..];
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()) && matches!(unit, "ms" | "s" | "m" | "h")
}

/// Reads a body from standard input.
fn input() -> Result<Option<UrlBody>, Failure> {
    let data = read_input()?;
    check_length(&data)?;
    if data.is_empty() {
        Err(Failure::usage("`-d @-`: standard input is empty"))
    } else {
        Ok(Some(UrlBody::data(data)))
    }
}

/// Refuses a body that definitions could not have.
pub(super) fn check_length(data: &str) -> Result<(), Failure> {
    match data.len() {
        ..=BODY_MAX => Ok(()),
        _ => Err(Failure::usage(format!("the body of `-d` has more than {BODY_MAX} bytes"))),
    }
}

/// Checks that a file can be a body; it is read when the run begins.
fn file(path: &Path, flag: &str) -> Result<UrlBody, Failure> {
    let failed = |why: String| Failure::usage(format!("`{flag}`: cannot read `{}`: {why}", path.display()));
    let metadata = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    match metadata.len() {
        _ if !metadata.is_file() => Err(failed("it is not a regular file".to_owned())),
        0 => Err(failed("it is empty".to_owned())),
        n if BODY_MAX as u64 <= n => Err(failed(format!("it has more than {BODY_MAX} bytes"))),
        _ => Ok(UrlBody::File(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        url: UrlArguments,
    }

    fn parts(words: &[&str]) -> Result<RequestParts, String> {
        let words = Words::parse_from(["x"].iter().chain(words));
        RequestParts::of(&words.url).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn data_are_posted_as_by_curl() {
        let posted = parts(&["-d", "a=1"]).unwrap();
        assert_eq!((posted.method.as_str(), &posted.body), ("POST", &Some(UrlBody::data("a=1".into()))));
        assert_eq!(posted.headers, [("Content-Type".to_owned(), UrlValue::Literal(FORM.to_owned()))]);
        let typed = parts(&["-d", "{}", "-H", "content-type: application/json", "-X", "PUT"]).unwrap();
        assert_eq!((typed.method.as_str(), typed.headers.len()), ("PUT", 1));
        assert_eq!(parts(&["-d", "30s", "-X", "POST"]).unwrap().body, Some(UrlBody::data("30s".into())));
        assert_eq!(parts(&[]).unwrap().method, "GET");
        let empty = parts(&["-d", "", "-X", "POST"]).unwrap();
        assert_eq!((empty.method.as_str(), empty.body, empty.headers.len()), ("POST", None, 0));
    }

    #[test]
    fn mistakes_are_named_and_values_are_not() {
        let mistakes: [&[&str]; 14] = [
            &["-d", "30s"],
            &["-H", "Accept"],
            &["-H", "Bearer s3cret"],
            &["-H", "A b: c"],
            &["-H", "Host: other"],
            &["-H", "X: é"],
            &["-H", "Authorization: Bearer s3cret"],
            &["-H", "Cookie: sid=s3cret"],
            &["-H", "X: a", "-H", "x: b"],
            &["-d", "password=s3cret"],
            &["-d", "a", "-X", "GET"],
            &["-X", "post"],
            &["-H", "X: a{b}c"],
            &["--data-file", "/does/not/exist"],
        ];
        let found: Vec<String> = mistakes.into_iter().map(|words| parts(words).unwrap_err()).collect();
        assert!(found.iter().all(|message| !message.contains("s3cret")), "{found:#?}");
        insta::assert_snapshot!(found.join("\n"), @r"
        `-d 30s` is a body, as in curl, and not a length of time
        `-H Accept`: expected `NAME: VALUE`
        `-H …`: expected `NAME: VALUE`
        `-H A b: …`: this is not the name of a header field
        `-H Host: …`: the protocol itself sends this field
        the value of `-H X: …` cannot be sent: it is not one line of ASCII without spaces around it
        `-H Authorization: …` has a credential in clear, which others can see
        `-H Cookie: …` has a credential in clear, which others can see
        `-H x: …` is given twice
        the data of `-d` has a credential in clear, which others can see
        `-X GET` has no body, but `-d` or `--data-file` sets one
        `-X post`: expected a method in capital letters
        `-H X: …`: `{b}` has no values
        `--data-file`: cannot read `/does/not/exist`: No such file or directory (os error 2)
        ");
    }
}
