//! An HTTP/1 connection: the event loop of the module's table.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http1::{ParseStatus, RequestHead, parse_request};
use tokio::io::ReadBuf;

use super::head::refusal;
use super::send::{OutgoingResponse, SendProgress, send_now};
use crate::frontend::deadline::Deadline;
use crate::frontend::fast_path::ResponseBatch;
use crate::frontend::peer::{ClientStream, Peer};
use crate::frontend::service::Service;
use crate::frontend::worker::Worker;
use crate::message::ProxyReason;

/// The preface of an HTTP/2 client with prior knowledge (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The result of serving HTTP/1 on a connection.
#[derive(Debug)]
pub(in crate::frontend) enum Http1Outcome<W> {
    /// The connection has ended.
    Closed,
    /// The client speaks HTTP/2; holds the bytes read so far.
    Http2(W, Vec<u8>),
}

/// The state in which a connection is handed to HTTP/1.
#[derive(Debug, Default)]
pub(in crate::frontend) struct InitialState {
    /// The first event, if it has happened already; a head to parse is known not to be remembered.
    pub(in crate::frontend) event: Option<ConnectionEvent>,
    /// Bytes read but not parsed yet.
    pub(in crate::frontend) kept: Vec<u8>,
    /// Bytes of responses that the client has not taken yet.
    pub(in crate::frontend) unsent: Unsent,
    /// The number of requests answered so far.
    pub(in crate::frontend) answered: u64,
    /// Whether the client may begin with HTTP/2.
    pub(in crate::frontend) speaks_http2: bool,
}

/// Bytes of responses that the client has not taken yet.
#[derive(Debug, Default)]
pub(in crate::frontend) struct Unsent {
    head: Vec<u8>,
    body: Bytes,
    /// Whether the connection ends after them.
    closes: bool,
}

impl Unsent {
    /// Returns the rest of a batch of which `sent` bytes were sent.
    pub(in crate::frontend) fn of(output: &[u8], batch: ResponseBatch, sent: usize) -> Unsent {
        let of_output = sent.min(output.len());
        let head = output[of_output..].to_vec();
        let mut body = batch.body;
        Unsent { head, body: body.split_off(sent - of_output), closes: batch.closes }
    }
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Http1Connection<W> {
    pub(super) wire: W,
    pub(super) peer: Peer,
    pub(super) worker: Rc<Worker>,
    pub(super) deadline: Deadline,
    /// Bytes read but not parsed yet.
    pub(super) kept: Vec<u8>,
    /// The current response.
    pub(super) outgoing: OutgoingResponse,
    /// The number of requests that may follow.
    pub(super) requests_left: u64,
    unsent: Unsent,
    /// Whether the bytes read so far are known to be an incomplete head.
    is_partial: bool,
    speaks_http2: bool,
}

/// An event that a connection has to handle.
#[derive(Debug, Clone, Copy)]
pub(in crate::frontend) enum ConnectionEvent {
    /// The client has not taken all of the responses.
    Flush,
    /// There may be a head to parse.
    Parse,
    /// The time limit has passed.
    TimedOut,
    /// The client has closed or broken the connection.
    Gone,
    /// The connection ends with the response that was sent.
    Close,
}

/// The fate of a connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterResponse {
    /// It takes the next request.
    Next,
    /// It is closed: the client sends no more.
    Close,
    /// It is closed after a linger: the client may still be sending.
    Linger,
}

/// The result of parsing the bytes read so far.
enum ParseOutcome {
    Partial,
    Request(RequestHead, usize),
    Refused(u16, ProxyReason),
    Http2,
}

