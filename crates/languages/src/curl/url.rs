//! The URL that cURL makes of the one on its command line.

use super::CurlFault;
use crate::percent_decoded;

/// A URL, and the user name and password that stood in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestedUrl {
    pub url: String,
    pub user: Option<String>,
}

/// The way in which a command wants its URLs to be read.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct UrlReading {
    /// Whether braces and brackets stand for themselves.
    pub is_literal: bool,
    /// Whether `/./` and `/../` stay in a path.
    pub path_as_is: bool,
}

/// Reads a URL: `http://` where there is no scheme, without a fragment, which is never sent, and without dots as parts of its
/// path (RFC 3986 §5.2.4).
///
/// # Errors
/// It stands for several URLs, or has a user name that cannot be decoded.
pub(super) fn read(word: &str, reading: UrlReading) -> Result<RequestedUrl, CurlFault> {
    let word = if reading.is_literal { word.to_owned() } else { without_glob(word)? };
    let word = word.split('#').next().unwrap_or_default();
    let (scheme, rest) = word.split_once("://").unwrap_or(("http", word));
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let wrong_user = || CurlFault::Value {
        option: "URL".to_owned(),
        expected: "one with a user name that can be decoded",
    };
    let user = user.map(|user| percent_decoded(user).ok_or_else(wrong_user)).transpose()?;
    let target = if reading.path_as_is { target.to_owned() } else { without_dots(target) };
    Ok(RequestedUrl { url: format!("{scheme}://{host}{target}"), user })
}

/// Returns a URL without the backslashes that keep its braces and brackets from being sets and ranges. An IPv6 address
/// may have its brackets.
fn without_glob(word: &str) -> Result<String, CurlFault> {
    let host_end = word.find("://").map_or(0, |at| at + 3);
    let host_end = match word[host_end..].strip_prefix('[').and_then(|rest| rest.find(']')) {
        Some(end) => host_end + end + 2,
        None => host_end,
    };
    let (host, rest) = word.split_at(host_end);
    let mut plain = host.to_owned();
    let mut rest = rest.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(|next| "{}[]".contains(*next)) => plain.extend(rest.next()),
            '{' | '}' | '[' | ']' => return Err(CurlFault::Glob),
            c => plain.push(c),
        }
    }
    Ok(plain)
}

/// Returns a path with its query, with dots as parts of the path resolved.
fn without_dots(target: &str) -> String {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    if !path.split('/').any(|part| matches!(part, "." | "..")) {
        return target.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." => {}
            ".." => {
                kept.pop();
            }
            part => kept.push(part),
        }
        if is_last && matches!(part, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_what_curl_would_request() {
        let plain = UrlReading::default();
        let read = |word, reading| read(word, reading).map(|read| (read.url, read.user));
        for (word, url, user) in [
            ("http://h/", "http://h/", None),
            ("h:8080/a?b=c#d", "http://h:8080/a?b=c", None),
            ("http://me:s%20x@h/", "http://h/", Some("me:s x")),
            ("http://me@h", "http://h", Some("me")),
            ("http://h/a/./b/../c/..?x=/../", "http://h/a/?x=/../", None),
            ("http://h/../../x", "http://h/x", None),
            (r"http://h/\[1\]?\{a\}", "http://h/[1]?{a}", None),
            ("http://[::1]:8080/a", "http://[::1]:8080/a", None),
            ("http://h/x@y", "http://h/x@y", None),
        ] {
            assert_eq!(read(word, plain), Ok((url.to_owned(), user.map(str::to_owned))), "{word}");
        }
        for word in ["http://h/{a,b}", "http://h/[1-3]", "http://h/a}", "http://[h/"] {
            assert_eq!(read(word, plain), Err(CurlFault::Glob), "{word}");
        }
        let literal = UrlReading { is_literal: true, path_as_is: true };
        assert_eq!(read("http://h/../{a}", literal), Ok(("http://h/../{a}".to_owned(), None)));
        assert!(read("http://%ff@h/", plain).is_err());
    }
}
