//! Performs requests for one virtual user.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use engine::Driver;
use http1::{HEAD_BYTES_MAX, HEADERS_MAX};
use model::{Connection, Marks, Outcome, Reply, WebRequest};
use rustix::io::Errno;
use units::{Clock, Nanos};

use super::connection::{self, Link, Sent};
use super::origin::Origin;
use super::reply::{Expected, Progress, ReplyReader};

/// Performs requests for one virtual user; holds its connection where that is kept.
#[derive(Debug)]
pub struct WebDriver {
    origin: Rc<Origin>,
    kept: Option<Link>,
}

impl WebDriver {
    /// Makes a driver without a connection.
    pub fn new(origin: Rc<Origin>) -> WebDriver {
        WebDriver { origin, kept: None }
    }

    /// Sends the request on the kept connection or a new one. Returns the connection and when it was established.
    ///
    /// What has to wait is put in a box: it is rare, and the tasks of many users stay small.
    async fn send(&mut self, request: &[u8], sent: Nanos) -> Result<(Link, Nanos), Errno> {
        if let Some(link) = self.kept.take().filter(Link::is_fresh) {
            let n = link.try_send(request)?;
            if n == request.len() {
                return Ok((link, sent));
            }
            let requests = link.requests;
            let mut link = Box::pin(connection::send_all(link.into_socket(), &request[n..])).await?;
            link.requests = requests;
            return Ok((link, sent));
        }
        let origin = &*self.origin;
        if !origin.policy.allows(origin.address.ip()) {
            return Err(Errno::ACCESS);
        }
        let (socket, is_established) = connection::begin(&origin.address)?;
        let connected = origin.clock.now();
        match connection::send_at_once(socket, is_established, request)? {
            Sent::Whole(link) => Ok((link, connected)),
            Sent::Partly(socket, n) => {
                Ok((Box::pin(connection::send_all(socket, &request[n..])).await?, connected))
            }
            Sent::NotYet(socket) => Box::pin(send_late(socket, request, origin)).await,
        }
    }

    /// Reads the reply to its end.
    async fn receive(
        &self,
        link: &Link,
        marks: &mut Marks,
        reply: &mut ReplyReader,
        expected: Expected<'_>,
    ) -> Progress {
        let origin = &*self.origin;
        let closes = matches!(origin.connection, Connection::PerRequest);
        let mut complete = None;
        loop {
            let arrived = match link.read(&origin.buffer).await {
                Ok(arrived) => arrived,
                // All has arrived and is right. Whether a reset is seen behind it is a matter of microseconds.
                Err(error) => return complete.unwrap_or_else(|| failure(error)),
            };
            let mut progress = complete.unwrap_or(Progress::Open);
            if arrived.bytes != 0 {
                marks.last_byte = origin.clock.now();
                if marks.first_byte == Nanos::ZERO {
                    marks.first_byte = marks.last_byte;
                }
                progress = match complete {
                    // Bytes after a complete reply on a connection that carries just one.
                    Some(_) => Progress::Failed {
                        outcome: Outcome::WrongLength,
                        detail: reply.body_bytes + arrived.bytes as u64,
                    },
                    None => reply.read(&origin.buffer.borrow()[..arrived.bytes], expected),
                };
            }
            match progress {
                Progress::Open if arrived.is_end => return ended(link, reply, expected),
                Progress::Open => {}
                // The body of a connection per request ends with the connection, and the server ends it: the
                // side that closes first is the one that has to remember it (TIME-WAIT).
                Progress::Done { .. } if closes && !arrived.is_end => complete = Some(progress),
                end => return end,
            }
        }
    }

    fn may_keep(&self, link: &Link) -> bool {
        match self.origin.connection {
            Connection::PerRequest => false,
            Connection::Sessions => true,
            Connection::KeepAlive { requests_max } => requests_max.is_none_or(|max| link.requests < max),
        }
    }
}

