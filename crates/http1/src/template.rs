//! Requests as a client sends them: built once per target, sent many times.

use thiserror::Error;

use crate::head::{RequestMethod, Version, is_value_byte};
use crate::request::is_host;

/// What a request says besides its path; start from one of the constructors and change what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestOptions<'a> {
    /// The version of the request line.
    pub version: Version,
    /// The value of `Host`: `host` or `host:port`. HTTP/1.1 demands it (RFC 9112 §3.2).
    pub host: Option<&'a str>,
    /// The value of `User-Agent`.
    pub user_agent: Option<&'a str>,
    /// The value of `Accept`.
    pub accept: Option<&'a str>,
    /// The value of `Connection`; without it the version's default holds (RFC 9112 §9.3).
    pub connection: Option<&'a str>,
}

impl<'a> RequestOptions<'a> {
    /// The form of the WebStone clients: HTTP/1.0, one `Accept` line, no `Host`, no `Connection`.
    pub fn webstone() -> RequestOptions<'a> {
        RequestOptions {
            version: Version::Http10,
            host: None,
            user_agent: None,
            accept: Some("*/*"),
            connection: None,
        }
    }

    /// HTTP/1.0 that asks to keep the connection: the labelled modification of WebStone.
    pub fn http10_keep_alive() -> RequestOptions<'a> {
        RequestOptions { connection: Some("keep-alive"), ..RequestOptions::webstone() }
    }

    /// HTTP/1.1 on a connection that stays open.
    pub fn http11(host: &'a str) -> RequestOptions<'a> {
        RequestOptions { version: Version::Http11, host: Some(host), ..RequestOptions::webstone() }
    }

    /// HTTP/1.1 that asks to close the connection after the response.
    pub fn http11_close(host: &'a str) -> RequestOptions<'a> {
        RequestOptions { connection: Some("close"), ..RequestOptions::http11(host) }
    }
}

/// Why a request cannot be written; a mistake of whoever chose the path or the options.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The path does not begin with a slash or has bytes that no request line can carry.
    #[error(
        "expected a path that begins with `/`, of visible ASCII without `#`, found `{}`\n\
         hint: percent-encode blanks and other characters, such as `%20`", .path.escape_debug()
    )]
    Path {
        /// The path as given.
        path: String,
    },
    /// The host has characters that no host or port has.
    #[error("expected `host` or `host:port`, found `{}`", .host.escape_debug())]
    Host {
        /// The host as given.
        host: String,
    },
    /// HTTP/1.1 without a host.
    #[error("an HTTP/1.1 request needs a host\nhint: give one, or use HTTP/1.0")]
    HostMissing,
    /// The value of a header has a control character, such as a line break, or is not ASCII.
    #[error("expected printable ASCII as `{name}`, found `{}`", .value.escape_debug())]
    Value {
        /// The header's name.
        name: &'static str,
        /// The value as given.
        value: String,
    },
    /// Only requests without a body can be repeated from a template.
    #[error("expected GET or HEAD as the method of a request template")]
    Method,
}

/// The bytes of one request, ready to be written any number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTemplate {
    method: RequestMethod,
    bytes: Box<[u8]>,
}

impl RequestTemplate {
    /// Builds a GET request for `path`, which the caller has percent-encoded; a query may follow it.
    ///
    /// # Errors
    ///
    /// A path, host or value that would not arrive as given; see [`RequestError`].
    pub fn get(path: &str, options: &RequestOptions<'_>) -> Result<RequestTemplate, RequestError> {
        RequestTemplate::new(RequestMethod::Get, path, options)
    }

    /// Builds a GET or HEAD request; otherwise as [`RequestTemplate::get`].
    ///
    /// # Errors
    ///
    /// As [`RequestTemplate::get`], and [`RequestError::Method`].
    pub fn new(
        method: RequestMethod,
        path: &str,
        options: &RequestOptions<'_>,
    ) -> Result<RequestTemplate, RequestError> {
        check_path(path)?;
        check_host(options)?;
        let mut text = match method {
            RequestMethod::Get => String::from("GET "),
            RequestMethod::Head => String::from("HEAD "),
            _ => return Err(RequestError::Method),
        };
        text += path;
        text += " ";
        text += options.version.as_str();
        text += "\r\n";
        push_field(&mut text, "Host", options.host)?;
        push_field(&mut text, "User-Agent", options.user_agent)?;
        push_field(&mut text, "Accept", options.accept)?;
        push_field(&mut text, "Connection", options.connection)?;
        text += "\r\n";
        Ok(RequestTemplate { method, bytes: text.into_bytes().into() })
    }

