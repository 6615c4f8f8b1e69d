//! Heads of an origin's responses.
//!
//! What is read leniently is forwarded as RFC 9112 demands: lines are written anew, each with one blank behind the colon
//! and CR LF at its end. The table of leniencies is in `docs/accelerator.md`.

use bytes::{Buf, BytesMut};
use cache_policy::{ResponseField, names_of_connection, response_field};
use http1::{
    FaultyLine, Framing, HEAD_BYTES_MAX, HeadError, HeaderLines, ParseStatus, RequestMethod, ResponseHead,
    faulty_line, header, parse_response, unfolded,
};
use thiserror::Error;
use tokio::io::AsyncRead;

use super::connection::read_more;
use super::failure::OriginFailure;
use crate::message::Interim;

/// The most bytes of all interim responses (1xx) before a final one. Servers send one or two of some hundred bytes.
const INTERIM_BYTES_MAX: usize = 256 * 1024;

/// The number of bytes that are read at a time: most heads and small bodies at once.
const READ_BYTES: usize = 16 * 1024;

/// The head of a response.
#[derive(Debug)]
pub(super) struct UpstreamHead {
    pub(super) head: ResponseHead,
    pub(super) lines: HeaderLines,
    /// The length of the body; for a response without one, the announced length.
    pub(super) content_length: Option<u64>,
}

/// A head received in answer to a request.
#[derive(Debug)]
pub(super) enum ReceivedHead {
    /// An interim response; more follows.
    Interim(Interim),
    /// The final response; the beginning of its body stays in the buffer.
    Final(UpstreamHead),
}

/// A reader of the heads that answer a request: interim ones within a limit, then the final one.
#[derive(Debug)]
pub(super) struct HeadReader {
    method: RequestMethod,
    /// The bytes of interim responses so far.
    interim_bytes: usize,
}

impl HeadReader {
    pub(super) fn new(method: RequestMethod) -> HeadReader {
        HeadReader { method, interim_bytes: 0 }
    }

    /// Reads the next head. Cancel safe.
    pub(super) async fn next<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        buffer: &mut BytesMut,
    ) -> Result<ReceivedHead, OriginFailure> {
        let (head, bytes) = match next_head(stream, buffer, self.method).await {
            // Something was received: the interim response.
            Err(OriginFailure::Closed) if self.interim_bytes != 0 => return Err(OriginFailure::Truncated),
            outcome => outcome?,
        };
        if head.head.status == 101 || 200 <= head.head.status {
            return Ok(ReceivedHead::Final(head));
        }
        self.interim_bytes += bytes;
        if INTERIM_BYTES_MAX < self.interim_bytes {
            return Err(OriginFailure::TooManyInterim);
        }
        Ok(ReceivedHead::Interim(head.into_interim()))
    }
}

/// Reads the head of the final response, or of a 101; other interim responses are skipped. The body's beginning stays
/// in the buffer.
pub(super) async fn read_head<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    method: RequestMethod,
) -> Result<UpstreamHead, OriginFailure> {
    let mut reader = HeadReader::new(method);
    loop {
        if let ReceivedHead::Final(head) = reader.next(stream, buffer).await? {
            return Ok(head);
        }
    }
}

/// Reads the next head; also returns its length in bytes.
async fn next_head<S: AsyncRead + Unpin>(
    stream: &mut S,
    buffer: &mut BytesMut,
    method: RequestMethod,
) -> Result<(UpstreamHead, usize), OriginFailure> {
    loop {
        if let Some(parsed) = take_head(buffer, method)? {
            return Ok(parsed);
        }
        read_line(stream, buffer).await?;
    }
}

/// Takes a head off the buffer if all of it is there; also returns its length.
fn take_head(
    buffer: &mut BytesMut,
    method: RequestMethod,
) -> Result<Option<(UpstreamHead, usize)>, MalformedHead> {
    let error = match parse_response(buffer, method) {
        Ok(ParseStatus::Partial) => return Ok(None),
        Ok(ParseStatus::Complete { head, length }) => {
            return Ok(Some((UpstreamHead::new(head, &buffer.split_to(length), method), length)));
        }
        Err(error) => error,
    };
    // A folded line has to be one before it is interpreted or forwarded (RFC 9112 §5.2).
    let Some(lines) = unfolded(buffer) else { return Err(MalformedHead::new(error, buffer, method)) };
    match parse_response(&lines, method) {
        Ok(ParseStatus::Partial) => Ok(None),
        Ok(ParseStatus::Complete { head, length }) => {
            buffer.advance(length);
            Ok(Some((UpstreamHead::new(head, &lines[..length], method), length)))
        }
        Err(error) => Err(MalformedHead::new(error, &lines, method)),
    }
}

