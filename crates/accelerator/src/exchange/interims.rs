//! Interim responses on their way from the origin to the one client that is answered by it.
//!
//! Who leads a flight asks the origin in a task of its own, which goes on if the client leaves. What comes before the reply
//! is for the leader only: the others wait for a response that may have begun before they came, or for none.

use bytes::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::message::{BodyError, Interim, RequestBody};

/// The body of a request that has none, and passes interim responses on to whoever waits; what they may take is bounded
/// where they are read.
#[derive(Debug, Clone)]
pub(super) struct Interims(Option<UnboundedSender<Interim>>);

impl Interims {
    /// Makes one whose interim responses can be received.
    pub fn channel() -> (Interims, UnboundedReceiver<Interim>) {
        let (sender, receiver) = unbounded_channel();
        (Interims(Some(sender)), receiver)
    }

    /// Makes one for a request behind which there is no client.
    pub fn for_nobody() -> Interims {
        Interims(None)
    }
}

impl RequestBody for Interims {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(None)
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        if let Some(sender) = &self.0 {
            // The client may be gone, and others wait for the reply.
            let _ = sender.send(interim);
        }
        Ok(())
    }
}
