//! Fetching a page without expectations, to learn what a server answers.
//!
//! The request, its transport and its protocol are those of the load; only the reply is not compared with anything.

use std::rc::Rc;

use http1::{
    BodyReader, HeadError, INTERIM_BYTES_MAX, ParseStatus, RequestMethod, header, parse_encoded_response,
    unfolded,
};
use model::{HttpVersion, Outcome, Tls, WebProtocol, WebRequest};
use units::Clock;

use super::body_check::BodyDigest;
use super::context::WebContext;
use super::describe::describe;
use super::fetched_reply::FetchedReply;
use super::http2;
use super::malformed_reply::{MalformedReply, malformed_body, malformed_head};
use super::request_timestamps::RequestTimestamps;
use super::tls_transport::TlsTransport;
use super::transport::Http1Transport;
use crate::net::{OperationFailure, TcpTransport};

/// A fetch without a complete reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// The failure.
    pub outcome: Outcome,
    /// Its description: a clause without a full stop.
    pub text: String,
    /// Whether a reply began as one of HTTP.
    pub is_http: bool,
}

/// Fetches the first object of a kind of request on a connection of its own. A time limit is the caller's.
///
/// # Errors
/// There is no complete reply.
pub async fn fetch(
    web: &Rc<WebContext>,
    protocol: &WebProtocol,
    kind: u16,
) -> Result<FetchedReply, FetchError> {
    let operation = WebRequest { closes: true, ..WebRequest::first(kind) };
    let sent = web.clock.now();
    let fetched = match (protocol.http, protocol.tls) {
        (HttpVersion::Http2, _) => http2::fetch(web, &operation).await,
        (_, Tls::Off) => over_http1::<TcpTransport>(web, &operation).await,
        _ => over_http1::<TlsTransport>(web, &operation).await,
    };
    let lacks_identity = web.lacks_identity();
    let fetched = fetched.map(|reply| FetchedReply { lacks_identity, ..reply });
    fetched.map_err(|failure| {
        let measured = RequestTimestamps::default().measured(0, 0);
        let reply = failure.into_reply(sent, web.clock.now(), measured);
        let is_http = match reply.outcome {
            Outcome::MalformedBody => true,
            // A head that begins as one of HTTP, or bytes of a body.
            Outcome::MalformedHead | Outcome::Truncated => reply.detail != 0,
            _ => false,
        };
        FetchError { outcome: reply.outcome, text: describe(web, &operation, &reply), is_http }
    })
}

async fn over_http1<C: Http1Transport>(
    web: &WebContext,
    operation: &WebRequest,
) -> Result<FetchedReply, OperationFailure> {
    let user_state = C::user_state(web);
    let (mut transport, _) = C::open(web, &user_state, operation).await?;
    let mut observer = ReplyObserver::new(web.prepared(operation).method());
    loop {
        let received = transport.read(web).await?;
        let mut is_done = Ok(false);
        if received.bytes != 0 {
            transport.decode(web, received, |piece| {
                if matches!(is_done, Ok(false)) {
                    is_done = observer.read(piece);
                }
            })?;
        }
        if let Some(words) = observer.explanation.take() {
            web.explain(Outcome::MalformedHead, words);
        }
        if is_done? {
            return Ok(observer.into_reply());
        }
        if received.is_end || transport.has_ended() {
            observer.end()?;
            return Ok(observer.into_reply());
        }
    }
}

/// A reader of one HTTP/1 reply that notes what comes.
struct ReplyObserver {
    method: RequestMethod,
    /// The bytes of a head that is not complete.
    head: Vec<u8>,
    interim_bytes: usize,
    body: Option<(FetchedReply, BodyReader)>,
    body_bytes: u64,
    digest: BodyDigest,
    /// The explanation of a reply that is not HTTP.
    explanation: Option<String>,
}

impl ReplyObserver {
    fn new(method: RequestMethod) -> ReplyObserver {
        let head = Vec::new();
        let digest = BodyDigest::default();
        ReplyObserver { method, head, interim_bytes: 0, body: None, body_bytes: 0, digest, explanation: None }
    }

