//! Requests as a client sends them: built once per target, sent many times.

use thiserror::Error;

use crate::head::{Http1Version, RequestMethod, is_token_byte, is_value_byte};
use crate::request::is_host;

/// The options of a request besides its path; start from one of the constructors and change what differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestOptions<'a> {
    /// The version of the request line.
    pub version: Http1Version,
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
            version: Http1Version::Http10,
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
        RequestOptions { version: Http1Version::Http11, host: Some(host), ..RequestOptions::webstone() }
    }

    /// HTTP/1.1 that asks to close the connection after the response.
    pub fn http11_close(host: &'a str) -> RequestOptions<'a> {
        RequestOptions { connection: Some("close"), ..RequestOptions::http11(host) }
    }
}

/// A reason why a request cannot be written: a mistake in its parts.
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
    /// The name of a header is not a token.
    #[error("expected the name of a header, such as `Accept-Language`, found `{}`", .name.escape_debug())]
    Name {
        /// The name as given.
        name: String,
    },
    /// The value of a header has a control character, such as a line break, or is not ASCII.
    #[error("expected printable ASCII as `{name}`, found `{}`", .value.escape_debug())]
    Value {
        /// The header's name.
        name: String,
        /// The value as given.
        value: String,
    },
    /// A header that says where the request ends, where it goes or what becomes of its connection.
    #[error("header `{name}` is written by the program itself\nhint: leave it out")]
    Reserved {
        /// The name as given.
        name: String,
    },
    /// The method is not a token, or one after which the connection is no longer HTTP.
    #[error("expected a method such as GET or POST (not CONNECT), found `{}`", .method.escape_debug())]
    Method {
        /// The method as given.
        method: String,
    },
}

/// Headers that follow from the rest of a request: its host, its length, the life of its connection.
const RESERVED: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// One request but for its path, ready to be written any number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTemplate {
    method: RequestMethod,
    start: Box<[u8]>,
    end: Box<[u8]>,
}

impl RequestTemplate {
    /// Builds a GET request without further headers.
    ///
    /// # Errors
    ///
    /// A host or value that would not arrive as given; see [`RequestError`].
    pub fn get(options: &RequestOptions<'_>) -> Result<RequestTemplate, RequestError> {
        RequestTemplate::new("GET", options, &[], b"")
    }

    /// Builds a request with these headers, pairs of name and value, and this body. A `User-Agent` or `Accept`
    /// among the headers replaces that of the options.
    ///
    /// # Errors
    ///
    /// A part that would not arrive as given or say two things at once; see [`RequestError`].
    pub fn new(
        method: &str,
        options: &RequestOptions<'_>,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<RequestTemplate, RequestError> {
        check_method(method)?;
        check_host(options)?;
        check_headers(headers)?;
        let own = |name: &str, value| Some(value?).filter(|_| !is_among(headers, name));
        let mut end = format!(" {}\r\n", options.version.as_str());
        push_field(&mut end, "Host", options.host)?;
        push_field(&mut end, "User-Agent", own("User-Agent", options.user_agent))?;
        push_field(&mut end, "Accept", own("Accept", options.accept))?;
        push_field(&mut end, "Connection", options.connection)?;
        for (name, value) in headers {
            push_field(&mut end, name, Some(value))?;
        }
        if let Some(length) = content_length(method, body) {
            push_field(&mut end, "Content-Length", Some(&length.to_string()))?;
        }
        end += "\r\n";
        Ok(RequestTemplate {
            method: RequestMethod::from_name(method.as_bytes()),
            start: format!("{method} ").into_bytes().into(),
            end: [end.as_bytes(), body].concat().into(),
        })
    }

    /// Appends the request for the path that `path` appends, which must be one that [`check_path`] takes.
    #[inline]
    pub fn write(&self, path: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start);
        path(out);
        out.extend_from_slice(&self.end);
    }

    /// Returns the request for a path as it goes over the wire.
    ///
    /// # Errors
    ///
    /// As [`check_path`].
    pub fn bytes(&self, path: &str) -> Result<Box<[u8]>, RequestError> {
        check_path(path)?;
        let mut bytes = Vec::new();
        self.write(|out| out.extend_from_slice(path.as_bytes()), &mut bytes);
        Ok(bytes.into())
    }

    /// Returns the request's method, which [`parse_response`](crate::parse_response) has to know.
    #[inline]
    pub fn method(&self) -> RequestMethod {
        self.method
    }
}

/// Checks a path that the caller has percent-encoded; a query may follow it.
///
/// # Errors
///
/// [`RequestError::Path`] if it would not arrive as given.
pub fn check_path(path: &str) -> Result<(), RequestError> {
    let clean = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if clean && path.starts_with('/') {
        return Ok(());
    }
    Err(RequestError::Path { path: path.into() })
}

