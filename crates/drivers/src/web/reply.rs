//! An incremental reader of one HTTP/1 response that checks it against the expected object.
//!
//! | state | input | next |
//! |---|---|---|
//! | head | part of a head | head, the part kept |
//! | head | a complete interim head (1xx except 101, which was not requested) | head, as long as interim heads have at most [`INTERIM_BYTES_MAX`] in all |
//! | head | a complete head with the expected status and a possible length | body |
//! | body | bytes of the object | body, or done when the framing says so |
//! | any | anything else | failed |
//! | any | end of input | done if the framing allows it, otherwise truncated |
//!
//! It has no socket and no clock: tests feed it bytes.

use http1::{
    BodyReader, EncodedResponseHead, Framing, HeadError, INTERIM_BYTES_MAX, ParseStatus, RequestMethod,
    ResponseHead, header, parse_encoded_response, unfolded,
};
use model::Outcome;

use super::body_check::BodyCheck;
use super::capture::Capture;
use super::context::ExpectedReply;
use super::malformed_reply::{MalformedReply, malformed_body, malformed_head};
use super::request::PreparedRequest;
use crate::net::OperationFailure;

/// The progress of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Incomplete.
    Open,
    /// Complete and correct; the connection may carry another request or not.
    Done { keep_alive: bool },
    /// Failed; further bytes do not matter.
    Failed(OperationFailure),
}

/// A reader of one response.
pub(crate) struct ReplyReader<'a> {
    prepared: &'a PreparedRequest,
    method: RequestMethod,
    check: BodyCheck<'a>,
    /// The part of the response that a session keeps, if there is a session.
    capture: Option<&'a mut Capture>,
    state: State,
    interim_bytes: usize,
    /// The explanation of a failure that a number cannot express.
    explanation: Option<String>,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
}

#[derive(Debug)]
enum State {
    /// The part of the head that has arrived; usually empty, as heads arrive in one piece.
    Head(Vec<u8>),
    Body {
        reader: BodyReader,
        keep_alive: bool,
    },
}

impl From<OperationFailure> for Progress {
    fn from(failure: OperationFailure) -> Progress {
        Progress::Failed(failure)
    }
}

