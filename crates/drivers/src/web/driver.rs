//! The HTTP/1 driver of one virtual user.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use engine::Driver;
use model::{ConnectionLifetime, Outcome, Reply, WebRequest, web_measure};
use tokio::task::AbortHandle;
use units::{Clock, Nanos};

use super::capture::Capture;
use super::composed_request::ComposedRequest;
use super::context::{ExpectedReply, WebContext};
use super::describe::describe;
use super::reply::{Progress, ReplyReader};
use super::request_timestamps::RequestTimestamps;
use super::session_transport::SessionTransport;
use super::tls_transport::TlsTransport;
use super::transport::{Http1Transport, RequestBytes};
use crate::net::OperationFailure;
use crate::net::{ReadOutcome, TcpTransport};

/// A driver of one virtual user for HTTP/1 without TLS.
pub type PlainDriver = WebDriver<TcpTransport>;

/// A driver of one virtual user for HTTP/1 over TLS.
pub type TlsDriver = WebDriver<TlsTransport>;

/// A driver of one virtual user for HTTP/1; owns the user's connection between requests.
///
/// | a connection is | when | until |
/// |---|---|---|
/// | `Kept` | its response is complete and it can be reused | the next request is sent on it, or it can no longer be reused; if it turns out to have ended by then, an idempotent request is sent again, once, on a new one |
/// | `Closing` | its last response is complete, and the peer has not ended it | the peer does, or the engine's limit is reached |
/// | in `pending_close` | the peer has ended it by `close_notify`, and its socket is open | the peer closes its side, so that TIME-WAIT is the peer's; or the user's next connection starts |
pub struct WebDriver<C: Http1Transport> {
    web: Rc<WebContext>,
    user_state: C::UserState,
    connection: IdleConnection<C>,
    pending_close: Option<PendingClose>,
}

/// The connection of a user between requests.
enum IdleConnection<C> {
    None,
    Kept(C),
    Closing(C),
}

impl<C> IdleConnection<C> {
    fn take(&mut self) -> IdleConnection<C> {
        std::mem::replace(self, IdleConnection::None)
    }
}

/// A task that keeps a socket until the peer closes its side; dropping this closes it.
struct PendingClose(AbortHandle);

impl Drop for PendingClose {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The result of an exchange on a connection.
struct ExchangeResult<C> {
    progress: Progress,
    /// The connection; `None` if it is gone.
    transport: Option<C>,
    /// Whether the connection was kept from an earlier operation.
    is_kept: bool,
    end: ConnectionEnd,
}

/// The end of an exchange.
struct ExchangeEnd {
    failure: OperationFailure,
    done: Nanos,
}

/// The state of a connection's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionEnd {
    /// The peer has not ended it.
    Outstanding,
    /// The peer has announced the end (`close_notify`); its socket may still be open.
    Announced,
    /// The peer has closed its side, or there is no connection.
    Closed,
}

impl<C: Http1Transport> WebDriver<C> {
    /// Creates a driver without a connection.
    pub fn new(web: Rc<WebContext>) -> WebDriver<C> {
        let user_state = C::user_state(&web);
        WebDriver { web, user_state, connection: IdleConnection::None, pending_close: None }
    }

