//! The body of a response that is still arriving.

use std::fmt;

use bytes::Bytes;

use super::streaming::StreamingReader;
use crate::message::BodyError;
use crate::origin::OriginBody;

/// The body of a response, piece by piece. Dropping it before its end means that the client is gone.
pub struct BodyStream(Source);

enum Source {
    /// A response that other requests may read too.
    Flow(StreamingReader),
    /// A response for this request alone.
    Origin(Box<OriginBody>),
}

impl BodyStream {
    /// Makes the body of a response that other requests may read too.
    pub(super) fn of_streaming(reader: StreamingReader) -> BodyStream {
        BodyStream(Source::Flow(reader))
    }

    /// Makes the body of a response for one request alone.
    pub(super) fn of_origin(body: OriginBody) -> BodyStream {
        BodyStream(Source::Origin(Box::new(body)))
    }

    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// # Errors
    /// A body that ends early, is malformed or too slow; the client must notice that it is incomplete.
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
