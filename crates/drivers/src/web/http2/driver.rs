//! One operation, one stream.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use engine::Driver;
use h2::RecvStream;
use h2::client::{ResponseFuture, SendRequest};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, Response};
use http1::{INTERIM_BYTES_MAX, names_content_coding};
use model::{Marks, Outcome, Reply, WebRequest};
use units::{Clock, Nanos};

use super::failure::{came_too_late, failure};
use super::pool::{Live, Seat};
use crate::web::check::Check;
use crate::web::describe::describe;
use crate::web::failure::Failure;
use crate::web::origin::Origin;
use crate::web::request::Prepared;

/// Most connections that a request is tried on, where the ones before ended in an orderly way without looking at it.
const ATTEMPTS_MAX: u32 = 4;

/// Performs requests for one virtual user over HTTP/2, plain or over TLS.
pub struct Http2Driver {
    origin: Rc<Origin>,
    seat: Rc<Seat>,
    attached: Option<(Rc<Live>, SendRequest<Bytes>)>,
}

/// Why an attempt came to nothing.
enum Miss {
    /// The server has not looked at the request.
    TooLate,
    Failed(Failure),
}

impl From<Failure> for Miss {
    fn from(failure: Failure) -> Miss {
        Miss::Failed(failure)
    }
}

/// What one operation has come to so far.
struct Course {
    marks: Marks,
    body_bytes: u64,
}

impl Http2Driver {
    /// Makes a driver; the origin's drivers share connections in the order in which they are made.
    ///
    /// # Panics
    /// If the origin's protocol is another than HTTP/2.
    pub fn new(origin: Rc<Origin>) -> Http2Driver {
        let pool = origin.http2.as_ref().expect("an origin for HTTP/2");
        let seat = pool.seat(origin.tls.as_ref());
        Http2Driver { origin, seat, attached: None }
    }

    /// Tries the request on the connection of the moment.
    async fn attempt(
        &mut self,
        origin: &Origin,
        operation: &WebRequest,
        course: &mut Course,
    ) -> Result<(), Miss> {
        let response = match self.respond(origin, operation, course).await {
            Ok(response) => response?,
            Err(error) if self.was_over(origin, operation, &error) => return Err(Miss::TooLate),
            Err(error) => return Err(miss(origin, &error, 0)),
        };
        course.marks.first_byte = origin.clock.now();
        course.marks.last_byte = course.marks.first_byte;
        let (prepared, mut check) = origin.expected(operation);
        check_head(&response, prepared, &check)?;
        receive(origin, response.into_body(), &mut check, course).await
    }

    /// Sends the request and waits for the head of the final response.
    async fn respond(
        &mut self,
        origin: &Origin,
        operation: &WebRequest,
        course: &mut Course,
    ) -> Result<Result<Response<RecvStream>, Failure>, h2::Error> {
        let pool = origin.http2.as_ref().expect("checked when the driver was made");
        let form = &pool.forms[usize::from(operation.kind)];
        let sender = match self.sender(origin, course).await {
            Ok(sender) => sender,
            Err(failure) => return Ok(Err(failure)),
        };
        poll_fn(|context| sender.poll_ready(context)).await?;
        let head = form.head(&origin.prepared(operation).sent, operation.number);
        let (response, mut body) = sender.send_request(head, form.body.is_empty())?;
        if !form.body.is_empty() {
            body.send_data(form.body.clone(), true)?;
        }
        final_response(response).await
    }

    /// Returns whether the server had ended a connection that has served by `close_notify` when the request went out on
    /// it, and the request may be sent again: as over HTTP/1. Without TLS nobody knows who has ended it.
    fn was_over(&self, origin: &Origin, operation: &WebRequest, error: &h2::Error) -> bool {
        let has_served = self.attached.as_ref().is_some_and(|(live, _)| live.has_served());
        has_served
            && origin.tls.is_some()
            && error.get_io().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
            && origin.prepared(operation).is_idempotent()
    }

    /// Attaches to a connection that takes a request. Returns the way to send it.
    async fn sender(
        &mut self,
        origin: &Origin,
        course: &mut Course,
    ) -> Result<&mut SendRequest<Bytes>, Failure> {
        if self.attached.as_ref().is_none_or(|(live, _)| !live.admits()) {
            self.attached = None;
            let pool = origin.http2.as_ref().expect("checked when the driver was made");
            let (live, is_new) = self.seat.connection(origin, pool).await?;
            if is_new {
                course.marks.connected = origin.clock.now();
            }
            let sender = live.sender();
            self.attached = Some((live, sender));
        }
        Ok(&mut self.attached.as_mut().expect("attached above").1)
    }

    /// Returns a failure with the reason that the server gave for the end of the connection, if it gave one.
    fn reason(&self, seen: Failure) -> Failure {
        let live = self.attached.as_ref().map(|(live, _)| live);
        match live.and_then(|live| live.error()).filter(|error| !came_too_late(error)) {
            Some(error) if seen.outcome == Outcome::Truncated => failure(&self.origin, error, 0),
            _ => seen,
        }
    }

