//! The HTTP/2 driver of one virtual user: one operation, one stream.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use engine::Driver;
use h2::RecvStream;
use h2::client::{ResponseFuture, SendRequest};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Request as Head, Response};
use http1::{INTERIM_BYTES_MAX, names_content_coding};
use model::{Outcome, Reply, WebRequest};
use units::{Clock, Nanos};

use super::failure::{came_too_late, ended_before_reply, failure, is_refused, was_not_processed};
use super::pool::{ConnectionSlot, SharedConnection};
use super::request::RequestTemplate;
use crate::net::OperationFailure;
use crate::web::body_check::BodyCheck;
use crate::web::capture::Capture;
use crate::web::composed_request::ComposedRequest;
use crate::web::context::{ExpectedReply, WebContext};
use crate::web::describe::describe;
use crate::web::request::PreparedRequest;
use crate::web::request_timestamps::RequestTimestamps;
use crate::web::session_transport::SessionTransport;

/// The most connections that a request is tried on, if earlier ones ended gracefully without processing it.
const ATTEMPTS_MAX: u32 = 4;

/// A driver of one virtual user for HTTP/2, with or without TLS.
pub struct Http2Driver {
    web: Rc<WebContext>,
    slot: Rc<ConnectionSlot>,
    attached: Option<(Rc<SharedConnection>, SendRequest<Bytes>)>,
}

/// The error of one attempt.
enum AttemptError {
    /// The server has ended the connection gracefully and not processed the request.
    TooLate,
    /// A reused connection has ended in place of a reply, and the request may be made again.
    Lost,
    /// The server has refused the stream and not processed the request.
    Refused(OperationFailure),
    Failed(OperationFailure),
}

impl From<OperationFailure> for AttemptError {
    fn from(failure: OperationFailure) -> AttemptError {
        AttemptError::Failed(failure)
    }
}

/// The progress of one operation.
struct OperationProgress {
    marks: RequestTimestamps,
    body_bytes: u64,
}

impl Http2Driver {
    /// Creates a driver; drivers of one context share connections in the order of their creation.
    ///
    /// # Panics
    /// The context's protocol is not HTTP/2.
    pub fn new(web: Rc<WebContext>) -> Http2Driver {
        let pool = web.http2.as_ref().expect("a context for HTTP/2");
        let slot = pool.assign_slot(web.tls.as_ref());
        Http2Driver { web, slot, attached: None }
    }

    /// Performs a request: on another connection if the server has ended one gracefully without processing it, or once if
    /// a reused one turns out to have ended; once more on the same if the server refuses the stream. It is one operation,
    /// whose time runs on.
    #[inline]
    async fn perform_request(
        &mut self,
        request: &impl Http2Request,
        (closes, is_idempotent): (bool, bool),
        mut reply: ReplyCheck<'_>,
        sent: Nanos,
    ) -> Reply {
        let web = Rc::clone(&self.web);
        let marks = RequestTimestamps { sent, connected: sent, ..RequestTimestamps::default() };
        let mut progress = OperationProgress { marks, body_bytes: 0 };
        let mut n_attempts = 0;
        let mut may_repeat = true;
        let result = loop {
            n_attempts += 1;
            match self.attempt(&web, request, (is_idempotent, may_repeat), &mut reply, &mut progress).await {
                Ok(()) => break Ok(()),
                Err(AttemptError::TooLate) if n_attempts < ATTEMPTS_MAX => self.leave(),
                Err(AttemptError::TooLate) => {
                    let words = "the server ends each connection before it processes the request";
                    break Err(web.explain(Outcome::Http2Failed, words));
                }
                Err(AttemptError::Lost) => {
                    may_repeat = false;
                    self.leave();
                }
                Err(AttemptError::Refused(_)) if may_repeat => {
                    may_repeat = false;
                    web.count_refused();
                }
                Err(AttemptError::Refused(failure) | AttemptError::Failed(failure)) => break Err(failure),
            }
        };
        let result = result.map_err(|failure| self.reason(failure));
        if result.is_err_and(|failure| concerns_connection(failure.outcome))
            || closes && self.slot.is_exclusive
        {
            self.leave();
        }
        let OperationProgress { marks, body_bytes } = progress;
        let done = if result.is_ok() { marks.last_byte } else { web.clock.now() };
        let failure = result.err().unwrap_or(OperationFailure::NONE);
        failure.into_reply(sent, done, marks.measured(0, body_bytes))
    }

