//! Follows one reply through the pieces in which it arrives, and checks it against the object asked for.
//!
//! | state | input | next |
//! |---|---|---|
//! | head | part of a head | head, the part kept |
//! | head | a whole interim head (1xx) | head, at most [`INTERIM_HEADS_MAX`] times |
//! | head | a whole head with the right status and a length that can be right | body |
//! | body | bytes that are the object's | body, or done when the framing says so |
//! | any | anything else | failed |
//! | any | end of input | done if the framing allows it, else truncated |
//!
//! No socket, no clock: tests feed it bytes.

use http1::{BodyReader, Framing, HeadError, Parsed, RequestMethod, ResponseHead, parse_response};
use model::{Content, Outcome};

/// Most interim heads (1xx) before the final one.
const INTERIM_HEADS_MAX: u32 = 8;

/// What the reply must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) content: &'a Content,
    pub(crate) object: u32,
    pub(crate) bytes: u64,
}

/// How far a reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More is to come.
    Open,
    /// The whole reply has arrived and is right; the connection may carry another request or not.
    Done { keep_alive: bool },
    /// Something is wrong; nothing that follows matters.
    Failed { outcome: Outcome, detail: u64 },
}

/// Follows one reply.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    state: State,
    interim_heads: u32,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
}

#[derive(Debug)]
enum State {
    /// The part of the head that has arrived; empty in nearly every case, as heads come in one piece.
    Head(Vec<u8>),
    Body {
        reader: BodyReader,
        keep_alive: bool,
    },
}

impl ReplyReader {
    pub(crate) fn new() -> ReplyReader {
        ReplyReader { state: State::Head(Vec::new()), interim_heads: 0, head_bytes: 0, body_bytes: 0 }
    }

    /// Takes the next piece of input.
    pub(crate) fn read(&mut self, input: &[u8], expected: Expected<'_>) -> Progress {
        match &mut self.state {
            State::Body { .. } => self.read_body(input, expected),
            State::Head(part) if part.is_empty() => self.read_head(input, expected),
            State::Head(part) => {
                part.extend_from_slice(input);
                let joined = std::mem::take(part);
                self.read_head(&joined, expected)
            }
        }
    }

    /// Takes the end of input.
    pub(crate) fn end(&mut self, expected: Expected<'_>) -> Progress {
        let State::Body { reader, .. } = &mut self.state else {
            return truncated(self.head_bytes + self.body_bytes);
        };
        match reader.end_of_input() {
            Err(_) => truncated(self.body_bytes),
            Ok(()) => self.finished(expected, false),
        }
    }

    fn read_head(&mut self, input: &[u8], expected: Expected<'_>) -> Progress {
        let mut rest = input;
        loop {
            let (head, length) = match parse_response(rest, RequestMethod::Get) {
                Ok(Parsed::Complete { head, length }) => (head, length),
                Ok(Parsed::Partial) => {
                    self.state = State::Head(rest.to_vec());
                    return Progress::Open;
                }
                Err(HeadError::Oversized(_)) => return failed(Outcome::OversizedHead, input.len() as u64),
                Err(_) => return failed(Outcome::MalformedHead, 0),
            };
            self.head_bytes += length as u64;
            rest = &rest[length..];
            if head.status < 200 && head.status != 101 {
                self.interim_heads += 1;
                if INTERIM_HEADS_MAX < self.interim_heads {
                    return failed(Outcome::MalformedHead, u64::from(head.status));
                }
                continue;
            }
            return self.begin_body(head, rest, expected);
        }
    }

    fn begin_body(&mut self, head: ResponseHead, rest: &[u8], expected: Expected<'_>) -> Progress {
        if head.status != 200 {
            return failed(Outcome::WrongStatus, u64::from(head.status));
        }
        if let Framing::Length(length) = head.framing
            && length != expected.bytes
        {
            return failed(Outcome::WrongLength, length);
        }
        let reader = BodyReader::new(head.framing);
        self.state = State::Body { reader, keep_alive: head.keep_alive };
        self.read_body(rest, expected)
    }

    fn read_body(&mut self, input: &[u8], expected: Expected<'_>) -> Progress {
        let State::Body { reader, keep_alive } = &mut self.state else {
            unreachable!("only called with a body open")
        };
        let keep_alive = *keep_alive;
        let mut rest = input;
        while !reader.is_done() && !rest.is_empty() {
            let Ok(decoded) = reader.read(rest) else {
                return failed(Outcome::MalformedBody, self.body_bytes);
            };
            let data = &rest[decoded.data];
            if expected.bytes < self.body_bytes + data.len() as u64 {
                return failed(Outcome::WrongLength, self.body_bytes + data.len() as u64);
            }
            if !expected.content.matches(expected.object, self.body_bytes, data) {
                let at = expected.content.first_difference(expected.object, self.body_bytes, data);
                return failed(Outcome::WrongBytes, at.unwrap_or(self.body_bytes));
            }
            self.body_bytes += data.len() as u64;
            rest = &rest[decoded.consumed..];
        }
        if !reader.is_done() {
            return Progress::Open;
        }
        // Bytes after the body's end: the announced length was too small.
        if !rest.is_empty() {
            return failed(Outcome::WrongLength, self.body_bytes + rest.len() as u64);
        }
        self.finished(expected, keep_alive)
    }

