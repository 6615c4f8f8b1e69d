//! Sending of a response, no faster than the client takes it.

use std::cell::RefCell;
use std::future::poll_fn;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderName, HeaderValue, StatusCode};
use http1::HeaderLines;
use units::RealClock;

use super::metered_stream::SendGauge;
use super::stream::StreamOutcome;
use crate::exchange::{Response, ResponseBody};
use crate::frontend::min_rate::MinRateDeadline;

/// The most bytes of a body that are sent at once.
const PART_BYTES_MAX: usize = 64 * 1024;

/// The bytes sent so far.
#[derive(Debug, Default)]
pub(super) struct SentBytes {
    /// Bytes of the head, uncompressed.
    pub(super) head_bytes: u64,
    /// Bytes of the body.
    pub(super) body_bytes: u64,
}

/// The outcome of a body that cannot be sent to its end.
type Aborted = StreamOutcome;

/// Sends a response; afterwards `sent` says how much of it, whatever the outcome.
pub(super) async fn send(
    response: Response,
    is_head: bool,
    respond: &RefCell<SendResponse<Bytes>>,
    min_rate: MinRateDeadline,
    (clock, gauge): (&RealClock, &SendGauge),
    sent: &mut SentBytes,
) -> StreamOutcome {
    let Some(head) = head(response.status, &response.lines) else {
        respond.borrow_mut().send_reset(Reason::INTERNAL_ERROR);
        return StreamOutcome::GivenUp;
    };
    let has_no_body = is_head
        || match &response.body {
            ResponseBody::Empty => true,
            ResponseBody::Pieces(pieces) => pieces.iter().all(Bytes::is_empty),
            ResponseBody::Stream(_) => false,
            // An upgraded protocol needs a connection of its own (RFC 9113 §8.6).
            ResponseBody::Tunnel(_) => {
                respond.borrow_mut().send_reset(Reason::HTTP_1_1_REQUIRED);
                return StreamOutcome::GivenUp;
            }
        };
    sent.head_bytes = response.lines.as_bytes().len() as u64;
    let Ok(stream) = respond.borrow_mut().send_response(head, has_no_body) else {
        return StreamOutcome::TakenBack;
    };
    if has_no_body {
        return StreamOutcome::Sent;
    }
    let mut sending = BodySender { stream, min_rate, clock, gauge, sent, seen: 0 };
    sending.body(response.body).await.err().unwrap_or(StreamOutcome::Sent)
}

/// Makes the head; `None` if the status is not valid.
pub(super) fn head(status: u16, lines: &HeaderLines) -> Option<http::Response<()>> {
    let mut head = http::Response::new(());
    *head.status_mut() = StatusCode::from_u16(status).ok()?;
    let fields = head.headers_mut();
    for (name, value) in lines.iter() {
        // A field that HTTP/2 cannot carry is left out.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            let _ = fields.try_append(name, value);
        }
    }
    Some(head)
}

/// A sender of a response's body.
struct BodySender<'a> {
    stream: SendStream<Bytes>,
    min_rate: MinRateDeadline,
    clock: &'a RealClock,
    gauge: &'a SendGauge,
    sent: &'a mut SentBytes,
    /// The bytes of the body that were sent when it was last checked that the client takes any.
    seen: u64,
}

impl BodySender<'_> {
    async fn body(&mut self, body: ResponseBody) -> Result<(), Aborted> {
        match body {
            ResponseBody::Pieces(pieces) => {
                let mut pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).peekable();
                while let Some(piece) = pieces.next() {
                    self.piece(piece, pieces.peek().is_none()).await?;
                }
                Ok(())
            }
            ResponseBody::Stream(mut body) => loop {
                let next = tokio::select! {
                    biased;
                    _ = poll_fn(|context| self.stream.poll_reset(context)) => return Err(StreamOutcome::TakenBack),
                    next = body.next() => next,
                };
                match next {
                    Ok(Some(piece)) => self.piece(piece, false).await?,
                    Ok(None) => return self.send_part(Bytes::new(), true),
                    // The client has to notice that the body is incomplete.
                    Err(_) => return Err(self.give_up(Reason::INTERNAL_ERROR)),
                }
            },
            ResponseBody::Empty | ResponseBody::Tunnel(_) => self.send_part(Bytes::new(), true),
        }
    }

    /// Sends a piece, part by part as the client's windows and the send buffer have room.
    async fn piece(&mut self, mut piece: Bytes, is_last: bool) -> Result<(), Aborted> {
        while !piece.is_empty() {
            let part = piece.len().min(PART_BYTES_MAX);
            let room = self.room(part).await?;
            let part = piece.split_to(part.min(room));
            self.send_part(part, is_last && piece.is_empty())?;
        }
        Ok(())
    }

    fn send_part(&mut self, part: Bytes, is_end: bool) -> Result<(), Aborted> {
        self.sent.body_bytes += part.len() as u64;
        self.stream.send_data(part, is_end).map_err(|_| StreamOutcome::TakenBack)
    }

    /// Waits until there is room for some of `wanted` bytes; returns for how many.
    async fn room(&mut self, wanted: usize) -> Result<usize, Aborted> {
        self.stream.reserve_capacity(wanted);
        loop {
            let room = self.stream.capacity();
            if room != 0 {
                return Ok(room);
            }
            let more = poll_fn(|context| self.stream.poll_capacity(context));
            let left = || {
                let before = std::mem::replace(&mut self.seen, self.sent.body_bytes);
                self.gauge.left(before != self.seen)
            };
            match self.min_rate.wait_sending(self.clock, more, left).await {
                Some(Some(Ok(_))) => {}
                Some(_) => return Err(StreamOutcome::TakenBack),
                None => return Err(self.give_up(Reason::CANCEL)),
            }
        }
    }

    fn give_up(&mut self, reason: Reason) -> Aborted {
        self.stream.send_reset(reason);
        StreamOutcome::GivenUp
    }
}