    /// Tries the request on the current connection.
    async fn attempt(
        &mut self,
        web: &WebContext,
        request: &impl Http2Request,
        (is_idempotent, may_repeat): (bool, bool),
        reply: &mut ReplyCheck<'_>,
        progress: &mut OperationProgress,
    ) -> Result<(), AttemptError> {
        let response = match self.respond(web, request, progress).await {
            Ok(response) => response?,
            Err(error) if came_too_late(&error) => return Err(AttemptError::TooLate),
            Err(error) if may_repeat && self.has_served() && ended_before_reply(&error) => {
                return Err(self.lost(web, is_idempotent || was_not_processed(&error)));
            }
            Err(error) if is_refused(&error) => {
                return Err(AttemptError::Refused(failure(web, &error, 0)));
            }
            Err(error) => return Err(attempt_error(web, &error, 0)),
        };
        progress.marks.first_byte = web.clock.now();
        progress.marks.last_byte = progress.marks.first_byte;
        reply.head(&response)?;
        receive(web, response.into_body(), reply, progress).await
    }

    /// Sends a request and returns the final response, whatever it is.
    pub(super) async fn fetch(
        &mut self,
        web: &WebContext,
        operation: &WebRequest,
    ) -> Result<Response<RecvStream>, OperationFailure> {
        let sent = web.clock.now();
        let marks = RequestTimestamps { sent, connected: sent, ..RequestTimestamps::default() };
        let mut progress = OperationProgress { marks, body_bytes: 0 };
        let response = self.respond(web, operation, &mut progress).await;
        response.map_err(|error| self.reason(failure(web, &error, 0)))?
    }

    /// Sends the request and waits for the head of the final response.
    async fn respond(
        &mut self,
        web: &WebContext,
        request: &impl Http2Request,
        progress: &mut OperationProgress,
    ) -> Result<Result<Response<RecvStream>, OperationFailure>, h2::Error> {
        let sender = match self.sender(web, progress).await {
            Ok(sender) => sender,
            Err(failure) => return Ok(Err(failure)),
        };
        poll_fn(|context| sender.poll_ready(context)).await?;
        let (head, content) = request.head_and_body(web);
        let (response, mut body) = sender.send_request(head, content.is_empty())?;
        if !content.is_empty() {
            body.send_data(content, true)?;
        }
        final_response(response).await
    }

    /// Returns whether the connection has carried a request before the current one.
    fn has_served(&self) -> bool {
        self.attached.as_ref().is_some_and(|(connection, _)| connection.has_served())
    }

    /// Counts the connection as lost, once for all of its users.
    #[cold]
    fn lost(&self, web: &WebContext, may_be_sent_again: bool) -> AttemptError {
        if self.attached.as_ref().is_some_and(|(connection, _)| connection.is_first_loss()) {
            web.count_lost();
        }
        if may_be_sent_again {
            AttemptError::Lost
        } else {
            OperationFailure::new(Outcome::ConnectionLost, 0).into()
        }
    }

    /// Attaches to a connection that accepts a request. Returns its sender.
    async fn sender(
        &mut self,
        web: &WebContext,
        progress: &mut OperationProgress,
    ) -> Result<&mut SendRequest<Bytes>, OperationFailure> {
        if self.attached.as_ref().is_none_or(|(connection, _)| !connection.admit()) {
            self.attached = None;
            let pool = web.http2.as_ref().expect("checked when the driver was created");
            let (connection, is_new) = self.slot.connection(web, pool).await?;
            if is_new {
                progress.marks.connected = web.clock.now();
            }
            let sender = connection.sender();
            self.attached = Some((connection, sender));
        }
        Ok(&mut self.attached.as_mut().expect("attached above").1)
    }

    /// Replaces a failure by the server's reason for ending the connection, if it gave one.
    fn reason(&self, seen: OperationFailure) -> OperationFailure {
        let connection = self.attached.as_ref().map(|(connection, _)| connection);
        match connection.and_then(|connection| connection.error()).filter(|error| !came_too_late(error)) {
            Some(error) if seen.outcome == Outcome::Truncated => failure(&self.web, error, 0),
            _ => seen,
        }
    }

    /// Leaves the connection, which then accepts no further requests.
    fn leave(&mut self) {
        if let Some((connection, _)) = self.attached.take() {
            self.slot.end(&connection);
        }
    }
}

impl Driver for Http2Driver {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let web = Rc::clone(&self.web);
        let (prepared, check) = web.expected(operation, sent);
        let reply = ReplyCheck { prepared, check, capture: None };
        self.perform_request(operation, (operation.closes, prepared.is_idempotent()), reply, sent).await
    }

    /// The connection may be dead or only this stream: the next request uses another connection.
    fn give_up(&mut self) {
        self.leave();
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        describe(&self.web, operation, reply)
    }
}

impl SessionTransport for Http2Driver {
    fn of(web: Rc<WebContext>) -> Http2Driver {
        Http2Driver::new(web)
    }

    async fn exchange(
        &mut self,
        request: &ComposedRequest,
        expected: ExpectedReply<'_>,
        capture: &mut Capture,
        sent: Nanos,
    ) -> Reply {
        let ExpectedReply { prepared, check } = expected;
        let reply = ReplyCheck { prepared, check, capture: Some(capture) };
        self.perform_request(request, (request.closes, request.is_idempotent()), reply, sent).await
    }
}

/// A request in the form that `h2` takes.
trait Http2Request {
    /// Returns its head and its body.
    fn head_and_body(&self, web: &WebContext) -> (Head<()>, Bytes);
}

