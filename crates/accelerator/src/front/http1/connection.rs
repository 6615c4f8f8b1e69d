//! One connection: the turns of the module's table.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http1::{Parsed, RequestHead, parse_request};
use tokio::io::ReadBuf;

use super::head::refusal;
use super::send::{Sent, send_now};
use crate::front::hits::Batch;
use crate::front::patience::Patience;
use crate::front::peer::{Peer, Wire};
use crate::front::service::Service;
use crate::front::watch::Watch;
use crate::front::worker::Worker;

/// What a client that speaks HTTP/2 without being asked begins with (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What is left of a connection when no more HTTP/1 is spoken on it.
#[derive(Debug)]
pub(in crate::front) enum Left<W> {
    /// Nothing: it has ended.
    Nothing,
    /// The client speaks HTTP/2, and this has been read of it.
    Http2(W, Vec<u8>),
}

/// What has happened to a connection before it is served.
#[derive(Debug, Default)]
pub(in crate::front) struct Start {
    /// What has been read of it.
    pub(in crate::front) kept: Vec<u8>,
    /// What it did not take yet of replies.
    pub(in crate::front) unsent: Unsent,
    /// How many requests have been answered.
    pub(in crate::front) answered: u64,
    /// Whether clients may begin with HTTP/2.
    pub(in crate::front) speaks_http2: bool,
}

/// What a client has not taken yet of replies.
#[derive(Debug, Default)]
pub(in crate::front) struct Unsent {
    head: Vec<u8>,
    body: Bytes,
    /// Whether the connection ends after it.
    closes: bool,
}

impl Unsent {
    /// Returns what is left of a batch of which so many bytes were sent.
    pub(in crate::front) fn of(output: &[u8], batch: Batch, sent: usize) -> Unsent {
        let of_output = sent.min(output.len());
        let (head, mut body) = (output[of_output..].to_vec(), batch.body);
        Unsent { head, body: body.split_off(sent - of_output), closes: batch.closes }
    }

    fn is_nothing(&self) -> bool {
        self.head.is_empty() && self.body.is_empty() && !self.closes
    }
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Connection<W> {
    pub(super) wire: W,
    pub(super) peer: Peer,
    pub(super) worker: Rc<Worker>,
    pub(super) watch: Watch,
    /// What has been read and not been dealt with.
    pub(super) kept: Vec<u8>,
    /// How patient we are with the client's taking the reply.
    pub(super) patience: Patience,
    /// Bytes of the reply in progress that were sent.
    pub(super) bytes_out: u64,
    /// How many of them were content.
    pub(super) body_out: u64,
    /// How many requests may follow.
    pub(super) requests_left: u64,
    unsent: Unsent,
    /// Whether what is kept is known to be no whole head.
    is_partial: bool,
    speaks_http2: bool,
}

/// What there is to do.
enum Turn {
    /// The client has not taken all of the replies.
    Flush,
    /// There may be a head to parse.
    Parse,
    /// Nothing came for too long.
    TimedOut,
    /// The client has ended or broken the connection.
    Gone,
    /// The connection ends with the reply that was sent.
    Close,
}

/// How a connection goes on after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// With the next one.
    Next,
    /// Not: the client wants no more.
    Close,
    /// Not: we want no more, but the client may still be sending.
    Linger,
}

/// What the bytes that are kept turn out to be.
enum Examined {
    Partial,
    Request(RequestHead, usize),
    Refused(u16, &'static str),
    Http2,
}

/// Serves a connection until either side ends it.
pub(in crate::front) async fn serve<W: Wire>(
    wire: W,
    peer: Peer,
    worker: Rc<Worker>,
    start: Start,
) -> Left<W> {
    let (limits, watch) = (worker.limits(), worker.watch());
    // Whoever connects has something to ask.
    match start.kept.is_empty() {
        true => watch.limit_idle(limits.head_timeout),
        false => watch.limit(limits.head_timeout),
    }
    let mut connection = Connection {
        wire,
        peer,
        patience: Patience::new(limits.write_timeout, limits.rate_min),
        bytes_out: 0,
        body_out: 0,
        requests_left: limits.requests_per_connection.unwrap_or(u64::MAX).saturating_sub(start.answered),
        kept: start.kept,
        unsent: start.unsent,
        is_partial: false,
        speaks_http2: start.speaks_http2 && start.answered == 0,
        worker,
        watch,
    };
    match connection.run().await {
        Ok(true) => Left::Http2(connection.wire, connection.kept),
        // What went wrong with it is the client's business.
        Ok(false) | Err(_) => Left::Nothing,
    }
}

impl<W: Wire> Connection<W> {
    /// Takes turns until the end. Returns whether the client turned out to speak HTTP/2.
    async fn run(&mut self) -> io::Result<bool> {
        let after = loop {
            match poll_fn(|context| self.poll_turn(context)).await {
                Turn::Flush => {
                    if self.flush_unsent().await? {
                        break After::Close;
                    }
                }
                Turn::Parse => match self.examine() {
                    Examined::Partial => self.is_partial = true,
                    Examined::Http2 => return Ok(true),
                    Examined::Refused(status, reason) => break Box::pin(self.refuse(status, reason)).await?,
                    // In a box, so that connections without a request stay small.
                    Examined::Request(head, length) => match Box::pin(self.answer(head, length)).await? {
                        After::Next => {}
                        after => break after,
                    },
                },
                Turn::TimedOut if self.kept.is_empty() => break After::Close,
                Turn::TimedOut => break Box::pin(self.refuse(408, "head-timeout")).await?,
                Turn::Gone => return Ok(false),
                Turn::Close => break After::Close,
            }
        };
        match after {
            After::Linger => self.linger().await?,
            _ if W::SAYS_END => self.shut_down().await?,
            _ => {}
        }
        Ok(false)
    }

