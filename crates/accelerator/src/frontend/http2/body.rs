//! The body of an HTTP/2 request.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Error, Reason, RecvStream};
use units::RealClock;

use super::inspector::{StreamError, StreamErrors};
use super::response::head;
use crate::frontend::min_rate::MinRateDeadline;
use crate::message::{BodyError, Interim, RequestBody};

/// The body of a stream, and the interim responses sent meanwhile. Trailers are dropped.
#[derive(Debug)]
pub(super) struct StreamBody {
    pub(super) stream: RecvStream,
    /// The handle by which the response is sent.
    pub(super) respond: Rc<RefCell<SendResponse<Bytes>>>,
    pub(super) stream_errors: Rc<StreamErrors>,
    pub(super) bytes_max: u64,
    pub(super) received: u64,
    pub(super) min_rate: MinRateDeadline,
    pub(super) clock: RealClock,
}

impl RequestBody for StreamBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let arrived =
                self.min_rate.wait(&self.clock, self.stream.data()).await.ok_or(BodyError::TimedOut)?;
            let Some(piece) = arrived else { return self.end() };
            let piece = piece.map_err(|error| failure(&error))?;
            self.min_rate.note_received(piece.len());
            self.received = self.received.saturating_add(piece.len() as u64);
            if self.bytes_max < self.received {
                return Err(BodyError::TooLong(self.bytes_max));
            }
            // The window is released at once: a reader that asks for more has no other piece.
            let released = self.stream.flow_control().release_capacity(piece.len());
            released.map_err(|error| failure(&error))?;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        let Some(head) = head(interim.status, &interim.lines) else { return Ok(()) };
        let sent = self.respond.borrow_mut().send_informational(head);
        sent.map_err(|error| failure(&error))
    }
}

impl StreamBody {
    /// Ends a body. Trailers are not forwarded, but pseudo-header fields among them make the request malformed.
    fn end(&self) -> Result<Option<Bytes>, BodyError> {
        if self.stream_errors.has(u32::from(self.stream.stream_id()), StreamError::PseudoTrailers) {
            Err(BodyError::Malformed("pseudo-header fields in trailers".to_owned()))
        } else {
            Ok(None)
        }
    }
}

/// Converts an error of a stream: its end by the client, or a body that is not as announced.
fn failure(error: &Error) -> BodyError {
    if error.is_remote() || error.is_io() || error.reason() != Some(Reason::PROTOCOL_ERROR) {
        BodyError::Truncated
    } else {
        BodyError::Malformed(error.to_string())
    }
}