/// A head that is not valid HTTP, or whose framing is ambiguous.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{error}{line}")]
pub struct MalformedHead {
    error: HeadError,
    /// The line at fault, for the message; empty if it is not known.
    line: String,
}

impl MalformedHead {
    /// The most bytes of a line that are shown.
    const SHOWN_MAX: usize = 80;

    fn new(error: HeadError, head: &[u8], method: RequestMethod) -> MalformedHead {
        let show = |FaultyLine { number, text }: FaultyLine<'_>| {
            let shown = &text[..text.len().min(MalformedHead::SHOWN_MAX)];
            format!(", in line {number}: `{}`", shown.escape_ascii())
        };
        MalformedHead { error, line: faulty_line(head, method).map(show).unwrap_or_default() }
    }
}

impl From<HeadError> for MalformedHead {
    fn from(error: HeadError) -> MalformedHead {
        MalformedHead { error, line: String::new() }
    }
}

/// Reads until a line has ended, or there is too much: a head that comes byte by byte is not parsed after each byte.
async fn read_line<S: AsyncRead + Unpin>(stream: &mut S, buffer: &mut BytesMut) -> Result<(), OriginFailure> {
    loop {
        let before = buffer.len();
        match read_more(stream, buffer, READ_BYTES).await {
            Ok(0) | Err(_) if before == 0 => return Err(OriginFailure::Closed),
            Ok(0) | Err(_) => return Err(OriginFailure::Truncated),
            Ok(_) if HEAD_BYTES_MAX <= buffer.len() || buffer[before..].contains(&b'\n') => return Ok(()),
            Ok(_) => {}
        }
    }
}

impl UpstreamHead {
    fn new(mut head: ResponseHead, bytes: &[u8], method: RequestMethod) -> UpstreamHead {
        // A length beside chunks does not count, and the connection ends (RFC 9112 §6.1, §6.3).
        head.keep_alive &= head.framing != Framing::Chunked || header(bytes, "content-length").is_none();
        let content_length = match head.framing {
            Framing::Length(length) => Some(length),
            Framing::None if method == RequestMethod::Head || head.status == 304 => announced(bytes),
            Framing::None => Some(0),
            Framing::Chunked | Framing::ToEof => None,
        };
        UpstreamHead { head, lines: HeaderLines::of_head(bytes), content_length }
    }

    /// Returns the interim response to forward, without connection-specific fields and without framing, of which it
    /// has none.
    fn into_interim(self) -> Interim {
        let ended = names_of_connection(self.lines.iter());
        let is_ended = |name: &[u8]| {
            response_field(name) == ResponseField::Connection
                || name.eq_ignore_ascii_case(b"content-length")
                || ended.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(name))
        };
        let mut lines = HeaderLines::with_capacity(self.lines.as_bytes().len());
        let going_on = self.lines.iter().filter(|(name, _)| !is_ended(name));
        going_on.for_each(|(name, value)| lines.push(name, value));
        Interim { status: self.head.status, lines }
    }
}