    /// Returns the request as it goes over the wire.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the request's method, which [`parse_response`](crate::parse_response) has to know.
    #[inline]
    pub fn method(&self) -> RequestMethod {
        self.method
    }
}

fn check_path(path: &str) -> Result<(), RequestError> {
    let clean = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if clean && path.starts_with('/') {
        return Ok(());
    }
    Err(RequestError::Path { path: path.into() })
}

fn check_host(options: &RequestOptions<'_>) -> Result<(), RequestError> {
    match options.host {
        None if options.version == Version::Http11 => Err(RequestError::HostMissing),
        Some(host) if !is_host(host.as_bytes()) => Err(RequestError::Host { host: host.into() }),
        _ => Ok(()),
    }
}

fn push_field(text: &mut String, name: &'static str, value: Option<&str>) -> Result<(), RequestError> {
    let Some(value) = value else { return Ok(()) };
    if !value.bytes().all(|byte| byte.is_ascii() && is_value_byte(byte)) {
        return Err(RequestError::Value { name, value: value.into() });
    }
    text.extend([name, ": ", value, "\r\n"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &str, options: &RequestOptions<'_>) -> String {
        String::from_utf8(RequestTemplate::get(path, options).unwrap().bytes().into()).unwrap()
    }

    #[test]
    fn webstone_form_is_request_line_and_accept_only() {
        assert_eq!(
            written("/f.html", &RequestOptions::webstone()),
            "GET /f.html HTTP/1.0\r\nAccept: */*\r\n\r\n"
        );
    }

    #[test]
    fn http10_keep_alive_adds_the_connection_line() {
        assert_eq!(
            written("/", &RequestOptions::http10_keep_alive()),
            "GET / HTTP/1.0\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
        );
    }

    #[test]
    fn http11_names_host_and_agent() {
        let options = RequestOptions { user_agent: Some("plimsoll/0.1"), ..RequestOptions::http11("h:8080") };
        assert_eq!(
            written("/d?size=1", &options),
            "GET /d?size=1 HTTP/1.1\r\nHost: h:8080\r\nUser-Agent: plimsoll/0.1\r\nAccept: */*\r\n\r\n"
        );
        assert_eq!(
            written("/", &RequestOptions::http11_close("h")),
            "GET / HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn paths_that_would_change_the_request_are_refused() {
        for path in
            ["", "f.html", "*", "/a b", "/a\tb", "/a\r\nHost: x", "/é", "/a#b", "/\0", "/\u{7f}", "http://h/"]
        {
            let refused = RequestTemplate::get(path, &RequestOptions::webstone());
            assert_eq!(refused, Err(RequestError::Path { path: path.into() }), "{path:?}");
        }
    }

    #[test]
    fn values_that_would_change_the_request_are_refused() {
        let refused = |options| RequestTemplate::get("/", &options).unwrap_err();
        for host in ["a b", "a\r\nX: y", "a/b", "u@h", "é"] {
            assert_eq!(refused(RequestOptions::http11(host)), RequestError::Host { host: host.into() });
        }
        let options = RequestOptions { accept: Some("a\r\nb"), ..RequestOptions::webstone() };
        assert_eq!(refused(options), RequestError::Value { name: "Accept", value: "a\r\nb".into() });
        let options = RequestOptions { version: Version::Http11, ..RequestOptions::webstone() };
        assert_eq!(refused(options), RequestError::HostMissing);
    }

    #[test]
    fn only_methods_without_a_body_make_templates() {
        let options = RequestOptions::webstone();
        let head = RequestTemplate::new(RequestMethod::Head, "/", &options).unwrap();
        assert!(head.bytes().starts_with(b"HEAD / HTTP/1.0\r\n"));
        assert_eq!(head.method(), RequestMethod::Head);
        assert_eq!(RequestTemplate::new(RequestMethod::Post, "/", &options), Err(RequestError::Method));
    }
}
