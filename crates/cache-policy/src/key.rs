//! The cache key: scheme, authority and target in normal form (RFC 9111 §2, RFC 9110 §4.2.3).

use std::net::Ipv6Addr;

use crate::key_refused::KeyRefused;
use crate::list::number;
use crate::settings::DotSegments;
use crate::target::write_target;

/// The scheme of a URI that this cache serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl Scheme {
    /// Returns the scheme's name.
    #[inline]
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Returns the scheme's default port.
    fn default_port(self) -> u64 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// A cache key: a URI in normal form, `http://example.org/a?b` for example.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    scheme: Scheme,
    text: String,
    /// The position at which the target begins.
    origin_end: usize,
}

impl Key {
    /// Makes the key of a request: `authority` is its host with its port if given, `target` its path and query.
    ///
    /// Forward the request with [`Key::target`], so that the origin gets the resource that the key names.
    ///
    /// # Errors
    ///
    /// A host or target that this cache, other caches and the origin could read differently.
    pub fn new(
        scheme: Scheme,
        authority: &[u8],
        target: &[u8],
        dots: DotSegments,
    ) -> Result<Key, KeyRefused> {
        let mut text = String::with_capacity(8 + authority.len() + target.len());
        text.push_str(scheme.as_str());
        text.push_str("://");
        write_authority(&mut text, scheme, authority)?;
        let origin_end = text.len();
        write_target(&mut text, target, dots)?;
        Ok(Key { scheme, text, origin_end })
    }

    /// Makes the key of an absolute URI, one that an operator names for example.
    ///
    /// # Errors
    ///
    /// As [`Key::new`]; also a reference without scheme or of another one.
    pub fn parse(uri: &str, dots: DotSegments) -> Result<Key, KeyRefused> {
        let uri = uri.as_bytes();
        let uri = &uri[..uri.iter().position(|&byte| byte == b'#').unwrap_or(uri.len())];
        let (scheme, rest) = split_scheme(uri)?.ok_or(KeyRefused::OtherScheme)?;
        let (authority, target) = split_authority(rest.strip_prefix(b"//").ok_or(KeyRefused::EmptyHost)?);
        Key::new(scheme, authority, target, dots)
    }

    /// Returns the bytes of memory that its text takes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.text.capacity()
    }

    /// Returns the whole key.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns scheme and authority: equal for two keys of one origin (RFC 9110 §4.3.1).
    #[inline]
    pub fn origin(&self) -> &str {
        &self.text[..self.origin_end]
    }

    /// Returns path and query, as the origin gets them.
    #[inline]
    pub fn target(&self) -> &str {
        &self.text[self.origin_end..]
    }

    /// Returns the key of a reference in a response to a request with this key: `Location`, for example (RFC 3986
    /// §5.2).
    ///
    /// # Errors
    ///
    /// As [`Key::new`]; also a reference of another scheme.
    pub fn resolve(&self, reference: &[u8]) -> Result<Key, KeyRefused> {
        let end = reference.iter().position(|&byte| byte == b'#').unwrap_or(reference.len());
        let reference = &reference[..end];
        let make = |scheme, authority: &[u8], target: &[u8]| {
            Key::new(scheme, authority, target, DotSegments::Resolved)
        };
        let authority = self.text[..self.origin_end].split_once("//").map_or("", |(_, rest)| rest).as_bytes();
        if let Some((scheme, rest)) = split_scheme(reference)? {
            let (authority, target) = split_authority(rest.strip_prefix(b"//").ok_or(KeyRefused::EmptyHost)?);
            return make(scheme, authority, target);
        }
        if let Some(rest) = reference.strip_prefix(b"//") {
            let (authority, target) = split_authority(rest);
            return make(self.scheme, authority, target);
        }
        make(self.scheme, authority, &self.target_of(reference))
    }

    /// Returns the target of a reference without authority, its dot segments unresolved.
    fn target_of(&self, reference: &[u8]) -> Vec<u8> {
        let path = self.target().split('?').next().unwrap_or_default();
        let directory = path.rfind('/').map_or(path, |slash| &path[..=slash]);
        let start = match reference {
            [] => self.target(),
            [b'/', ..] => "",
            [b'?', ..] => path,
            _ => directory,
        };
        [start.as_bytes(), reference].concat()
    }
}

/// Splits the scheme off a reference; `None` if it has none (RFC 3986 §3.1).
fn split_scheme(reference: &[u8]) -> Result<Option<(Scheme, &[u8])>, KeyRefused> {
    let end = reference.iter().position(|byte| b":/?".contains(byte));
    let Some(end) = end.filter(|&end| reference[end] == b':') else {
        return Ok(None);
    };
    let name = &reference[..end];
    let rest = &reference[end + 1..];
    let scheme = [Scheme::Http, Scheme::Https]
        .into_iter()
        .find(|scheme| scheme.as_str().as_bytes().eq_ignore_ascii_case(name));
    scheme.map(|scheme| Some((scheme, rest))).ok_or(KeyRefused::OtherScheme)
}

/// Splits what follows `//` into authority and target.
fn split_authority(rest: &[u8]) -> (&[u8], &[u8]) {
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    rest.split_at(end)
}

/// Writes host and port in normal form: lower case, and without the scheme's default port.
fn write_authority(text: &mut String, scheme: Scheme, authority: &[u8]) -> Result<(), KeyRefused> {
    if authority.contains(&b'@') {
        return Err(KeyRefused::UserInformation);
    }
    let (host, port) = split_port(authority)?;
    match host {
        [] => return Err(KeyRefused::EmptyHost),
        [b'[', address @ .., b']'] => {
            let address = std::str::from_utf8(address).map_err(|_| KeyRefused::Host)?;
            let address: Ipv6Addr = address.parse().map_err(|_| KeyRefused::Host)?;
            text.push_str(&format!("[{address}]"));
        }
        _ if host.iter().all(is_host_byte) => {
            text.extend(host.iter().map(|byte| char::from(byte.to_ascii_lowercase())))
        }
        _ => return Err(KeyRefused::Host),
    }
    if let Some(port) = port.filter(|port| *port != scheme.default_port()) {
        text.push_str(&format!(":{port}"));
    }
    Ok(())
}

