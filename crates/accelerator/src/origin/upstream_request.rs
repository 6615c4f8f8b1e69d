//! A request to an origin server.

use std::hash::{DefaultHasher, Hash, Hasher};

use http1::{HeaderLines, RequestMethod};

use super::failure::OriginFailure;

/// A request to an origin server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamRequest {
    /// The method's name.
    pub method_name: Vec<u8>,
    /// Path and query, or `*`.
    pub target: Vec<u8>,
    /// The value of `Host`, unless [`OriginSettings::host`](super::OriginSettings::host) sets it; the server's own
    /// address if empty.
    pub authority: Vec<u8>,
    /// All other lines. Framing and connection-specific lines among them are not sent: those are written here.
    pub lines: HeaderLines,
    /// The length of the body, if known; it is sent chunked if not.
    pub content_length: Option<u64>,
    /// Whether there is a body, even an empty one.
    pub has_body: bool,
    /// Whether the method is safe, so that the request may be sent twice.
    pub is_safe: bool,
    /// The protocols that the client wants to upgrade to: the value of its `Upgrade`. Without it no 101 is accepted.
    pub upgrade: Option<Vec<u8>>,
    /// The hash of its cache key, for [`Balance::Hash`](super::Balance::Hash).
    pub key_hash: u64,
}

/// Fields that are written here, or not forwarded (RFC 9110 §7.6.1, §10.1.1).
///
/// `Expect` is not forwarded because nothing here would wait for the 100; trailers are dropped.
const NOT_FORWARDED: [&[u8]; 11] = [
    b"connection",
    b"content-length",
    b"expect",
    b"host",
    b"http2-settings",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"trailer",
    b"transfer-encoding",
    b"upgrade",
];

impl UpstreamRequest {
    /// Returns the method.
    pub(super) fn method(&self) -> RequestMethod {
        RequestMethod::from_name(&self.method_name)
    }

    /// Returns whether the request can be sent twice and does no harm then.
    pub(super) fn is_repeatable(&self) -> bool {
        self.is_safe && !self.has_body
    }

    /// Returns a hash of its URL, to tell requests for different URLs apart.
    pub(super) fn url_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.authority, &self.target).hash(&mut hasher);
        hasher.finish()
    }

    /// Writes the head for a server whose `Host` is `host`.
    ///
    /// # Errors
    /// [`OriginFailure::Unsendable`] if any part would break out of its place, whatever the frontend has accepted:
    /// the server would read other requests than were meant.
    pub(super) fn head(&self, host: &[u8]) -> Result<Vec<u8>, OriginFailure> {
        let upgrade = self.upgrade.as_deref();
        let is_sendable = is_name(&self.method_name)
            && is_target(&self.target)
            && is_host(host)
            && upgrade.is_none_or(is_value)
            && self.lines.iter().all(|(name, value)| is_name(name) && is_value(value));
        if !is_sendable {
            return Err(OriginFailure::Unsendable);
        }
        let mut head = Vec::with_capacity(128 + self.target.len() + self.lines.as_bytes().len());
        push_all(&mut head, &[&self.method_name, b" ", &self.target, b" HTTP/1.1\r\nHost: ", host, b"\r\n"]);
        for (name, value) in self.lines.iter().filter(|(name, _)| !is_not_forwarded(name)) {
            push_all(&mut head, &[name, b": ", value, b"\r\n"]);
        }
        self.push_framing(&mut head);
        if let Some(upgrade) = upgrade {
            push_all(&mut head, &[b"Connection: upgrade\r\nUpgrade: ", upgrade, b"\r\n"]);
        }
        head.extend_from_slice(b"\r\n");
        Ok(head)
    }

    /// Writes the framing of the body. Methods that usually have a body announce an empty one too (RFC 9110 §8.6).
    fn push_framing(&self, head: &mut Vec<u8>) {
        let means_body = matches!(self.method(), RequestMethod::Post | RequestMethod::Put);
        let length = match (self.has_body, self.content_length) {
            (true, Some(length)) => length,
            (true, None) => {
                head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
                return;
            }
            (false, _) if means_body => 0,
            (false, _) => return,
        };
        push_all(head, &[b"Content-Length: ", length.to_string().as_bytes(), b"\r\n"]);
    }
}

fn push_all(head: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| head.extend_from_slice(part));
}

