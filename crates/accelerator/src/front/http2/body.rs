//! The body of a request.

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Error, Reason, RecvStream};
use units::RealClock;

use super::inspector::{Fault, Faults};
use super::reply::head;
use crate::front::patience::Patience;
use crate::message::{BodyError, Interim, RequestBody};

/// What comes on a stream after its head, and the interim responses that go the other way. Trailers are dropped.
#[derive(Debug)]
pub(super) struct StreamBody {
    pub(super) stream: RecvStream,
    /// Where the reply goes.
    pub(super) respond: Rc<RefCell<SendResponse<Bytes>>>,
    pub(super) faults: Rc<Faults>,
    pub(super) bytes_max: u64,
    pub(super) received: u64,
    pub(super) patience: Patience,
    pub(super) clock: RealClock,
}

impl RequestBody for StreamBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let arrived =
                self.patience.wait(&self.clock, self.stream.data()).await.ok_or(BodyError::TimedOut)?;
            let Some(piece) = arrived else { return self.end() };
            let piece = piece.map_err(|error| failure(&error))?;
            self.patience.moved(piece.len());
            self.received = self.received.saturating_add(piece.len() as u64);
            if self.bytes_max < self.received {
                return Err(BodyError::TooLong(self.bytes_max));
            }
            // It is as good as used: who asks for more has no other.
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
    /// Ends a body. Trailers are not passed on, but those that no message has make it no message either.
    fn end(&self) -> Result<Option<Bytes>, BodyError> {
        match self.faults.has(u32::from(self.stream.stream_id()), Fault::PseudoTrailers) {
            true => Err(BodyError::Malformed("pseudo-header fields in trailers".to_owned())),
            false => Ok(None),
        }
    }
}

/// Says what a broken stream means: its end by the client, or a body that is not what was announced.
fn failure(error: &Error) -> BodyError {
    if error.is_remote() || error.is_io() || error.reason() != Some(Reason::PROTOCOL_ERROR) {
        BodyError::Truncated
    } else {
        BodyError::Malformed(error.to_string())
    }
}
