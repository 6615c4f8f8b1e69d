//! One HTTP/1 connection: the state machine of the module's table.

use std::cell::Cell;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::TcpStream;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use http1::{Framing, HeadError, ParseStatus, RequestHead, RequestMethod, ResponseHead, parse_request};
use units::Nanos;

use super::fault::{ConnectionEnding, CorrectReply, FaultAction, GREETING, Script, next_frame};
use super::modified::is_unmodified;
use super::server::SharedState;
use super::site::{ReadyReply, Resource, head_bytes};
use super::socket::{ByteStream, Socket};
use crate::gateway::GeneratedPage;

/// Initial buffer for a typical request; it grows up to the maximum head.
const INPUT_BYTES: usize = 2 * 1024;

/// The most bytes written in one go before the connection yields.
const WRITE_BYTES_MAX: usize = 256 * 1024;

/// Bytes that cost about as much CPU to send as a small write: some 5 µs, since 5 MiB take 1.65 ms (measured
/// over loopback).
const BYTES_PER_WORK: usize = 16 * 1024;

/// The most letters of a page that are generated before the connection yields: some 60 µs of work.
pub(super) const LETTERS_PER_TURN: usize = 32 * 1024;

/// Letters that cost about as much CPU to generate as a small write.
pub(super) const LETTERS_PER_WORK: usize = 2 * 1024;

/// The most bytes that are read and discarded after a refusal.
const LINGER_BYTES_MAX: usize = 1024 * 1024;

/// Time limit for a client to close after a refusal.
const LINGER_TIME_MAX: Duration = Duration::from_secs(2);

/// The liveness of a connection, as seen by the idle timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Liveness {
    /// No progress since the last check.
    Idle,
    /// A request was answered, or part of a response was written.
    Active,
    /// Deliberately silent because of a fault; not subject to the timeout.
    Held,
}

/// Serves one connection until either side ends it.
pub(super) async fn serve_connection(stream: TcpStream, shared: Rc<SharedState>) {
    let liveness = Cell::new(Liveness::Idle);
    let connection = pin!(serve_http1(Socket::new(stream), &shared, &liveness));
    serve_until_idle(&liveness, shared.idle_timeout, connection).await;
}

/// Serves HTTP/1 until either side ends the connection.
pub(super) fn serve_http1<'a>(
    socket: impl ByteStream + 'a,
    shared: &'a SharedState,
    liveness: &'a Cell<Liveness>,
) -> impl Future<Output = io::Result<()>> + 'a {
    Http1Connection { shared, liveness, socket, input: Vec::with_capacity(INPUT_BYTES), taken: 0 }.run()
}

/// Serves a connection until it ends or has been idle too long. Its errors concern only the client.
///
/// `serving` is pinned: by value it would be in the connection's task twice.
pub(super) async fn serve_until_idle(
    liveness: &Cell<Liveness>,
    timeout: Nanos,
    serving: Pin<&mut impl Future>,
) {
    tokio::select! {
        biased;
        _ = serving => {}
        () = wait_until_idle(liveness, timeout) => {}
    }
}

/// Returns when the connection has made no progress for one to two times `timeout`.
///
/// One timer is set again only when it has expired: a timer per request would cost more.
async fn wait_until_idle(liveness: &Cell<Liveness>, timeout: Nanos) {
    loop {
        tokio::time::sleep(Duration::from_nanos(timeout.0)).await;
        match liveness.get() {
            Liveness::Idle => return,
            Liveness::Active => liveness.set(Liveness::Idle),
            Liveness::Held => {}
        }
    }
}

struct Http1Connection<'a, W> {
    shared: &'a SharedState,
    liveness: &'a Cell<Liveness>,
    socket: W,
    input: Vec<u8>,
    /// Number of bytes of `input` that have been answered.
    taken: usize,
}