fn is_not_forwarded(name: &[u8]) -> bool {
    NOT_FORWARDED.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns whether bytes are safe as a target: nothing but visible ASCII.
pub(super) fn is_target(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}

/// Returns whether bytes are safe as a host.
pub(super) fn is_host(bytes: &[u8]) -> bool {
    is_target(bytes) && !bytes.iter().any(|byte| b"/?#@,\\".contains(byte))
}

/// Returns whether bytes are safe as a method or field name.
fn is_name(bytes: &[u8]) -> bool {
    is_target(bytes) && !bytes.contains(&b':')
}

/// Returns whether bytes are safe as a field value.
fn is_value(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| b"\r\n\0".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream_request(method_name: &str, lines: &[(&str, &str)]) -> UpstreamRequest {
        let mut all = HeaderLines::new();
        lines.iter().for_each(|(name, value)| all.push(name.as_bytes(), value.as_bytes()));
        UpstreamRequest {
            method_name: method_name.as_bytes().to_vec(),
            target: b"/a?b".to_vec(),
            authority: Vec::new(),
            lines: all,
            content_length: None,
            has_body: false,
            is_safe: true,
            upgrade: None,
            key_hash: 0,
        }
    }

    fn written(request: &UpstreamRequest) -> String {
        String::from_utf8(request.head(b"h:1").expect("sendable")).expect("text")
    }

    #[test]
    fn framing_and_connection_fields_are_never_forwarded() {
        let names = NOT_FORWARDED.map(|name| String::from_utf8_lossy(name).to_uppercase());
        let lines: Vec<_> = names.iter().map(|name| (&name[..], "7")).collect();
        let mut request = upstream_request("GET", &[&[("A", "1")][..], &lines, &[("b", "")]].concat());
        assert_eq!(written(&request), "GET /a?b HTTP/1.1\r\nHost: h:1\r\nA: 1\r\nb: \r\n\r\n");
        request.upgrade = Some(b"websocket".to_vec());
        assert!(written(&request).ends_with("b: \r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"));
    }

    #[test]
    fn bodies_are_framed_by_their_known_length() {
        let cases = [
            ("GET", false, None, ""),
            ("GET", false, Some(7), ""),
            ("GET", true, Some(7), "Content-Length: 7\r\n"),
            ("POST", true, Some(0), "Content-Length: 0\r\n"),
            ("POST", true, None, "Transfer-Encoding: chunked\r\n"),
            ("POST", false, None, "Content-Length: 0\r\n"),
            ("DELETE", false, None, ""),
        ];
        for (method_name, has_body, content_length, framing) in cases {
            let request = UpstreamRequest { has_body, content_length, ..upstream_request(method_name, &[]) };
            let expected = format!("{method_name} /a?b HTTP/1.1\r\nHost: h:1\r\n{framing}\r\n");
            assert_eq!(written(&request), expected);
        }
    }

    #[test]
    fn requests_that_would_break_the_head_are_not_sent() {
        let fine = || upstream_request("GET", &[]);
        let target = |target: &str| UpstreamRequest { target: target.as_bytes().to_vec(), ..fine() };
        let upgrade = Some(b"a\nb".to_vec());
        let requests = [
            target(""),
            target("/ HTTP/1.1\r\nX: y"),
            target("/a b"),
            target("/\u{fc}"),
            upstream_request("", &[]),
            upstream_request("GET /", &[]),
            upstream_request("GET", &[("a b", "")]),
            upstream_request("GET", &[("", "")]),
            upstream_request("GET", &[("a", "b\rc")]),
            upstream_request("GET", &[("a", "b\0c")]),
            UpstreamRequest { upgrade, ..fine() },
        ];
        for request in requests {
            assert_eq!(request.head(b"h"), Err(OriginFailure::Unsendable), "{request:?}");
        }
        for host in ["", "a b", "a\r\nb", "u@a", "a,b"] {
            assert_eq!(fine().head(host.as_bytes()), Err(OriginFailure::Unsendable), "{host:?}");
        }
    }

    #[test]
    fn only_safe_requests_without_body_are_repeatable() {
        assert!(upstream_request("GET", &[]).is_repeatable());
        assert!(!UpstreamRequest { is_safe: false, ..upstream_request("GET", &[]) }.is_repeatable());
        assert!(!UpstreamRequest { has_body: true, ..upstream_request("GET", &[]) }.is_repeatable());
    }
}