    /// Sends a request on the kept connection or a new one and reads the response.
    #[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
    fn exchange_on_connection<'a>(
        &'a mut self,
        request: &'a impl RequestBytes,
        marks: &'a mut RequestTimestamps,
        reply: &'a mut ReplyReader<'_>,
    ) -> impl Future<Output = ExchangeResult<C>> {
        async move {
            let web = Rc::clone(&self.web);
            let is_kept = self.has_fresh();
            let mut transport = match self.send(&web, request, marks, is_kept).await {
                Ok(transport) => transport,
                Err(failure) => {
                    let progress = failure.into();
                    let end = ConnectionEnd::Closed;
                    return ExchangeResult { progress, transport: None, is_kept, end };
                }
            };
            transport.tcp().requests += 1;
            let (progress, end) = receive(&web, &mut transport, marks, reply).await;
            ExchangeResult { progress, transport: Some(transport), is_kept, end }
        }
    }

    /// Returns whether there is a kept connection that can be reused.
    fn has_fresh(&mut self) -> bool {
        match &mut self.connection {
            IdleConnection::Kept(transport) => transport.tcp().is_fresh(),
            IdleConnection::None | IdleConnection::Closing(_) => false,
        }
    }

    /// Sends a request on the kept connection, or on a new one in its place; returns the connection.
    #[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
    fn send<'a>(
        &'a mut self,
        web: &'a WebContext,
        request: &'a impl RequestBytes,
        marks: &'a mut RequestTimestamps,
        on_kept: bool,
    ) -> impl Future<Output = Result<C, OperationFailure>> {
        async move {
            if let IdleConnection::Kept(kept) = self.connection.take()
                && on_kept
            {
                marks.connected = marks.sent;
                return kept.send(web, request).await;
            }
            let mut opened = pin!(C::open(web, &self.user_state, request));
            let opened = poll_fn(|context| {
                let opened = opened.as_mut().poll(context);
                // The peer may be waiting for the end of the previous connection.
                self.pending_close = None;
                opened
            });
            let (transport, connected) = opened.await?;
            marks.connected = connected;
            Ok(transport)
        }
    }

    /// Sends a request, which may ask to close the connection, and reads its reply. If a kept connection turns out to have
    /// ended before any byte of the reply, a request that is idempotent is sent again on a new one (RFC 9112 section
    /// 9.3.1). It is one operation, whose time runs on.
    #[inline]
    fn perform_request<'a>(
        &'a mut self,
        request: &'a impl RequestBytes,
        (closes, is_idempotent): (bool, bool),
        reply: &'a mut ReplyReader<'_>,
        sent: Nanos,
    ) -> impl Future<Output = Reply> {
        let mut marks = RequestTimestamps { sent, ..RequestTimestamps::default() };
        let closes = closes || matches!(self.web.connection, ConnectionLifetime::PerRequest);
        async move {
            let result = loop {
                let mut result = self.exchange_on_connection(request, &mut marks, reply).await;
                // A new connection was not kept before, so that this ends.
                if !result.is_lost() || reply.has_begun() {
                    break result;
                }
                self.web.count_lost();
                if !is_idempotent {
                    result.progress = OperationFailure::new(Outcome::ConnectionLost, 0).into();
                    break result;
                }
                if let Some(transport) = result.transport.take() {
                    self.close_transport(transport, result.end);
                }
            };
            if let Some(words) = reply.take_explanation() {
                self.web.explain(Outcome::MalformedHead, words);
            }
            let end = self.end_exchange(result, closes, marks.last_byte);
            let measured = marks.measured(reply.head_bytes, reply.body_bytes);
            end.failure.into_reply(marks.sent, end.done, measured)
        }
    }

    /// Keeps the connection of an exchange, leaves it to be closed, or closes it. Returns the failure, if there was one, and
    /// the time at which the exchange was done.
    fn end_exchange(&mut self, result: ExchangeResult<C>, closes: bool, last_byte: Nanos) -> ExchangeEnd {
        let ExchangeResult { progress, mut transport, end, .. } = result;
        let requests = transport.as_mut().map_or(0, |transport| transport.tcp().requests);
        let mut done = last_byte;
        match (progress, transport) {
            // The end of the connection is still to come, and part of the operation.
            (Progress::Done { .. }, Some(transport)) if closes && end == ConnectionEnd::Outstanding => {
                self.connection = IdleConnection::Closing(transport);
            }
            (Progress::Done { keep_alive: true }, Some(transport))
                if !closes && end == ConnectionEnd::Outstanding && self.may_keep(requests) =>
            {
                self.connection = IdleConnection::Kept(transport);
            }
            (_, transport) => {
                if let Some(transport) = transport {
                    self.close_transport(transport, end);
                }
                // A connection that is not kept is closed by now, which is part of the operation.
                done = self.web.clock.now();
            }
        }
        let failure = match progress {
            Progress::Failed(failure) => failure,
            Progress::Done { .. } | Progress::Open => OperationFailure::NONE,
        };
        ExchangeEnd { failure, done }
    }

    /// Returns whether a connection that has carried this many requests may be reused.
    fn may_keep(&self, requests: u32) -> bool {
        match self.web.connection {
            ConnectionLifetime::PerRequest => false,
            ConnectionLifetime::Sessions => true,
            ConnectionLifetime::KeepAlive { requests_max } => requests_max.is_none_or(|max| requests < max),
        }
    }

    /// Closes a connection, but delays closing its socket if the peer is about to close its side.
    fn close_transport(&mut self, transport: C, end: ConnectionEnd) {
        if end == ConnectionEnd::Announced {
            let task = tokio::task::spawn_local(async move { transport.wait_for_close().await });
            self.pending_close = Some(PendingClose(task.abort_handle()));
        }
    }
}

impl<C: Http1Transport> Driver for WebDriver<C> {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let web = Rc::clone(&self.web);
        let (prepared, check) = web.expected(operation, sent);
        let mut reply = ReplyReader::new(prepared, check);
        self.perform_request(operation, (operation.closes, prepared.is_idempotent()), &mut reply, sent).await
    }

    fn is_closing(&self) -> bool {
        matches!(self.connection, IdleConnection::Closing(_))
    }

    async fn close(&mut self, reply: &mut Reply) {
        let web = Rc::clone(&self.web);
        if let IdleConnection::Closing(mut transport) = self.connection.take() {
            let body_bytes = reply.measured.get(web_measure::BODY_BYTES).unwrap_or_default();
            match wait_for_end(&web, &mut transport, body_bytes).await {
                Ok(end) => self.close_transport(transport, end),
                Err(failure) => (reply.outcome, reply.detail) = (failure.outcome, failure.detail),
            }
        }
        reply.done = web.clock.now();
    }

    fn give_up(&mut self) {
        self.connection = IdleConnection::None;
        self.pending_close = None;
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        describe(&self.web, operation, reply)
    }
}

