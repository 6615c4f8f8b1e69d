//! A request as it goes to a server.

use http1::RequestMethod;

use super::failure::OriginFailure;
use crate::message::HeaderLines;

/// A request that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The method's name.
    pub method_name: Vec<u8>,
    /// Path and query, or `*`.
    pub target: Vec<u8>,
    /// What `Host` says, unless [`OriginSettings::host`](super::OriginSettings::host) does; the server's own address
    /// if empty.
    pub authority: Vec<u8>,
    /// All other lines. Lines of framing and connection may be among them and are not sent: those are written here.
    pub lines: HeaderLines,
    /// How long the body is, if that is known; it is sent in chunks if not.
    pub content_length: Option<u64>,
    /// Whether there is a body, be it empty.
    pub has_body: bool,
    /// Whether it changes nothing, so that it may be sent twice.
    pub is_safe: bool,
    /// What the client wants to change the protocol to: the value of its `Upgrade`. Without it no 101 is accepted.
    pub upgrade: Option<Vec<u8>>,
    /// The hash of its cache key, for [`Balance::Hash`](super::Balance::Hash).
    pub key_hash: u64,
}

/// Lines that are written here, or that end here (RFC 9110 §7.6.1, §10.1.1).
///
/// `Expect` ends here because nobody here would wait for the 100; trailers are dropped on the way.
const OWN: [&[u8]; 11] = [
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

impl Outgoing {
    /// Returns the method.
    pub(super) fn method(&self) -> RequestMethod {
        RequestMethod::from_name(&self.method_name)
    }

    /// Tells whether it does no harm to send it twice, and can be done.
    pub(super) fn is_repeatable(&self) -> bool {
        self.is_safe && !self.has_body
    }

    /// Writes the head as it goes over the wire, to the server that is known as `host`.
    ///
    /// # Errors
    /// [`OriginFailure::Unsendable`] if any part would break out of its place, whatever the front has let through: the
    /// server would see other requests than we think.
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
        for (name, value) in self.lines.iter().filter(|(name, _)| !is_own(name)) {
            push_all(&mut head, &[name, b": ", value, b"\r\n"]);
        }
        self.push_framing(&mut head);
        if let Some(upgrade) = upgrade {
            push_all(&mut head, &[b"Connection: upgrade\r\nUpgrade: ", upgrade, b"\r\n"]);
        }
        head.extend_from_slice(b"\r\n");
        Ok(head)
    }

    /// Writes how long the body is. Methods that mean to have one say so of an empty one too (RFC 9110 §8.6).
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

fn is_own(name: &[u8]) -> bool {
    OWN.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Tells whether bytes stay in their place as a target: nothing but visible ASCII.
pub(super) fn is_target(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}

/// Tells whether bytes stay in their place as a host.
pub(super) fn is_host(bytes: &[u8]) -> bool {
    is_target(bytes) && !bytes.iter().any(|byte| b"/?#@,\\".contains(byte))
}

/// Tells whether bytes stay in their place as a method's or a line's name.
fn is_name(bytes: &[u8]) -> bool {
    is_target(bytes) && !bytes.contains(&b':')
}

/// Tells whether bytes stay in their place as a line's value.
fn is_value(bytes: &[u8]) -> bool {
    !bytes.iter().any(|byte| b"\r\n\0".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(method_name: &str, lines: &[(&str, &str)]) -> Outgoing {
        let mut all = HeaderLines::new();
        lines.iter().for_each(|(name, value)| all.push(name.as_bytes(), value.as_bytes()));
        Outgoing {
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

    fn written(request: &Outgoing) -> String {
        String::from_utf8(request.head(b"h:1").expect("sendable")).expect("text")
    }

    #[test]
    fn framing_and_connection_are_written_here_and_never_passed_on() {
        let names = OWN.map(|name| String::from_utf8_lossy(name).to_uppercase());
        let lines: Vec<_> = names.iter().map(|name| (&name[..], "7")).collect();
        let mut request = outgoing("GET", &[&[("A", "1")][..], &lines, &[("b", "")]].concat());
        assert_eq!(written(&request), "GET /a?b HTTP/1.1\r\nHost: h:1\r\nA: 1\r\nb: \r\n\r\n");
        request.upgrade = Some(b"websocket".to_vec());
        assert!(written(&request).ends_with("b: \r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"));
    }

    #[test]
    fn bodies_are_framed_by_what_is_known_of_them() {
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
            let request = Outgoing { has_body, content_length, ..outgoing(method_name, &[]) };
            let expected = format!("{method_name} /a?b HTTP/1.1\r\nHost: h:1\r\n{framing}\r\n");
            assert_eq!(written(&request), expected);
        }
    }

    #[test]
    fn what_would_break_the_head_is_not_sent() {
        let fine = || outgoing("GET", &[]);
        let target = |target: &str| Outgoing { target: target.as_bytes().to_vec(), ..fine() };
        let upgrade = Some(b"a\nb".to_vec());
        let requests = [
            target(""),
            target("/ HTTP/1.1\r\nX: y"),
            target("/a b"),
            target("/\u{fc}"),
            outgoing("", &[]),
            outgoing("GET /", &[]),
            outgoing("GET", &[("a b", "")]),
            outgoing("GET", &[("", "")]),
            outgoing("GET", &[("a", "b\rc")]),
            outgoing("GET", &[("a", "b\0c")]),
            Outgoing { upgrade, ..fine() },
        ];
        for request in requests {
            assert_eq!(request.head(b"h"), Err(OriginFailure::Unsendable), "{request:?}");
        }
        for host in ["", "a b", "a\r\nb", "u@a", "a,b"] {
            assert_eq!(fine().head(host.as_bytes()), Err(OriginFailure::Unsendable), "{host:?}");
        }
    }

    #[test]
    fn only_what_is_safe_and_has_no_body_is_sent_twice() {
        assert!(outgoing("GET", &[]).is_repeatable());
        assert!(!Outgoing { is_safe: false, ..outgoing("GET", &[]) }.is_repeatable());
        assert!(!Outgoing { has_body: true, ..outgoing("GET", &[]) }.is_repeatable());
    }
}
