//! The body of a reply that is not all there yet.

use std::fmt;

use bytes::Bytes;

use super::flow::FlowReader;
use crate::message::BodyError;
use crate::origin::OriginBody;

/// The body of a reply, piece by piece. Dropping it before its end says that the client is gone.
pub struct BodyStream(Source);

enum Source {
    /// A response that others may be reading too.
    Flow(FlowReader),
    /// One that is for this request alone.
    Origin(Box<OriginBody>),
}

impl BodyStream {
    /// Makes the stream of a response that others may be reading too.
    pub(super) fn of_flow(reader: FlowReader) -> BodyStream {
        BodyStream(Source::Flow(reader))
    }

    /// Makes the stream of a response that is for one request alone.
    pub(super) fn of_origin(body: OriginBody) -> BodyStream {
        BodyStream(Source::Origin(Box::new(body)))
    }

    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// # Errors
    /// A body that ends early, is malformed or too slow; the client must notice that it did not get all.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        match &mut self.0 {
            Source::Flow(reader) => reader.next().await,
            Source::Origin(body) => body.next().await,
        }
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match self.0 {
            Source::Flow(_) => "flow",
            Source::Origin(_) => "origin",
        };
        write!(formatter, "BodyStream({source})")
    }
}
