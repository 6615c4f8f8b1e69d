//! The driver of a user with a session.
//!
//! | step of an operation | on failure |
//! |---|---|
//! | make the request from its templates | value missing; nothing is sent |
//! | send it with the user's cookies, read the reply | as without a session |
//! | take the reply's cookies, if it is the target's own | |
//! | a redirect that is followed: send the request that it asks for, back to the second step | wrong redirect |
//! | take the values that later requests need | value missing |

use std::rc::Rc;

use engine::Driver;
use model::{MeasuredValues, Outcome, REDIRECTS_MAX, Redirects, Reply, WebRequest, web_measure};
use units::{Clock, Nanos};

use super::context::{KindSession, SessionContext};
use super::cookies::CookieSource;
use super::redirect::RedirectHop;
use super::user::{SessionUser, WebSession};
use crate::net::OperationFailure;
use crate::web::capture::Capture;
use crate::web::composed_request::{ComposedRequest, RequestParts};
use crate::web::context::{ExpectedReply, WebContext};
use crate::web::missing_value::BadRedirect;
use crate::web::session_transport::SessionTransport;

/// A driver of a user with a session, over the driver of a transport.
pub struct SessionDriver<D> {
    web: Rc<WebContext>,
    context: Rc<SessionContext>,
    session: WebSession,
    capture: Capture,
    inner: D,
}

impl<D: SessionTransport> SessionDriver<D> {
    /// Creates the driver of a user, who has nothing yet.
    ///
    /// # Panics
    /// The context's workload has no sessions.
    pub fn new(web: Rc<WebContext>, user: SessionUser) -> SessionDriver<D> {
        let context = Rc::clone(web.session.as_ref().expect("a context for sessions"));
        SessionDriver {
            inner: D::of(Rc::clone(&web)),
            session: WebSession::new(Rc::clone(&context), user),
            capture: Capture::default(),
            context,
            web,
        }
    }

    /// Performs the requests of an operation up to the reply that is not a redirect.
    async fn follow(&mut self, operation: &WebRequest, trail: &mut Trail) -> Result<Reply, OperationFailure> {
        let web = Rc::clone(&self.web);
        let context = Rc::clone(&self.context);
        let KindSession { composer, wanted, .. } = context.kind(operation.kind);
        let first = composer.compose(operation.number, &self.session.values)?;
        let mut hop = RedirectHop::first(&first, &context);
        let mut sent = trail.sent;
        loop {
            let parts = hop.parts(&first, composer, &context, &self.session.cookies, sent);
            self.capture.begin(wanted);
            let reply = self.send(operation, &hop, parts, sent).await?;
            trail.add(&reply);
            if !hop.is_elsewhere(&context) {
                self.take_cookies(&web, &hop);
            }
            let Some((status, location)) =
                self.capture.redirect.take().filter(|_| reply.outcome == Outcome::Ok)
            else {
                return Ok(reply);
            };
            // The peer of a connection per request may take its time to end it; only the last of them is waited for.
            if self.inner.is_closing() {
                self.inner.give_up();
            }
            if trail.n_redirects == REDIRECTS_MAX {
                return Err(BadRedirect::TooMany.into());
            }
            trail.n_redirects += 1;
            hop.follow(status, &location, &context)?;
            sent = reply.done;
        }
    }

    /// Sends one request and reads its reply.
    async fn send(
        &mut self,
        operation: &WebRequest,
        hop: &RedirectHop,
        parts: RequestParts,
        sent: Nanos,
    ) -> Result<Reply, OperationFailure> {
        let web = Rc::clone(&self.web);
        let context = Rc::clone(&self.context);
        let (prepared, check) = web.expected(operation, sent);
        let expected = ExpectedReply { prepared, check };
        let origin = &hop.url.origin;
        let is_elsewhere = hop.is_elsewhere(&context);
        let closes = operation.closes || is_elsewhere;
        let request = ComposedRequest::new(parts, &context.protocol, &origin.authority(), closes)?;
        if is_elsewhere {
            let reply = context.elsewhere.exchange(&web, origin, &request, expected, &mut self.capture, sent);
            return Box::pin(reply).await;
        }
        Ok(self.inner.exchange(&request, expected, &mut self.capture, sent).await)
    }

    fn take_cookies(&mut self, web: &WebContext, hop: &RedirectHop) {
        let by = CookieSource {
            origin: &hop.url.origin,
            path: &hop.url.path,
            date: self.capture.date,
            now: web.clock.now(),
        };
        for field in self.capture.set_cookies.drain(..) {
            self.session.cookies.set(&field, &by);
        }
    }
}

impl<D: SessionTransport> Driver for SessionDriver<D> {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        if operation.begins {
            self.session.begin_page();
        }
        let mut trail = Trail::new(sent);
        let context = Rc::clone(&self.context);
        let kind = context.kind(operation.kind);
        let mut reply = match self.follow(operation, &mut trail).await {
            Ok(reply) => trail.reply(reply, kind.wanted.redirects),
            Err(failure) => failure.into_reply(sent, self.web.clock.now(), MeasuredValues::default()),
        };
        if reply.outcome == Outcome::Ok
            && let Err(missing) = kind.extractor.take(&self.capture, &mut self.session.values)
        {
            let failure = OperationFailure::from(missing);
            (reply.outcome, reply.detail) = (failure.outcome, failure.detail);
        }
        reply
    }

    fn is_closing(&self) -> bool {
        self.inner.is_closing()
    }

    async fn close(&mut self, reply: &mut Reply) {
        let before = reply.outcome;
        self.inner.close(reply).await;
        // A value that is missing is still missing.
        if before != Outcome::Ok {
            reply.outcome = before;
        }
    }

    fn give_up(&mut self) {
        self.inner.give_up();
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        self.session.redact(self.inner.describe(operation, reply))
    }
}

/// The measures of an operation over all its requests.
struct Trail {
    sent: Nanos,
    n_redirects: u64,
    /// The time to connect of the first request.
    connect: Option<u64>,
    /// The bytes of all replies.
    bytes: u64,
    /// The bytes of the last reply's body.
    body_bytes: u64,
    n_replies: u64,
}

impl Trail {
    fn new(sent: Nanos) -> Trail {
        Trail { sent, n_redirects: 0, connect: None, bytes: 0, body_bytes: 0, n_replies: 0 }
    }

    fn add(&mut self, reply: &Reply) {
        if self.n_replies == 0 {
            self.connect = reply.measured.get(web_measure::CONNECT);
        }
        self.n_replies += 1;
        self.bytes += reply.measured.get(web_measure::REPLY_BYTES).unwrap_or_default();
        self.body_bytes = reply.measured.get(web_measure::BODY_BYTES).unwrap_or_default();
    }

    /// Returns the reply of the whole operation, from that of the last request.
    fn reply(&self, last: Reply, redirects: Redirects) -> Reply {
        let first_byte = last.measured.get(web_measure::FIRST_BYTE).unwrap_or_default();
        let first_byte = last.sent.saturating_add(Nanos(first_byte)).saturating_sub(self.sent);
        let connect = Nanos(self.connect.unwrap_or_default());
        let head_bytes = self.bytes.saturating_sub(self.body_bytes);
        let mut measured = web_measure::measured(connect, first_byte, head_bytes, self.body_bytes);
        if redirects == Redirects::Follow {
            measured.set(web_measure::REDIRECTS, self.n_redirects);
        }
        Reply { sent: self.sent, measured, ..last }
    }
}
