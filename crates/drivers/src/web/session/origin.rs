//! Origins (RFC 6454), and where a `Location` leads (RFC 3986).

use languages::{HttpUrl, UrlScheme, authority};

use crate::web::Target;

/// The longest `Location` that is followed, in bytes.
const LOCATION_BYTES_MAX: usize = 8 << 10;

/// Scheme, host and port of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) secure: bool,
    /// In lower case; an IPv6 address in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// A URL of HTTP: its origin, and the path with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) origin: Origin,
    pub(crate) path: String,
}

impl Origin {
    /// The origin of a target.
    pub(crate) fn of(target: &Target) -> Origin {
        Origin { secure: target.secure, host: target.host.to_ascii_lowercase(), port: target.port }
    }

    /// Returns host and port as in a `Host` field: without a port that the scheme implies.
    pub(crate) fn authority(&self) -> String {
        authority(if self.secure { UrlScheme::Https } else { UrlScheme::Http }, &self.host, self.port)
    }
}

impl Url {
    /// Returns the URL that a `Location` at this one refers to; `None` if it is no URL of HTTP.
    pub(crate) fn resolve(&self, location: &[u8]) -> Option<Url> {
        let location = encoded(location)?;
        let location = location.split('#').next().unwrap_or_default();
        let scheme = if self.origin.secure { "https" } else { "http" };
        let absolute = match location {
            _ if location.starts_with("//") => Some(format!("{scheme}:{location}")),
            _ if has_scheme(location) => Some(location.to_owned()),
            _ => None,
        };
        if let Some(absolute) = absolute {
            let url: HttpUrl = absolute.parse().ok()?;
            let secure = url.scheme? == UrlScheme::Https;
            let port = url.port_or_default();
            let host = url.host.to_ascii_lowercase();
            let path = if url.target.is_empty() { "/".to_owned() } else { url.target };
            return Some(Url { origin: Origin { secure, host, port }, path: without_dots(&path) });
        }
        let (base, _) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let path = match location.as_bytes().first() {
            None => self.path.clone(),
            Some(b'/') => location.to_owned(),
            Some(b'?') => format!("{base}{location}"),
            Some(_) => format!("{}/{location}", base.rsplit_once('/').map_or("", |(folder, _)| folder)),
        };
        Some(Url { origin: self.origin.clone(), path: without_dots(&path) })
    }
}

/// Returns whether a reference begins with a scheme (RFC 3986 §3.1).
fn has_scheme(text: &str) -> bool {
    let end = text.find([':', '/', '?']).filter(|end| text.as_bytes()[*end] == b':');
    end.is_some_and(|end| {
        let scheme = &text[..end];
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

/// Returns a `Location` as visible ASCII: servers send blanks and UTF-8 in them, which browsers encode. `None` with
/// control characters, or if it is too long.
fn encoded(location: &[u8]) -> Option<String> {
    if LOCATION_BYTES_MAX < location.len() {
        return None;
    }
    let mut out = String::with_capacity(location.len());
    for byte in location {
        match byte {
            byte if byte.is_ascii_graphic() => out.push(char::from(*byte)),
            b' ' | 0x80.. => out += &format!("%{byte:02X}"),
            _ => return None,
        }
    }
    Some(out)
}

/// Returns a path, which begins with a slash, without the steps `.` and `..` (RFC 3986 §5.2.4); its query stays.
fn without_dots(path: &str) -> String {
    let (path, query) = path.find('?').map_or((path, ""), |at| path.split_at(at));
    let mut steps: Vec<&str> = Vec::new();
    let mut all = path.split('/').skip(1).peekable();
    while let Some(step) = all.next() {
        let is_last = all.peek().is_none();
        match step {
            "." | ".." => {
                if step == ".." {
                    steps.pop();
                }
                if is_last {
                    steps.push("");
                }
            }
            other => steps.push(other),
        }
    }
    format!("/{}{query}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn base() -> Url {
        let origin = Origin { secure: false, host: "h".into(), port: 80 };
        Url { origin, path: "/a/b?q=1".into() }
    }

    fn resolved(location: &str) -> String {
        match base().resolve(location.as_bytes()) {
            Some(Url { origin, path }) => {
                let scheme = if origin.secure { "https" } else { "http" };
                format!("{scheme} {} {path}", origin.authority())
            }
            None => "none".to_owned(),
        }
    }

    #[test]
    fn references_are_resolved_as_browsers_do() {
        for (location, expected) in [
            ("/c", "http h /c"),
            ("c?x=/..#f", "http h /a/c?x=/.."),
            ("?x", "http h /a/b?x"),
            ("", "http h /a/b?q=1"),
            ("#f", "http h /a/b?q=1"),
            ("../../d/./e/..", "http h /d/"),
            ("//other/p", "http other /p"),
            ("HTTPS://Other:8443", "https other:8443 /"),
            ("http://h?x", "http h /?x"),
            ("/a b/\u{e4}", "http h /a%20b/%C3%A4"),
            ("c:d", "none"),
            ("javascript:alert(1)", "none"),
            ("ftp://h/", "none"),
            ("http://u:p@h/", "none"),
            ("http://", "none"),
            ("http:///x", "none"),
            ("/a\r\nX: y", "none"),
            ("./c:d", "http h /a/c:d"),
        ] {
            assert_eq!(resolved(location), expected, "{location:?}");
        }
        assert_eq!(base().resolve(&[b'a'; LOCATION_BYTES_MAX + 1]), None);
    }

    proptest! {
        #[test]
        fn any_location_is_a_path_that_can_be_sent_or_none(location in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(url) = base().resolve(&location) {
                prop_assert!(http1::check_path(&url.path).is_ok(), "{:?}", url);
            }
        }
    }
}