/// Serves a connection until either side ends it, or the client turns out to speak HTTP/2.
///
/// # Errors
/// I/O errors, which also end it.
pub(in crate::frontend) async fn serve<W: ClientStream>(
    wire: W,
    peer: Peer,
    worker: Rc<Worker>,
    start: InitialState,
) -> io::Result<Http1Outcome<W>> {
    let mut first = start.event;
    let mut connection = Http1Connection::new(wire, peer, worker, start);
    let after = loop {
        let event = match first.take() {
            Some(event) => event,
            None => poll_fn(|context| connection.poll_event(context)).await,
        };
        match event {
            ConnectionEvent::Flush => {
                if connection.flush_unsent().await? {
                    break AfterResponse::Close;
                }
            }
            ConnectionEvent::Parse => match connection.parse_head() {
                ParseOutcome::Partial => connection.is_partial = true,
                ParseOutcome::Http2 => return Ok(Http1Outcome::Http2(connection.wire, connection.kept)),
                ParseOutcome::Refused(status, reason) => {
                    break Box::pin(connection.refuse(status, reason)).await?;
                }
                ParseOutcome::Request(head, length) => {
                    // Boxed, so that idle connections stay small.
                    let after = Box::pin(connection.answer(head, length)).await?;
                    if after != AfterResponse::Next {
                        break after;
                    }
                }
            },
            ConnectionEvent::TimedOut if connection.kept.is_empty() => break AfterResponse::Close,
            ConnectionEvent::TimedOut => {
                break Box::pin(connection.refuse(408, ProxyReason::HeadTimeout)).await?;
            }
            ConnectionEvent::Gone => return Ok(Http1Outcome::Closed),
            ConnectionEvent::Close => break AfterResponse::Close,
        }
    };
    connection.end(after).await?;
    Ok(Http1Outcome::Closed)
}

/// Answers whatever the client sends with an error page, and ends the connection.
pub(in crate::frontend) async fn refuse<W: ClientStream>(
    wire: W,
    peer: Peer,
    worker: Rc<Worker>,
    (status, reason): (u16, ProxyReason),
) {
    let mut connection = Http1Connection::new(wire, peer, worker, InitialState::default());
    // An I/O error concerns the client alone.
    if connection.refuse(status, reason).await.is_ok() {
        let _ = connection.linger().await;
    }
}

impl<W: ClientStream> Http1Connection<W> {
    fn new(wire: W, peer: Peer, worker: Rc<Worker>, start: InitialState) -> Http1Connection<W> {
        let limits = worker.limits();
        let deadline = worker.deadline();
        // A client that connects is expected to send a request, so the head timeout applies.
        if start.kept.is_empty() {
            deadline.set_idle(limits.head_timeout);
        } else {
            deadline.set(limits.head_timeout);
        }
        Http1Connection {
            wire,
            peer,
            outgoing: OutgoingResponse::new(&limits),
            requests_left: limits.requests_per_connection.unwrap_or(u64::MAX).saturating_sub(start.answered),
            kept: start.kept,
            unsent: start.unsent,
            is_partial: false,
            speaks_http2: start.speaks_http2 && start.answered == 0,
            worker,
            deadline,
        }
    }

