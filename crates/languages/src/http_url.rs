//! URLs of HTTP servers as people write them: `http://HOST[:PORT][/PATH][?QUERY]`, or the same without a scheme.

use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::idn::ascii_host;

/// A URL of an HTTP server. Its parts are checked: a host is a name or an address, a port is not 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl {
    /// The scheme, in any case; `None` if there is none.
    pub scheme: Option<UrlScheme>,
    /// The host: a name in ASCII or an address, an IPv6 address in brackets.
    pub host: String,
    /// The port; `None` if there is none.
    pub port: Option<u16>,
    /// Path and query as in a request, with the first slash; empty if there is neither.
    pub target: String,
}

/// A scheme of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlScheme {
    /// Plain HTTP.
    Http,
    /// HTTP over TLS.
    Https,
}

/// A reason why a text is not a [`HttpUrl`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HttpUrlError {
    /// Another scheme.
    #[error("expected `http://` or `https://`")]
    Scheme,
    /// A user name or password.
    #[error("user names are not supported")]
    UserInfo,
    /// A host that is neither a name nor an address.
    #[error("expected a host name or address, an IPv6 address in brackets")]
    Host,
    /// A port that is not a number from 1 to 65535.
    #[error("expected a port from 1 to 65535")]
    Port,
    /// A fragment, white space, a control character or a character beyond ASCII.
    #[error("fragments, blanks and non-ASCII characters are not supported")]
    Character,
}

impl UrlScheme {
    /// Returns the default port.
    pub fn port(self) -> u16 {
        match self {
            UrlScheme::Http => 80,
            UrlScheme::Https => 443,
        }
    }
}

impl FromStr for HttpUrl {
    type Err = HttpUrlError;

    fn from_str(text: &str) -> Result<HttpUrl, HttpUrlError> {
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (Some(UrlScheme::Http), rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (Some(UrlScheme::Https), rest),
            Some((before, _)) if !before.contains(['/', '?', '#']) => return Err(HttpUrlError::Scheme),
            _ => (None, text),
        };
        let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // This comes before any part of the host is shown: the text before `@` may be a password.
        if authority.contains('@') {
            return Err(HttpUrlError::UserInfo);
        }
        let (host, port) = split_port(authority);
        let host = ascii_host(host).filter(|host| is_host(host)).ok_or(HttpUrlError::Host)?;
        let port = port.map(|port| port_number(port).ok_or(HttpUrlError::Port)).transpose()?;
        if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Err(HttpUrlError::Character);
        }
        let slash = if target.starts_with('?') { "/" } else { "" };
        Ok(HttpUrl { scheme, host, port, target: format!("{slash}{target}") })
    }
}

impl HttpUrl {
    /// Returns host and port, as in a `Host` header: without a port if there is none.
    pub fn authority(&self) -> String {
        self.port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host))
    }

    /// Returns host and port to connect to: the port, or that of the scheme, or 80.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port_or_default())
    }

    /// Returns the port, or that of the scheme, or 80.
    pub fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(self.scheme.unwrap_or(UrlScheme::Http).port())
    }
}

/// Returns host and port of a server as in a `Host` field: without a port that the scheme implies (RFC 9110 section 4.2).
pub fn authority(scheme: UrlScheme, host: &str, port: u16) -> String {
    if port == scheme.port() { host.to_owned() } else { format!("{host}:{port}") }
}

/// Parses a host, perhaps with a port, and no more than a slash behind it.
///
/// # Errors
/// There is no such host or port; `None` where a scheme stands before it, or a path or query behind it.
pub fn host_and_port(text: &str) -> Result<(String, Option<u16>), Option<HttpUrlError>> {
    let url: HttpUrl = text.parse().map_err(Some)?;
    let is_bare = url.scheme.is_none() && matches!(url.target.as_str(), "" | "/");
    if is_bare { Ok((url.host, url.port)) } else { Err(None) }
}

/// Splits a port off; the colons of an address in brackets belong to the address.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => {
            (&authority[..colon], Some(&authority[colon + 1..]))
        }
        _ => (authority, None),
    }
}

/// Returns whether a text is a host name, an IPv4 address, or an IPv6 address in brackets.
pub fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            !host.is_empty() && host.bytes().all(is_plain)
        }
    }
}

/// Parses a port; unlike the standard library it accepts no sign.
fn port_number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port != 0 && text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_host_stands_alone_or_with_a_port() {
        let host = |host: &str, port| Ok((host.to_owned(), port));
        assert_eq!(host_and_port("name.example:70"), host("name.example", Some(70)));
        assert_eq!(host_and_port("[::1]/"), host("[::1]", None));
        for more in ["http://a", "a/b", "a?b"] {
            assert_eq!(host_and_port(more), Err(None), "{more}");
        }
        assert_eq!(host_and_port("me:secret@a"), Err(Some(HttpUrlError::UserInfo)));
        assert_eq!(host_and_port("a:0"), Err(Some(HttpUrlError::Port)));
    }

    #[test]
    fn urls_are_split_into_their_parts() {
        use UrlScheme::{Http, Https};
        for (text, scheme, authority, address, target) in [
            ("http://localhost:8080/", Some(Http), "localhost:8080", "localhost:8080", "/"),
            ("HTTP://10.0.0.1", Some(Http), "10.0.0.1", "10.0.0.1:80", ""),
            ("https://[::1]/a?b=c", Some(Https), "[::1]", "[::1]:443", "/a?b=c"),
            ("HttpS://[::1]:80", Some(Https), "[::1]:80", "[::1]:80", ""),
            ("http://h?auto", Some(Http), "h", "h:80", "/?auto"),
            ("http://h/to?url=http://x@y:1/", Some(Http), "h", "h:80", "/to?url=http://x@y:1/"),
            ("app_1:3000", None, "app_1:3000", "app_1:3000", ""),
            ("http://é.example:81/", Some(Http), "xn--9ca.example:81", "xn--9ca.example:81", "/"),
            ("h/to?url=ftp://x", None, "h", "h:80", "/to?url=ftp://x"),
        ] {
            let url: HttpUrl = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            let found = (url.scheme, url.authority(), url.address(), url.target);
            assert_eq!(
                found,
                (scheme, authority.to_owned(), address.to_owned(), target.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        use HttpUrlError::{Character, Host, Port, Scheme, UserInfo};
        for (text, error) in [
            ("ftp://x/", Scheme),
            ("://x", Scheme),
            ("http://u@x/", UserInfo),
            ("u:secret@x", UserInfo),
            ("", Host),
            ("http://", Host),
            ("http:///a", Host),
            (":80", Host),
            ("::1", Host),
            ("http://::1:80/", Host),
            ("http://a:b:80/", Host),
            ("http://[::1/", Host),
            ("http://[::1]x/", Host),
            ("http://[127.0.0.1]/", Host),
            ("http://[fe80::1%25lo]/", Host),
            ("http://x y/", Host),
            ("é\u{202e}:80", Host),
            ("http://x:/", Port),
            ("http://x:0/", Port),
            ("http://x:+80/", Port),
            ("http://x:65536/", Port),
            ("http://x/a b", Character),
            ("http://x/#a", Character),
            ("http://x#a", Character),
            ("http://x/é", Character),
        ] {
            assert_eq!(text.parse::<HttpUrl>(), Err(error), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(https?://)?\\PC{0,30}") {
            if let Ok(url) = text.parse::<HttpUrl>() {
                prop_assert!(is_host(&url.host) && url.port != Some(0));
                prop_assert!(url.target.is_empty() || url.target.starts_with('/'));
            }
        }
    }
}