/// Returns whether a byte may stand in a host name or IPv4 address; other characters that RFC 3986 allows occur in no
/// name.
fn is_host_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._".contains(byte)
}

/// Splits the port off an authority; `None` if there is none or nothing after its colon (RFC 3986 §3.2.3).
fn split_port(authority: &[u8]) -> Result<(&[u8], Option<u64>), KeyRefused> {
    let host_end = authority.iter().rposition(|&byte| byte == b']').map_or(0, |bracket| bracket + 1);
    let Some(colon) = authority[host_end..].iter().position(|&byte| byte == b':') else {
        return Ok((authority, None));
    };
    let host = &authority[..host_end + colon];
    let digits = &authority[host_end + colon + 1..];
    if digits.is_empty() {
        return Ok((host, None));
    }
    let port = number(digits).filter(|port| (1..=65_535).contains(port));
    port.map(|port| (host, Some(port))).ok_or(KeyRefused::Port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scheme: Scheme, authority: &str, target: &str) -> Result<String, KeyRefused> {
        let key = Key::new(scheme, authority.as_bytes(), target.as_bytes(), DotSegments::Resolved)?;
        Ok(key.as_str().to_owned())
    }

    #[test]
    fn authorities_are_normalized() {
        for (scheme, authority, expected) in [
            (Scheme::Http, "Example.ORG", "http://example.org/"),
            (Scheme::Http, "example.org:80", "http://example.org/"),
            (Scheme::Http, "example.org:080", "http://example.org/"),
            (Scheme::Http, "example.org:", "http://example.org/"),
            (Scheme::Http, "example.org:443", "http://example.org:443/"),
            (Scheme::Https, "example.org:443", "https://example.org/"),
            (Scheme::Http, "[2001:DB8:0::1]:8080", "http://[2001:db8::1]:8080/"),
            (Scheme::Http, "127.0.0.1:8080", "http://127.0.0.1:8080/"),
        ] {
            assert_eq!(key(scheme, authority, "/").as_deref(), Ok(expected), "{authority}");
        }
    }

    #[test]
    fn invalid_authorities_are_refused() {
        for (authority, reason) in [
            ("", KeyRefused::EmptyHost),
            (":80", KeyRefused::EmptyHost),
            ("user@example.org", KeyRefused::UserInformation),
            ("example.org:x", KeyRefused::Port),
            ("example.org:0", KeyRefused::Port),
            ("example.org:65536", KeyRefused::Port),
            ("example.org:80:80", KeyRefused::Port),
            ("exa mple.org", KeyRefused::Host),
            ("example.org/a", KeyRefused::Host),
            ("example%2eorg", KeyRefused::Host),
            ("[::1", KeyRefused::Port),
            ("[::1]x", KeyRefused::Host),
            ("[fe80::1%25eth0]", KeyRefused::Host),
            ("[]", KeyRefused::Host),
        ] {
            assert_eq!(key(Scheme::Http, authority, "/"), Err(reason), "{authority}");
        }
    }

    #[test]
    fn only_absolute_http_uris_have_keys() {
        let parse = |uri| Key::parse(uri, DotSegments::Resolved);
        for (uri, expected) in [
            ("HTTP://A:80/b/../c?d#e", "http://a/c?d"),
            ("https://a", "https://a/"),
            ("http://a?b", "http://a/?b"),
        ] {
            assert_eq!(parse(uri).as_ref().map(Key::as_str), Ok(expected), "{uri}");
        }
        for (uri, reason) in [
            ("/a", KeyRefused::OtherScheme),
            ("a", KeyRefused::OtherScheme),
            ("ftp://a/", KeyRefused::OtherScheme),
            ("http:a", KeyRefused::EmptyHost),
        ] {
            assert_eq!(parse(uri), Err(reason), "{uri}");
        }
    }

    #[test]
    fn references_are_resolved_against_the_key() {
        let base = Key::new(Scheme::Http, b"a", b"/b/c/d?q", DotSegments::Resolved).unwrap();
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("../g", "http://a/b/g"),
            ("/g", "http://a/g"),
            ("?y", "http://a/b/c/d?y"),
            ("", "http://a/b/c/d?q"),
            ("#s", "http://a/b/c/d?q"),
            ("g?y#s", "http://a/b/c/g?y"),
            ("//G", "http://g/"),
            ("HTTPS://g:443/h", "https://g/h"),
            ("http://a:80", "http://a/"),
            ("g/a:b", "http://a/b/c/g/a:b"),
        ] {
            assert_eq!(
                base.resolve(reference.as_bytes()).as_ref().map(Key::as_str),
                Ok(expected),
                "{reference}"
            );
        }
        for (reference, reason) in [
            ("mailto:x", KeyRefused::OtherScheme),
            ("http:g", KeyRefused::EmptyHost),
            ("../../../g", KeyRefused::AboveRoot),
            ("//", KeyRefused::EmptyHost),
        ] {
            assert_eq!(base.resolve(reference.as_bytes()), Err(reason), "{reference}");
        }
    }

    #[test]
    fn keys_of_one_origin_share_it() {
        let one = Key::new(Scheme::Http, b"A:80", b"/b", DotSegments::Resolved).unwrap();
        assert_eq!((one.origin(), one.target()), ("http://a", "/b"));
    }
}
