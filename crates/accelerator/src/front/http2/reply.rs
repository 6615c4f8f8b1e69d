//! Sending a reply, no faster than the client takes it.

use std::cell::RefCell;
use std::future::poll_fn;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use units::RealClock;

use super::stream::Outcome;
use crate::front::patience::Patience;
use crate::message::{HeaderLines, Reply, ReplyBody};

/// The most bytes of a body that are handed over in one go.
const PART_BYTES_MAX: usize = 64 * 1024;

/// What has been handed over so far.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// Bytes of the head, unpacked.
    pub(super) head_bytes: u64,
    /// Bytes of the body.
    pub(super) body_bytes: u64,
}

/// A body that cannot be sent to its end.
type Broken = Outcome;

/// Sends a reply; `sent` says afterwards how much of it, whatever happened.
pub(super) async fn send(
    reply: Reply,
    is_head: bool,
    respond: &RefCell<SendResponse<Bytes>>,
    patience: Patience,
    clock: &RealClock,
    sent: &mut Sent,
) -> Outcome {
    let Some(head) = head(reply.status, &reply.lines) else {
        respond.borrow_mut().send_reset(Reason::INTERNAL_ERROR);
        return Outcome::GivenUp;
    };
    let has_no_body = is_head
        || match &reply.body {
            ReplyBody::Empty => true,
            ReplyBody::Pieces(pieces) => pieces.iter().all(Bytes::is_empty),
            ReplyBody::Stream(_) => false,
            // What is switched to is spoken over a connection of its own (RFC 9113 §8.6).
            ReplyBody::Tunnel(_) => {
                respond.borrow_mut().send_reset(Reason::HTTP_1_1_REQUIRED);
                return Outcome::GivenUp;
            }
        };
    sent.head_bytes = reply.lines.as_bytes().len() as u64;
    let Ok(stream) = respond.borrow_mut().send_response(head, has_no_body) else {
        return Outcome::TakenBack;
    };
    if has_no_body {
        return Outcome::Sent;
    }
    let mut sending = Sending { stream, patience, clock, sent };
    sending.body(reply.body).await.err().unwrap_or(Outcome::Sent)
}

/// Writes the head; `None` if the status is none.
pub(super) fn head(status: u16, lines: &HeaderLines) -> Option<Response<()>> {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::from_u16(status).ok()?;
    let fields = head.headers_mut();
    for (name, value) in lines.iter() {
        // What no field of HTTP/2 can hold is left out.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            let _ = fields.try_append(name, value);
        }
    }
    Some(head)
}

/// A body on its way.
struct Sending<'a> {
    stream: SendStream<Bytes>,
    patience: Patience,
    clock: &'a RealClock,
    sent: &'a mut Sent,
}

impl Sending<'_> {
    async fn body(&mut self, body: ReplyBody) -> Result<(), Broken> {
        match body {
            ReplyBody::Pieces(pieces) => {
                let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).peekable();
                while let Some(piece) = pieces.next() {
                    self.piece(piece, pieces.peek().is_none()).await?;
                }
                Ok(())
            }
            ReplyBody::Stream(mut body) => loop {
                let next = tokio::select! {
                    biased;
                    _ = poll_fn(|context| self.stream.poll_reset(context)) => return Err(Outcome::TakenBack),
                    next = body.next() => next,
                };
                match next {
                    Ok(Some(piece)) => self.piece(piece, false).await?,
                    Ok(None) => return self.hand_over(Bytes::new(), true),
                    // The client has to notice.
                    Err(_) => return Err(self.give_up(Reason::INTERNAL_ERROR)),
                }
            },
            ReplyBody::Empty | ReplyBody::Tunnel(_) => self.hand_over(Bytes::new(), true),
        }
    }

    /// Hands over a piece, part by part as the client's windows and our buffer have room.
    async fn piece(&mut self, mut piece: Bytes, is_last: bool) -> Result<(), Broken> {
        while !piece.is_empty() {
            let part = piece.len().min(PART_BYTES_MAX);
            let room = self.room(part).await?;
            let part = piece.split_to(part.min(room));
            self.hand_over(part, is_last && piece.is_empty())?;
        }
        Ok(())
    }

    fn hand_over(&mut self, part: Bytes, is_end: bool) -> Result<(), Broken> {
        self.patience.moved(part.len());
        self.sent.body_bytes += part.len() as u64;
        self.stream.send_data(part, is_end).map_err(|_| Outcome::TakenBack)
    }

    /// Waits until there is room for some of `wanted` bytes; returns for how many.
    async fn room(&mut self, wanted: usize) -> Result<usize, Broken> {
        self.stream.reserve_capacity(wanted);
        loop {
            let room = self.stream.capacity();
            if room != 0 {
                return Ok(room);
            }
            let more = poll_fn(|context| self.stream.poll_capacity(context));
            match self.patience.wait(self.clock, more).await {
                Some(Some(Ok(_))) => {}
                Some(_) => return Err(Outcome::TakenBack),
                None => return Err(self.give_up(Reason::CANCEL)),
            }
        }
    }

    fn give_up(&mut self, reason: Reason) -> Broken {
        self.stream.send_reset(reason);
        Outcome::GivenUp
    }
}