impl Http2Request for WebRequest {
    fn head_and_body(&self, web: &WebContext) -> (Head<()>, Bytes) {
        let pool = web.http2.as_ref().expect("checked when the driver was created");
        let template = &pool.templates[usize::from(self.kind)];
        (template.head(&web.prepared(self).sent, self.number), template.body.clone())
    }
}

impl Http2Request for ComposedRequest {
    fn head_and_body(&self, web: &WebContext) -> (Head<()>, Bytes) {
        let pool = web.http2.as_ref().expect("checked when the driver was created");
        let template = RequestTemplate::composed(self, &pool.host, web.tls.is_some());
        let body = template.body.clone();
        (template.into_head(), body)
    }
}

/// The check of a response, and what a session keeps of it.
struct ReplyCheck<'a> {
    prepared: &'a PreparedRequest,
    check: BodyCheck<'a>,
    capture: Option<&'a mut Capture>,
}

/// Returns whether a failure concerns the connection and not only the stream; a flood of heads, which goes
/// on, does too.
fn concerns_connection(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Http2Failed
            | Outcome::TlsFailed
            | Outcome::Truncated
            | Outcome::Reset
            | Outcome::ConnectionLost
            | Outcome::OversizedHead
    )
}

/// Waits for the final response, after any number of interim ones (1xx) within [`INTERIM_BYTES_MAX`].
async fn final_response(
    mut response: ResponseFuture,
) -> Result<Result<Response<RecvStream>, OperationFailure>, h2::Error> {
    let mut interim_bytes = 0;
    poll_fn(|context| {
        while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(context) {
            interim_bytes += list_bytes(interim.headers());
            if INTERIM_BYTES_MAX < interim_bytes {
                return Poll::Ready(Ok(Err(OperationFailure::new(
                    Outcome::OversizedHead,
                    interim_bytes as u64,
                ))));
            }
        }
        Pin::new(&mut response).poll(context).map_ok(Ok)
    })
    .await
}

/// Returns the uncompressed size of a header list with its `:status`, as defined by RFC 9113 section 6.5.2.
fn list_bytes(fields: &HeaderMap) -> usize {
    const FIELD_BYTES: usize = 32;
    let sizes = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_BYTES);
    ":status".len() + "103".len() + FIELD_BYTES + sizes.sum::<usize>()
}

fn attempt_error(web: &WebContext, error: &h2::Error, body_bytes: u64) -> AttemptError {
    if came_too_late(error) {
        AttemptError::TooLate
    } else {
        AttemptError::Failed(failure(web, error, body_bytes))
    }
}

impl ReplyCheck<'_> {
    /// Checks the head of a response.
    fn head(&mut self, response: &Response<RecvStream>) -> Result<(), OperationFailure> {
        let status = response.status().as_u16();
        let headers = response.headers();
        if let Some(capture) = &mut self.capture {
            let fields = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
            if capture.take_head(status, fields) {
                self.check = BodyCheck::Any;
                return Ok(());
            }
        }
        if status != self.prepared.request.status {
            self.prepared.check_status(status, &mut self.check)?;
        } else if !self.prepared.takes_type(|| headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes)) {
            return Err(OperationFailure::new(Outcome::WrongBytes, 0));
        }
        self.check.typed(|| headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes));
        if response.body().is_end_stream() {
            return Ok(());
        }
        let is_read = self.capture.as_ref().is_some_and(|capture| capture.wants_body());
        if (!self.prepared.may_be_encoded || is_read) && is_encoded(headers) {
            return Err(OperationFailure::new(Outcome::WrongEncoding, 0));
        }
        match announced(headers) {
            Some(length) => self.check.announced(length),
            None => Ok(()),
        }
    }

    /// Checks the next piece of the body, which starts at position `at`.
    fn take(&mut self, at: u64, data: &[u8]) -> Result<(), OperationFailure> {
        self.check.take(at, data)?;
        match &mut self.capture {
            Some(capture) => capture.take_body(data),
            None => Ok(()),
        }
    }
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|value| names_content_coding(value.as_bytes()))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads the body to its end.
async fn receive(
    web: &WebContext,
    mut body: RecvStream,
    reply: &mut ReplyCheck<'_>,
    progress: &mut OperationProgress,
) -> Result<(), AttemptError> {
    while !body.is_end_stream() {
        let Some(data) = poll_fn(|context| body.poll_data(context)).await else { break };
        let data = data.map_err(|error| attempt_error(web, &error, progress.body_bytes))?;
        reply.take(progress.body_bytes, &data)?;
        progress.body_bytes += data.len() as u64;
        // The stream may have ended; then no capacity need be released.
        let _ = body.flow_control().release_capacity(data.len());
    }
    if progress.body_bytes != 0 {
        progress.marks.last_byte = web.clock.now();
    }
    Ok(reply.check.finish(progress.body_bytes)?)
}
