//! The body of a response that is still arriving.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;

use super::streaming::StreamingReader;
use crate::message::BodyError;
use crate::origin::OriginBody;

/// The body of a response, piece by piece. Dropping it before its end means that the client is gone.
pub struct BodyStream {
    source: Source,
    /// The first piece, if it has been looked at.
    first: Option<Bytes>,
}

enum Source {
    /// A response that other requests may read too.
    Flow(StreamingReader),
    /// A response for this request alone.
    Origin(Box<OriginBody>),
}

impl BodyStream {
    /// Makes the body of a response that other requests may read too.
    pub(super) fn of_streaming(reader: StreamingReader) -> BodyStream {
        BodyStream { source: Source::Flow(reader), first: None }
    }

    /// Makes the body of a response for one request alone.
    pub(super) fn of_origin(body: OriginBody) -> BodyStream {
        BodyStream { source: Source::Origin(Box::new(body)), first: None }
    }

    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// # Errors
    /// A body that ends early, is malformed or too slow; the client must notice that it is incomplete.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        match &mut self.source {
            Source::Flow(reader) => reader.next().await,
            Source::Origin(body) => body.next().await,
        }
    }

    /// Returns the error with which the body begins, as far as it has arrived: nothing was sent to the client yet, which
    /// can still be told by a status.
    pub(super) async fn failure_at_start(&mut self) -> Option<BodyError> {
        let mut first = self.poll_once().await;
        if first.is_pending() {
            // A response that is stored is read by a task of its own, which has not run yet.
            tokio::task::yield_now().await;
            first = self.poll_once().await;
        }
        match first {
            Poll::Ready(Ok(first)) => self.first = first,
            Poll::Ready(Err(error)) => return Some(error),
            Poll::Pending => {}
        }
        None
    }

    async fn poll_once(&mut self) -> Poll<Result<Option<Bytes>, BodyError>> {
        let mut next = pin!(self.next());
        poll_fn(|context| Poll::Ready(next.as_mut().poll(context))).await
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.source {
            Source::Flow(_) => "flow",
            Source::Origin(_) => "origin",
        };
        write!(formatter, "BodyStream({source})")
    }
}