impl<'a> ReplyReader<'a> {
    /// Starts with the response to this request, whose body must pass the check.
    pub(crate) fn new(prepared: &'a PreparedRequest, check: BodyCheck<'a>) -> ReplyReader<'a> {
        let state = State::Head(Vec::new());
        let method = prepared.method();
        ReplyReader {
            prepared,
            method,
            check,
            capture: None,
            state,
            interim_bytes: 0,
            explanation: None,
            head_bytes: 0,
            body_bytes: 0,
        }
    }

    /// Starts with the response to a request of this method, parts of which are kept.
    pub(crate) fn capturing(
        expected: ExpectedReply<'a>,
        method: RequestMethod,
        capture: &'a mut Capture,
    ) -> ReplyReader<'a> {
        let ExpectedReply { prepared, check } = expected;
        ReplyReader { method, capture: Some(capture), ..ReplyReader::new(prepared, check) }
    }

    /// Returns whether any part of the response has arrived.
    pub(crate) fn has_begun(&self) -> bool {
        self.head_bytes != 0 || !matches!(&self.state, State::Head(part) if part.is_empty())
    }

    /// Takes the explanation of a reply that is not HTTP.
    pub(crate) fn take_explanation(&mut self) -> Option<String> {
        self.explanation.take()
    }

    /// Processes the next piece of input.
    pub(crate) fn read(&mut self, input: &[u8]) -> Progress {
        match &mut self.state {
            State::Body { .. } => self.read_body(input),
            State::Head(part) if part.is_empty() => self.read_head(input),
            State::Head(part) => {
                part.extend_from_slice(input);
                let joined = std::mem::take(part);
                self.read_head(&joined)
            }
        }
    }

    /// Processes the end of input.
    pub(crate) fn end(&mut self) -> Progress {
        let State::Body { reader, .. } = &mut self.state else {
            return truncated(self.head_bytes + self.body_bytes);
        };
        match reader.end_of_input() {
            Err(_) => truncated(self.body_bytes),
            Ok(()) => self.finished(false),
        }
    }

    fn read_head(&mut self, input: &[u8]) -> Progress {
        let mut rest = input;
        loop {
            let (reply, length) = match parse_encoded_response(rest, self.method) {
                Ok(ParseStatus::Complete { head, length }) => (head, length),
                Ok(ParseStatus::Partial) => {
                    self.state = State::Head(rest.to_vec());
                    return Progress::Open;
                }
                Err(error) => return self.read_refused(rest, error),
            };
            self.head_bytes += length as u64;
            let head = &rest[..length];
            rest = &rest[length..];
            if reply.head.is_interim() {
                self.interim_bytes += length;
                if INTERIM_BYTES_MAX < self.interim_bytes {
                    return failed(Outcome::OversizedHead, self.interim_bytes as u64);
                }
                continue;
            }
            return self.begin_body(reply, head, rest);
        }
    }

    /// Reads a head that the parser refuses again if it has folded lines; otherwise it is a failure.
    #[cold]
    fn read_refused(&mut self, head: &[u8], error: HeadError) -> Progress {
        if let Some(joined) = unfolded(head) {
            return self.read_head(&joined);
        }
        if let HeadError::Oversized(_) = error {
            return failed(Outcome::OversizedHead, head.len() as u64);
        }
        self.refused(malformed_head(head, self.method, error))
    }

    fn refused(&mut self, MalformedReply { failure, explanation }: MalformedReply) -> Progress {
        self.explanation = Some(explanation);
        failure.into()
    }

    fn begin_body(&mut self, reply: EncodedResponseHead, bytes: &[u8], rest: &[u8]) -> Progress {
        let EncodedResponseHead { head, encoded, content_type } = reply;
        let is_followed = match &mut self.capture {
            Some(capture) => capture.take_head(head.status, http1::headers(bytes)),
            None => false,
        };
        if is_followed {
            self.check = BodyCheck::Any;
        } else if let Err(failure) = self.check_head(&head, bytes, encoded) {
            return failure.into();
        }
        self.check.typed(|| content_type.map(|span| &bytes[span.start..span.end]));
        if let Framing::Length(length) = head.framing
            && let Err(failure) = self.check.announced(length)
        {
            return failure.into();
        }
        let reader = BodyReader::of_response(head.framing);
        self.state = State::Body { reader, keep_alive: head.keep_alive };
        self.read_body(rest)
    }

    /// Checks status and encoding of a response that is not a redirect on the way.
    fn check_head(
        &mut self,
        head: &ResponseHead,
        bytes: &[u8],
        encoded: bool,
    ) -> Result<(), OperationFailure> {
        if head.status != self.prepared.request.status {
            self.prepared.check_status(head.status, &mut self.check)?;
        } else if !self.prepared.takes_type(|| header(bytes, "content-type")) {
            return Err(OperationFailure::new(Outcome::WrongBytes, 0));
        }
        let is_read = |capture: &&mut Capture| capture.wants_body();
        let may_be_encoded = self.prepared.may_be_encoded && !self.capture.as_ref().is_some_and(is_read);
        if encoded && !may_be_encoded && head.framing != Framing::None {
            return Err(OperationFailure::new(Outcome::WrongEncoding, 0));
        }
        Ok(())
    }

    fn read_body(&mut self, input: &[u8]) -> Progress {
        let State::Body { reader, keep_alive } = &mut self.state else {
            unreachable!("only called with a body open")
        };
        let keep_alive = *keep_alive;
        let mut rest = input;
        while !reader.is_done() && !rest.is_empty() {
            let decoded = match reader.read(rest) {
                Ok(decoded) => decoded,
                Err(error) => {
                    let refused = malformed_body(rest, reader.fault_at(), self.body_bytes, error);
                    return self.refused(refused);
                }
            };
            let data = &rest[decoded.data];
            if let Err(failure) = self.check.take(self.body_bytes, data) {
                return failure.into();
            }
            if let Some(capture) = &mut self.capture
                && let Err(failure) = capture.take_body(data)
            {
                return failure.into();
            }
            self.body_bytes += data.len() as u64;
            rest = &rest[decoded.consumed..];
        }
        if !reader.is_done() {
            return Progress::Open;
        }
        // Bytes after the end of the body: the announced length was too small.
        if !rest.is_empty() {
            return failed(Outcome::WrongLength, self.body_bytes + rest.len() as u64);
        }
        self.finished(keep_alive)
    }

    fn finished(&mut self, keep_alive: bool) -> Progress {
        match self.check.finish(self.body_bytes) {
            Ok(()) => Progress::Done { keep_alive },
            Err(failure) => failure.into(),
        }
    }
}

fn failed(outcome: Outcome, detail: u64) -> Progress {
    Progress::Failed(OperationFailure::new(outcome, detail))
}

fn truncated(bytes: u64) -> Progress {
    failed(Outcome::Truncated, bytes)
}

#[cfg(test)]
mod tests {
    use model::{ConnectionLifetime, Content, ReplyBody, Request, WebProtocol, WebRequest};
    use proptest::prelude::*;

    use super::*;
    use crate::web::seen::SeenBodies;
    use units::{Nanos, RealClock};

    const SIZE: u64 = 10_000;

    /// Feeds a response in the given pieces, then the end of input; returns the final progress.
    fn feed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Progress {
        feed_to(&Request::file("/", SIZE), pieces)
    }

