//! Heads of responses that are not as they should be: folded lines, and the line at fault. Nothing here is on a hot path.

use std::ops::Range;

use crate::error::HeadError;
use crate::framing::head_window;
use crate::head::RequestMethod;
use crate::response::parse_response;

/// Returns a copy of `buf` in which folded header lines are one line, or `None` if it begins with no head that has any.
///
/// A line that begins with a blank continues the one before it (`obs-fold`). Its line end is replaced by blanks, as RFC
/// 9112 §5.2 demands before anybody reads the value, so that every byte stays in its place. The parser refuses such a line:
/// whoever reads responses parses again what this returns.
pub fn unfolded(buf: &[u8]) -> Option<Vec<u8>> {
    let folds: Vec<_> = folds(head_window(buf)).collect();
    if folds.is_empty() {
        return None;
    }
    let mut joined = buf.to_vec();
    for line_end in folds {
        joined[line_end].fill(b' ');
    }
    Some(joined)
}

/// Returns the ends of header lines that the next line continues; the start line cannot be continued.
fn folds(head: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let ends = line_ends(head).take_while(|line| line.start == 0 || !line_text(head, line).is_empty());
    ends.skip(1).filter_map(|line| {
        let is_continued = matches!(head.get(line.end), Some(b' ' | b'\t'));
        is_continued.then(|| line.start + line_text(head, &line).len()..line.end)
    })
}

/// Returns the lines of a head, their ends included.
fn line_ends(head: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', head).map(move |end| std::mem::replace(&mut start, end + 1)..end + 1)
}

/// Returns a line without its end.
fn line_text<'a>(head: &'a [u8], line: &Range<usize>) -> &'a [u8] {
    let text = &head[line.start..line.end];
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// The line because of which a head is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultyLine<'a> {
    /// Its number, from 1 for the start line.
    pub number: usize,
    /// The line without its end, as far as it has arrived.
    pub text: &'a [u8],
}

/// Returns the line of a response's head at which [`parse_response`] refuses it; `None` if it does not, or if no single
/// line is at fault, as with a head that is too long.
pub fn faulty_line(buf: &[u8], method: RequestMethod) -> Option<FaultyLine<'_>> {
    let window = Some(head_window(buf)).filter(|bytes| !bytes.is_empty())?;
    let mut lines: Vec<Range<usize>> = line_ends(window).collect();
    let last = lines.last().map_or(0, |line| line.end);
    lines.push(last..window.len());
    // A head that ends after a line is refused from the line at fault on.
    let is_fine = |line: &Range<usize>| {
        let ended = [&window[..line.end], b"\r\n\r\n"].concat();
        !matches!(parse_response(&ended, method), Err(error) if names_line(error))
    };
    let n_fine = lines.partition_point(is_fine);
    let text = line_text(window, lines.get(n_fine)?);
    Some(FaultyLine { number: n_fine + 1, text })
}

fn names_line(error: HeadError) -> bool {
    !matches!(error, HeadError::Oversized(_))
}

/// Returns whether bytes are the beginning of a response of HTTP/1, however faulty what follows is.
pub fn is_http1(buf: &[u8]) -> bool {
    buf.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"HTTP/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::{Framing, ParseStatus};

    #[track_caller]
    fn check_unfolded(head: &str, expected: Option<&str>) {
        let joined = unfolded(head.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(joined.as_deref(), expected, "{head:?}");
    }

    #[test]
    fn folded_lines_become_one_and_every_byte_keeps_its_place() {
        let start = "HTTP/1.1 200 OK\r\n";
        check_unfolded(&format!("{start}A: 1\r\n 2\r\n\r\n"), Some(&format!("{start}A: 1   2\r\n\r\n")));
        check_unfolded(
            &format!("{start}A: 1\n\t2\r\n \r\nB: 3\r\n\r\n"),
            Some(&format!("{start}A: 1 \t2   \r\nB: 3\r\n\r\n")),
        );
        check_unfolded(&format!("{start}A: 1\r\n 2"), Some(&format!("{start}A: 1   2")));
    }

    #[test]
    fn what_is_not_folded_stays() {
        let start = "HTTP/1.1 200 OK\r\n";
        check_unfolded(&format!("{start}A: 1\r\n\r\n body\r\n more"), None);
        check_unfolded(&format!("{start} A: 1\r\n\r\n"), None);
        check_unfolded(&format!("{start}A: 1\r\n"), None);
        check_unfolded("", None);
    }

    #[test]
    fn a_folded_length_counts() {
        let joined = unfolded(b"HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\n").unwrap();
        let Ok(ParseStatus::Complete { head, .. }) = parse_response(&joined, RequestMethod::Get) else {
            panic!()
        };
        assert_eq!(head.framing, Framing::Length(5));
    }

    #[test]
    fn the_line_at_fault_is_found() {
        let cases = [
            ("HTTP/1.1 200 OK\r\nA: 1\r\nX Bad Name: 1\r\nB: 2\r\n\r\n", Some((3, "X Bad Name: 1"))),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: 1\r\nContent-Length: 6\r\n\r\n",
                Some((4, "Content-Length: 6")),
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nbody", Some((2, "Transfer-Encoding: gzip"))),
            ("HTTP/1.1  200 OK\r\n\r\n", Some((1, "HTTP/1.1  200 OK"))),
            ("SSH-2.0-OpenSSH", Some((1, "SSH-2.0-OpenSSH"))),
            ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n", None),
            ("", None),
        ];
        for (head, expected) in cases {
            let expected =
                expected.map(|(number, text): (_, &str)| FaultyLine { number, text: text.as_bytes() });
            assert_eq!(faulty_line(head.as_bytes(), RequestMethod::Get), expected, "{head:?}");
        }
        let long = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(crate::RESPONSE_HEADERS_MAX + 1));
        assert_eq!(faulty_line(long.as_bytes(), RequestMethod::Get), None);
    }
}
