//! The driver of a protocol whose calls block, as the engine sees it.

use model::{HasKind, Reply};
use units::Nanos;

use crate::session_error::SessionError;

/// A driver that performs operations by calls that block, for one virtual user, on a thread of that user.
pub trait BlockingDriver {
    /// The operation that the driver performs.
    type Operation: HasKind;

    /// Opens the session of the driver's user, before the load point begins: what belongs to no operation.
    ///
    /// # Errors
    ///
    /// The session cannot be opened.
    fn open(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    /// Performs an operation that is sent now, at `sent` on the run's clock. Failures are part of the reply.
    fn perform(&mut self, operation: &Self::Operation, sent: Nanos) -> Reply;

    /// Describes a failed operation for people: a clause without a full stop.
    fn describe(&self, operation: &Self::Operation, reply: &Reply) -> String;
}
