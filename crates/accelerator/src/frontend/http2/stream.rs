//! One stream: a request, its response, and the log entry for both.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::header::{REFERER, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, Method, StatusCode};
use units::{Clock, Nanos, RealClock, wall};

use super::body::StreamBody;
use super::inspector::{StreamError, StreamErrors};
use super::metered_stream::SendGauge;
use super::request::{ClientContext, Rejection, expects_continue, read};
use super::response::{SentBytes, send};
use crate::exchange::Response;
use crate::frontend::min_rate::MinRateDeadline;
use crate::frontend::{ClientLimits, Service};
use crate::message::{ClientVersion, RequestHandling};
use crate::observation::LogEntry;

/// The state that the streams of a connection share.
#[derive(Debug)]
pub(super) struct StreamContext<V> {
    pub(super) service: Rc<V>,
    pub(super) client_context: ClientContext,
    pub(super) limits: ClientLimits,
    pub(super) clock: RealClock,
    pub(super) gauge: SendGauge,
    pub(super) stream_errors: Rc<StreamErrors>,
}

/// The outcome of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamOutcome {
    /// The whole response has been sent.
    Sent,
    /// The client reset the stream, or has left.
    TakenBack,
    /// It was reset here: the response broke off, or the client did not take it.
    GivenUp,
}

/// Answers a request.
pub(super) async fn answer<V: Service>(
    shared: Rc<StreamContext<V>>,
    request: http::Request<RecvStream>,
    respond: SendResponse<Bytes>,
) -> StreamOutcome {
    let _in_flight = shared.service.track_request();
    let start = shared.clock.now();
    let (parts, stream) = request.into_parts();
    let stream_id = u32::from(respond.stream_id());
    let stream_errors = StreamErrorsGuard(&shared.stream_errors, stream_id);
    let respond = Rc::new(RefCell::new(respond));
    let response = match read(
        &parts,
        !stream.is_end_stream(),
        stream_errors.has(StreamError::Fragment),
        &shared.client_context,
    ) {
        Ok(request) => {
            let body = shared.body(stream, &respond);
            if expects_continue(&parts.headers)
                && respond.borrow_mut().send_informational(continue_head()).is_err()
            {
                return StreamOutcome::TakenBack;
            }
            tokio::select! {
                biased;
                // Checked before any work: a request that is reset at once reaches no service.
                _ = poll_fn(|context| respond.borrow_mut().poll_reset(context)) => return StreamOutcome::TakenBack,
                response = shared.service.handle(request, body) => response,
            }
        }
        Err(Rejection { status, reason }) => {
            shared.service.refuse(status, reason, parts.method == Method::HEAD)
        }
    };
    if stream_errors.has(StreamError::PseudoTrailers) {
        respond.borrow_mut().send_reset(Reason::PROTOCOL_ERROR);
        return StreamOutcome::GivenUp;
    }
    shared.deliver(&parts, response, &respond, start).await
}

/// The errors of a stream; they are forgotten when it ends.
struct StreamErrorsGuard<'a>(&'a StreamErrors, u32);

impl StreamErrorsGuard<'_> {
    fn has(&self, error: StreamError) -> bool {
        self.0.has(self.1, error)
    }
}

impl Drop for StreamErrorsGuard<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// Returns the head of a 100 (Continue) response.
fn continue_head() -> http::Response<()> {
    let mut head = http::Response::new(());
    *head.status_mut() = StatusCode::CONTINUE;
    head
}

impl<V: Service> StreamContext<V> {
    fn body(&self, stream: RecvStream, respond: &Rc<RefCell<SendResponse<Bytes>>>) -> StreamBody {
        StreamBody {
            stream,
            respond: Rc::clone(respond),
            stream_errors: Rc::clone(&self.stream_errors),
            bytes_max: self.client_context.body_bytes_max,
            received: 0,
            min_rate: MinRateDeadline::new(self.limits.body_timeout, self.limits.rate_min),
            clock: self.clock,
        }
    }

    async fn deliver(
        &self,
        parts: &Parts,
        response: Response,
        respond: &RefCell<SendResponse<Bytes>>,
        start: Nanos,
    ) -> StreamOutcome {
        let handling = response.handling;
        let status = response.status;
        let mut sent = SentBytes::default();
        let min_rate = MinRateDeadline::new(self.limits.write_timeout, self.limits.rate_min);
        let is_head = parts.method == Method::HEAD;
        let outcome = send(response, is_head, respond, min_rate, (&self.clock, &self.gauge), &mut sent).await;
        self.service.note(&handling, status, sent.head_bytes + sent.body_bytes);
        if self.service.is_logged() {
            self.log(parts, handling, status, sent.body_bytes, start);
        }
        outcome
    }

    fn log(&self, parts: &Parts, handling: RequestHandling, status: u16, body_bytes: u64, start: Nanos) {
        let field = |name: HeaderName| parts.headers.get(name).map(|value| value.as_bytes());
        let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
        self.service.log(&LogEntry {
            client: self.client_context.client,
            time: wall(),
            method: parts.method.as_str().as_bytes(),
            authority: authority.or_else(|| field(http::header::HOST)).unwrap_or_default(),
            target: parts.uri.path_and_query().map_or("", |target| target.as_str()).as_bytes(),
            version: ClientVersion::Http2,
            referer: field(REFERER),
            user_agent: field(USER_AGENT),
            status,
            body_bytes,
            duration: self.clock.now().saturating_sub(start),
            handling,
        });
    }
}