impl<C: Http1Transport> SessionTransport for WebDriver<C> {
    fn of(web: Rc<WebContext>) -> WebDriver<C> {
        WebDriver::new(web)
    }

    async fn exchange(
        &mut self,
        request: &ComposedRequest,
        expected: ExpectedReply<'_>,
        capture: &mut Capture,
        sent: Nanos,
    ) -> Reply {
        let mut reply = ReplyReader::capturing(expected, request.method(), capture);
        self.perform_request(request, (request.closes, request.is_idempotent()), &mut reply, sent).await
    }
}

impl<C: Http1Transport> ExchangeResult<C> {
    /// Returns whether a kept connection has ended in place of a reply: by `close_notify`, after which the peer ignores
    /// the request (RFC 8446 section 6.1), or by the end or a reset of its socket.
    fn is_lost(&self) -> bool {
        let Progress::Failed(failure) = self.progress else { return false };
        let has_ended = self.transport.as_ref().is_some_and(Http1Transport::has_ended);
        self.is_kept && (has_ended || matches!(failure.outcome, Outcome::Truncated | Outcome::Reset))
    }
}

/// Reads the response to its end. Returns its progress and the state of the connection's end.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
fn receive<'a, C: Http1Transport>(
    web: &'a WebContext,
    transport: &'a mut C,
    marks: &'a mut RequestTimestamps,
    reply: &'a mut ReplyReader<'_>,
) -> impl Future<Output = (Progress, ConnectionEnd)> {
    async move {
        // The end was announced together with the last handshake message.
        if transport.has_ended() {
            return (ended(transport, reply), ConnectionEnd::Announced);
        }
        loop {
            let received = match transport.read(web).await {
                Ok(received) => received,
                Err(error) => return (OperationFailure::from(error).into(), ConnectionEnd::Closed),
            };
            let mut progress = Progress::Open;
            if received.bytes != 0 {
                let now = web.clock.now();
                let given = transport.decode(web, received, |piece| {
                    marks.last_byte = now;
                    if marks.first_byte == Nanos::ZERO {
                        marks.first_byte = now;
                    }
                    progress = match progress {
                        Progress::Open => reply.read(piece),
                        // Bytes after a complete response, although no other request was sent.
                        Progress::Done { .. } => too_many(reply.body_bytes, piece),
                        failed => failed,
                    };
                });
                if let (Progress::Open, Err(failure)) = (progress, given) {
                    return (failure.into(), ConnectionEnd::Closed);
                }
            }
            match (progress, connection_end(transport, received)) {
                (Progress::Open, ConnectionEnd::Outstanding) => {}
                (Progress::Open, end) => return (ended(transport, reply), end),
                (progress, end) => return (progress, end),
            }
        }
    }
}

/// Returns the state of a connection's end after these bytes.
fn connection_end<C: Http1Transport>(transport: &C, received: ReadOutcome) -> ConnectionEnd {
    if received.is_end {
        ConnectionEnd::Closed
    } else if transport.has_ended() {
        ConnectionEnd::Announced
    } else {
        ConnectionEnd::Outstanding
    }
}

/// Waits until the peer ends a connection whose response is complete; returns how it does.
///
/// The driver leaves closing to the peer, because the side that closes first has to keep the connection in
/// TIME-WAIT.
async fn wait_for_end<C: Http1Transport>(
    web: &WebContext,
    transport: &mut C,
    body_bytes: u64,
) -> Result<ConnectionEnd, OperationFailure> {
    loop {
        // The response is complete and correct; a reset behind it is a matter of timing.
        let Ok(received) = transport.read(web).await else { return Ok(ConnectionEnd::Closed) };
        let mut progress = Progress::Open;
        if received.bytes != 0 {
            let given = transport.decode(web, received, |piece| progress = too_many(body_bytes, piece));
            match (progress, given) {
                (Progress::Failed(failure), _) => return Err(failure),
                // Bytes that cannot be decrypted are not part of the response.
                (_, Err(_)) => return Ok(ConnectionEnd::Closed),
                _ => {}
            }
        }
        match connection_end(transport, received) {
            ConnectionEnd::Outstanding => {}
            end => return Ok(end),
        }
    }
}

fn too_many(body_bytes: u64, piece: &[u8]) -> Progress {
    OperationFailure::new(Outcome::WrongLength, body_bytes + piece.len() as u64).into()
}

/// Handles the end of a response that was not complete by its own framing.
fn ended<C: Http1Transport>(transport: &mut C, reply: &mut ReplyReader<'_>) -> Progress {
    let end = match reply.end() {
        // Over TLS, an end announced by TCP alone may be a truncation attack.
        Progress::Done { .. } if transport.may_be_truncated() => {
            OperationFailure::new(Outcome::Truncated, reply.body_bytes).into()
        }
        end => end,
    };
    match end {
        // A reset that arrived with the last bytes has to be queried.
        Progress::Failed(failure) => {
            transport.tcp().error().map_or_else(OperationFailure::from, |()| failure).into()
        }
        end => end,
    }
}
