//! Performs requests for one virtual user over HTTP/1.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;

use engine::Driver;
use model::{Connection, Marks, Outcome, Reply, WebRequest};
use tokio::task::AbortHandle;
use units::{Clock, Nanos};

use super::carrier::Carrier;
use super::connection::{Arrived, Link};
use super::describe::describe;
use super::failure::Failure;
use super::origin::Origin;
use super::reply::{Progress, ReplyReader};
use super::tls::TlsLink;

/// Performs requests for one virtual user over HTTP/1, not encrypted.
pub type PlainDriver = WebDriver<Link>;

/// Performs requests for one virtual user over HTTP/1 and TLS.
pub type TlsDriver = WebDriver<TlsLink>;

/// Performs requests for one virtual user over HTTP/1; holds its connection where that is kept.
///
/// | a connection is in | when | until |
/// |---|---|---|
/// | `kept` | its reply is complete and it can carry another request | the next request goes out on it, or it is not fresh any more |
/// | `closing` | its reply is complete and was to be its last, and the peer has not ended it | the peer does, or the engine has waited long enough |
/// | `parting` | the peer has ended it by `close_notify`, and its socket is open | the peer closes its side, which makes it the one that has to remember the connection (TIME-WAIT); or the user's next connection is begun |
pub struct WebDriver<C: Carrier> {
    origin: Rc<Origin>,
    memory: C::Memory,
    kept: Option<C>,
    closing: Option<C>,
    parting: Option<Parting>,
}

/// A task that keeps a socket until the peer closes its side; it ends with this, if not before.
struct Parting(AbortHandle);

impl Drop for Parting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What came of an exchange on a connection.
struct Exchanged<C> {
    progress: Progress,
    /// The connection; `None` if there is none any more.
    carrier: Option<C>,
    /// Whether the connection was kept from an operation before.
    is_kept: bool,
    end: End,
}

/// How far a connection has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The peer has not ended it.
    Outstanding,
    /// The peer has said that nothing follows (`close_notify`); its socket can be open.
    Said,
    /// The peer has closed its side, or there is no connection.
    Closed,
}

impl<C: Carrier> WebDriver<C> {
    /// Makes a driver without a connection.
    pub fn new(origin: Rc<Origin>) -> WebDriver<C> {
        let memory = C::memory(&origin);
        WebDriver { origin, memory, kept: None, closing: None, parting: None }
    }

    /// Takes the kept connection, if it can still be used.
    fn take_kept(&mut self) -> Option<C> {
        let mut carrier = self.kept.take()?;
        carrier.link().is_fresh().then_some(carrier)
    }

    /// Sends a request on the kept connection or a new one and reads the reply.
    async fn exchange(
        &mut self,
        operation: &WebRequest,
        marks: &mut Marks,
        reply: &mut ReplyReader<'_>,
    ) -> Exchanged<C> {
        let origin = Rc::clone(&self.origin);
        let kept = self.take_kept();
        let is_kept = kept.is_some();
        let sent = match kept {
            Some(carrier) => carrier.send(&origin, operation).await.map(|carrier| (carrier, marks.sent)),
            None => {
                let mut opened = pin!(C::open(&origin, &self.memory, operation));
                poll_fn(|context| {
                    let opened = opened.as_mut().poll(context);
                    // The peer may wait for the end of the one before.
                    self.parting = None;
                    opened
                })
                .await
            }
        };
        let (mut carrier, connected) = match sent {
            Ok(sent) => sent,
            Err(failure) => {
                return Exchanged { progress: failure.into(), carrier: None, is_kept, end: End::Closed };
            }
        };
        marks.connected = connected;
        carrier.link().requests += 1;
        let (progress, end) = receive(&origin, &mut carrier, marks, reply).await;
        Exchanged { progress, carrier: Some(carrier), is_kept, end }
    }

    /// Returns whether a connection that has carried so many requests may carry another one.
    fn may_keep(&self, requests: u32) -> bool {
        match self.origin.connection {
            Connection::PerRequest => false,
            Connection::Sessions => true,
            Connection::KeepAlive { requests_max } => requests_max.is_none_or(|max| requests < max),
        }
    }

    /// Closes a connection; not yet its socket, if the peer is about to close its side.
    fn part(&mut self, carrier: C, end: End) {
        if end == End::Said {
            let task = tokio::task::spawn_local(async move { carrier.closed().await });
            self.parting = Some(Parting(task.abort_handle()));
        }
    }
}