    /// Reads, and answers what is remembered, until there is something else to do.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<Turn> {
        if !self.unsent.is_nothing() {
            return Poll::Ready(Turn::Flush);
        }
        let worker = Rc::clone(&self.worker);
        let buffers = &mut *worker.buffers.borrow_mut();
        loop {
            let (before, mut filled) = (self.kept.len(), self.kept.len());
            // What was read earlier than this may have been overwritten by others.
            let Some(room) = buffers.input.get_mut(..before) else { return Poll::Ready(Turn::Parse) };
            room.copy_from_slice(&self.kept);
            if before == 0 || self.is_partial {
                let mut room = ReadBuf::new(&mut buffers.input[before..]);
                match Pin::new(&mut self.wire).poll_read(context, &mut room) {
                    Poll::Ready(Ok(())) if !room.filled().is_empty() => filled += room.filled().len(),
                    Poll::Ready(_) => return Poll::Ready(Turn::Gone),
                    Poll::Pending => return self.watch.poll_over(context).map(|()| Turn::TimedOut),
                }
                let fresh = &buffers.input[before..filled];
                // A head that comes byte by byte is not parsed as often.
                if self.is_partial && !fresh.contains(&b'\n') && filled < self.head_bytes_max() {
                    self.kept.extend_from_slice(fresh);
                    continue;
                }
            }
            let is_new = before == 0 || !mem::take(&mut self.is_partial);
            let input = &buffers.input[..filled];
            let turn = self.answer_remembered(context, input, &mut buffers.output, is_new);
            if let Some(turn) = turn {
                return Poll::Ready(turn);
            }
        }
    }

    /// Answers what is remembered at the start of what was read, and keeps the rest. Returns what there is to do then;
    /// if nothing, more is to be read.
    fn answer_remembered(
        &mut self,
        context: &mut Context<'_>,
        input: &[u8],
        output: &mut Vec<u8>,
        is_new: bool,
    ) -> Option<Turn> {
        let mut at = 0;
        let turn = loop {
            let rest = &input[at..];
            // The last request that is allowed is answered the long way, which says that it is.
            let batch =
                self.worker.answer_remembered(&self.peer, rest, self.requests_left.saturating_sub(1), output);
            if batch.replies == 0 {
                break (!rest.is_empty()).then_some(Turn::Parse);
            }
            at += batch.consumed;
            self.requests_left -= batch.replies;
            match send_now(&mut self.wire, context, output, &batch.body) {
                Ok(Sent::All) if batch.closes => break Some(Turn::Close),
                Ok(Sent::All) => {}
                Ok(Sent::Partly(sent)) => {
                    self.unsent = Unsent::of(output, batch, sent);
                    break Some(Turn::Flush);
                }
                Err(_) => break Some(Turn::Gone),
            }
        };
        self.keep(&input[at..], is_new || at != 0);
        turn
    }

    /// Keeps what was read and not dealt with, and sets the limit for what is missing; `is_new` if it begins with a head
    /// that was not there before.
    fn keep(&mut self, rest: &[u8], is_new: bool) {
        self.kept.clear();
        self.kept.extend_from_slice(rest);
        if is_new || rest.is_empty() {
            self.await_head();
        }
    }

    /// Sends what the client did not take at once; returns whether the connection ends with it.
    async fn flush_unsent(&mut self) -> io::Result<bool> {
        let limits = self.worker.limits();
        self.patience = Patience::new(limits.write_timeout, limits.rate_min);
        let Unsent { head, body, closes } = mem::take(&mut self.unsent);
        let worker = Rc::clone(&self.worker);
        let _engagement = worker.engage();
        self.send(&head, &body).await?;
        self.await_head();
        Ok(closes)
    }

    /// Sets the limit for the next head. Who has sent nothing of it holds no buffer.
    pub(super) fn await_head(&mut self) {
        let limits = self.worker.limits();
        if self.kept.is_empty() {
            self.kept = Vec::new();
            self.watch.limit_idle(limits.idle_timeout);
        } else {
            self.watch.limit(limits.head_timeout);
        }
    }

    /// Returns the bytes that a head may have.
    fn head_bytes_max(&self) -> usize {
        self.worker.limits().head_bytes_max.min(http1::HEAD_BYTES_MAX)
    }

    /// Looks at what is kept.
    fn examine(&mut self) -> Examined {
        if mem::take(&mut self.speaks_http2)
            && PREFACE.starts_with(&self.kept[..self.kept.len().min(PREFACE.len())])
        {
            if PREFACE.len() <= self.kept.len() {
                return Examined::Http2;
            }
            self.speaks_http2 = true;
            return Examined::Partial;
        }
        let bytes_max = self.head_bytes_max();
        match parse_request(&self.kept) {
            Ok(Parsed::Complete { head, length }) if length <= bytes_max => Examined::Request(head, length),
            Ok(Parsed::Partial) if self.kept.len() < bytes_max => Examined::Partial,
            Ok(_) => too_large(&self.kept[..self.kept.len().min(bytes_max)]),
            Err(http1::HeadError::Oversized(http1::HeadLimit::Bytes)) => too_large(&self.kept),
            Err(error) => {
                let (status, reason) = refusal(error);
                Examined::Refused(status, reason)
            }
        }
    }
}

/// Refuses a head that is too long, by what is too long about it.
fn too_large(start: &[u8]) -> Examined {
    if start.windows(2).any(|pair| pair == b"\r\n") {
        Examined::Refused(431, "head-too-large")
    } else {
        Examined::Refused(414, "target-too-long")
    }
}