/// Checks headers that are to stand beside those that every request needs: names and values that can be written,
/// and no name that is reserved.
fn check_headers(headers: &[(String, String)]) -> Result<(), RequestError> {
    for (name, value) in headers {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(RequestError::Name { name: name.clone() });
        }
        if RESERVED.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
            return Err(RequestError::Reserved { name: name.clone() });
        }
        check_value(name, value)?;
    }
    Ok(())
}

/// Returns the length that a request has to declare: that of its body, and none without a body except for the
/// methods that are expected to have one (RFC 9110 §8.6).
pub fn content_length(method: &str, body: &[u8]) -> Option<usize> {
    (!body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH")).then_some(body.len())
}

fn check_method(method: &str) -> Result<(), RequestError> {
    if !method.is_empty() && method.bytes().all(is_token_byte) && method != "CONNECT" {
        return Ok(());
    }
    Err(RequestError::Method { method: method.into() })
}

fn check_host(options: &RequestOptions<'_>) -> Result<(), RequestError> {
    match options.host {
        None if options.version == Http1Version::Http11 => Err(RequestError::HostMissing),
        Some(host) if !is_host(host.as_bytes()) => Err(RequestError::Host { host: host.into() }),
        _ => Ok(()),
    }
}

fn is_among(headers: &[(String, String)], name: &str) -> bool {
    headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

fn check_value(name: &str, value: &str) -> Result<(), RequestError> {
    if value.bytes().all(|byte| byte.is_ascii() && is_value_byte(byte)) {
        return Ok(());
    }
    Err(RequestError::Value { name: name.into(), value: value.into() })
}

fn push_field(text: &mut String, name: &str, value: Option<&str>) -> Result<(), RequestError> {
    let Some(value) = value else { return Ok(()) };
    check_value(name, value)?;
    text.extend([name, ": ", value, "\r\n"]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &str, options: &RequestOptions<'_>) -> String {
        let bytes = RequestTemplate::get(options).unwrap().bytes(path).unwrap();
        String::from_utf8(bytes.into()).unwrap()
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
            let template = RequestTemplate::get(&RequestOptions::webstone()).unwrap();
            assert_eq!(template.bytes(path), Err(RequestError::Path { path: path.into() }), "{path:?}");
        }
    }

    #[test]
    fn values_that_would_change_the_request_are_refused() {
        let refused = |options| RequestTemplate::get(&options).unwrap_err();
        for host in ["a b", "a\r\nX: y", "a/b", "u@h", "é"] {
            assert_eq!(refused(RequestOptions::http11(host)), RequestError::Host { host: host.into() });
        }
        let options = RequestOptions { accept: Some("a\r\nb"), ..RequestOptions::webstone() };
        assert_eq!(refused(options), RequestError::Value { name: "Accept".into(), value: "a\r\nb".into() });
        let options = RequestOptions { version: Http1Version::Http11, ..RequestOptions::webstone() };
        assert_eq!(refused(options), RequestError::HostMissing);
    }

    /// Returns a request with this method, headers and body, as written over HTTP/1.0.
    fn with(method: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<String, RequestError> {
        let headers: Vec<_> =
            headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let template = RequestTemplate::new(method, &RequestOptions::webstone(), &headers, body)?;
        Ok(String::from_utf8(template.bytes("/x")?.into()).unwrap())
    }

    #[test]
    fn method_headers_and_body_are_written() {
        assert_eq!(with("HEAD", &[], b"").unwrap(), "HEAD /x HTTP/1.0\r\nAccept: */*\r\n\r\n");
        assert_eq!(
            with("POST", &[("Content-Type", "text/plain"), ("accept", "text/*")], b"hello").unwrap(),
            "POST /x HTTP/1.0\r\nContent-Type: text/plain\r\naccept: text/*\r\nContent-Length: 5\r\n\r\nhello"
        );
        let empty = "PUT /x HTTP/1.0\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(with("PUT", &[], b"").unwrap(), empty);
        let head = RequestTemplate::new("HEAD", &RequestOptions::webstone(), &[], b"").unwrap();
        assert_eq!(head.method(), RequestMethod::Head);
    }

    #[test]
    fn contradictory_headers_are_refused() {
        for name in ["Host", "HOST", "content-length", "Transfer-Encoding", "Connection", "TE", "Upgrade"] {
            let refused = with("GET", &[(name, "x")], b"");
            assert_eq!(refused, Err(RequestError::Reserved { name: name.into() }));
        }
        for name in ["", "a b", "a:", "a\r\nb", "ä"] {
            assert_eq!(with("GET", &[(name, "x")], b""), Err(RequestError::Name { name: name.into() }));
        }
        for method in ["", "GE T", "GET\r\n", "CONNECT"] {
            assert_eq!(with(method, &[], b""), Err(RequestError::Method { method: method.into() }));
        }
    }
}