impl<C: Carrier> Driver for WebDriver<C> {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let origin = Rc::clone(&self.origin);
        let (prepared, check) = origin.expected(operation);
        let mut marks = Marks { sent, ..Marks::default() };
        let mut reply = ReplyReader::new(prepared, check);
        let closes = operation.closes || matches!(origin.connection, Connection::PerRequest);
        let mut exchanged = self.exchange(operation, &mut marks, &mut reply).await;
        if exchanged.was_over() && !reply.has_begun() && prepared.is_idempotent() {
            if let Some(carrier) = exchanged.carrier.take() {
                self.part(carrier, exchanged.end);
            }
            exchanged = Box::pin(self.exchange(operation, &mut marks, &mut reply)).await;
        }
        let Exchanged { progress, mut carrier, end, .. } = exchanged;
        let requests = carrier.as_mut().map_or(0, |carrier| carrier.link().requests);
        marks.done = marks.last_byte;
        match (progress, carrier) {
            // Its end is outstanding, and part of the operation.
            (Progress::Done { .. }, Some(carrier)) if closes && end == End::Outstanding => {
                self.closing = Some(carrier);
            }
            (Progress::Done { keep_alive: true }, Some(carrier))
                if !closes && end == End::Outstanding && self.may_keep(requests) =>
            {
                self.kept = Some(carrier);
            }
            (_, carrier) => {
                if let Some(carrier) = carrier {
                    self.part(carrier, end);
                }
                // A connection that was not kept is closed by now: that is part of the operation.
                marks.done = origin.clock.now();
            }
        }
        let (outcome, detail) = match progress {
            Progress::Failed(failure) => (failure.outcome, failure.detail),
            Progress::Done { .. } | Progress::Open => (Outcome::Ok, 0),
        };
        Reply { outcome, marks, head_bytes: reply.head_bytes, body_bytes: reply.body_bytes, detail }
    }

    fn is_closing(&self) -> bool {
        self.closing.is_some()
    }

    async fn close(&mut self, reply: &mut Reply) {
        let origin = Rc::clone(&self.origin);
        if let Some(mut carrier) = self.closing.take() {
            match until_end(&origin, &mut carrier, reply.body_bytes).await {
                Ok(end) => self.part(carrier, end),
                Err(failure) => (reply.outcome, reply.detail) = (failure.outcome, failure.detail),
            }
        }
        reply.marks.done = origin.clock.now();
    }

    fn give_up(&mut self) {
        self.kept = None;
        self.closing = None;
        self.parting = None;
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        describe(&self.origin, operation, reply)
    }
}

impl<C: Carrier> Exchanged<C> {
    /// Returns whether the peer had ended a kept connection by `close_notify` when the request went out on it: before
    /// that was known here. It does not look at what follows (RFC 8446 section 6.1).
    fn was_over(&self) -> bool {
        let has_ended = self.carrier.as_ref().is_some_and(Carrier::has_ended);
        self.is_kept && has_ended && matches!(self.progress, Progress::Failed(_))
    }
}

/// Reads the reply to its end. Returns what it came to, and how far the connection has come to its own.
async fn receive<C: Carrier>(
    origin: &Origin,
    carrier: &mut C,
    marks: &mut Marks,
    reply: &mut ReplyReader<'_>,
) -> (Progress, End) {
    // Said together with the end of the handshake: nothing follows.
    if carrier.has_ended() {
        return (ended(carrier, reply), End::Said);
    }
    loop {
        let arrived = match carrier.read(origin).await {
            Ok(arrived) => arrived,
            Err(error) => return (Failure::from(error).into(), End::Closed),
        };
        let mut progress = Progress::Open;
        if arrived.bytes != 0 {
            let now = origin.clock.now();
            let given = carrier.pieces(origin, arrived, |piece| {
                marks.last_byte = now;
                if marks.first_byte == Nanos::ZERO {
                    marks.first_byte = now;
                }
                progress = match progress {
                    Progress::Open => reply.read(piece),
                    // Bytes after a complete reply on a connection that carries no other.
                    Progress::Done { .. } => too_many(reply.body_bytes, piece),
                    failed => failed,
                };
            });
            if let (Progress::Open, Err(failure)) = (progress, given) {
                return (failure.into(), End::Closed);
            }
        }
        match (progress, end_of(carrier, arrived)) {
            (Progress::Open, End::Outstanding) => {}
            (Progress::Open, end) => return (ended(carrier, reply), end),
            (progress, end) => return (progress, end),
        }
    }
}

/// Returns how far a connection has come to its end with what has arrived.
fn end_of<C: Carrier>(carrier: &C, arrived: Arrived) -> End {
    match arrived.is_end {
        true => End::Closed,
        false if carrier.has_ended() => End::Said,
        false => End::Outstanding,
    }
}

/// Waits until the peer ends a connection whose reply is complete; returns how it does.
///
/// The peer does so, not we, because the side that closes first is the one that has to remember the connection
/// (TIME-WAIT).
async fn until_end<C: Carrier>(origin: &Origin, carrier: &mut C, body_bytes: u64) -> Result<End, Failure> {
    loop {
        // All has arrived and is right. Whether a reset is seen behind it is a matter of microseconds.
        let Ok(arrived) = carrier.read(origin).await else { return Ok(End::Closed) };
        let mut progress = Progress::Open;
        if arrived.bytes != 0 {
            let given = carrier.pieces(origin, arrived, |piece| progress = too_many(body_bytes, piece));
            match (progress, given) {
                (Progress::Failed(failure), _) => return Err(failure),
                // What cannot be decrypted is no part of the reply.
                (_, Err(_)) => return Ok(End::Closed),
                _ => {}
            }
        }
        match end_of(carrier, arrived) {
            End::Outstanding => {}
            end => return Ok(end),
        }
    }
}

fn too_many(body_bytes: u64, piece: &[u8]) -> Progress {
    Failure::new(Outcome::WrongLength, body_bytes + piece.len() as u64).into()
}

/// Takes the end of a reply that was not complete by its own framing.
fn ended<C: Carrier>(carrier: &mut C, reply: &mut ReplyReader<'_>) -> Progress {
    let end = match reply.end() {
        // What TLS is for: an end that only the TCP connection has announced may be anybody's.
        Progress::Done { .. } if carrier.is_cut() => {
            Failure::new(Outcome::Truncated, reply.body_bytes).into()
        }
        end => end,
    };
    match end {
        // A reset that came together with the last bytes has to be asked for.
        Progress::Failed(failure) => carrier.link().error().map_or_else(Failure::from, |()| failure).into(),
        end => end,
    }
}
