//! The failure of an operation.

use model::Outcome;
use rustix::io::Errno;

/// The failure of an operation. Text that does not fit a number is stored by `WebContext::explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationFailure {
    pub(crate) outcome: Outcome,
    /// As in [`model::Reply`].
    pub(crate) detail: u64,
}

impl OperationFailure {
    pub(crate) fn new(outcome: Outcome, detail: u64) -> OperationFailure {
        OperationFailure { outcome, detail }
    }
}

impl From<Errno> for OperationFailure {
    /// Maps a kernel error to an outcome.
    fn from(error: Errno) -> OperationFailure {
        let outcome = match error {
            Errno::CONNREFUSED => Outcome::Refused,
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