impl<W: ByteStream> Http1Connection<'_, W> {
    async fn run(mut self) -> io::Result<()> {
        if let Some(action) = self.shared.faults.for_connections() {
            return self.perform(action).await;
        }
        loop {
            match parse_request(&self.input[self.taken..]) {
                Ok(ParseStatus::Partial) => {
                    if self.read().await? == 0 {
                        return Ok(());
                    }
                }
                Ok(ParseStatus::Complete { head, length }) => {
                    let ending = self.answer(&head).await?;
                    self.taken += length;
                    self.liveness.set(Liveness::Active);
                    match ending {
                        ConnectionEnding::AsAsked if has_body(&head) => return self.linger().await,
                        ConnectionEnding::AsAsked if head.keep_alive => {}
                        ConnectionEnding::AsAsked | ConnectionEnding::Close => {
                            return self.socket.end().await;
                        }
                        ending => return self.leave(ending).await,
                    }
                }
                Err(error) => return self.refuse(error).await,
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.input.drain(..self.taken);
        self.taken = 0;
        if self.input.len() == self.input.capacity() {
            self.input.reserve(INPUT_BYTES);
        }
        // A client that always has another request ready must not starve the others.
        tokio::task::coop::consume_budget().await;
        let read = self.socket.read(&mut self.input).await;
        if !W::IS_METERED {
            self.shared.spend(1);
        }
        read
    }

    async fn answer(&mut self, head: &RequestHead) -> io::Result<ConnectionEnding> {
        let shared = self.shared;
        shared.count(|counts| counts.requests += 1);
        let keep_alive = head.keep_alive && !has_body(head);
        let target = match &self.input[self.taken..][head.target.clone()] {
            [] => &b"/"[..],
            target => target,
        };
        let mut found = shared.site.find(head.method, target);
        if matches!(found, Resource::File(_)) && is_unmodified(&self.input[self.taken..]) {
            found = Resource::Other(&shared.site.not_modified);
        }
        let fault = if head.method == RequestMethod::Get { shared.faults.for_path(target) } else { None };
        match (found, fault) {
            (Resource::File(reply) | Resource::Other(reply), None) => {
                let body = if head.method == RequestMethod::Head { &[] } else { &reply.body[..] };
                self.send(reply.head(head.version, keep_alive), body).await?;
                Ok(ConnectionEnding::AsAsked)
            }
            (Resource::File(reply) | Resource::Other(reply), Some(fault)) => {
                let site = &shared.site;
                self.play(fault(&CorrectReply { site, reply, version: head.version, keep_alive })).await
            }
            (Resource::Page(page), fault) => {
                shared.lock.pause_task(page.pause).await;
                let Some(fault) = fault else { return self.make(page, head, keep_alive).await };
                let site = &shared.site;
                let reply = &ReadyReply::from(page);
                self.play(fault(&CorrectReply { site, reply, version: head.version, keep_alive })).await
            }
        }
    }

    /// Generates a page and sends it, piece by piece if it is large.
    async fn make(
        &mut self,
        mut page: GeneratedPage,
        head: &RequestHead,
        keep_alive: bool,
    ) -> io::Result<ConnectionEnding> {
        let framing = Framing::Length(page.body.left() as u64);
        let start = ResponseHead { status: page.status, version: head.version, framing, keep_alive };
        let start = head_bytes(&start, page.fields());
        if head.method == RequestMethod::Head {
            self.send(&start, &[]).await?;
            return Ok(ConnectionEnding::AsAsked);
        }
        let mut start = &start[..];
        let mut piece = Vec::new();
        loop {
            page.body.append(&mut piece, LETTERS_PER_TURN);
            self.shared.spend((piece.len() / LETTERS_PER_WORK) as u32);
            self.send(start, &piece).await?;
            if page.body.left() == 0 {
                return Ok(ConnectionEnding::AsAsked);
            }
            start = &[];
            piece.clear();
            self.liveness.set(Liveness::Active);
            tokio::task::yield_now().await;
        }
    }

    /// Performs a fault that affects the whole connection.
    async fn perform(mut self, action: FaultAction) -> io::Result<()> {
        let script = match action {
            FaultAction::OnHttp2Request(script) => return self.answer_frames(script).await,
            FaultAction::OnFirstBytes(script) => {
                self.read().await?;
                script
            }
            FaultAction::OnConnect(script) => script,
            FaultAction::OnRequest(_) | FaultAction::NeverAccept => return Ok(()),
        };
        let ending = self.play(script()).await?;
        self.leave(ending).await
    }

    /// Answers HTTP/2 requests with a script, reading only the frame headers.
    async fn answer_frames(mut self, script: fn(u32) -> Script) -> io::Result<()> {
        self.send(GREETING, &[]).await?;
        self.liveness.set(Liveness::Held);
        loop {
            let Some((length, stream)) = next_frame(&self.input[self.taken..]) else {
                if self.read().await? == 0 {
                    return Ok(());
                }
                continue;
            };
            self.taken += length;
            let Some(stream) = stream else { continue };
            match self.play(script(stream)).await? {
                ConnectionEnding::AsAsked => {}
                ending => return self.leave(ending).await,
            }
        }
    }

    /// Plays the script of a fault; returns how the connection ends.
    async fn play(&mut self, script: Script) -> io::Result<ConnectionEnding> {
        self.shared.count(|counts| counts.faults += 1);
        for (index, piece) in script.bytes.chunks(script.piece).enumerate() {
            if 0 < index {
                pause(script.pause).await;
            }
            self.send(piece, &[]).await?;
        }
        while !script.endless.is_empty() {
            self.liveness.set(Liveness::Held);
            for piece in script.endless.chunks(script.piece) {
                pause(script.pause).await;
                self.send(piece, &[]).await?;
            }
        }
        Ok(script.ending)
    }

    /// Sends a head and a body, with one kernel call if they are small.
    async fn send(&mut self, mut head: &[u8], mut body: &[u8]) -> io::Result<()> {
        loop {
            let part = &body[..body.len().min(WRITE_BYTES_MAX)];
            let sent = self.socket.write(&[IoSlice::new(head), IoSlice::new(part)]).await?;
            if sent == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            if !W::IS_METERED {
                self.shared.count(|counts| counts.bytes_sent += sent as u64);
                self.shared.spend(1 + (sent / BYTES_PER_WORK) as u32);
            }
            let of_head = sent.min(head.len());
            (head, body) = (&head[of_head..], &body[sent - of_head..]);
            if head.is_empty() && body.is_empty() {
                return Ok(());
            }
            self.liveness.set(Liveness::Active);
            tokio::task::yield_now().await;
        }
    }

    /// Answers an invalid head; it is the last request, because the start of the next is unknown.
    async fn refuse(&mut self, error: HeadError) -> io::Result<()> {
        let reply = match error {
            HeadError::Oversized(_) => &self.shared.site.head_too_large,
            HeadError::UnsupportedVersion => &self.shared.site.version_not_supported,
            _ => &self.shared.site.bad_request,
        };
        self.send(reply.head(http1::Http1Version::Http11, false), &reply.body).await?;
        self.linger().await
    }

    /// Ends a connection on which no further request is answered.
    async fn leave(mut self, ending: ConnectionEnding) -> io::Result<()> {
        match ending {
            ConnectionEnding::AsAsked | ConnectionEnding::Close => self.linger().await,
            ConnectionEnding::Reset => self.socket.reset(),
            ConnectionEnding::Hold => self.hold().await,
        }
    }

    /// Closes the write side and discards further input: closing with unread bytes would send a reset, which
    /// can overtake the response.
    async fn linger(&mut self) -> io::Result<()> {
        self.socket.shut_down().await?;
        let _ = tokio::time::timeout(LINGER_TIME_MAX, self.discard(LINGER_BYTES_MAX)).await;
        Ok(())
    }

    async fn hold(&mut self) -> io::Result<()> {
        self.liveness.set(Liveness::Held);
        self.discard(usize::MAX).await
    }

    /// Reads and discards until the peer closes its side, or up to a limit.
    async fn discard(&mut self, mut bytes_max: usize) -> io::Result<()> {
        loop {
            self.taken = self.input.len();
            let read = self.read().await?;
            if read == 0 || bytes_max <= read {
                return Ok(());
            }
            bytes_max -= read;
        }
    }
}

/// Sleeps, or only yields if the time is zero.
async fn pause(time: Nanos) {
    match time {
        Nanos::ZERO => tokio::task::yield_now().await,
        time => tokio::time::sleep(Duration::from_nanos(time.0)).await,
    }
}

/// Returns whether the head is followed by a body.
fn has_body(head: &RequestHead) -> bool {
    !matches!(head.framing, Framing::None | Framing::Length(0))
}
