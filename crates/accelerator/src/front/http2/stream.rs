//! One stream: a request, its reply, and what is noted about both.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::header::{REFERER, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, Method, Request, Response, StatusCode};
use units::{Clock, Nanos, RealClock, wall};

use super::body::StreamBody;
use super::inspector::{Fault, Faults};
use super::reply::{Sent, send};
use super::request::{Asker, Refused, expects_continue, read};
use crate::front::patience::Patience;
use crate::front::{Limits, Service};
use crate::message::{ClientVersion, Handling, Reply};
use crate::operation::LogEntry;

/// What the streams of a connection share.
#[derive(Debug)]
pub(super) struct Common<V> {
    pub(super) service: Rc<V>,
    pub(super) asker: Asker,
    pub(super) limits: Limits,
    pub(super) clock: RealClock,
    pub(super) faults: Rc<Faults>,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All of the reply has been handed over.
    Sent,
    /// The client reset the stream, or has left.
    TakenBack,
    /// It was reset here: the reply broke off, or the client did not take it.
    GivenUp,
}

/// Answers a request.
pub(super) async fn answer<V: Service>(
    common: Rc<Common<V>>,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
) -> Outcome {
    let _engagement = common.service.engage();
    let start = common.clock.now();
    let (parts, stream) = request.into_parts();
    let stream_id = u32::from(respond.stream_id());
    let faults = Forgetting(&common.faults, stream_id);
    let respond = Rc::new(RefCell::new(respond));
    let reply = match read(&parts, !stream.is_end_stream(), faults.has(Fault::Fragment), &common.asker) {
        Ok(inbound) => {
            let body = common.body(stream, &respond);
            if expects_continue(&parts.headers) && respond.borrow_mut().send_informational(go_on()).is_err() {
                return Outcome::TakenBack;
            }
            tokio::select! {
                biased;
                // Before any work: of what is taken back at once nobody else hears.
                _ = poll_fn(|context| respond.borrow_mut().poll_reset(context)) => return Outcome::TakenBack,
                reply = common.service.handle(inbound, body) => reply,
            }
        }
        Err(Refused { status, reason }) => {
            common.service.refuse(status, reason, parts.method == Method::HEAD)
        }
    };
    if faults.has(Fault::PseudoTrailers) {
        respond.borrow_mut().send_reset(Reason::PROTOCOL_ERROR);
        return Outcome::GivenUp;
    }
    common.deliver(&parts, reply, &respond, start).await
}

/// What is wrong with a stream, which is forgotten with it.
struct Forgetting<'a>(&'a Faults, u32);

impl Forgetting<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.0.has(self.1, fault)
    }
}

impl Drop for Forgetting<'_> {
    fn drop(&mut self) {
        self.0.forget(self.1);
    }
}

/// The head that tells a client to send its body.
fn go_on() -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::CONTINUE;
    head
}

impl<V: Service> Common<V> {
    fn body(&self, stream: RecvStream, respond: &Rc<RefCell<SendResponse<Bytes>>>) -> StreamBody {
        StreamBody {
            stream,
            respond: Rc::clone(respond),
            faults: Rc::clone(&self.faults),
            bytes_max: self.asker.body_bytes_max,
            received: 0,
            patience: Patience::new(self.limits.body_timeout, self.limits.rate_min),
            clock: self.clock,
        }
    }

    async fn deliver(
        &self,
        parts: &Parts,
        reply: Reply,
        respond: &RefCell<SendResponse<Bytes>>,
        start: Nanos,
    ) -> Outcome {
        let (handling, status) = (reply.handling, reply.status);
        let mut sent = Sent::default();
        let patience = Patience::new(self.limits.write_timeout, self.limits.rate_min);
        let outcome =
            send(reply, parts.method == Method::HEAD, respond, patience, &self.clock, &mut sent).await;
        self.service.note(&handling, status, sent.head_bytes + sent.body_bytes);
        if self.service.is_logged() {
            self.log(parts, handling, status, sent.body_bytes, start);
        }
        outcome
    }

    fn log(&self, parts: &Parts, handling: Handling, status: u16, body_bytes: u64, start: Nanos) {
        let field = |name: HeaderName| parts.headers.get(name).map(|value| value.as_bytes());
        let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
        self.service.log(&LogEntry {
            client: self.asker.client,
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
