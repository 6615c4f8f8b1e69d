//! Looking up headers of a head that has been parsed.

/// The header lines of a head, as pairs of name and value, in order.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

/// Returns the header lines of `head`, which [`parse_response`](crate::parse_response) or
/// [`parse_request`](crate::parse_request) found to be complete.
///
/// `head` may go on after its end; the lines are those before the first empty one. Names and values come
/// without the blanks around them, and no value contains a line end. From other bytes it returns anything that looks like header lines.
pub fn headers(head: &[u8]) -> Fields<'_> {
    let head = head.strip_prefix(b"\r\n").unwrap_or(head);
    Fields { rest: split_line(head).map_or(&[], |(_start_line, rest)| rest) }
}

/// Returns the value of the first header of this name, whatever its case; `None` without one.
///
/// `head` as in [`headers`]. Not for the hot path: it looks at every line.
pub fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    headers(head).find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (line, rest) = split_line(self.rest)?;
        let colon = line.iter().position(|&byte| byte == b':')?;
        self.rest = rest;
        Some((line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii()))
    }
}

/// Splits at the first LF, without the CR before it; `None` without one.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (line, rest) = bytes.split_at(memchr::memchr(b'\n', bytes)? + 1);
    let line = &line[..line.len() - 1];
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nServer: nginx\r\nETag:\"a:b\"\r\nVary: a\r\nvary: \t b \r\nX:\r\n\r\nServer: body\r\n";

    #[test]
    fn headers_are_found_whatever_their_case() {
        assert_eq!(header(HEAD, "server"), Some(&b"nginx"[..]));
        assert_eq!(header(HEAD, "ETAG"), Some(&b"\"a:b\""[..]));
        assert_eq!(header(HEAD, "x"), Some(&b""[..]));
        assert_eq!(header(HEAD, "Age"), None);
    }

    #[test]
    fn lines_come_in_order_and_stop_at_the_empty_one() {
        let all: Vec<_> = headers(HEAD).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(all[2..4], [(&b"Vary"[..], &b"a"[..]), (&b"vary"[..], &b"b"[..])]);
    }

    #[test]
    fn responses_may_have_bare_line_feeds_and_a_blank_before_the_colon() {
        let head = b"HTTP/1.1 200 OK\nServer : a\r\nETag:b\n\nbody: x\r\n";
        let all: Vec<_> = headers(head).collect();
        assert_eq!(all, [(&b"Server"[..], &b"a"[..]), (b"ETag", b"b")]);
    }

    #[test]
    fn an_empty_line_before_a_request_does_not_end_the_head() {
        assert_eq!(header(b"\r\nGET / HTTP/1.0\r\nHost: h\r\n\r\n", "host"), Some(&b"h"[..]));
    }

    #[test]
    fn bytes_that_are_not_a_head_have_no_headers() {
        for bytes in
            [&b""[..], b"\r\n", b"\r\n\r\n", b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK\r\n", b"a\r\nb: c"]
        {
            assert_eq!(headers(bytes).count(), 0);
        }
    }
}
