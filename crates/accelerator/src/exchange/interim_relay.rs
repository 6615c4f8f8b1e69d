//! Relaying of interim responses from the origin to the one client that waits for the final response.
//!
//! The leader of a flight asks the origin in a task of its own, which goes on if the client leaves. Interim responses
//! are for the leader's client only: followers wait for a response that may have begun before they came.

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::message::{BodyError, Interim, RequestBody};

/// The empty body of a request, which relays interim responses to the waiting client; their size is limited where
/// they are read.
#[derive(Debug, Clone)]
pub(super) struct InterimRelay(Option<UnboundedSender<Interim>>);

impl InterimRelay {
    /// Makes a relay whose interim responses can be received.
    pub(super) fn channel() -> (InterimRelay, UnboundedReceiver<Interim>) {
        let (sender, receiver) = unbounded_channel();
        (InterimRelay(Some(sender)), receiver)
    }

    /// Makes a relay that discards interim responses, for a request without a client.
    pub(super) fn discarding() -> InterimRelay {
        InterimRelay(None)
    }
}

impl RequestBody for InterimRelay {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(None)
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        if let Some(sender) = &self.0 {
            // The client may be gone while others wait for the response.
            let _ = sender.send(interim);
        }
        Ok(())
    }
}
