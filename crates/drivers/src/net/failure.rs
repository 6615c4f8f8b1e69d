//! The failure of an operation, whatever its protocol.

use std::io;

use model::{MeasuredValues, Outcome, Reply};
use rustix::io::Errno;
use units::Nanos;

use super::tcp::errno;

/// The failure of an operation. Text that does not fit a number is stored by the context of its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationFailure {
    pub(crate) outcome: Outcome,
    /// As in [`model::Reply`].
    pub(crate) detail: u64,
}

impl OperationFailure {
    /// No failure: the operation succeeded.
    pub(crate) const NONE: OperationFailure = OperationFailure { outcome: Outcome::Ok, detail: 0 };

    pub(crate) const fn new(outcome: Outcome, detail: u64) -> OperationFailure {
        OperationFailure { outcome, detail }
    }

    /// Makes the failure of a connection.
    pub(crate) fn of_io(error: io::Error) -> OperationFailure {
        OperationFailure::from(errno(error))
    }

    /// Makes the reply of the operation. Its code is the protocol's own where the server has said what is wrong.
    pub(crate) fn into_reply(self, sent: Nanos, done: Nanos, measured: MeasuredValues) -> Reply {
        let OperationFailure { outcome, detail } = self;
        let code = match outcome {
            Outcome::WrongStatus
            | Outcome::Denied
            | Outcome::Conflict
            | Outcome::Gone
            | Outcome::Full
            | Outcome::ReadOnly => u32::try_from(detail).unwrap_or(0),
            _ => 0,
        };
        Reply { outcome, sent, done, measured, answer: 0, code, detail }
    }
}

impl From<Errno> for OperationFailure {
    /// Maps a kernel error to an outcome.
    fn from(error: Errno) -> OperationFailure {
        let outcome = match error {
            // A Unix socket that nobody listens on any more, or whose accept backlog is full.
            Errno::CONNREFUSED | Errno::NOENT | Errno::AGAIN => Outcome::Refused,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Outcome::Reset,
            Errno::TIMEDOUT => Outcome::TimedOut,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Outcome::NoLocalPort,
            Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Outcome::NoDescriptor,
            Errno::ACCESS | Errno::PERM => Outcome::Forbidden,
            _ => Outcome::Unreachable,
        };
        OperationFailure::new(outcome, error.raw_os_error() as u64)
    }
}