    /// Takes the next bytes; returns whether the reply is complete.
    fn read(&mut self, input: &[u8]) -> Result<bool, OperationFailure> {
        if self.body.is_some() {
            return self.read_body(input);
        }
        self.head.extend_from_slice(input);
        loop {
            let (parsed, length) = match parse_encoded_response(&self.head, self.method) {
                Ok(ParseStatus::Complete { head, length }) => (head, length),
                Ok(ParseStatus::Partial) => return Ok(false),
                Err(HeadError::Oversized(_)) => return Err(oversized(self.head.len())),
                Err(error) => match unfolded(&self.head) {
                    Some(joined) => {
                        self.head = joined;
                        continue;
                    }
                    None => return Err(self.refused(malformed_head(&self.head, self.method, error))),
                },
            };
            if parsed.head.is_interim() {
                self.interim_bytes += length;
                if INTERIM_BYTES_MAX < self.interim_bytes {
                    return Err(oversized(self.interim_bytes));
                }
                self.head.drain(..length);
                continue;
            }
            let field = |name| header(&self.head, name).map(<[u8]>::to_vec);
            let reply = FetchedReply::of_head(parsed.head.status, parsed.encoded, field);
            self.body = Some((reply, BodyReader::of_response(parsed.head.framing)));
            let rest = self.head.split_off(length);
            return self.read_body(&rest);
        }
    }

    fn read_body(&mut self, input: &[u8]) -> Result<bool, OperationFailure> {
        let Some((_, reader)) = &mut self.body else { return Ok(false) };
        let mut rest = input;
        while !reader.is_done() && !rest.is_empty() {
            let decoded = match reader.read(rest) {
                Ok(decoded) => decoded,
                Err(error) => {
                    let refused = malformed_body(rest, reader.fault_at(), self.body_bytes, error);
                    return Err(self.refused(refused));
                }
            };
            let data = &rest[decoded.data];
            self.digest.take(data);
            self.body_bytes += data.len() as u64;
            rest = &rest[decoded.consumed..];
        }
        Ok(reader.is_done())
    }

    /// Notes the end of input, which may be the end of the body.
    fn end(&mut self) -> Result<(), OperationFailure> {
        let truncated = OperationFailure::new(Outcome::Truncated, self.body_bytes);
        let (_, reader) = self.body.as_mut().ok_or(truncated)?;
        reader.end_of_input().map_err(|_| truncated)
    }

    /// Keeps the explanation of a failure.
    fn refused(&mut self, MalformedReply { failure, explanation }: MalformedReply) -> OperationFailure {
        self.explanation = Some(explanation);
        failure
    }

    fn into_reply(self) -> FetchedReply {
        let reply = self.body.map(|(reply, _)| reply).unwrap_or_default();
        reply.with_body(self.body_bytes, &self.digest)
    }
}

fn oversized(bytes: usize) -> OperationFailure {
    OperationFailure::new(Outcome::OversizedHead, bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(pieces: &[&[u8]]) -> Result<FetchedReply, OperationFailure> {
        let mut observer = ReplyObserver::new(RequestMethod::Get);
        for piece in pieces {
            if observer.read(piece)? {
                return Ok(observer.into_reply());
            }
        }
        observer.end()?;
        Ok(observer.into_reply())
    }

    #[test]
    fn a_reply_is_observed_whatever_it_is() {
        let found = observed(&[
            b"HTTP/1.1 103 Early Hints\r\nContent-Type: a/b\r\n\r\nHTTP/1.1 302 Found\r\nLocat",
            b"ion: http://h/\xff\r\nContent-Type: Text/HTML; charset=utf-8\r\nContent-Length: 4\r\n\r\nab",
            b"cd",
        ])
        .unwrap();
        assert_eq!((found.status, found.body_bytes, found.is_encoded), (302, 4, false));
        assert_eq!(found.content_type.as_deref(), Some("text/html"));
        assert_eq!(found.location.as_deref(), Some("http://h/\u{fffd}"));
        let closed =
            observed(&[b"HTTP/1.0 200 OK\r\nContent-Type: nonsense\r\nLocation: /x\r\n\r\nabcd"]).unwrap();
        assert_eq!((closed.content_type, closed.location.as_deref()), (None, Some("/x")));
        assert_eq!(closed.body_digest, found.body_digest, "the same bytes in other pieces");
    }

    #[test]
    fn an_incomplete_reply_is_a_failure() {
        let outcome = |pieces: &[&[u8]]| observed(pieces).unwrap_err().outcome;
        assert_eq!(outcome(&[b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"]), Outcome::Truncated);
        assert_eq!(outcome(&[]), Outcome::Truncated);
        assert_eq!(outcome(&[b"SSH-2.0-OpenSSH_9.2\r\n"]), Outcome::MalformedHead);
        let hints = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(INTERIM_BYTES_MAX / 28 + 1);
        assert_eq!(outcome(&[&hints]), Outcome::OversizedHead);
    }
}