impl Driver for WebDriver {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let origin = Rc::clone(&self.origin);
        let expected = origin.expected(operation);
        let mut marks = Marks { sent, ..Marks::default() };
        let mut reply = ReplyReader::new();
        let progress = match self.send(&origin.request(operation), sent).await {
            Err(error) => failure(error),
            Ok((mut link, connected)) => {
                marks.connected = connected;
                link.requests += 1;
                let progress = self.receive(&link, &mut marks, &mut reply, expected).await;
                if matches!(progress, Progress::Done { keep_alive: true })
                    && !operation.closes
                    && self.may_keep(&link)
                {
                    self.kept = Some(link);
                }
                progress
            }
        };
        // A connection that was not kept is closed by now: that is part of the operation.
        let is_kept = self.kept.is_some();
        marks.done = if is_kept { marks.last_byte } else { origin.clock.now() };
        let (outcome, detail) = match progress {
            Progress::Failed { outcome, detail } => (outcome, detail),
            Progress::Done { .. } | Progress::Open => (Outcome::Ok, 0),
        };
        Reply { outcome, marks, head_bytes: reply.head_bytes, body_bytes: reply.body_bytes, detail }
    }

    fn give_up(&mut self) {
        self.kept = None;
    }

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        let fetch = &self.origin.requests[usize::from(operation.kind)].request;
        let (path, bytes) =
            (fetch.path_of(operation.number), fetch.body_bytes(operation.number).unwrap_or(0));
        let what = match reply.outcome {
            Outcome::WrongStatus => format!("status {}, expected 200", reply.detail),
            Outcome::WrongLength => format!("body of {} bytes, expected {bytes}", reply.detail),
            Outcome::Truncated => format!("connection ended after {} bytes", reply.detail),
            Outcome::WrongBytes => format!("wrong byte at position {} of the body", reply.detail),
            Outcome::OversizedHead => {
                format!("no end of the head within {HEAD_BYTES_MAX} bytes and {HEADERS_MAX} lines")
            }
            Outcome::TimedOut => format!("no complete reply after {}", reply.marks.done - reply.marks.sent),
            Outcome::MalformedHead if reply.detail != 0 => {
                format!("too many interim heads, the last with status {}", reply.detail)
            }
            Outcome::Forbidden if !self.origin.policy.allows(self.origin.address.ip()) => {
                format!("the target policy does not allow `{}`", self.origin.address.ip())
            }
            Outcome::MalformedHead | Outcome::MalformedBody | Outcome::Ok => reply.outcome.name().to_owned(),
            _ => Errno::from_raw_os_error(reply.detail as i32).to_string(),
        };
        format!("GET {path}: {what}")
    }
}

/// Waits for the connection, then sends the request.
async fn send_late(socket: OwnedFd, request: &[u8], origin: &Origin) -> Result<(Link, Nanos), Errno> {
    let socket = connection::established(socket).await?;
    let connected = origin.clock.now();
    Ok((connection::send_all(socket, request).await?, connected))
}

/// Takes the end of a reply that was not complete by its own framing.
fn ended(link: &Link, reply: &mut ReplyReader, expected: Expected<'_>) -> Progress {
    match reply.end(expected) {
        // A reset that came together with the last bytes has to be asked for.
        Progress::Failed { outcome, detail } => match link.error() {
            Ok(()) => Progress::Failed { outcome, detail },
            Err(error) => failure(error),
        },
        end => end,
    }
}

/// Sorts an error of the kernel into an outcome.
fn failure(error: Errno) -> Progress {
    let outcome = match error {
        Errno::CONNREFUSED => Outcome::Refused,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Outcome::Reset,
        Errno::TIMEDOUT => Outcome::TimedOut,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Outcome::NoLocalPort,
        Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Outcome::NoDescriptor,
        Errno::ACCESS | Errno::PERM => Outcome::Forbidden,
        _ => Outcome::Unreachable,
    };
    Progress::Failed { outcome, detail: error.raw_os_error() as u64 }
}