    /// Reads, and answers remembered requests, until there is another event.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<ConnectionEvent> {
        let worker = Rc::clone(&self.worker);
        let buffers = &mut *worker.buffers.borrow_mut();
        loop {
            let before = self.kept.len();
            let mut filled = self.kept.len();
            // The shared buffer may have been overwritten since the last read.
            let Some(room) = buffers.input.get_mut(..before) else {
                return Poll::Ready(ConnectionEvent::Parse);
            };
            room.copy_from_slice(&self.kept);
            if before == 0 || self.is_partial {
                let mut room = ReadBuf::new(&mut buffers.input[before..]);
                match Pin::new(&mut self.wire).poll_read(context, &mut room) {
                    Poll::Ready(Ok(())) if !room.filled().is_empty() => filled += room.filled().len(),
                    Poll::Ready(_) => return Poll::Ready(ConnectionEvent::Gone),
                    Poll::Pending => {
                        return self.deadline.poll_elapsed(context).map(|()| ConnectionEvent::TimedOut);
                    }
                }
                let fresh = &buffers.input[before..filled];
                // A head that comes byte by byte is not parsed after each byte.
                if self.is_partial && !fresh.contains(&b'\n') && filled < self.head_bytes_max() {
                    self.kept.extend_from_slice(fresh);
                    continue;
                }
            }
            let is_new = before == 0 || !mem::take(&mut self.is_partial);
            let input = &buffers.input[..filled];
            let event = self.answer_remembered(context, input, &mut buffers.output, is_new);
            if let Some(event) = event {
                return Poll::Ready(event);
            }
        }
    }

    /// Answers the remembered requests at the start of the input and keeps the rest. Returns the next event; `None`
    /// if more input is needed.
    fn answer_remembered(
        &mut self,
        context: &mut Context<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        is_new: bool,
    ) -> Option<ConnectionEvent> {
        let mut at = 0;
        let event = loop {
            let rest = &input[at..];
            // The last request allowed takes the slow path, which adds `Connection: close`.
            let batch =
                self.worker.answer_remembered(&self.peer, rest, self.requests_left.saturating_sub(1), output);
            if batch.responses == 0 {
                break (!rest.is_empty()).then_some(ConnectionEvent::Parse);
            }
            at += batch.consumed;
            self.requests_left -= batch.responses;
            match send_now(&mut self.wire, context, output, &batch.body) {
                Ok(SendProgress::All) if batch.closes => break Some(ConnectionEvent::Close),
                Ok(SendProgress::All) => {}
                Ok(SendProgress::Partly(sent)) => {
                    self.unsent = Unsent::of(output, batch, sent);
                    break Some(ConnectionEvent::Flush);
                }
                Err(_) => break Some(ConnectionEvent::Gone),
            }
        };
        self.keep(&input[at..], is_new || at != 0);
        event
    }

    /// Keeps input that was not answered, and sets the time limit for the rest of it; `is_new` if it begins with a
    /// new head.
    fn keep(&mut self, rest: &[u8], is_new: bool) {
        self.kept.clear();
        self.kept.extend_from_slice(rest);
        if is_new || rest.is_empty() {
            self.await_head();
        }
    }

    /// Sends what the client did not take at once; returns whether the connection ends with it.
    async fn flush_unsent(&mut self) -> io::Result<bool> {
        let worker = Rc::clone(&self.worker);
        self.outgoing = OutgoingResponse::new(&worker.limits());
        let Unsent { head, body, closes } = mem::take(&mut self.unsent);
        let _in_flight = worker.track_request();
        self.send(&head, &body).await?;
        self.await_head();
        Ok(closes)
    }

    /// Sets the time limit for the next head. A connection without input holds no buffer.
    pub(super) fn await_head(&mut self) {
        let limits = self.worker.limits();
        if self.kept.is_empty() {
            self.kept = Vec::new();
            self.deadline.set_idle(limits.idle_timeout);
        } else {
            self.deadline.set(limits.head_timeout);
        }
    }

    /// Returns the most bytes that a head may have.
    fn head_bytes_max(&self) -> usize {
        self.worker.limits().head_bytes_max.min(http1::HEAD_BYTES_MAX)
    }

    /// Parses the bytes read so far.
    fn parse_head(&mut self) -> ParseOutcome {
        if mem::take(&mut self.speaks_http2)
            && PREFACE.starts_with(&self.kept[..self.kept.len().min(PREFACE.len())])
        {
            if PREFACE.len() <= self.kept.len() {
                return ParseOutcome::Http2;
            }
            self.speaks_http2 = true;
            return ParseOutcome::Partial;
        }
        let bytes_max = self.head_bytes_max();
        match parse_request(&self.kept) {
            Ok(ParseStatus::Complete { head, length }) if length <= bytes_max => {
                ParseOutcome::Request(head, length)
            }
            Ok(ParseStatus::Partial) if self.kept.len() < bytes_max => ParseOutcome::Partial,
            Ok(_) => too_large(&self.kept[..self.kept.len().min(bytes_max)]),
            Err(http1::HeadError::Oversized(http1::HeadLimit::Bytes)) => too_large(&self.kept),
            Err(error) => {
                let (status, reason) = refusal(error);
                ParseOutcome::Refused(status, reason)
            }
        }
    }
}

/// Refuses a head that is too long: by its target (414) or its fields (431).
fn too_large(start: &[u8]) -> ParseOutcome {
    if start.windows(2).any(|pair| pair == b"\r\n") {
        ParseOutcome::Refused(431, ProxyReason::HeadTooLarge)
    } else {
        ParseOutcome::Refused(414, ProxyReason::TargetTooLong)
    }
}