/// Returns the length that a response without a body announces; the parser has checked that it is one number.
fn announced(head: &[u8]) -> Option<u64> {
    let value = header(head, "content-length")?;
    let first = value.split(|&byte| byte == b',').next()?;
    std::str::from_utf8(first.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the head of a response to `method` that arrives in these pieces.
    fn read(pieces: &[&[u8]], method: RequestMethod) -> (Result<UpstreamHead, OriginFailure>, BytesMut) {
        let mut stream = Pieces::of(pieces);
        let mut buffer = BytesMut::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let head = runtime.block_on(read_head(&mut stream, &mut buffer, method));
        (head, buffer)
    }

    /// A stream that returns one piece per read, then its end.
    struct Pieces(std::collections::VecDeque<Vec<u8>>);

    impl Pieces {
        fn of(pieces: &[&[u8]]) -> Pieces {
            Pieces(pieces.iter().map(|piece| piece.to_vec()).collect())
        }
    }

    impl AsyncRead for Pieces {
        fn poll_read(
            self: std::pin::Pin<&mut Self>,
            _context: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            if let Some(piece) = self.get_mut().0.pop_front() {
                buffer.put_slice(&piece);
            }
            std::task::Poll::Ready(Ok(()))
        }
    }

    fn failure(pieces: &[&[u8]]) -> OriginFailure {
        read(pieces, RequestMethod::Get).0.expect_err("no head")
    }

    #[test]
    fn heads_are_read_in_any_pieces() {
        let text = b"HTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab";
        for size in 1..text.len() {
            let pieces: Vec<_> = text.chunks(size).collect();
            let (head, buffer) = read(&pieces, RequestMethod::Get);
            let head = head.expect("a head");
            assert_eq!((head.head.status, head.content_length), (200, Some(3)));
            assert_eq!(head.lines.as_bytes(), b"Content-Length: 3\r\n");
            assert!(b"ab".starts_with(&buffer), "{size}");
        }
    }

    #[test]
    fn content_length_is_known_with_and_without_a_body() {
        use RequestMethod::{Get, Head};
        let cases = [
            (Get, 200, "Content-Length: 3, 3", Some(3)),
            (Head, 200, "Content-Length: 3, 3", Some(3)),
            (Get, 304, "Content-Length: 3", Some(3)),
            (Get, 304, "A: b", None),
            (Head, 200, "Transfer-Encoding: chunked", None),
            (Get, 204, "Content-Length: 3", Some(0)),
            (Get, 200, "Transfer-Encoding: chunked", None),
            (Get, 200, "A: b", None),
        ];
        for (method, status, line, length) in cases {
            let text = format!("HTTP/1.1 {status} x\r\n{line}\r\n\r\n");
            let head = read(&[text.as_bytes()], method).0.expect("a head");
            assert_eq!(head.content_length, length, "{method:?} {status} {line}");
        }
    }

    #[test]
    fn end_of_stream_before_and_within_the_head_differ() {
        let interim: &[u8] = b"HTTP/1.1 100 x\r\n\r\n";
        assert_eq!(failure(&[]), OriginFailure::Closed);
        assert_eq!(failure(&[b"H"]), OriginFailure::Truncated);
        assert_eq!(failure(&[interim]), OriginFailure::Truncated);
        assert_eq!(failure(&[interim, b"HTTP/1.1 200 OK\r\n"]), OriginFailure::Truncated);
    }

    /// Their number is not limited; their total size is.
    #[test]
    fn interim_responses_are_skipped_up_to_a_byte_limit() {
        let interim = b"HTTP/1.1 102 x\r\n\r\n";
        let flood = |n: usize| [interim.repeat(n), b"HTTP/1.1 200 x\r\n\r\n".to_vec()].concat();
        let most = INTERIM_BYTES_MAX / interim.len();
        let within = read(&flood(most).chunks(4096).collect::<Vec<_>>(), RequestMethod::Get).0;
        assert_eq!((within.expect("a head").head.status, 10_000 < most), (200, true));
        assert_eq!(failure(&flood(most + 1).chunks(4096).collect::<Vec<_>>()), OriginFailure::TooManyInterim);
    }

    #[test]
    fn interim_responses_lose_connection_specific_fields() {
        let text = b"HTTP/1.1 103 x\r\nLink: </a.css>\r\nConnection: x-mine, close\r\nX-Mine: 1\r\n\
            Keep-Alive: 5\r\nContent-Length: 0\r\nLink: </b.css>\r\n\r\nHTTP/1.1 200 x\r\n\r\n";
        let mut stream = Pieces::of(&[text]);
        let mut buffer = BytesMut::new();
        let mut reader = HeadReader::new(RequestMethod::Get);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let first = runtime.block_on(reader.next(&mut stream, &mut buffer)).expect("well formed");
        let ReceivedHead::Interim(Interim { status, lines }) = first else { panic!("{first:?}") };
        assert_eq!((status, lines.as_bytes()), (103, &b"Link: </a.css>\r\nLink: </b.css>\r\n"[..]));
        let second = runtime.block_on(reader.next(&mut stream, &mut buffer)).expect("well formed");
        assert!(matches!(second, ReceivedHead::Final(head) if head.head.status == 200));
    }

    #[test]
    fn an_endless_head_is_refused() {
        let line = b"a: b\r\n".to_vec();
        for endless in [line, b"a".to_vec(), vec![b'x'; 1000]] {
            let mut pieces = vec![&b"HTTP/1.1 200 OK\r\n"[..]];
            pieces.resize(HEAD_BYTES_MAX / endless.len() + 2, &endless);
            let failure = failure(&pieces);
            assert!(matches!(failure, OriginFailure::Malformed(_)), "{failure}");
        }
    }
}