    /// Does the same for a response to any request.
    fn feed_to<'a>(request: &Request, pieces: impl IntoIterator<Item = &'a [u8]>) -> Progress {
        let protocol = WebProtocol::plain(ConnectionLifetime::KeepAlive { requests_max: None });
        let content = Content::new(1);
        let seen = SeenBodies::new(RealClock::start());
        let prepared = PreparedRequest::new(request, request.clone(), &protocol, "h").unwrap();
        let check = prepared.check(&WebRequest::first(0), &content, (3, Nanos::ZERO), &seen);
        let mut reader = ReplyReader::new(&prepared, check);
        for piece in pieces {
            match reader.read(piece) {
                Progress::Open => {}
                end => return end,
            }
        }
        reader.end()
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
    fn correct_replies_complete_under_every_framing() {
        assert_eq!(feed([&right()[..]]), Progress::Done { keep_alive: true });
        assert_eq!(feed([&chunked()[..]]), Progress::Done { keep_alive: true });
        assert_eq!(feed([&reply("", &body())[..]]), Progress::Done { keep_alive: false });
        for n in [1, 9, 1000] {
            let hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".repeat(n);
            let interim = [&hints[..], &right()[..]].concat();
            assert_eq!(feed([&interim[..]]), Progress::Done { keep_alive: true }, "{n}");
            assert_eq!(feed(interim.chunks(7)), Progress::Done { keep_alive: true }, "{n} in pieces");
        }
    }

    #[test]
    fn every_fault_has_its_outcome() {
        let mut flipped = right();
        *flipped.last_mut().unwrap() ^= 1;
        let short = reply("Content-Length: 9999\r\n", &body()[..9999]);
        let cut = &right()[..9000];
        let flood = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(INTERIM_BYTES_MAX / 25 + 1);
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
            (flood, Outcome::OversizedHead),
            (huge, Outcome::OversizedHead),
            (reply("Transfer-Encoding: chunked\r\n", b"zz\r\n"), Outcome::MalformedBody),
            (reply("Content-Encoding: gzip\r\nContent-Length: 10000\r\n", &body()), Outcome::WrongEncoding),
        ] {
            match feed([&bytes[..]]) {
                Progress::Failed(OperationFailure { outcome: found, .. }) => {
                    assert_eq!(found, outcome, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
                }
                other => panic!("{other:?} instead of {outcome:?}"),
            }
        }
    }

    #[test]
    fn the_expected_status_depends_on_the_request() {
        let done = Progress::Done { keep_alive: true };
        let not_found = Request { status: 404, reply: ReplyBody::Any, ..Request::file("/", 0) };
        let text = b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!";
        assert_eq!(feed_to(&not_found, [&text[..]]), done);
        let wrong = failed(Outcome::WrongStatus, 200);
        assert_eq!(feed_to(&not_found, [&right()[..]]), wrong);
        for status in [204, 304] {
            let bodiless = Request { status, ..Request::file("/", SIZE) };
            let text = format!("HTTP/1.1 {status} x\r\nContent-Encoding: gzip\r\nETag: \"1\"\r\n\r\n");
            assert_eq!(feed_to(&bodiless, [text.as_bytes()]), done, "{status}");
        }
    }

    #[test]
    fn a_content_type_is_compared_without_its_parameters() {
        let typed =
            Request { reply: ReplyBody::ContentType("text/html".to_owned()), ..Request::file("/", 0) };
        let answer =
            |head: &str| feed_to(&typed, [&reply(&format!("{head}Content-Length: 2\r\n"), b"ok")[..]]);
        let done = Progress::Done { keep_alive: true };
        assert_eq!(answer("Content-Type: Text/HTML; charset=utf-8\r\n"), done);
        assert_eq!(answer("content-type: text/html\r\nContent-Encoding: gzip\r\n"), done);
        for head in ["", "Content-Type: text/htm\r\n", "Content-Type: application/json\r\n"] {
            assert_eq!(answer(head), failed(Outcome::WrongBytes, 0), "{head}");
        }
        let early = b"HTTP/1.1 103 Early Hints\r\nContent-Type: a/b\r\n\r\n";
        let late = [&early[..], &reply("Content-Type: text/html\r\nContent-Length: 2\r\n", b"ok")].concat();
        assert_eq!(feed_to(&typed, late.chunks(7)), done);
    }

    #[test]
    fn a_reply_to_head_has_a_length_and_no_body() {
        let head = Request { method: "HEAD".to_owned(), ..Request::file("/", SIZE) };
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n";
        assert_eq!(feed_to(&head, [&text[..]]), Progress::Done { keep_alive: true });
        let wrong = failed(Outcome::WrongLength, 1);
        assert_eq!(feed_to(&head, [&[&text[..], b"x"].concat()[..]]), wrong);
    }

    #[test]
    fn an_encoded_body_is_accepted_if_requested() {
        let asked = Request {
            headers: vec![("accept-encoding".to_owned(), "gzip".to_owned())],
            reply: ReplyBody::Seen,
            ..Request::file("/", 0)
        };
        let text = reply("Content-Encoding: gzip\r\nContent-Length: 3\r\n", b"\x1f\x8b\x08");
        assert_eq!(feed_to(&asked, [&text[..]]), Progress::Done { keep_alive: true });
        let anything = Request { headers: Vec::new(), reply: ReplyBody::Any, ..asked };
        assert_eq!(feed_to(&anything, [&text[..]]), Progress::Done { keep_alive: true });
    }

    proptest! {
        #[test]
        fn the_split_of_the_input_does_not_matter(cuts in proptest::collection::vec(0usize..10_200, 0..5), chunks: bool) {
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
            let is_failure = matches!(feed([&bytes[..]]), Progress::Failed(_));
            prop_assert!(is_failure);
        }
    }
}