    /// Leaves the connection, which takes no further requests.
    fn leave(&mut self) {
        if let Some((live, _)) = self.attached.take() {
            self.seat.end(&live);
        }
    }
}

impl Driver for Http2Driver {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let origin = Rc::clone(&self.origin);
        let marks = Marks { sent, connected: sent, ..Marks::default() };
        let mut course = Course { marks, body_bytes: 0 };
        let mut n_attempts = 0;
        let result = loop {
            n_attempts += 1;
            match self.attempt(&origin, operation, &mut course).await {
                Ok(()) => break Ok(()),
                Err(Miss::TooLate) if n_attempts < ATTEMPTS_MAX => self.leave(),
                Err(Miss::TooLate) => {
                    let words = "the server ends each connection before it looks at the request";
                    break Err(origin.explain(Outcome::Http2Failed, words));
                }
                Err(Miss::Failed(failure)) => break Err(failure),
            }
        };
        let result = result.map_err(|failure| self.reason(failure));
        if result.is_err_and(|failure| is_of_connection(failure.outcome))
            || operation.closes && self.seat.is_own
        {
            self.leave();
        }
        let Course { mut marks, body_bytes } = course;
        marks.done = if result.is_ok() { marks.last_byte } else { origin.clock.now() };
        let (outcome, detail) =
            result.map_or_else(|failure| (failure.outcome, failure.detail), |()| (Outcome::Ok, 0));
        Reply { outcome, marks, head_bytes: 0, body_bytes, detail }
    }

    /// Who knows whether the connection is dead or just this stream: the next request goes elsewhere.
    fn give_up(&mut self) {
        self.leave();
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        describe(&self.origin, operation, reply)
    }
}

/// Returns whether a failure concerns the connection and not the stream alone; a flood of heads, which goes on, too.
fn is_of_connection(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Http2Failed
            | Outcome::TlsFailed
            | Outcome::Truncated
            | Outcome::Reset
            | Outcome::OversizedHead
    )
}

/// Waits for the final response, past any number of interim ones (1xx) that have no more than [`INTERIM_BYTES_MAX`].
async fn final_response(
    mut response: ResponseFuture,
) -> Result<Result<Response<RecvStream>, Failure>, h2::Error> {
    let mut interim_bytes = 0;
    poll_fn(|context| {
        while let Poll::Ready(Some(Ok(interim))) = response.poll_informational(context) {
            interim_bytes += list_bytes(interim.headers());
            if INTERIM_BYTES_MAX < interim_bytes {
                return Poll::Ready(Ok(Err(Failure::new(Outcome::OversizedHead, interim_bytes as u64))));
            }
        }
        Pin::new(&mut response).poll(context).map_ok(Ok)
    })
    .await
}

/// Returns the size of a list of fields with its `:status`, uncompressed, as RFC 9113 section 6.5.2 counts it.
fn list_bytes(fields: &HeaderMap) -> usize {
    const FIELD_BYTES: usize = 32;
    let sizes = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + FIELD_BYTES);
    ":status".len() + "103".len() + FIELD_BYTES + sizes.sum::<usize>()
}

fn miss(origin: &Origin, error: &h2::Error, body_bytes: u64) -> Miss {
    if came_too_late(error) { Miss::TooLate } else { Miss::Failed(failure(origin, error, body_bytes)) }
}

fn check_head(
    response: &Response<RecvStream>,
    prepared: &Prepared,
    check: &Check<'_>,
) -> Result<(), Failure> {
    let status = response.status().as_u16();
    if status != prepared.request.status {
        return Err(Failure::new(Outcome::WrongStatus, u64::from(status)));
    }
    if response.body().is_end_stream() {
        return Ok(());
    }
    let headers = response.headers();
    if !prepared.may_be_encoded && is_encoded(headers) {
        return Err(Failure::new(Outcome::WrongEncoding, 0));
    }
    match announced(headers) {
        Some(length) => check.announced(length),
        None => Ok(()),
    }
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|value| names_content_coding(value.as_bytes()))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Takes the body to its end.
async fn receive(
    origin: &Origin,
    mut body: RecvStream,
    check: &mut Check<'_>,
    course: &mut Course,
) -> Result<(), Miss> {
    while !body.is_end_stream() {
        let Some(data) = poll_fn(|context| body.poll_data(context)).await else { break };
        let data = data.map_err(|error| miss(origin, &error, course.body_bytes))?;
        check.take(course.body_bytes, &data)?;
        course.body_bytes += data.len() as u64;
        // The stream may be over by now; then there is nothing to give back.
        let _ = body.flow_control().release_capacity(data.len());
    }
    if course.body_bytes != 0 {
        course.marks.last_byte = origin.clock.now();
    }
    Ok(check.finish(course.body_bytes)?)
}