    fn finished(&self, expected: Expected<'_>, keep_alive: bool) -> Progress {
        if self.body_bytes != expected.bytes {
            return failed(Outcome::WrongLength, self.body_bytes);
        }
        Progress::Done { keep_alive }
    }
}

fn failed(outcome: Outcome, detail: u64) -> Progress {
    Progress::Failed { outcome, detail }
}

fn truncated(bytes: u64) -> Progress {
    failed(Outcome::Truncated, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 10_000;

    /// Feeds a reply in the given pieces, then the end of input; returns where it ends up.
    fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Progress {
        let content = Content::new(1);
        let expected = Expected { content: &content, object: 3, bytes: SIZE };
        let mut reader = ReplyReader::new();
        for piece in pieces {
            match reader.read(piece, expected) {
                Progress::Open => {}
                end => return end,
            }
        }
        reader.end(expected)
    }

    fn body() -> Vec<u8> {
        let mut body = vec![0; SIZE as usize];
        Content::new(1).fill(3, 0, &mut body);
        body
    }

    fn reply(head: &str, body: &[u8]) -> Vec<u8> {
        [format!("HTTP/1.1 200 OK\r\n{head}\r\n").as_bytes(), body].concat()
    }

    fn right() -> Vec<u8> {
        reply("Content-Length: 10000\r\n", &body())
    }

    fn chunked() -> Vec<u8> {
        let body = body();
        let chunks = [b"1f40\r\n", &body[..8000], b"\r\n7d0\r\n", &body[8000..], b"\r\n0\r\n\r\n"].concat();
        reply("Transfer-Encoding: chunked\r\n", &chunks)
    }

    #[test]
    fn right_replies_are_done_under_every_framing() {
        assert_eq!(feed([&right()[..]]), Progress::Done { keep_alive: true });
        assert_eq!(feed([&chunked()[..]]), Progress::Done { keep_alive: true });
        assert_eq!(feed([&reply("", &body())[..]]), Progress::Done { keep_alive: false });
        let interim = [b"HTTP/1.1 103 Early Hints\r\n\r\n", &right()[..]].concat();
        assert_eq!(feed([&interim[..]]), Progress::Done { keep_alive: true });
    }

    #[test]
    fn every_fault_has_its_own_outcome() {
        let mut flipped = right();
        *flipped.last_mut().unwrap() ^= 1;
        let short = reply("Content-Length: 9999\r\n", &body()[..9999]);
        let cut = &right()[..9000];
        let flood = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(9);
        let huge = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(70_000)).into_bytes();
        for (bytes, outcome) in [
            (flipped, Outcome::WrongBytes),
            (short, Outcome::WrongLength),
            (reply("Content-Length: 10000\r\n", &[&body()[..], b"x"].concat()), Outcome::WrongLength),
            (reply("", &body()[..5000]), Outcome::WrongLength),
            (reply("", &[&body()[..], b"more"].concat()), Outcome::WrongLength),
            (cut.to_vec(), Outcome::Truncated),
            (b"HTTP/1.1 200".to_vec(), Outcome::Truncated),
            (Vec::new(), Outcome::Truncated),
            (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(), Outcome::WrongStatus),
            (b"HTTP/1.1 301 Moved\r\nLocation: http://x/\r\n\r\n".to_vec(), Outcome::WrongStatus),
            (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), Outcome::MalformedHead),
            (reply("Content-Length: 1\r\nContent-Length: 2\r\n", b"x"), Outcome::MalformedHead),
            (flood, Outcome::MalformedHead),
            (huge, Outcome::OversizedHead),
            (reply("Transfer-Encoding: chunked\r\n", b"zz\r\n"), Outcome::MalformedBody),
        ] {
            match feed([&bytes[..]]) {
                Progress::Failed { outcome: found, .. } => {
                    assert_eq!(found, outcome, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
                }
                other => panic!("{other:?} instead of {outcome:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn the_cut_of_the_input_does_not_matter(cuts in proptest::collection::vec(0usize..10_200, 0..5), chunks: bool) {
            let whole = if chunks { chunked() } else { right() };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            cuts.sort_unstable();
            let starts = std::iter::once(0).chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([whole.len()]);
            let pieces: Vec<&[u8]> = starts.zip(ends).map(|(start, end)| &whole[start..end]).filter(|piece| !piece.is_empty()).collect();
            prop_assert_eq!(feed(pieces), Progress::Done { keep_alive: true });
        }

        #[test]
        fn any_bytes_end_in_a_named_outcome(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let is_failure = matches!(feed([&bytes[..]]), Progress::Failed { .. });
            prop_assert!(is_failure);
        }
    }
}
