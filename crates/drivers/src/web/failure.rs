//! Why an operation fails.

use model::Outcome;
use rustix::io::Errno;

/// Why an operation fails. Words that do not fit a number are left with `Origin::explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub(crate) outcome: Outcome,
    /// As in [`model::Reply`].
    pub(crate) detail: u64,
}

impl Failure {
    pub(crate) fn new(outcome: Outcome, detail: u64) -> Failure {
        Failure { outcome, detail }
    }
}

impl From<Errno> for Failure {
    /// Sorts an error of the kernel into an outcome.
    fn from(error: Errno) -> Failure {
        let outcome = match error {
            Errno::CONNREFUSED => Outcome::Refused,
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Outcome::Reset,
            Errno::TIMEDOUT => Outcome::TimedOut,
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => Outcome::NoLocalPort,
            Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Outcome::NoDescriptor,
            Errno::ACCESS | Errno::PERM => Outcome::Forbidden,
            _ => Outcome::Unreachable,
        };
        Failure::new(outcome, error.raw_os_error() as u64)
    }
}
