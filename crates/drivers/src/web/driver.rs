//! Performs requests for one virtual user over HTTP/1.

use std::rc::Rc;

use engine::Driver;
use model::{Connection, Marks, Outcome, Reply, WebRequest};
use units::{Clock, Nanos};

use super::carrier::Carrier;
use super::connection::Link;
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
pub struct WebDriver<C: Carrier> {
    origin: Rc<Origin>,
    memory: C::Memory,
    kept: Option<C>,
}

impl<C: Carrier> WebDriver<C> {
    /// Makes a driver without a connection.
    pub fn new(origin: Rc<Origin>) -> WebDriver<C> {
        let memory = C::memory(&origin);
        WebDriver { origin, memory, kept: None }
    }

    /// Sends the request on the kept connection or a new one. Returns the connection and when it was established.
    async fn send(&mut self, operation: &WebRequest, sent: Nanos) -> Result<(C, Nanos), Failure> {
        let origin = &*self.origin;
        if let Some(mut carrier) = self.kept.take()
            && carrier.link().is_fresh()
        {
            return Ok((carrier.send(origin, operation).await?, sent));
        }
        C::open(origin, &self.memory, operation).await
    }

    /// Reads the reply to its end; `closes` if the connection ends with it.
    async fn receive(
        &self,
        carrier: &mut C,
        closes: bool,
        marks: &mut Marks,
        reply: &mut ReplyReader<'_>,
    ) -> Progress {
        let origin = &*self.origin;
        let mut complete = None;
        loop {
            let arrived = match carrier.read(origin).await {
                Ok(arrived) => arrived,
                // All has arrived and is right. Whether a reset is seen behind it is a matter of microseconds.
                Err(error) => return complete.unwrap_or_else(|| Failure::from(error).into()),
            };
            let mut progress = complete.unwrap_or(Progress::Open);
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
                        Progress::Done { .. } => {
                            let all = reply.body_bytes + piece.len() as u64;
                            Failure::new(Outcome::WrongLength, all).into()
                        }
                        failed => failed,
                    };
                });
                if let (Progress::Open, Err(failure)) = (progress, given) {
                    return failure.into();
                }
            }
            match progress {
                Progress::Open if arrived.is_end => return ended(carrier, reply),
                Progress::Open => {}
                // The body of a connection per request ends with the connection, and the server ends it: the
                // side that closes first is the one that has to remember it (TIME-WAIT).
                Progress::Done { .. } if closes && !arrived.is_end => complete = Some(progress),
                end => return end,
            }
        }
    }

    fn may_keep(&self, carrier: &mut C) -> bool {
        match self.origin.connection {
            Connection::PerRequest => false,
            Connection::Sessions => true,
            Connection::KeepAlive { requests_max } => {
                requests_max.is_none_or(|max| carrier.link().requests < max)
            }
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
        let progress = match self.send(operation, sent).await {
            Err(failure) => failure.into(),
            Ok((mut carrier, connected)) => {
                marks.connected = connected;
                carrier.link().requests += 1;
                let progress = self.receive(&mut carrier, closes, &mut marks, &mut reply).await;
                let stays = matches!(progress, Progress::Done { keep_alive: true }) && !closes;
                if stays && self.may_keep(&mut carrier) {
                    self.kept = Some(carrier);
                }
                progress
            }
        };
        // A connection that was not kept is closed by now: that is part of the operation.
        let is_kept = self.kept.is_some();
        marks.done = if is_kept { marks.last_byte } else { origin.clock.now() };
        let (outcome, detail) = match progress {
            Progress::Failed(failure) => (failure.outcome, failure.detail),
            Progress::Done { .. } | Progress::Open => (Outcome::Ok, 0),
        };
        Reply { outcome, marks, head_bytes: reply.head_bytes, body_bytes: reply.body_bytes, detail }
    }

    fn give_up(&mut self) {
        self.kept = None;
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        describe(&self.origin, operation, reply)
    }
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
